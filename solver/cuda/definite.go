//go:build cuda

package cuda

import (
	"context"
	"errors"

	"github.com/gladflow/gladflow/solver/cuda/driver"
	"github.com/gladflow/gladflow/solver/cuda/kernels"
	"github.com/gladflow/gladflow/solver/cuda/library"
	"github.com/gladflow/gladflow/solver/glad"
)

// A factorizer finds out whether Z − δI is positive definite. It works on the stream of
// copies, with a handle and memory of its own, since it is asked at the end of a run, which
// may be a cancelled one: the stream of the batch can then have work for minutes, that
// nobody waits for, and that uses the batch's handle and small arrays.
type factorizer struct {
	handle              *library.Handle
	event               *driver.Event
	rows                driver.Pointer // d
	figure, shift, info driver.Pointer // 1 each
	workspace           driver.Pointer
	length              int       // of the workspace
	onHost              []float64 // pinned, 2
}

// factorizerNumbers is how many numbers a factorizer may take on the device. How large its
// workspace is, cuSOLVER says only when it is there: what is here was never seen on a card.
func (s *session) factorizerNumbers(d int) int64 {
	if s.plan.Kind != glad.GLADPM {
		return 0
	}
	return int64(d)*int64(d)/16 + 64*int64(d) + 1<<17
}

// open takes all that it needs, on the device's thread. What it has taken when it fails
// goes with the batch.
func (f *factorizer) open(b *batch) (err error) {
	device := b.session.backend.device
	if f.onHost, err = device.AllocHost(2); err != nil {
		return err
	}
	if f.event, err = device.NewEvent(); err != nil {
		return err
	}
	if f.handle, err = b.session.backend.libraries.NewSolverHandle(device, b.copies); err != nil {
		return err
	}
	f.length, err = f.handle.PotrfSize(library.Lower, b.d, b.s, b.d)
	for _, a := range []struct {
		p     *driver.Pointer
		count int64
	}{{&f.rows, b.dimension()}, {&f.figure, 1}, {&f.shift, 1}, {&f.info, 1}, {&f.workspace, int64(f.length)}} {
		if err == nil {
			err = b.take(a.p, a.count)
		}
	}
	return err
}

// free gives back what free of the batch does not, on the device's thread.
func (f *factorizer) free(device *driver.Device) error {
	if f == nil {
		return nil
	}
	err := device.FreeHost(f.onHost)
	if f.event != nil {
		err = errors.Join(err, f.event.Close())
	}
	if f.handle != nil {
		err = errors.Join(err, f.handle.Close())
	}
	return err
}

// definite says whether Z − δI of problem i is positive definite.
func (b *batch) definite(i int) (bool, error) {
	if b.factorizer == nil { // no solver asks this of other kinds
		b.factorizer = &factorizer{}
		if err := b.session.backend.device.Do(func() error { return b.factorizer.open(b) }); err != nil {
			return false, err
		}
	}
	f, z := b.factorizer, b.at(b.pair.z, i)
	to := b.work[workP]
	if b.abandoned {
		// Which the work that is queued may still use. S is read by its first kernel at
		// the most, and there is no further cell: no result comes of either.
		to = b.at(b.s, i)
	}
	figure, info := f.onHost[:1], f.onHost[1:]
	err := b.beside(func(q *queue) {
		q.over(kernels.RowNorms, 1, b.dimension(), f.rows, z)
		q.over(kernels.Largest, 1, b.dimension(), f.figure, f.rows)
		q.download(figure, f.figure)
	})
	if err != nil {
		return false, err
	}
	figure[0] *= -glad.Resolution(b.d)
	err = b.beside(func(q *queue) {
		q.copy(to, z, 8*b.size())
		q.upload(f.shift, figure)
		q.over(kernels.AddDiagonal, 1, b.dimension(), to, f.shift)
		q.try(func() error {
			return q.handle.Potrf(library.Lower, b.d, to, b.d, f.workspace, f.length, f.info)
		})
		q.download(info, f.info)
	})
	return err == nil && driver.Int32s(info)[0] == 0, err
}

// beside runs f on the device's thread with the stream of copies and the factorizer's
// handle, and waits for the work that it queues.
func (b *batch) beside(f func(*queue)) error {
	device := b.session.backend.device
	err := device.Do(func() error {
		q := queue{stream: b.copies, handle: b.factorizer.handle, functions: b.session.module.functions}
		f(&q)
		q.try(func() error { return q.stream.Record(b.factorizer.event) })
		return q.err
	})
	if err != nil {
		return err
	}
	return device.Wait(context.Background(), b.factorizer.event)
}
