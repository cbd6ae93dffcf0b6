//go:build cuda

package cuda

import (
	"context"

	"github.com/gladflow/gladflow/solver/cuda/driver"
)

// stagedFrom is the number of values from which a copy between the memories goes in
// pieces, through pinned memory: 2 MB. A smaller one straight from Go's memory holds up
// the device's thread no longer than such a piece does, and is spared the 16 MB.
const stagedFrom = 1 << 18

// send copies values to the device, and lets the work to come wait for that. It is called
// outside the device's Do; of a large copy others get in between the pieces.
func (b *batch) send(ctx context.Context, to driver.Pointer, from []float64) error {
	if len(from) < stagedFrom {
		return b.enqueue(ctx, func(q *queue) { q.uploadNow(to, from) })
	}
	if b.carrier == nil {
		device := b.session.backend.device
		err := device.Do(func() (err error) {
			b.carrier, err = device.NewStaging(b.copies)
			return err
		})
		if err != nil {
			return err
		}
	}
	if err := b.carrier.Upload(ctx, to, from); err != nil {
		if ctx.Err() != nil {
			return ctx.Err() // and not its cause
		}
		return err
	}
	return b.enqueue(ctx, func(q *queue) {
		q.try(func() error { return b.copies.Record(b.event) })
		q.try(func() error { return q.stream.Wait(b.event) })
	})
}

// fetch copies values from the device, where they are complete. It is called as send is,
// and waits for no other work.
func (b *batch) fetch(to []float64, from driver.Pointer) error {
	if b.carrier != nil && len(to) >= stagedFrom {
		return b.carrier.Download(context.Background(), to, from)
	}
	return b.session.backend.device.Do(func() error {
		if err := b.copies.Download(to, from); err != nil {
			return err
		}
		return b.copies.Synchronize()
	})
}
