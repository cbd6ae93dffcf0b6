package glad

import (
	"context"
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/gladflow/gladflow/solver/dense"
)

// The spectral step that all kinds share, forward and adjoint: with
// Y = S/λ − Z (+ U) = Q·diag(y)·Qᵀ,
//
//	Θ = Q·diag(φ)·Qᵀ,   φ = ½(−y + √(y² + 4/λ)).

// thetaStep computes the next Θ.
func (c *iterates) thetaStep(ctx context.Context, lambda float64) error {
	y, z := c.spare.Raw(), c.pair.z.Raw()
	for i, s := range c.s.Raw() {
		y[i] = s/lambda - z[i]
	}
	if c.u != nil {
		for i, u := range c.u.Raw() {
			y[i] += u
		}
	}
	c.lambda = lambda
	if err := c.await(ctx, c.step); err != nil {
		return err
	}
	if c.failed != nil && !c.spare.Finite() {
		return ErrRange
	}
	return c.failed
}

// thetaKernel sets next to the Θ of the Y in spare, which it overwrites: by the
// eigenvectors where they are kept.
func (c *iterates) thetaKernel() {
	if !c.keep {
		c.failed = c.work.LogDetProxOver(c.next, c.spare, c.lambda, Resolution(c.shape.Dimension))
		return
	}
	c.failed = c.work.LogDetProx(c.next, c.spare, c.lambda, Resolution(c.shape.Dimension), c.values, c.phi, c.spare.Raw())
}

// recompute computes Θ of cell k again, from what was kept.
func (t *tape) recompute(k int, lambda float64) *dense.Sym {
	theta := t.next
	dense.LogDetProxValues(t.phi, t.kept[k-1].values, lambda, Resolution(t.shape.Dimension))
	t.work.Spectral(theta, t.phi, t.kept[k-1].vectors.Raw())
	return theta
}

// adjointTheta goes back through the Θ step of cell k, from the derivatives by
// Θ to those by Z (and U), and returns the derivative by λ.
func (t *tape) adjointTheta(k int, lambda float64) float64 {
	values, vectors := t.kept[k-1].values, t.kept[k-1].vectors.Raw()
	dense.LogDetProxValues(t.phi, values, lambda, Resolution(t.shape.Dimension))
	a := &t.adjoints
	h := a.theta
	t.work.Conjugate(h, vectors, false, t.product)
	// ∂φ/∂λ at fixed Y is −1/(λ²s), and the derivative of the matrix function
	// in the eigenbasis an entry-wise product with the divided differences,
	// −(φi + φj)/(si + sj) for s = √(y² + 4/λ): no gap of eigenvalues divides.
	root := 2 / math.Sqrt(lambda)
	roots := t.roots
	var byLambda float64
	for i, y := range values {
		roots[i] = math.Hypot(y, root)
		byLambda -= h.At(i, i) / roots[i]
	}
	for i := range values {
		row := h.Row(i)
		phi, s := t.phi[i], roots[i]
		for j := range row {
			row[j] *= -(phi + t.phi[j]) / (s + roots[j])
		}
	}
	t.work.Conjugate(h, vectors, true, t.product)
	// Y = S/λ − Z (+ U).
	byLambda -= h.Dot(t.s)
	floats.AddScaled(a.z.Raw(), -1, h.Raw())
	if a.u != nil {
		floats.Add(a.u.Raw(), h.Raw())
	}
	return byLambda / (lambda * lambda)
}
