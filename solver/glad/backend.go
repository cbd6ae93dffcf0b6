package glad

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"github.com/gladflow/gladflow/solver"
	"github.com/gladflow/gladflow/solver/dense"
)

// A Backend evaluates the cells of a model where its matrices lie: in host
// memory (CPU), or on a device. Solver, Differentiator and training reach S, Θ, Z
// and U only through it.
//
// Per problem, this is what crosses the boundary:
//
//   - S once, when it is loaded, and for a gradient the true Θ too;
//   - per cell λ in one direction and ‖Z − Θ‖²F in the other; on the way back
//     the derivatives by them;
//   - at the end Θ and Z, or for a gradient the loss and the vector of
//     derivatives; iterates before that only where an observer of
//     Solver.Trajectory asks for them (Step.Pair).
//
// The recursion of λ is not part of a backend: it is written once, in
// cell_lambda.go, for one problem at a time. The backend decides how the
// recursions of several problems run, because it is the one that calls f in
// Session.Run: the CPU runs as many at a time as it has cores. A device runs
// those of a batch of equal dimension (ByDimension) all at once, each in a
// goroutine of its own; their calls of Cell wait for each other, and the last
// one launches the step for the whole batch. The backend in the tests of this
// package does that.
//
// A backend in another package needs only what is exported here: the formulas
// are in the comments of the package, of PosteriorMean and of the features, the
// limits of float64 under "Limits of float64" in that of the package, and the
// layout of the parameters in Plan. S is scaled before it is loaded, and Θ and Z
// are scaled back after they were read. A backend without derivatives returns a
// Session that is no AdjointSession.
type Backend interface {
	// Name says what computes, with its version. Two backends of the same name
	// on one machine give the same bits: a training is resumed only on a
	// backend of the name that it began on.
	Name() string
	// Open begins a session for a model. The plan does not change while the
	// session is open, except for its Values if they are not Fixed.
	Open(p *Plan) (Session, error)
}

// A Session evaluates one model. It is safe for concurrent use.
type Session interface {
	// Run loads the problems and calls f once for each of them, with its index,
	// from one goroutine or several. It may load them in batches, as its memory
	// allows. They have passed solver.Problem.Validate, and S must not be
	// changed. The Iterates are not used after f has returned.
	//
	// After an error of f no further f begins. Run returns when all that have
	// begun are done: with the error of ctx if that has ended, else with one of
	// f, or of the device.
	Run(ctx context.Context, problems []solver.Problem, f func(i int, it Iterates) error) error
	// Close frees what the session holds.
	Close() error
}

// An AdjointSession is a Session that also computes derivatives.
type AdjointSession interface {
	Session
	// Differentiate is Run for the gradient of weights[i] times the loss of
	// example i. Truth is in the units of the scaled S. Loss.Relative is already
	// in the weights.
	Differentiate(ctx context.Context, examples []solver.Example, loss Loss, weights []float64, f func(i int, a Adjoint) error) error
}

// Cells are the cells of one problem that a session has loaded. They hold the
// last complete pair (Θ, Z), and U for ADMMu. Initial computes the first pair and
// Cell every further one. When one of them fails or is cancelled, the pair must
// remain what it was; neither is called again. Calls come one at a time.
type Cells interface {
	// Shape is what the recursion of λ needs of the scaled S.
	Shape() Shape
	// Initial sets Θ = Z = (S + tI)⁻¹, and U = 0. It fails if S + tI is not
	// positive definite, with the error of CheckStart.
	Initial(ctx context.Context, t float64) error
	// Cell computes the next Θ = ½(−Y + √(Y² + (4/λ)I)) from
	// Y = S/λ − Z (+ U), then from that the next Z, by the thresholds of ρnn or
	// the posterior-mean cell, and U. It returns ‖Z − Θ‖²F. Cells are counted
	// from Initial on.
	//
	// It returns ErrRange where a number leaves float64, dense.ErrEigen where
	// an eigendecomposition does not converge, and ctx.Err() soon after ctx
	// has ended.
	Cell(ctx context.Context, lambda float64) (norm2 float64, err error)
}

// Iterates are Cells whose result can be read, at any time after Initial, also
// after an error or when ctx has ended.
type Iterates interface {
	Cells
	// Definite reports whether Z − δI is positive definite. With the margin
	// δ = 16dε‖Z‖, Z is so too after it was scaled back.
	Definite() (bool, error)
	// Pair returns Θ and Z in host memory. The next Cell may overwrite them.
	// After the last one they belong to the caller, who may change them.
	Pair() (theta, z *dense.Sym, err error)
}

// An Adjoint is Cells that keep every iterate and go back through them, from the
// last cell to the first. Between two calls it holds the derivatives of the loss
// by the Z (and U) that the next cell on the way back has computed; the share of
// the loss in that cell is still to be added. The derivative by a symmetric matrix
// is the symmetric matrix of the derivatives by its single entries.
type Adjoint interface {
	Cells
	// AdjointCell goes back through cell k, which was called with lambda.
	// byNorm2 is the derivative by the ‖Z − Θ‖²F that it returned. The result is
	// byLambda plus the derivative by lambda.
	AdjointCell(ctx context.Context, k int, lambda, byNorm2, byLambda float64) (float64, error)
	// AdjointInitial goes back through Initial. It adds the derivatives by t
	// and by the parameters of the entry-wise networks to gradient, in the
	// order of Model.Values, and returns the loss.
	AdjointInitial(ctx context.Context, gradient []float64) (loss float64, err error)
}

// ErrRange is returned, wrapped or not, by Cells whose numbers have left the
// range of float64.
var ErrRange = errors.New("the iterates left the range of float64")

// Numerical reports whether err is about the numbers of a problem, or of a model: it has
// left float64, does not converge, or S + tI is not positive definite. Other parameters
// may do better. Other errors, such as those of a device that is lost, are not.
func Numerical(err error) bool {
	for _, known := range []error{ErrRange, ErrUnits, dense.ErrEigen} {
		if errors.Is(err, known) {
			return true
		}
	}
	var start startError
	return errors.As(err, &start)
}

// A Shape is what the recursion of λ needs of the scaled S.
type Shape struct {
	// Dimension is d.
	Dimension int
	// Norm is ‖S‖, the largest absolute row sum.
	Norm float64
	// Context is the feature of that name.
	Context float64
	// Table are the features of a table.
	Table Table
}

// A Plan is a model as a Backend evaluates it: its entry-wise networks, and
// the place of their parameters in one vector.
type Plan struct {
	// Kind is the cell.
	Kind Kind
	// Iterations is K.
	Iterations int
	// Values are the parameters, in the order of Model.Values.
	Values []float64
	// Fixed says that Values will not change. Otherwise they may between two
	// calls of the session.
	Fixed bool
	// Entries are ρnn, or the networks of the posterior-mean cells: one for all
	// iterations, or one for each.
	Entries []PlanEntry
	// Lambda is where the parameters of Λnn begin in Values. t comes last.
	Lambda int

	// samples says that a network needs M.
	samples bool
}

// A PlanEntry is an entry-wise network.
type PlanEntry struct {
	// Network has the inputs and the shapes, activations and scales of the
	// layers. The weights in it are not used.
	Network Network
	// At is where its weights begin in Values: layer after layer, each with its
	// weights by rows and then its biases.
	At int
	// Step is the index of e of a posterior-mean cell in Values.
	Step int
}

// Entry is the index in Entries of cell k, from 1.
func (p *Plan) Entry(k int) int {
	if len(p.Entries) == 1 {
		return 0
	}
	return k - 1
}

// Gain is softplus(e) of the posterior-mean cell k, from 1.
func (p *Plan) Gain(k int) float64 { return softplus(p.Values[p.Entries[p.Entry(k)].Step]) }

// GainSlope is the derivative by e of softplus(e), for the cells of Entries[entry].
func (p *Plan) GainSlope(entry int) float64 { return sigmoid(p.Values[p.Entries[entry].Step]) }

// plan lays m out.
func (m *Model) plan(fixed bool) *Plan {
	p := &Plan{Kind: m.Kind, Iterations: m.Iterations, Values: m.Values(), Fixed: fixed, samples: m.needsSamples()}
	if m.Kind == GLADPM {
		for _, c := range m.Cells {
			p.Entries = append(p.Entries, PlanEntry{Network: c.Network, Step: p.Lambda, At: p.Lambda + 1})
			p.Lambda += 1 + c.Network.parameters()
		}
		return p
	}
	p.Entries, p.Lambda = []PlanEntry{{Network: m.Rho}}, m.Rho.parameters()
	return p
}

// ByDimension lists the indices of problems in groups of equal dimension, the
// largest first.
func ByDimension(problems []solver.Problem) [][]int {
	at := map[int][]int{}
	for i, p := range problems {
		at[p.S.Len()] = append(at[p.S.Len()], i)
	}
	var groups [][]int
	for _, g := range at {
		groups = append(groups, g)
	}
	slices.SortFunc(groups, func(a, b []int) int {
		return cmp.Compare(problems[b[0]].S.Len(), problems[a[0]].S.Len())
	})
	return groups
}
