package covariance

import (
	"context"
	"fmt"
	"math"

	"github.com/gladflow/gladflow/solver/dense"
)

// pairwise is the correlation of every two standardised variables over the samples that
// have both, with the means and variances in these samples, and then the nearest
// correlation matrix. The sums over common samples are products of the table, zeros in
// place of what is missing, with itself and with the table of what is there.
func (t *incomplete) pairwise(ctx context.Context, together *dense.Sym) (*dense.Sym, error) {
	d, m, engine := t.d, t.m, t.settings.engine()
	there := make([]float64, len(t.rows))
	squares := make([]float64, len(t.rows))
	for i, v := range t.rows {
		if v != v {
			t.rows[i] = 0
			continue
		}
		there[i], squares[i] = 1, v*v
	}
	var (
		s       = dense.NewSym(d, nil) // Σ xi·xj
		sums    = make([]float64, d*d) // (i, j): Σ xi over the samples of j
		second  = make([]float64, d*d) // Σ xi² over the samples of j
		product = func(to, of []float64) {
			engine.Gemm(true, false, d, d, m, 1, of, d, there, d, 0, to, d)
		}
	)
	err := dense.Await(ctx, func() {
		dense.NewWorkspace(engine, d).Gram(s, 1, t.rows, m, 0)
		product(sums, t.rows)
		product(second, squares)
	})
	if err != nil {
		return nil, err
	}
	for i := range d {
		s.Set(i, i, 1)
		for j := i + 1; j < d; j++ {
			n := together.At(i, j)
			if n < LeastTogether {
				return nil, t.apart(i, j, int(n))
			}
			ij, ji := i*d+j, j*d+i
			varI := second[ij] - sums[ij]*sums[ij]/n
			varJ := second[ji] - sums[ji]*sums[ji]/n
			// A variable that does not vary where the other is there says nothing.
			const least = 1e-12
			if !(varI > least*n && varJ > least*n) {
				s.Set(i, j, 0)
				continue
			}
			s.Set(i, j, clamp((s.At(i, j)-sums[ij]*sums[ji]/n)/math.Sqrt(varI*varJ)))
		}
	}
	before := s.Clone()
	if err := nearestCorrelation(ctx, s, engine); err != nil {
		return nil, err
	}
	var moved, norm float64
	for i := range d {
		for j, v := range before.Row(i) {
			e := s.At(i, j) - v
			moved += e * e
			norm += v * v
		}
	}
	t.done.Distance = math.Sqrt(moved / norm)
	return s, nil
}

func (t *incomplete) apart(i, j, n int) error {
	return columnError(i, t.settings.Names, fmt.Sprintf("has %d samples in common with %s, and %d are the fewest for a correlation", n, label(j, t.settings.Names), LeastTogether),
		"leave out one of the two, or take another way to treat missing values")
}
