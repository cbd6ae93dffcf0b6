package tune

import (
	"context"
	"fmt"

	"github.com/gladflow/gladflow/solver"
	"github.com/gladflow/gladflow/solver/dense"
	"github.com/gladflow/gladflow/solver/glasso"
)

// lassoGap is the relative duality gap to which the graphical lasso is solved:
// the NMSE moves by less than 0.001 dB below it.
const lassoGap = 1e-4

// GraphicalLasso chooses the penalty ρ of the graphical lasso, solved to a duality
// gap: a logarithmic grid, then a golden-section search in log ρ around its best
// point. It returns the error of ctx when that ends first.
func GraphicalLasso(ctx context.Context, cases []solver.Example, s Settings) (*Result, error) {
	s, err := s.resolved()
	if err != nil {
		return nil, err
	}
	if err := validate(cases); err != nil {
		return nil, err
	}
	r := &Result{Objective: s.Objective, Cases: len(cases)}
	before := make([]*solver.Estimate, len(cases))
	estimates := make([]*dense.Sym, len(cases))
	try := func(rho float64, refined bool) (Point, error) {
		err := dense.Each(ctx, len(cases), s.Workers, func(_, i int) error {
			est, err := Lasso(ctx, cases[i], rho, before[i], s)
			if err != nil {
				return fmt.Errorf("graph %d, ρ = %v: %w", i, rho, err)
			}
			before[i], estimates[i] = est, est.Support
			return nil
		})
		if err != nil {
			return Point{}, err
		}
		p, err := evaluate(Point{Rho: rho, Diagonal: s.Diagonal, Refined: refined}, s.Objective, estimates, cases)
		if err != nil {
			return p, err
		}
		r.Points = append(r.Points, p)
		if s.OnPoint != nil {
			s.OnPoint(p)
		}
		return p, nil
	}
	if r.Best, err = s.grid(try); err == nil {
		r.Best, err = s.refine(r.Best, try)
	}
	if err != nil {
		return nil, err
	}
	return r, nil
}

// Lasso solves the graphical lasso with the penalty rho, as GraphicalLasso does, to a relative
// gap of 1e-4. It starts from near, the estimate of a neighbouring penalty, if that is not nil;
// s gives Diagonal and Engine.
func Lasso(ctx context.Context, c solver.Example, rho float64, near *solver.Estimate, s Settings) (*solver.Estimate, error) {
	est, err := glasso.BCD{Settings: glasso.Settings{
		Penalty: glasso.Penalty{Rho: rho, Diagonal: s.Diagonal}, Gap: lassoGap, Initial: near, Engine: s.Engine,
	}}.Solve(ctx, c.Problem())
	if err != nil {
		return nil, err
	}
	if err := est.Status.Err(); err != nil && ctx.Err() == nil && !(est.RelativeGap() <= 10*lassoGap) {
		return nil, err
	}
	return est, ctx.Err()
}

// LassoEstimates are the supports of the graphical lasso with one penalty, as
// GraphicalLasso computes them; s gives its Diagonal, Workers and Engine.
func LassoEstimates(ctx context.Context, cases []solver.Example, rho float64, s Settings) ([]*dense.Sym, error) {
	return Each(ctx, cases, s.Workers, func(i int, c solver.Example) (*dense.Sym, error) {
		est, err := Lasso(ctx, c, rho, nil, s)
		if err != nil {
			return nil, fmt.Errorf("graph %d, ρ = %v: %w", i, rho, err)
		}
		return est.Support, nil
	})
}
