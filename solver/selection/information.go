package selection

import (
	"context"
	"errors"
	"math"
	"time"

	"github.com/gladflow/gladflow/solver"
	"github.com/gladflow/gladflow/solver/dense"
)

// EBIC chooses the penalty of least extended Bayesian information criterion
//
//	−2·ℓ + E·log M + 4γ·E·log d
//
// with E edges and the log-likelihood ℓ = (M/2)(log det Θ − tr(SΘ)) of the solution itself
// (Foygel and Drton, "Extended Bayesian Information Criteria for Gaussian Graphical Models",
// NIPS 2010). p.Samples must be known.
//
// When ctx ends first, the choice among what is finished is returned together with ctx's
// error, or an *ErrNothing.
func EBIC(ctx context.Context, p solver.Problem, s Settings) (*Choice, error) {
	if err := p.Validate(); err != nil {
		return nil, err
	}
	if p.Samples < 2 {
		return nil, errors.New("the extended BIC needs the number of samples")
	}
	gamma, err := s.gamma()
	if err != nil {
		return nil, err
	}
	m, perEdge := float64(p.Samples), math.Log(float64(p.Samples))+4*gamma*math.Log(float64(p.S.Len()))
	least, err := leastObjective(ctx, p.S, s.engine())
	if err != nil {
		return (&Choice{}).interrupted(ctx, err)
	}
	var empty float64 // the criterion without edges
	return s.information(ctx, p, func(_ context.Context, on *lane, point *Point) error {
		point.LogLikelihood = m / 2 * on.logLikelihood(p.S, point.Penalty)
		point.Criterion = -2*point.LogLikelihood + point.Edges*perEdge
		if point.Edges == 0 {
			empty = point.Criterion
		}
		return nil
	}, func(edges float64) bool { return m*least+edges*perEdge >= empty })
}

// hopeRatio is the penalty, relative to the largest, down to which EBIC does not take an
// empty graph for the best before no likelihood can pay for the edges.
const hopeRatio = 0.1

// leastObjective bounds −log det Θ + tr(SΘ) of the solutions from below for all penalties from
// hopeRatio times the largest: with the dual's W = (1−t)S + t·diag S, t = hopeRatio, the
// penalised objective is at least log det W + d, and what the penalty adds is d − tr(SΘ) ≤ d.
func leastObjective(ctx context.Context, s *dense.Sym, engine dense.Engine) (float64, error) {
	d := s.Len()
	w := s.Clone()
	w.Scale(1 - hopeRatio)
	for i := range d {
		w.Set(i, i, s.At(i, i))
	}
	return dense.AwaitResult(ctx, func() (float64, error) {
		logdet, definite := dense.NewWorkspace(engine, d).LogDet(w, w.Raw())
		if !definite {
			logdet = math.Inf(-1)
		}
		return logdet, nil
	})
}

// information chooses the least of a criterion on the path of p, which judge computes from
// the solution. Where the first point is the best, the path goes on until hopeless says that
// so many edges cannot be better, or to hopeRatio.
func (s Settings) information(ctx context.Context, p solver.Problem, judge func(context.Context, *lane, *Point) error, hopeless func(edges float64) bool) (*Choice, error) {
	l := newLadder(p.S)
	on := newLane(p, s, s.gap(DefaultGap), s.engine())
	c := &Choice{}
	stop := patience{d: l.d}
	for rho := l.largest; ; rho = l.next(rho) {
		started := time.Now()
		if err := on.solve(ctx, rho); err != nil {
			return c.interrupted(ctx, err)
		}
		point := newPoint(rho)
		point.note(on.last)
		point.Edges = float64(on.last.Edges())
		if err := judge(ctx, on, &point); err != nil {
			return c.interrupted(ctx, err)
		}
		point.Elapsed = time.Since(started)
		c.Path = append(c.Path, point)
		if k := len(c.Path) - 1; point.Criterion < c.Path[c.Best].Criterion {
			c.Best = k
		}
		c.Chosen = c.Best
		c.Rho = c.Path[c.Best].Penalty
		s.report(math.NaN(), "penalty %.3g, %.0f edges", rho, point.Edges)
		enough := stop.enough(point.Criterion, point.Edges, len(c.Path) == 1)
		if c.Best == 0 && rho > hopeRatio*l.largest && !hopeless(point.Edges) {
			enough = false
		}
		if enough || l.over(rho, point.Edges) {
			return c, nil
		}
	}
}

// interrupted is c with the error of ctx where that is why a solution is missing.
func (c *Choice) interrupted(ctx context.Context, err error) (*Choice, error) {
	switch {
	case ctx.Err() == nil:
		return nil, err
	case len(c.Path) == 0 && c.Permuted == nil:
		return nil, &ErrNothing{ctx.Err()}
	}
	return c, ctx.Err()
}
