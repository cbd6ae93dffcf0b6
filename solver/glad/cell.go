package glad

import (
	"context"
	"errors"
)

// An Engine runs the operations of the cell on one covariance, where its
// matrices lie: S, Θ, Z and, for ADMMu, U. The recursion over them is written
// once, in Unroll.
//
// The engine holds a pair (Θ, Z), the last complete iterate. Initial makes the
// first one and Z every further one; a failed or cancelled operation leaves
// the pair as it was. Cells are counted from Initial on.
type Engine interface {
	// Initial sets Θ = Z = (S + tI)⁻¹, and U = 0. It fails if S + tI is not
	// positive definite.
	Initial(ctx context.Context, t float64) error
	// Theta computes the next Θ = ½(−Y + √(Y² + (4/λ)I)) from
	// Y = S/λ − Z (+ U).
	Theta(ctx context.Context, lambda float64) error
	// Z computes the next Z from the next Θ, by the thresholds that ρnn gives
	// or by the posterior-mean cell, moves U, makes the two the new pair, and
	// returns ‖Z − Θ‖²F.
	Z(ctx context.Context, lambda float64) (norm2 float64, err error)
}

// An Adjoint is an Engine that remembers its iterates and goes back through
// them, from the last cell to the first. It holds the derivatives of the loss
// by Z (and U) after the cell that comes next, and adds to them what the loss
// itself takes from that cell. Derivatives by a symmetric matrix are symmetric
// matrices of derivatives by single entries.
type Adjoint interface {
	Engine
	// AdjointZ goes back through the Z step of cell k: given the derivative by
	// the ‖Z − Θ‖²F that it returned, it adds the derivatives by the
	// parameters of the entry-wise network to gradient and returns the one by
	// the λ that the step was called with.
	AdjointZ(ctx context.Context, k int, lambda, byNorm2 float64, gradient []float64) (byLambda float64, err error)
	// AdjointTheta goes back through the Θ step of cell k and returns the
	// derivative by λ.
	AdjointTheta(ctx context.Context, k int, lambda float64) (byLambda float64, err error)
	// AdjointInitial returns the derivative by t.
	AdjointInitial(ctx context.Context) (byOffset float64, err error)
}

// ErrRange is returned, wrapped or not, by an Engine whose numbers have left
// the range of float64.
var ErrRange = errors.New("the iterates left the range of float64")

// A Shape is what the recursion knows of the scaled S.
type Shape struct {
	// Dimension is d.
	Dimension int
	// Norm is ‖S‖, the largest absolute row sum.
	Norm float64
	// Context is the feature of that name.
	Context float64
}

// lambdaLimit bounds λ and 1/λ, so that neither 4/λ nor S/λ can overflow.
const lambdaLimit = 1e200

// resolution is the ratio below which the smallest eigenvalue of a d×d matrix
// can no longer be told from rounding next to the largest.
func resolution(d int) float64 { return 16 * float64(d) * 0x1p-52 }

// penalty is the λ with which the cell works when Λnn says lambda: see "Where
// float64 ends" in the comment of the package.
func (s Shape) penalty(lambda float64) float64 {
	root := resolution(s.Dimension) * s.Norm
	floor := min(max(root*root, 1/lambdaLimit), lambdaLimit)
	return min(max(lambda, floor), lambdaLimit)
}

// Unroll runs the K cells of m on e. After every cell it calls observe, unless
// that is nil, with the number of the cell from 1, the λ it used and the
// ‖Z − Θ‖²F it ended with.
//
// It returns the number of complete cells, K unless there is an error: that of
// e, ctx.Err(), or ErrRange where λ is NaN.
func (m *Model) Unroll(ctx context.Context, e Engine, s Shape, observe func(k int, lambda, norm2 float64)) (int, error) {
	return m.compile(true).forward(ctx, e, s, observe)
}
