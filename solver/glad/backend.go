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
// memory (CPU), or on a device. Solver and Differentiator do nothing with S, Θ,
// Z and U but through it.
//
// What crosses the boundary, per problem: S once, when it is loaded; per cell
// λ in one direction and ‖Z − Θ‖²F in the other; Θ and Z once, at the end, or
// where an observer of Solver.Trajectory asks for them. On the way back, per
// cell two derivatives in and one out, at the end the gradient and the loss.
//
// The recursion of λ is not a backend's: it is written once, in cell_lambda.go,
// and calls the backend for one problem. A device that evaluates many problems
// at a time runs one such recursion per problem, each in a goroutine of its
// own, and launches a step when the last problem of equal dimension that is
// not done has asked for it (see ByDimension, and the backend in the tests of
// this package).
//
// An implementation outside of this package needs nothing that is not
// exported: the formulas stand in the comments of the package, of Kind, of
// PosteriorMean and of the features, the limits of float64 under "Where
// float64 ends", and the layout of the parameters in Plan. Scaling is done to S,
// and undone on Θ and Z, outside.
type Backend interface {
	// Name says what computes, with its version. Results of two backends of one
	// name on one machine have the same bits.
	Name() string
	// Open makes a session for a model. The plan does not change while the
	// session is open, but for its Values if they are not Fixed.
	Open(p *Plan) (Session, error)
}

// A Session evaluates one model. It is safe for concurrent use.
type Session interface {
	// Run loads the problems and calls f once for each of them, with its index,
	// from one goroutine or several. It may load as many at a time as its
	// memory holds, and a device takes those of equal dimension together.
	//
	// S is valid in the sense of solver.Problem.Validate, and finite. It
	// belongs to the caller, who does not change it.
	//
	// Run returns when every f that it has called has. Its error is that of
	// ctx if that has ended, else the first of those of f, after which no
	// further f begins, or that of the device. The Iterates are not used after
	// their f.
	Run(ctx context.Context, problems []solver.Problem, f func(i int, it Iterates) error) error
	// Close frees what the session holds.
	Close() error
}

// An AdjointSession is a Session that can also go back through the cells. A
// backend without it solves, and does not train.
type AdjointSession interface {
	Session
	// Differentiate is Run for a loss on examples: each comes with its Truth,
	// and its own weight on the loss. The units of S and Truth are those of
	// the scaled S.
	Differentiate(ctx context.Context, examples []solver.Example, loss Loss, weights []float64, f func(i int, a Adjoint) error) error
}

// Cells are the cells of one problem that a session has loaded. They hold a
// pair (Θ, Z), the last complete iterate, and U for ADMMu. Initial makes the
// first pair and Cell every further one; when one of them fails or is
// cancelled, the pair remains what it was, and only the pair may be used from
// then on. Calls come one at a time.
type Cells interface {
	// Shape is what the recursion of λ knows of the scaled S.
	Shape() Shape
	// Initial sets Θ = Z = (S + tI)⁻¹, and U = 0. It fails if S + tI is not
	// positive definite.
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

// Iterates are Cells that give the result. It can be asked for at any time
// after Initial, also when ctx has ended.
type Iterates interface {
	Cells
	// Definite reports whether Z − δI is positive definite, where
	// δ = 16dε‖Z‖ makes sure that Z still is when it was scaled back.
	Definite() (bool, error)
	// Pair returns Θ and Z in host memory. They may be the memory in which the
	// next cell is computed: an observer copies what it keeps. After the last
	// cell they belong to the caller.
	Pair() (theta, z *dense.Sym, err error)
}

// An Adjoint is Cells that remember every iterate and go back through them, from
// the last cell to the first. It holds the derivatives of the loss by Z (and U)
// after the cell that comes next, and adds to them what the loss itself takes
// from that cell. Derivatives by a symmetric matrix are symmetric matrices of
// derivatives by single entries.
type Adjoint interface {
	Cells
	// AdjointCell goes back through cell k, called with lambda. byNorm2 is the
	// derivative by the ‖Z − Θ‖²F that it returned; the result is byLambda
	// plus the derivative by lambda.
	AdjointCell(ctx context.Context, k int, lambda, byNorm2, byLambda float64) (float64, error)
	// AdjointInitial goes back through Initial. It adds the derivatives by t
	// and by the parameters of the entry-wise networks to gradient, in the
	// order of Model.Values, and returns the loss.
	AdjointInitial(ctx context.Context, gradient []float64) (loss float64, err error)
}

// ErrRange is returned, wrapped or not, by Cells whose numbers have left the
// range of float64.
var ErrRange = errors.New("the iterates left the range of float64")

// A Shape is what the recursion of λ knows of the scaled S.
type Shape struct {
	// Dimension is d.
	Dimension int
	// Norm is ‖S‖, the largest absolute row sum.
	Norm float64
	// Context is the feature of that name.
	Context float64
}

// A Plan is a model as a Backend evaluates it: what its entry-wise networks are
// and where their parameters stand in one vector.
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
}

// A PlanEntry is an entry-wise network.
type PlanEntry struct {
	// Network has the inputs and the shapes, activations and scales of the
	// layers. The weights in it are not used.
	Network Network
	// At is where its weights begin in Values: layer after layer, each with its
	// weights by rows and then its biases.
	At int
	// Step is where e of the posterior-mean cell stands in Values.
	Step int
}

// Entry is the index in Entries of cell k, from 1.
func (p *Plan) Entry(k int) int {
	if len(p.Entries) == 1 {
		return 0
	}
	return k - 1
}

// plan lays m out.
func (m *Model) plan(fixed bool) *Plan {
	p := &Plan{Kind: m.Kind, Iterations: m.Iterations, Values: m.Values(), Fixed: fixed}
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
