//go:build cuda

package cuda

import (
	"context"
	"errors"
	"slices"

	"github.com/gladflow/gladflow/solver/cuda/driver"
	"github.com/gladflow/gladflow/solver/cuda/kernels"
	"github.com/gladflow/gladflow/solver/glad"
)

// The Θ step: with Y = S/λ − Z (+ U) and α = 2/√λ,
//
//	Θ = ½(√(Y² + α²I) − Y).

// A method computes the root in it.
type method int

const (
	automatic method = iota
	byEigen          // the eigendecomposition of Y
	byPolar          // the polar iteration on the pair (Y, αI)
)

const (
	// eigenBelow is the d under which one matrix at a time goes the way of the
	// eigendecomposition.
	eigenBelow = 500
	// worstCondition is the largest κ of Y² + α²I for the polar iteration.
	worstCondition = 1e10
)

// errBound says that a singular value was above what it was taken to be.
var errBound = errors.New("the bound of the norm was too small")

// thetaStep computes the next Θ of all problems into b.next from the λ of each. Problems
// whose numbers leave float64 get glad.ErrRange in failed.
func (b *batch) thetaStep(ctx context.Context, lambda []float64, failed []error) error {
	y := b.work[workY]
	norms := b.figures[:b.n]
	err := b.do(ctx, func(q *queue) {
		b.upload(q, b.device.lambda, b.n, func(i int) float64 { return lambda[i] })
		q.over(kernels.ThetaArgument, b.n, b.dimension(), y, b.s, b.pair.z, b.u, b.device.lambda)
		b.norms(q, y, norms)
	})
	if err != nil {
		return err
	}
	b.finite(norms, glad.ErrRange)
	upper := slices.Clone(norms)
	b.told.condition(lambda, upper, failed)
	if tight, ok, err := b.choose(ctx, lambda, upper, failed); err != nil {
		return err
	} else if ok {
		err = b.polar(ctx, lambda, tight, failed)
		if errors.Is(err, errBound) && b.n == 1 {
			err = b.polar(ctx, lambda, upper, failed)
		}
		if !errors.Is(err, errBound) {
			return err
		}
	}
	return b.eigen(ctx, lambda, failed)
}

// choose says whether the polar iteration is the method, and with which bounds of ‖Y‖;
// upper are right ones.
func (b *batch) choose(ctx context.Context, lambda, upper []float64, failed []error) (tight []float64, ok bool, err error) {
	how := b.session.backend.method
	if how == byEigen || how == automatic && b.n == 1 && b.d < eigenBelow {
		return nil, false, nil
	}
	tight = upper
	if b.n == 1 && failed[0] == nil {
		if tight, err = b.lanczos(ctx, b.work[workY], upper); err != nil {
			return nil, false, err
		}
		b.told.condition(lambda, tight, failed)
	}
	for i, u := range tight {
		if failed[i] != nil {
			continue
		}
		// Eigenvalues of Θ go down to 1/(4κ) of the largest, at least: so they stay
		// above what the CPU raises them to.
		if k := 1 + u*u*lambda[i]/4; !(k < worstCondition) || 4*k*glad.Resolution(b.d) > 0.5 {
			return nil, false, nil
		}
	}
	return tight, true, nil
}

// norms sets to the largest absolute row sum of each matrix in a. The caller waits.
func (b *batch) norms(q *queue, a driver.Pointer, to []float64) {
	q.over(kernels.RowNorms, b.n, b.dimension(), b.device.rows, a)
	q.over(kernels.Largest, b.n, b.dimension(), b.device.figures, b.device.rows)
	q.download(to, b.device.figures)
}

// eigen is the Θ step by way of eigendecompositions.
func (b *batch) eigen(ctx context.Context, lambda []float64, failed []error) error {
	b.told.Eigen = true
	y, vectors := b.work[workY], b.work[workP]
	err := b.enqueue(ctx, func(q *queue) { q.copy(vectors, y, 8*b.size()*int64(b.n)) })
	if err == nil {
		err = b.decomposeAll(ctx, vectors, b.device.values, failed)
	}
	if err != nil {
		return err
	}
	return b.do(ctx, func(q *queue) {
		b.thetaOf(q, b.work[workW], vectors, b.device.values, b.work[workQ])
		b.next = workW
	})
}

// thetaOf queues Θ, from the eigenvectors and eigenvalues of Y. scaled is scratch.
func (b *batch) thetaOf(q *queue, theta, vectors, values, scaled driver.Pointer) {
	q.over(kernels.SpectralValues, b.n, b.dimension(), b.device.phi, values, b.device.lambda, glad.Resolution(b.d))
	b.spectral(q, theta, vectors, scaled, b.n)
}
