package glad

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/gladflow/gladflow/solver"
	"github.com/gladflow/gladflow/solver/dense"
)

// A LossOn says which of the two matrices a Loss compares with the truth.
type LossOn string

const (
	// LossOnZ is what the paper's published experiments do.
	LossOnZ LossOn = "z"
	// LossOnTheta is the paper's text.
	LossOnTheta LossOn = "theta"
)

// A Loss is Σ_k γ^(K−k)·‖Xk − Θ*‖²F for one covariance, with X = Z or Θ, in the
// units of the scaled S (paper, Eq. 13).
type Loss struct {
	// On is Z or Θ.
	On LossOn `json:"on"`
	// Gamma is γ, positive and at most 1.
	Gamma float64 `json:"gamma"`
	// Relative divides by ‖Θ*‖²F.
	Relative bool `json:"relative,omitzero"`
}

// discount is γ^after.
func (l Loss) discount(after int) float64 { return math.Pow(l.Gamma, float64(after)) }

// A Differentiator computes losses of one model and their exact derivatives
// by its parameters, on a backend that can go back. It keeps memory between
// calls, which come one at a time.
type Differentiator struct {
	model   *Model
	plan    *Plan
	session AdjointSession
	lambda  *network
}

// NewDifferentiator returns one for the architecture of m, at the values of m.
// A nil backend is CPU{}. It fails where m is not valid, and where the backend
// has no adjoint.
func NewDifferentiator(m *Model, b Backend) (*Differentiator, error) {
	if err := m.Validate(); err != nil {
		return nil, err
	}
	if b == nil {
		b = CPU{}
	}
	g := &Differentiator{model: m.Clone(), plan: m.plan(false)}
	s, err := b.Open(g.plan)
	if err != nil {
		return nil, err
	}
	var ok bool
	if g.session, ok = s.(AdjointSession); !ok {
		return nil, errors.Join(fmt.Errorf("the backend %s has no derivatives; train on the CPU", b.Name()), s.Close())
	}
	g.lambda = compile(m.Lambda, g.plan.Values, g.plan.Lambda)
	return g, nil
}

// SetValues moves to other parameters, in the order of Model.Values.
func (g *Differentiator) SetValues(values []float64) { copy(g.plan.Values, values) }

// Gradients sets losses[i] to weight times the loss of example i, and adds its
// derivatives by the parameters, in the order of Model.Values, to gradients[i].
// Examples may differ in dimension; the backend works on them side by side.
//
// Errors are those of a covariance that cannot be solved, ErrRange where the
// numbers leave float64, and ctx.Err(). The gradients are then partly added to.
func (g *Differentiator) Gradients(ctx context.Context, examples []solver.Example, loss Loss, weight float64, losses []float64, gradients [][]float64) error {
	scaled, weights := make([]solver.Example, len(examples)), make([]float64, len(examples))
	for i, e := range examples {
		var u units
		e.S, u = g.model.Scaling.apply(e.S)
		e.Truth = u.scale(e.Truth)
		scaled[i], weights[i] = e, weight
		if loss.Relative {
			weights[i] /= e.Truth.Dot(e.Truth)
		}
	}
	return g.session.Differentiate(ctx, scaled, loss, weights, func(i int, a Adjoint) (err error) {
		losses[i], err = g.thereAndBack(ctx, a, gradients[i])
		return err
	})
}

// thereAndBack runs all cells of a problem and goes back through them: it adds the
// derivatives to gradient and returns the loss.
func (g *Differentiator) thereAndBack(ctx context.Context, a Adjoint, gradient []float64) (float64, error) {
	r := newRecursion(g.model, g.lambda)
	if err := a.Initial(ctx, g.plan.Values[len(g.plan.Values)-1]); err != nil {
		return 0, err
	}
	if _, err := r.forward(ctx, a, nil); err != nil {
		return 0, err
	}
	total, err := r.backward(ctx, a, gradient)
	if err == nil && !finite(total) {
		err = ErrRange
	}
	return total, err
}

// An Outcome is a loss of the last Θ of problem i, in the units of the scaled S: it
// returns the loss and adds its derivatives by Θ to by, the symmetric matrix of those by
// single entries. It is called from several goroutines.
type Outcome func(i int, theta, by *dense.Sym) float64

// OutcomeGradients is Gradients for a loss of the caller's. It fails on a backend other
// than CPU.
func (g *Differentiator) OutcomeGradients(ctx context.Context, problems []solver.Problem, outcome Outcome, losses []float64, gradients [][]float64) error {
	s, ok := g.session.(*cpuSession)
	if !ok {
		return errors.New("the backend has no derivatives of this loss; train on the CPU")
	}
	scaled := make([]solver.Problem, len(problems))
	for i, p := range problems {
		p.S, _ = g.model.Scaling.apply(p.S)
		scaled[i] = p
	}
	return s.differentiateOutcomes(ctx, scaled, outcome, func(i int, a Adjoint) (err error) {
		losses[i], err = g.thereAndBack(ctx, a, gradients[i])
		return err
	})
}

// Gradient is Gradients for one example. It returns the loss.
func (g *Differentiator) Gradient(ctx context.Context, e solver.Example, loss Loss, weight float64, gradient []float64) (float64, error) {
	var total [1]float64
	err := g.Gradients(ctx, []solver.Example{e}, loss, weight, total[:], [][]float64{gradient})
	return total[0], err
}

// Close frees what the backend holds.
func (g *Differentiator) Close() error { return g.session.Close() }
