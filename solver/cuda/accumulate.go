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

// accumulateFrom is the number of multiplications, rows·n², from which a sum of products
// is worth the way: a processor takes a tenth of a second for them. To take memory,
// streams and handles, and to copy n² numbers there and back, takes some hundredths. It is
// not measured on a card.
const accumulateFrom = 1 << 32

// slots is how many X an accumulator has on the device: while one is multiplied the next
// is copied there.
const slots = 2

// An accumulator is a dense.Accumulator on the device. It has a stream for copies and
// one for products, which wait for each other where they must.
type accumulator struct {
	backend *Backend
	n, rows int
	bytes   int64 // taken of the budget

	copies, products *driver.Stream
	staging          *driver.Staging // of copies
	handle           *library.Handle // of products
	module           *module

	sum, factor driver.Pointer
	x           [slots]driver.Pointer
	next        int                  // the slot of the next X
	copied      *driver.Event        // behind the last copy to the device
	multiplied  [slots]*driver.Event // behind the product of that slot
	passed      *driver.Event        // behind all products
	abandoned   bool                 // a context has ended: work is queued that nobody waits for
}

var _ dense.AccumulatingEngine = (*engine)(nil)

// Accumulate implements dense.AccumulatingEngine.
func (e *engine) Accumulate(ctx context.Context, n, rows, known int, sums []float64) (dense.Accumulator, error) {
	if float64(known)*float64(n)*float64(n) < e.backend.accumulateFrom {
		return nil, nil
	}
	a, err := e.backend.newAccumulator(ctx, n, rows, sums)
	if a == nil {
		return nil, err
	}
	return a, nil
}

// newAccumulator returns nil, and no error, where there is no memory for one.
func (b *Backend) newAccumulator(ctx context.Context, n, rows int, sums []float64) (*accumulator, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	size := int64(n)
	a := &accumulator{backend: b, n: n, rows: rows, bytes: 8 * size * (size + slots*int64(rows) + 1)}
	if _, ok := b.budget.take(a.bytes); !ok {
		return nil, nil
	}
	err := b.device.Do(a.allocate)
	if err == nil {
		a.module, err = b.takeModule()
	}
	if err != nil {
		a.free()
		if driver.KindOf(err) == driver.OutOfMemory {
			return nil, nil // other processes have taken it
		}
		return nil, err
	}
	if sums == nil {
		err = a.enqueue(ctx, func(q *queue) { q.clear(a.sum, 8*size*size) })
	} else {
		err = a.upload(ctx, a.sum, sums[:n*n])
	}
	if err != nil {
		return nil, errors.Join(err, a.Close())
	}
	return a, nil
}

// allocate takes all memory, on the device's thread, that of the sum first.
func (a *accumulator) allocate() (err error) {
	device := a.backend.device
	n := int64(a.n)
	alloc := func(p *driver.Pointer, count int64) {
		if err == nil {
			*p, err = device.Alloc(8 * count)
		}
	}
	event := func(e **driver.Event) {
		if err == nil {
			*e, err = device.NewEvent()
		}
	}
	alloc(&a.sum, n*n)
	alloc(&a.factor, n)
	event(&a.copied)
	event(&a.passed)
	for i := range slots {
		alloc(&a.x[i], n*int64(a.rows))
		event(&a.multiplied[i])
	}
	for _, s := range []**driver.Stream{&a.copies, &a.products} {
		if err == nil {
			*s, err = device.NewStream()
		}
	}
	if err == nil {
		a.staging, err = device.NewStaging(a.copies)
	}
	if err == nil {
		a.handle, err = a.backend.libraries.NewHandle(device, a.products)
	}
	return err
}

// enqueue runs f on the device's thread, with the stream of products.
func (a *accumulator) enqueue(ctx context.Context, f func(*queue)) error {
	if err := ctx.Err(); err != nil {
		a.abandoned = true
		return err
	}
	return a.backend.device.Do(func() error {
		q := queue{stream: a.products, handle: a.handle}
		if a.module != nil {
			q.functions = a.module.functions
		}
		f(&q)
		return q.err
	})
}

// told notes that the context has ended, if it has: err is its error then.
func (a *accumulator) told(ctx context.Context, err error) error {
	if err != nil && ctx.Err() != nil {
		a.abandoned = true
		return ctx.Err()
	}
	return err
}

// upload copies values to the device, and lets the products to come wait for that.
func (a *accumulator) upload(ctx context.Context, to driver.Pointer, from []float64) error {
	if err := a.staging.Upload(ctx, to, from); err != nil {
		return a.told(ctx, err)
	}
	return a.enqueue(ctx, func(q *queue) {
		q.try(func() error { return a.copies.Record(a.copied) })
		q.try(func() error { return a.products.Wait(a.copied) })
	})
}

// Scale implements dense.Accumulator.
func (a *accumulator) Scale(ctx context.Context, factor []float64) error {
	// The kernel before may still read the factors that lie there.
	err := a.enqueue(ctx, func(q *queue) {
		q.try(func() error { return a.products.Record(a.passed) })
		q.try(func() error { return a.copies.Wait(a.passed) })
	})
	if err == nil {
		err = a.upload(ctx, a.factor, factor[:a.n])
	}
	if err == nil {
		err = a.enqueue(ctx, func(q *queue) { q.over(kernels.Rescale, 1, int64(a.n), a.sum, a.factor) })
	}
	return err
}

// Add implements dense.Accumulator.
func (a *accumulator) Add(ctx context.Context, rows int, x []float64) error {
	slot := a.next
	a.next = (slot + 1) % slots
	err := a.enqueue(ctx, func(q *queue) {
		q.try(func() error { return a.copies.Wait(a.multiplied[slot]) })
	})
	if err == nil {
		err = a.upload(ctx, a.x[slot], x[:rows*a.n])
	}
	if err == nil {
		err = a.enqueue(ctx, func(q *queue) {
			// The upper triangle by rows is the lower one by columns.
			q.try(func() error { return a.handle.Syrk(library.Lower, false, a.n, rows, 1, a.x[slot], a.n, 1, a.sum, a.n) })
			q.try(func() error { return a.products.Record(a.multiplied[slot]) })
		})
	}
	return err
}

// Sum implements dense.Accumulator.
func (a *accumulator) Sum(ctx context.Context, sums []float64) error {
	err := a.enqueue(ctx, func(q *queue) {
		q.try(func() error { return a.products.Record(a.passed) })
		q.try(func() error { return a.copies.Wait(a.passed) })
	})
	if err == nil {
		err = a.told(ctx, a.staging.Download(ctx, sums[:a.n*a.n], a.sum))
	}
	return err
}

// Close implements dense.Accumulator: at once, or in the background where a context has
// ended before.
func (a *accumulator) Close() error {
	if !a.abandoned {
		return a.free()
	}
	a.backend.background.Go(func() {
		for _, s := range []*driver.Stream{a.copies, a.products} {
			a.drain(s)
		}
		_ = a.free()
	})
	return nil
}

// drain waits for a stream, and leaves the device's thread free. Errors of the device
// were told, or are by free.
func (a *accumulator) drain(s *driver.Stream) {
	err := a.backend.device.Do(func() error { return s.Record(a.passed) })
	if err == nil {
		_ = a.backend.device.Wait(context.Background(), a.passed)
	}
}

// free gives everything back, after the work of the streams.
func (a *accumulator) free() error {
	b := a.backend
	err := b.device.Do(func() error {
		var all error
		keep := func(err error) { all = errors.Join(all, err) }
		for _, s := range []*driver.Stream{a.copies, a.products} {
			if s != nil {
				keep(s.Synchronize())
			}
		}
		if a.handle != nil {
			keep(a.handle.Close())
		}
		if a.staging != nil {
			keep(a.staging.Close())
		}
		for _, e := range append(a.multiplied[:], a.copied, a.passed) {
			if e != nil {
				keep(e.Close())
			}
		}
		for _, s := range []*driver.Stream{a.copies, a.products} {
			if s != nil {
				keep(s.Close())
			}
		}
		for _, p := range append(a.x[:], a.sum, a.factor) {
			keep(b.device.Free(p))
		}
		return all
	})
	if a.module != nil {
		b.putModule(a.module)
	}
	b.budget.give(a.bytes)
	return err
}
