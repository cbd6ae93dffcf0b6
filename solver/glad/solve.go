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

// Solver runs a model. Its zero value runs the default model on the CPU. It is
// safe for concurrent use.
type Solver struct {
	// Model is what is run. Default (nil): Builtin(DefaultModelName).
	Model *Model
	// Backend evaluates the cells. Default (nil): CPU{}.
	Backend Backend
	// Engine does what the edge head of the model needs, in host memory. Default (nil): that
	// of Backend where this is CPU, else dense.Default().
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

	iterates Iterates
}

// Pair returns Θ and Z, which a backend may have to copy from a device. They are
// the solver's own memory: the observer copies what it keeps. They are those of the
// scaled S: see Scaling.
func (s Step) Pair() (theta, z *dense.Sym, err error) { return s.iterates.Pair() }

// Solve implements solver.Solver. Precision is Θ_K, symmetric positive
// definite, Support is Z_K; for a posterior-mean model Precision is Z_K where
// that is positive definite, and Support is Z_K with what is below the model's
// threshold set to zero. Objective, gap and KKT residual are NaN, and
// Status is Completed. Probability is that of the model's edge head, if it has one and the
// status is Completed: see Model.EdgeProbability.
//
// When ctx ends first, the estimate is the last complete pair (Θ_k, Z_k) with
// Status Interrupted; before there is one, the inverse of the diagonal of S.
// When the model drives the iterates out of float64, it is the last pair with
// Status Stalled. Errors are those of Problem.Validate and Model.Validate, an
// S + tI that is not positive definite, an S whose precision matrix float64
// cannot hold, and those of the backend.
func (s Solver) Solve(ctx context.Context, p solver.Problem) (*solver.Estimate, error) {
	return s.Trajectory(ctx, p, nil)
}

// Trajectory is Solve, and calls observe after every cell.
func (s Solver) Trajectory(ctx context.Context, p solver.Problem, observe func(Step)) (*solver.Estimate, error) {
	est, err := s.run(ctx, []solver.Problem{p}, observe)
	if err != nil {
		return nil, err
	}
	return est[0], nil
}

// SolveAll is Solve for several problems, which the backend works on side by
// side; they may differ in dimension. Estimates are in the order of the
// problems. It ends at the first error, that of one of the problems.
func (s Solver) SolveAll(ctx context.Context, problems []solver.Problem) ([]*solver.Estimate, error) {
	return s.run(ctx, problems, nil)
}

func (s Solver) run(ctx context.Context, problems []solver.Problem, observe func(Step)) (estimates []*solver.Estimate, err error) {
	start := time.Now()
	m, backend := s.Model, s.Backend
	if m == nil {
		if m, err = Builtin(DefaultModelName); err != nil {
			return nil, err
		}
	}
	if backend == nil {
		backend = CPU{}
	}
	if err := m.Validate(); err != nil {
		return nil, err
	}
	scaled, back := make([]solver.Problem, len(problems)), make([]units, len(problems))
	for i, p := range problems {
		if err := p.Validate(); err != nil {
			return nil, err
		}
		scaled[i].Samples = p.Samples
		if scaled[i].S, back[i] = m.Scaling.apply(p.S); !scaled[i].S.Finite() {
			return nil, ErrUnits
		}
	}
	plan := m.plan(true)
	session, err := backend.Open(plan)
	if err != nil {
		return nil, err
	}
	defer func() {
		if failed := session.Close(); failed != nil {
			err = errors.Join(err, failed)
		}
	}()
	lambda := compile(m.Lambda, plan.Values, plan.Lambda)
	lambda.fold()

	estimates = make([]*solver.Estimate, len(problems))
	err = session.Run(ctx, scaled, func(i int, it Iterates) error {
		est, err := s.solve(ctx, m, newRecursion(m, lambda), it, observe)
		if err == nil && est.Precision != nil {
			err = back[i].restoreAll(est)
			if err == nil && est.Status == solver.Completed {
				err = s.likely(ctx, m, problems[i], est)
			}
			est.Elapsed = time.Since(start)
			estimates[i] = est
		}
		return err
	})
	if err != nil && !interrupted(err) {
		return nil, err
	}
	for i := range estimates {
		if estimates[i] == nil { // interrupted before there was a pair
			est := newEstimate(solver.Interrupted)
			est.Precision, est.Support = diagonal(scaled[i].S), diagonal(scaled[i].S)
			if err := back[i].restoreAll(est); err != nil {
				return nil, err
			}
			est.Elapsed = time.Since(start)
			estimates[i] = est
		}
	}
	return estimates, nil
}

// solve runs the cells of one problem. The estimate has no matrices where ctx
// ended before there was a pair.
func (s Solver) solve(ctx context.Context, m *Model, r *recursion, it Iterates, observe func(Step)) (*solver.Estimate, error) {
	if err := it.Initial(ctx, m.Theta0Offset); err != nil {
		if interrupted(err) {
			return newEstimate(solver.Interrupted), nil
		}
		return nil, err
	}
	done, err := r.forward(ctx, it, func(k int, lambda, norm2 float64) {
		if observe != nil {
			observe(Step{Iteration: k, Lambda: lambda, Norm2: norm2, iterates: it})
		}
		if s.Recorder != nil {
			s.Recorder.Record(solver.Iteration{
				Number: k, Of: m.Iterations,
				Objective: math.NaN(), Gap: math.NaN(), Target: math.NaN(),
				Distance: math.Sqrt(norm2),
			})
		}
	})
	est := newEstimate(solver.Completed)
	est.Iterations = done
	switch {
	case err == nil:
	case interrupted(err):
		est.Status = solver.Interrupted
	case errors.Is(err, ErrRange), errors.Is(err, dense.ErrEigen):
		est.Status = solver.Stalled
	default:
		return nil, fmt.Errorf("model %q, iteration %d: %w", m.Name, done+1, err)
	}
	est.Precision, est.Support, err = m.result(it)
	return est, err
}

// likely gives est the probabilities of m, unless ctx ends first.
func (s Solver) likely(ctx context.Context, m *Model, p solver.Problem, est *solver.Estimate) (err error) {
	engine := s.Engine
	if engine == nil {
		cpu, _ := s.Backend.(CPU)
		engine = cpu.engine()
	}
	var familiar bool
	est.Probability, familiar, err = m.EdgeProbability(ctx, engine, p, est.Precision, est.Support)
	est.Unfamiliar = est.Probability != nil && !familiar
	if interrupted(err) {
		est.Status, err = solver.Interrupted, nil
	}
	return err
}

func newEstimate(status solver.Status) *solver.Estimate {
	return &solver.Estimate{Status: status, Objective: math.NaN(), DualityGap: math.NaN(), KKTResidual: math.NaN()}
}

// result is the precision matrix and the support of the last complete pair.
func (m *Model) result(it Iterates) (precision, support *dense.Sym, err error) {
	theta, z, err := it.Pair()
	if err != nil || m.Kind != GLADPM {
		return theta, z, err
	}
	definite, err := it.Definite()
	if err != nil {
		return nil, nil, err
	}
	precision, support = theta, z.Clone()
	if definite {
		precision = z
	}
	for i := range support.Len() {
		row := support.Row(i)
		for j, v := range row {
			if i != j && math.Abs(v) < m.Threshold*math.Sqrt(precision.At(i, i)*precision.At(j, j)) {
				row[j] = 0
			}
		}
	}
	return precision, support, nil
}

// diagonal is the precision matrix of S without its correlations.
func diagonal(s *dense.Sym) *dense.Sym {
	a := dense.NewSym(s.Len(), nil)
	for i := range s.Len() {
		a.Set(i, i, 1/s.At(i, i))
	}
	return a
}

// interrupted reports whether err is that of an ended context.
func interrupted(err error) bool {
	return errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
}
