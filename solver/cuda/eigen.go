//go:build cuda

package cuda

import (
	"context"
	"errors"

	"github.com/gladflow/gladflow/solver/cuda/driver"
	"github.com/gladflow/gladflow/solver/cuda/kernels"
	"github.com/gladflow/gladflow/solver/cuda/library"
	"github.com/gladflow/gladflow/solver/dense"
)

// togetherBelow is the d under which the matrices of a batch are decomposed by one call.
// Not measured: a single decomposition of a larger one keeps a card busy.
const togetherBelow = 512

// eigenTogether says whether n matrices are decomposed by one call.
func (b *Backend) eigenTogether(d, n int) bool {
	return n > 1 && d < togetherBelow && b.libraries.HasSyevBatched()
}

// decomposeAll replaces the matrices of all problems by their eigenvectors, by rows, and
// sets values. Problems that have failed get any numbers, and those whose decomposition
// does not converge dense.ErrEigen in failed.
func (b *batch) decomposeAll(ctx context.Context, vectors, values driver.Pointer, failed []error) error {
	if b.session.backend.eigenTogether(b.d, b.n) {
		return b.decomposeTogether(ctx, vectors, values, failed)
	}
	for i := range b.n {
		if failed[i] != nil {
			continue
		}
		err := b.decompose(ctx, b.at(vectors, i), values.At(8*int64(i)*b.dimension()))
		if errors.Is(err, dense.ErrEigen) {
			failed[i], err = err, nil
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// decompose replaces a matrix by its eigenvectors, by rows, and sets its values.
func (b *batch) decompose(ctx context.Context, vectors, values driver.Pointer) error {
	w := &b.device
	err := b.do(ctx, func(q *queue) {
		q.try(func() error {
			return q.handle.Syevd(true, library.Lower, b.d, vectors, b.d, values, w.workspace, w.workspaceBytes, b.hostWork, w.info)
		})
		q.download(b.figures[:1], w.info)
	})
	if err == nil && driver.Int32s(b.figures)[0] != 0 {
		return dense.ErrEigen
	}
	return err
}

// decomposeTogether is decomposeAll by one call.
func (b *batch) decomposeTogether(ctx context.Context, vectors, values driver.Pointer, failed []error) error {
	w := &b.device
	err := b.do(ctx, func(q *queue) {
		b.scalars(q, func(int) float64 { return 1 })
		for i, err := range failed {
			if err != nil { // it may hold anything, and NaN never converges
				q.over(kernels.SetIdentity, 1, b.dimension(), b.at(vectors, i), w.scalars)
			}
		}
		q.try(func() error {
			return q.handle.SyevBatched(true, library.Lower, b.d, vectors, b.d, values, w.workspace, w.workspaceBytes, b.hostWork, w.info, b.n)
		})
		q.download(b.figures[:(b.n+1)/2], w.info)
	})
	if err != nil {
		return err
	}
	for i, info := range driver.Int32s(b.figures)[:b.n] {
		if failed[i] == nil && info != 0 {
			failed[i] = dense.ErrEigen
		}
	}
	return nil
}

// spectral queues to = Σ φk·vk·vkᵀ for vectors vk by rows, and φ ≥ 0. scaled is scratch.
func (b *batch) spectral(q *queue, to, vectors, scaled driver.Pointer, problems int) {
	d := b.d
	q.over(kernels.ScaleRows, problems, b.dimension(), scaled, vectors, b.device.phi, int64(1))
	// By columns the rows of scaled are its columns: to = scaled·scaledᵀ.
	if problems > 1 {
		size := d * d
		q.try(func() error {
			return q.handle.GemmStridedBatched(false, true, d, d, d, 1, scaled, d, size, scaled, d, size, 0, to, d, size, problems)
		})
	} else {
		q.try(func() error { return q.handle.Syrk(library.Lower, false, d, d, 1, scaled, d, 0, to, d) })
	}
	q.over(kernels.Mirror, problems, b.dimension(), to, int64(0))
}
