package tune

import (
	"context"
	"fmt"
	"slices"

	"github.com/gladflow/gladflow/solver"
	"github.com/gladflow/gladflow/solver/dense"
	"github.com/gladflow/gladflow/solver/glasso"
)

// ADMMSettings are those of ADMM.
type ADMMSettings struct {
	Settings
	// Lambdas are the quadratic penalties λ to try. Default (nil): 0.1, 0.5, 1,
	// 2 and 5.
	Lambdas []float64
	// Iterations are the numbers of iterations to try, all read off one
	// trajectory. Default (nil): 1, 2, 3, 5, 8, 12, 20, 30, 50.
	Iterations []int
	// Offset is t of the start (S + tI)⁻¹. Default (0): 0.1.
	Offset float64
	// Alternating tunes AM instead: see glasso.Textbook.
	Alternating bool
}

func (s ADMMSettings) resolved() (ADMMSettings, error) {
	var err error
	if s.Settings, err = s.Settings.resolved(); err != nil {
		return s, err
	}
	if s.Lambdas == nil {
		s.Lambdas = []float64{0.1, 0.5, 1, 2, 5}
	}
	if s.Iterations == nil {
		s.Iterations = []int{1, 2, 3, 5, 8, 12, 20, 30, 50}
	}
	s.Iterations = slices.Clone(s.Iterations)
	slices.Sort(s.Iterations)
	s.Iterations = slices.Compact(s.Iterations)
	if len(s.Lambdas) == 0 || len(s.Iterations) == 0 || s.Iterations[0] < 1 {
		return s, fmt.Errorf("λ in %v and iterations in %v; give at least one positive number of each", s.Lambdas, s.Iterations)
	}
	return s, nil
}

// ADMM chooses λ, ρ and the number of iterations of glasso.Textbook, which is
// stopped early: for every λ a grid over ρ, where a penalty counts by its best
// number of iterations, then a golden-section search in log ρ around the best
// point of all. It returns the error of ctx when that ends first.
func ADMM(ctx context.Context, cases []solver.Example, s ADMMSettings) (*Result, error) {
	s, err := s.resolved()
	if err != nil {
		return nil, err
	}
	if err := validate(cases); err != nil {
		return nil, err
	}
	r := &Result{Objective: s.Objective, Cases: len(cases)}
	with := func(lambda float64) trial {
		return func(rho float64, refined bool) (Point, error) {
			return r.tryADMM(ctx, cases, Point{Rho: rho, Lambda: lambda, Diagonal: s.Diagonal, Refined: refined}, s)
		}
	}
	for k, lambda := range s.Lambdas {
		p, err := s.grid(with(lambda))
		if err != nil {
			return nil, err
		}
		if k == 0 || s.Objective.better(p, r.Best) {
			r.Best = p
		}
	}
	if r.Best, err = s.refine(r.Best, with(r.Best.Lambda)); err != nil {
		return nil, err
	}
	return r, nil
}

// tryADMM records p with every number of iterations and returns the best.
func (r *Result) tryADMM(ctx context.Context, cases []solver.Example, p Point, s ADMMSettings) (Point, error) {
	z, err := trajectories(ctx, cases, p, s)
	if err != nil {
		return p, err
	}
	var best Point
	for k, iterations := range s.Iterations {
		p.Iterations = iterations
		evaluated, err := evaluate(p, s.Objective, z[k], cases)
		if err != nil {
			return p, err
		}
		r.Points = append(r.Points, evaluated)
		if s.OnPoint != nil {
			s.OnPoint(evaluated)
		}
		if k == 0 || s.Objective.better(evaluated, best) {
			best = evaluated
		}
	}
	return best, nil
}

// trajectories returns Z of every case after every number of iterations.
func trajectories(ctx context.Context, cases []solver.Example, p Point, s ADMMSettings) ([][]*dense.Sym, error) {
	z := make([][]*dense.Sym, len(s.Iterations))
	for k := range z {
		z[k] = make([]*dense.Sym, len(cases))
	}
	err := dense.Each(ctx, len(cases), s.Workers, func(_, i int) error {
		at := 0
		return glasso.Textbook{
			Rho: p.Rho, Lambda: p.Lambda, Offset: s.Offset, SpareDiagonal: !p.Diagonal, Alternating: s.Alternating,
			Iterations: s.Iterations[len(s.Iterations)-1], Engine: s.Engine,
		}.Run(ctx, cases[i].Problem(), func(step glasso.TextbookStep) {
			if step.Iteration == s.Iterations[at] {
				z[at][i] = step.Z.Clone()
				at++
			}
		})
	})
	return z, err
}

// ADMMEstimates are Z of every case at a point that ADMM has found; s gives its
// Offset, Alternating, Workers and Engine.
func ADMMEstimates(ctx context.Context, cases []solver.Example, p Point, s ADMMSettings) ([]*dense.Sym, error) {
	s.Iterations = []int{p.Iterations}
	z, err := trajectories(ctx, cases, p, s)
	return z[0], err
}
