package devicetest

import (
	"context"

	"github.com/gladflow/gladflow/solver/dense"
)

// Accumulate implements dense.AccumulatingEngine, in memory of its own.
func (e engine) Accumulate(_ context.Context, n, _, _ int, known []float64) (dense.Accumulator, error) {
	e.machine.use("sums")
	a := &sums{machine: e.machine, n: n, sums: make([]float64, n*n)}
	copy(a.sums, known)
	return a, nil
}

type sums struct {
	dense.Gonum
	machine *Machine
	n       int
	sums    []float64
}

func (a *sums) Scale(_ context.Context, factor []float64) error {
	for i := range a.n {
		for j := range a.n {
			a.sums[i*a.n+j] *= factor[i] * factor[j]
		}
	}
	return nil
}

func (a *sums) Add(_ context.Context, rows int, x []float64) error {
	a.Syrk(true, a.n, rows, 1, x, a.n, 1, a.sums, a.n)
	return a.machine.Sums
}

func (a *sums) Sum(_ context.Context, to []float64) error {
	copy(to, a.sums)
	return nil
}

func (a *sums) Close() error { return nil }
