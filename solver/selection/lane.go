package selection

import (
	"context"
	"math"
	"math/rand/v2"

	"github.com/gladflow/gladflow/solver"
	"github.com/gladflow/gladflow/solver/dense"
	"github.com/gladflow/gladflow/solver/glasso"
)

// A lane is a covariance whose path is followed, each solution started from the one before.
type lane struct {
	problem solver.Problem
	set     glasso.Settings
	last    *solver.Estimate
}

func newLane(p solver.Problem, s Settings, gap float64, engine dense.Engine) *lane {
	return &lane{problem: p, set: glasso.Settings{
		Penalty: glasso.Penalty{Diagonal: s.Diagonal}, Gap: gap, IterationLimit: s.IterationLimit, Engine: engine,
	}}
}

// solve solves for a penalty. What ctx has interrupted is its error and no solution.
func (l *lane) solve(ctx context.Context, rho float64) error {
	set := l.set
	set.Penalty.Rho, set.Initial = rho, l.last
	est, err := glasso.BCD{Settings: set}.Solve(ctx, l.problem)
	if err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	l.last = est
	return nil
}

// logLikelihood is log det Θ − tr(TΘ) of the last solution for a covariance T.
func (l *lane) logLikelihood(t *dense.Sym, rho float64) float64 {
	est := l.last
	// log det Θ stands in the objective.
	logdet := l.problem.S.Dot(est.Precision) - est.Objective
	var norm float64
	for i := range t.Len() {
		for j, v := range est.Precision.Row(i) {
			if i != j || l.set.Penalty.Diagonal {
				norm += math.Abs(v)
			}
		}
	}
	return logdet + rho*norm - t.Dot(est.Precision)
}

// note takes the solution of a lane into the point.
func (p *Point) note(est *solver.Estimate) {
	p.Status = solver.Worse(p.Status, est.Status)
	p.Iterations = max(p.Iterations, est.Iterations)
	p.Gap = math.Max(p.Gap, est.RelativeGap())
}

// join takes what note has of another point into the point.
func (p *Point) join(q Point) {
	p.Status = solver.Worse(p.Status, q.Status)
	p.Iterations = max(p.Iterations, q.Iterations)
	p.Gap = math.Max(p.Gap, q.Gap)
}

func newPoint(rho float64) Point {
	nan := math.NaN()
	return Point{Penalty: rho, Criterion: nan, Error: nan, LogLikelihood: nan, Status: solver.Converged}
}

// each calls f for 0 ≤ i < n on the threads of the engine, with an engine of one thread.
func (s Settings) each(ctx context.Context, n int, f func(i int, engine dense.Engine) error) error {
	workers := min(n, dense.Threads(s.engine()))
	engines := make([]dense.Engine, workers)
	for w := range engines {
		engines[w] = dense.WithThreads(s.engine(), 1)
	}
	return dense.Each(ctx, n, workers, func(worker, i int) error { return f(i, engines[worker]) })
}

// random is a stream of its own for every rule and resample.
func (s Settings) random(rule string, k int) *rand.Rand {
	h := uint64(14695981039346656037)
	for _, c := range []byte(rule) {
		h = (h ^ uint64(c)) * 1099511628211
	}
	return rand.New(rand.NewPCG(s.Seed, h+uint64(k)))
}
