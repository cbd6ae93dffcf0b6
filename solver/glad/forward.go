package glad

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/gladflow/gladflow/solver"
	"github.com/gladflow/gladflow/solver/dense"
)

// Solver runs a model. Its zero value runs the default model on the default
// engine. It is safe for concurrent use.
type Solver struct {
	// Model is what is run. Default (nil): Builtin(DefaultModelName).
	Model *Model
	// Engine computes the eigendecompositions. Default (nil):
	// dense.Default().
	Engine dense.Engine
	// Recorder, if any, is told of every cell; objective and gap are NaN.
	Recorder solver.Recorder
}

var _ solver.Solver = Solver{}

// A Step is the state after one cell.
type Step struct {
	// Iteration counts from 1.
	Iteration int
	// Lambda is the λ with which the cell worked, Norm2 the ‖Z − Θ‖²F that it
	// ended with.
	Lambda, Norm2 float64
	// Theta and Z are the solver's own memory, to be read before the observer
	// returns. They belong to the scaled S: see Scaling.
	Theta, Z *dense.Sym
}

// Solve implements solver.Solver. Precision is Θ_K, symmetric positive
// definite, Support is Z_K; for a posterior-mean model Precision is Z_K where
// that is positive definite, and Support is Z_K with what is below the model's
// threshold set to zero. Objective, gap and KKT residual are NaN, and
// Status is Completed.
//
// When ctx ends first, the estimate is the last complete pair (Θ_k, Z_k) with
// Status Interrupted; before there is one, the inverse of the diagonal of S.
// When the model drives the iterates out of float64, it is the last pair with
// Status Stalled. Errors are those of Problem.Validate and Model.Validate, an
// S + tI that is not positive definite, and an S whose precision matrix
// float64 cannot hold.
func (s Solver) Solve(ctx context.Context, p solver.Problem) (*solver.Estimate, error) {
	return s.Trajectory(ctx, p, nil)
}

// Trajectory is Solve, and calls observe after every cell.
func (s Solver) Trajectory(ctx context.Context, p solver.Problem, observe func(Step)) (*solver.Estimate, error) {
	start := time.Now()
	m, engine := s.Model, s.Engine
	if m == nil {
		var err error
		if m, err = Builtin(DefaultModelName); err != nil {
			return nil, err
		}
	}
	if engine == nil {
		engine = dense.Default()
	}
	if err := m.Validate(); err != nil {
		return nil, err
	}
	if err := p.Validate(); err != nil {
		return nil, err
	}
	scaled, units := m.Scaling.apply(p.S)
	if !scaled.Finite() {
		return nil, errUnits
	}
	program := m.compile(true)
	cells := newCPU(program, scaled, p.Samples, engine, dense.Cores())
	done, err := program.forward(ctx, cells, cells.shape, func(k int, lambda, norm2 float64) {
		if observe != nil {
			observe(Step{Iteration: k, Lambda: lambda, Norm2: norm2, Theta: cells.theta, Z: cells.z})
		}
		if s.Recorder != nil {
			s.Recorder.Record(solver.Iteration{
				Number: k, Of: m.Iterations,
				Objective: math.NaN(), Gap: math.NaN(), Target: math.NaN(),
			})
		}
	})
	est := &solver.Estimate{
		Status: solver.Completed, Iterations: done,
		Objective: math.NaN(), DualityGap: math.NaN(), KKTResidual: math.NaN(),
	}
	est.Precision, est.Support = cells.result(m)
	switch {
	case err == nil:
	case !cells.started && !interrupted(err):
		return nil, err
	case !cells.started:
		est.Status = solver.Interrupted
		est.Precision, est.Support = diagonal(scaled), diagonal(scaled)
	case interrupted(err):
		est.Status = solver.Interrupted
	case errors.Is(err, ErrRange), errors.Is(err, dense.ErrEigen):
		est.Status = solver.Stalled
	default:
		return nil, fmt.Errorf("model %q, iteration %d: %w", m.Name, done+1, err)
	}
	for _, a := range []*dense.Sym{est.Precision, est.Support} {
		if err := units.restore(a); err != nil {
			return nil, err
		}
	}
	est.Elapsed = time.Since(start)
	return est, nil
}

// result is what the last complete pair is handed out as.
func (c *cpu) result(m *Model) (precision, support *dense.Sym) {
	if m.Kind != GLADPM || !c.started {
		return c.theta, c.z
	}
	precision, support = c.theta, c.z.Clone()
	// A margin makes sure that it is also definite after it was scaled back.
	margin := c.z.Clone()
	margin.AddDiagonal(-resolution(c.shape.Dimension) * norm(c.z))
	if _, ok := c.work.LogDet(margin, margin.Raw()); ok {
		precision = c.z
	}
	for i := range support.Len() {
		row := support.Row(i)
		for j, v := range row {
			if i != j && math.Abs(v) < m.Threshold*math.Sqrt(precision.At(i, i)*precision.At(j, j)) {
				row[j] = 0
			}
		}
	}
	return precision, support
}

// diagonal is the precision matrix of S without its correlations.
func diagonal(s *dense.Sym) *dense.Sym {
	a := dense.NewSym(s.Len(), nil)
	for i := range s.Len() {
		a.Set(i, i, 1/s.At(i, i))
	}
	return a
}
