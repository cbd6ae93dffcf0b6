package ranking

import (
	"context"

	"github.com/gladflow/gladflow/solver/dense"
)

// Settings of Score. The zero value of every field is its default.
type Settings struct {
	// Engine does the linear algebra, and its threads the rest. Default (nil):
	// dense.Default().
	Engine dense.Engine
}

func (s Settings) engine() dense.Engine {
	if s.Engine == nil {
		return dense.Default()
	}
	return s.Engine
}

// Score is the score of every pair of the d variables of a table: the higher, the
// likelier an edge, by Model.Probability. The diagonal is 0. For rows and errors see
// Compute.
func (m *Model) Score(ctx context.Context, s Settings, rows []float64, d int) (*dense.Sym, error) {
	engine := s.engine()
	f, err := Compute(ctx, engine, rows, d, m.Inputs, m.Context)
	if err != nil {
		return nil, err
	}
	return m.Apply(ctx, f, dense.Threads(engine))
}

// Apply is Score of features, which are the model's, on so many goroutines.
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
