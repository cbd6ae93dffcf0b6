package ranking

import (
	"context"

	"github.com/gladflow/gladflow/solver/dense"
)

// Features computes the inputs and the context that m takes, of a table: see Compute.
func (m *Model) Features(ctx context.Context, engine dense.Engine, rows []float64, d int, regulators []int) (*Features, error) {
	return Compute(ctx, engine, rows, d, regulators, m.Inputs, m.Context)
}

// Apply is the score of every pair of a table with these features, which are m's: the
// higher, the likelier an edge, by Probability. The diagonal is 0. It works on so many
// goroutines (0: dense.Cores()), with the same bits for any number. m is not Directed.
func (m *Model) Apply(ctx context.Context, f *Features, threads int) (*dense.Sym, error) {
	scores := dense.NewSym(f.Variables, nil)
	e := m.ensemble(f.Context)
	err := dense.Each(ctx, f.Variables, threads, func(_, i int) error {
		x := make([]float64, 0, len(m.Inputs))
		for j := i + 1; j < f.Variables; j++ {
			scores.Set(i, j, e.score(f.Append(x, i, j, m.Bound)))
		}
		return nil
	})
	return scores, err
}
