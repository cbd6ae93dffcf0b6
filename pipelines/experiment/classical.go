package experiment

import (
	"context"
	"fmt"

	"github.com/gladflow/gladflow/pipelines/simulate"
	"github.com/gladflow/gladflow/pipelines/tune"
	"github.com/gladflow/gladflow/solver"
	"github.com/gladflow/gladflow/solver/dense"
)

// A tuned classical solver is one at its best on validation graphs.
type tuned struct {
	name     string
	point    tune.Point
	estimate func(context.Context, tune.Point, []solver.Example) ([]*dense.Sym, error)
}

// nmse is that of the tuned solver on cases.
func (t tuned) nmse(ctx context.Context, cases []solver.Example) (value, standardError float64, err error) {
	return t.at(ctx, t.point, cases)
}

// at is the NMSE with another point.
func (t tuned) at(ctx context.Context, p tune.Point, cases []solver.Example) (value, standardError float64, err error) {
	z, err := t.estimate(ctx, p, cases)
	if err != nil {
		return 0, 0, err
	}
	return nmse(z, cases)
}

// lasso tunes the converged graphical lasso, with the diagonal penalised and
// without: the better of the two.
func (r *Run) lasso(ctx context.Context, key string, validation []solver.Example) (tuned, error) {
	return r.better("graphical lasso, converged", "lasso "+key, func(diagonal bool) (*tune.Result, error) {
		return tune.GraphicalLasso(ctx, validation, r.tuneSettings(diagonal))
	}, func(ctx context.Context, p tune.Point, cases []solver.Example) ([]*dense.Sym, error) {
		return tune.LassoEstimates(ctx, cases, p.Rho, r.tuneSettings(p.Diagonal))
	})
}

// admm tunes ADMM, stopped where it is best, with the threshold on the diagonal and
// without: the better of the two. An alternating one is AM.
func (r *Run) admm(ctx context.Context, key string, validation []solver.Example, alternating bool) (tuned, error) {
	name := "ADMM, stopped early"
	if alternating {
		name = "AM, stopped early"
	}
	settings := func(diagonal bool) tune.ADMMSettings {
		return tune.ADMMSettings{
			Settings: r.tuneSettings(diagonal), Alternating: alternating,
			Lambdas: choose(r, []float64{0.1, 0.5, 2}, []float64{0.5}),
		}
	}
	// Two thirds of the graphs are enough for a grid of a thousand points.
	validation = validation[:max(1, len(validation)*2/3)]
	return r.better(name, name+" "+key, func(diagonal bool) (*tune.Result, error) {
		return tune.ADMM(ctx, validation, settings(diagonal))
	}, func(ctx context.Context, p tune.Point, cases []solver.Example) ([]*dense.Sym, error) {
		return tune.ADMMEstimates(ctx, cases, p, settings(p.Diagonal))
	})
}

func (r *Run) better(name, key string, tuning func(diagonal bool) (*tune.Result, error), estimate func(context.Context, tune.Point, []solver.Example) ([]*dense.Sym, error)) (tuned, error) {
	return cached(r, key, func() (tuned, error) {
		t := tuned{name: name, estimate: estimate}
		for _, diagonal := range []bool{false, true} {
			result, err := tuning(diagonal)
			if err != nil {
				return t, err
			}
			if !diagonal || result.Best.Value < t.point.Value {
				t.point = result.Best
			}
		}
		return t, nil
	})
}

func (r *Run) tuneSettings(diagonal bool) tune.Settings {
	return tune.Settings{Workers: r.Workers, Engine: r.Engine, Diagonal: diagonal}
}

// validation are the graphs on which everything is chosen for a family.
func (r *Run) validation(ctx context.Context, f simulate.Family, m int) ([]solver.Example, error) {
	return r.cases(ctx, forValidation, f, choose(r, validationGraphs, 4), m)
}

// keyOf names what is tuned for a family.
func keyOf(f simulate.Family, m int) string { return fmt.Sprintf("%s, M=%d", f, m) }
