//go:build cuda

package cuda

import (
	"context"
	"runtime"

	"github.com/gladflow/gladflow/solver/cuda/driver"
	"github.com/gladflow/gladflow/solver/cuda/kernels"
	"github.com/gladflow/gladflow/solver/cuda/library"
)

// A queue puts work on the stream of a session. Its methods are called on the device's
// thread. After an error they do nothing; the error is in err.
type queue struct {
	stream    *driver.Stream
	handle    *library.Handle
	functions map[kernels.Kernel]*driver.Function
	err       error
}

func (q *queue) try(f func() error) {
	if q.err == nil {
		q.err = f()
	}
}

// launch queues a kernel of the given grid. Arguments are driver.Pointer, int64 and
// float64.
func (q *queue) launch(k kernels.Kernel, blocks, problems int, args ...any) {
	if q.err == nil {
		q.err = q.stream.Launch(q.functions[k], blocks, problems, k.Threads(), args...)
	}
}

// over queues a kernel on problems of n, its last argument: d, or another count.
func (q *queue) over(k kernels.Kernel, problems int, n int64, args ...any) {
	q.launch(k, k.Blocks(n), problems, append(args, n)...)
}

func (q *queue) upload(to driver.Pointer, from []float64) {
	q.try(func() error { return q.stream.Upload(to, from) })
}

// uploadNow is upload from memory that need not stay. It waits.
func (q *queue) uploadNow(to driver.Pointer, from []float64) {
	q.upload(to, from)
	q.try(q.stream.Synchronize)
	runtime.KeepAlive(from)
}

func (q *queue) clear(to driver.Pointer, bytes int64) {
	q.try(func() error { return q.stream.Set8(to, 0, bytes) })
}

func (q *queue) download(to []float64, from driver.Pointer) {
	q.try(func() error { return q.stream.Download(to, from) })
}

func (q *queue) copy(to, from driver.Pointer, bytes int64) {
	q.try(func() error { return q.stream.Copy(to, from, bytes) })
}

// Products of matrices by columns, which symmetric ones are too.

func (q *queue) gemm(m, n, k int, a driver.Pointer, lda int, b driver.Pointer, ldb int, beta float64, c driver.Pointer, ldc int) {
	q.try(func() error { return q.handle.Gemm(false, false, m, n, k, 1, a, lda, b, ldb, beta, c, ldc) })
}

// gemmBatched multiplies count d×d matrices that lie one after the other.
func (q *queue) gemmBatched(d int, a, b driver.Pointer, beta float64, c driver.Pointer, count int) {
	size := d * d
	q.try(func() error {
		return q.handle.GemmStridedBatched(false, false, d, d, d, 1, a, d, size, b, d, size, beta, c, d, size, count)
	})
}

func (q *queue) gemv(d int, a, x, y driver.Pointer) {
	q.try(func() error { return q.handle.Gemv(false, d, d, 1, a, d, x, 1, 0, y, 1) })
}

func (q *queue) axpy(n int, alpha float64, x, y driver.Pointer) {
	q.try(func() error { return q.handle.Axpy(n, alpha, x, 1, y, 1) })
}

func (q *queue) scal(n int, alpha float64, x driver.Pointer) {
	q.try(func() error { return q.handle.Scal(n, alpha, x, 1) })
}

func (q *queue) dot(n int, x, y driver.Pointer) (v float64) {
	q.try(func() (err error) {
		v, err = q.handle.Dot(n, x, 1, y, 1)
		return err
	})
	return v
}

func (q *queue) nrm2(n int, x driver.Pointer) (v float64) {
	q.try(func() (err error) {
		v, err = q.handle.Nrm2(n, x, 1)
		return err
	})
	return v
}

// enqueue runs f on the device's thread, and does not wait for the work that it queues.
func (b *batch) enqueue(ctx context.Context, f func(*queue)) error {
	if err := ctx.Err(); err != nil {
		b.abandoned = true // there may be work from before
		return err
	}
	return b.session.backend.device.Do(func() error {
		q := queue{stream: b.stream, handle: b.handle, functions: b.session.module.functions}
		f(&q)
		return q.err
	})
}

// do runs f on the device's thread and waits for the work that it queues. When ctx ends
// first it returns its error, and the work goes on.
func (b *batch) do(ctx context.Context, f func(*queue)) error {
	err := b.enqueue(ctx, func(q *queue) {
		f(q)
		q.try(func() error { return q.stream.Record(b.event) })
	})
	if err != nil {
		return err
	}
	err = b.session.backend.device.Wait(ctx, b.event)
	if err != nil && ctx.Err() != nil {
		b.abandoned = true
		return ctx.Err()
	}
	return err
}
