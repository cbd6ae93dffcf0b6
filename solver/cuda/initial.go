//go:build cuda

package cuda

import (
	"context"
	"math"
	"slices"

	"github.com/gladflow/gladflow/solver/cuda/driver"
	"github.com/gladflow/gladflow/solver/cuda/kernels"
	"github.com/gladflow/gladflow/solver/cuda/library"
	"github.com/gladflow/gladflow/solver/dense"
	"github.com/gladflow/gladflow/solver/glad"
)

// initial sets Θ = Z = (S + tI)⁻¹ of all problems, and U = 0. failed gets the errors of
// single problems.
func (b *batch) initial(ctx context.Context, t float64, failed []error) error {
	a := b.work[workP]
	norms := b.figures[:b.n]
	err := b.do(ctx, func(q *queue) {
		q.copy(a, b.s, 8*b.size()*int64(b.n))
		b.scalars(q, func(int) float64 { return t })
		q.over(kernels.AddDiagonal, b.n, b.dimension(), a, b.device.scalars)
		b.norms(q, a, norms)
	})
	if err != nil {
		return err
	}
	of := slices.Clone(norms)
	for i, v := range of {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			failed[i] = glad.ErrUnits
		}
	}
	if b.n > 1 {
		done, err := b.invertAll(ctx, t, of, failed)
		if err != nil {
			return err
		}
		if done {
			return b.start(ctx, failed)
		}
	}
	if err := b.invertEach(ctx, t, of, failed); err != nil {
		return err
	}
	return b.start(ctx, failed)
}

// invertEach sets Θ to the inverse of the matrices in work[workP], whose norms are of, one
// problem after the other: by Cholesky where the inverse is well conditioned, as on the
// CPU.
func (b *batch) invertEach(ctx context.Context, t float64, of []float64, failed []error) (err error) {
	a, theta := b.work[workP], b.pair.theta
	norms := b.figures[:b.n]
	infos := make([]bool, b.n)
	for i := range b.n {
		if failed[i] != nil {
			continue
		}
		if infos[i], err = b.invert(ctx, b.at(theta, i), b.at(a, i)); err != nil {
			return err
		}
	}
	err = b.do(ctx, func(q *queue) {
		q.over(kernels.Mirror, b.n, b.dimension(), theta, int64(0))
		b.norms(q, theta, norms)
	})
	if err != nil {
		return err
	}
	inverse := slices.Clone(norms)
	for i := range b.n {
		if failed[i] != nil || infos[i] && inverse[i]*of[i] < 1/glad.Resolution(b.d) {
			continue
		}
		if err := b.invertByEigen(ctx, i, t, failed); err != nil {
			return err
		}
	}
	return nil
}

// start begins with Θ: Z is the same, and U is 0.
func (b *batch) start(ctx context.Context, failed []error) error {
	norms := b.figures[:b.n]
	err := b.do(ctx, func(q *queue) {
		b.norms(q, b.pair.theta, norms)
		q.copy(b.pair.z, b.pair.theta, 8*b.size()*int64(b.n))
		if b.u != 0 {
			q.clear(b.u, 8*b.size()*int64(b.n))
		}
	})
	b.finite(norms, glad.ErrUnits)
	return err
}

// invert sets the upper triangle (by rows) of to to the inverse of a, and says whether a
// is positive definite.
func (b *batch) invert(ctx context.Context, to, a driver.Pointer) (bool, error) {
	w := &b.device
	ok := true
	for _, step := range []func(q *queue) error{
		func(q *queue) error {
			q.copy(to, a, 8*b.size())
			return q.handle.Potrf(library.Lower, b.d, to, b.d, w.workspace, int(w.workspaceBytes/8), w.info)
		},
		func(q *queue) error {
			return q.handle.Potri(library.Lower, b.d, to, b.d, w.workspace, int(w.workspaceBytes/8), w.info)
		},
	} {
		if !ok {
			break
		}
		err := b.do(ctx, func(q *queue) {
			q.try(func() error { return step(q) })
			q.download(b.figures[:1], w.info)
		})
		if err != nil {
			return false, err
		}
		ok = driver.Int32s(b.figures)[0] == 0
	}
	return ok, nil
}

// invertByEigen sets Θ of one problem by way of the eigendecomposition of S + tI, of
// which eigenvalues that are lost in rounding are raised.
func (b *batch) invertByEigen(ctx context.Context, i int, t float64, failed []error) error {
	vectors, scaled, limit := b.work[workQ], b.work[workW], glad.Resolution(b.d)
	d := int64(b.d)
	err := b.enqueue(ctx, func(q *queue) { q.copy(b.at(vectors, i), b.at(b.work[workP], i), 8*b.size()) })
	if err == nil {
		err = b.decompose(ctx, b.at(vectors, i), b.device.values.At(8*int64(i)*d))
	}
	if err == dense.ErrEigen {
		failed[i] = err
		return nil
	}
	if err != nil {
		return err
	}
	values := make([]float64, b.d)
	if err := b.do(ctx, func(q *queue) { q.download(values, b.device.values.At(8*int64(i)*d)) }); err != nil {
		return err
	}
	least, largest := values[0], values[len(values)-1]
	if failed[i] = glad.CheckStart(t, least, largest, b.d); failed[i] != nil {
		return nil
	}
	return b.do(ctx, func(q *queue) {
		q.over(kernels.InverseValues, 1, d, b.device.phi, b.device.values.At(8*int64(i)*d), limit)
		b.spectral(q, b.at(b.pair.theta, i), b.at(vectors, i), scaled, 1)
	})
}
