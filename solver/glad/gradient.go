package glad

import (
	"context"
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
// by its parameters. It keeps memory between calls, and serves one goroutine
// at a time.
type Differentiator struct {
	program *program
	engine  dense.Engine
	tapes   map[int]*tape // by d
}

// tapesKept bounds the memory where every covariance has another size.
const tapesKept = 4

// NewDifferentiator returns one for the architecture of m, at the values of m.
// A nil engine is dense.Default(). It fails where m is not valid.
func NewDifferentiator(m *Model, engine dense.Engine) (*Differentiator, error) {
	if err := m.Validate(); err != nil {
		return nil, err
	}
	if engine == nil {
		engine = dense.Default()
	}
	return &Differentiator{program: m.compile(false), engine: engine, tapes: map[int]*tape{}}, nil
}

// SetValues moves to other parameters, in the order of Model.Values.
func (g *Differentiator) SetValues(values []float64) { copy(g.program.values, values) }

// Gradient returns weight times the loss of p, whose precision matrix is
// truth, and adds its derivatives by the parameters, in the order of
// Model.Values, to gradient.
//
// Errors are those of a covariance that cannot be solved, ErrRange where the
// numbers leave float64, and ctx.Err(). gradient is then partly added to.
func (g *Differentiator) Gradient(ctx context.Context, p solver.Problem, truth *dense.Sym, loss Loss, weight float64, gradient []float64) (float64, error) {
	scaled, units := g.program.model.Scaling.apply(p.S)
	d := scaled.Len()
	t := g.tapes[d]
	if t == nil {
		if len(g.tapes) == tapesKept {
			clear(g.tapes)
		}
		t = newTape(g.program, d, g.engine)
		g.tapes[d] = t
	}
	truth = units.scale(truth)
	if loss.Relative {
		weight /= truth.Dot(truth)
	}
	t.load(g.program, scaled, truth, p.Samples, loss, weight)
	_, err := g.program.forward(ctx, t, t.shape, nil)
	if err == nil {
		err = g.program.backward(ctx, t, t.shape, gradient)
	}
	if err != nil {
		return 0, err
	}
	if !finite(t.total) {
		return 0, ErrRange
	}
	return t.total, nil
}
