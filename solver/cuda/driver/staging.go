//go:build cuda && cgo

package driver

import (
	"context"
	"errors"
)

// Staging carries large slices of Go's to a GPU and back, through two pieces of pinned
// memory. A copy straight from or to Go's memory holds up the device's thread, and with
// it all other users, until it is done: .1 s for 1 GB. This one leaves it free, and ends
// with its context.
//
// Its methods, Close apart, are called outside Do, one at a time.
type Staging struct {
	device *Device
	stream *Stream
	parts  [2]struct {
		values []float64
		passed *Event
	}
}

// stagingPart is how many values a piece of a Staging has: 8 MB, which a copy of half a
// millisecond carries.
const stagingPart = 1 << 20

// NewStaging makes a Staging for a stream, inside Do. It takes 16 MB of the host's
// memory.
func (d *Device) NewStaging(s *Stream) (*Staging, error) {
	g := &Staging{device: d, stream: s}
	for i := range g.parts {
		var err error
		if g.parts[i].passed, err = d.NewEvent(); err == nil {
			g.parts[i].values, err = d.AllocHost(stagingPart)
		}
		if err != nil {
			g.Close()
			return nil, err
		}
	}
	return g, nil
}

// Close gives back what the Staging holds, inside Do, when the stream has passed it.
func (g *Staging) Close() error {
	err := g.stream.Synchronize()
	for i := range g.parts {
		if part := &g.parts[i]; part.passed != nil {
			err = errors.Join(err, part.passed.Close(), g.device.FreeHost(part.values))
			part.passed, part.values = nil, nil
		}
	}
	return err
}

// Upload copies values to the GPU. When it returns they have been read, and the stream
// has the rest to do.
func (g *Staging) Upload(ctx context.Context, to Pointer, from []float64) error {
	for i := 0; len(from) > 0; i++ {
		part := &g.parts[i%2]
		if err := g.await(ctx, part.passed); err != nil {
			return err
		}
		n := copy(part.values, from)
		at := to
		err := g.device.Do(func() error {
			if err := g.stream.Upload(at, part.values[:n]); err != nil {
				return err
			}
			return g.stream.Record(part.passed)
		})
		if err != nil {
			return err
		}
		to, from = to.At(int64(n)*8), from[n:]
	}
	return nil
}

// Download copies values from the GPU, after the work that the stream has now. When it
// returns they are there.
func (g *Staging) Download(ctx context.Context, to []float64, from Pointer) error {
	count := (len(to) + stagingPart - 1) / stagingPart
	piece := func(i int) []float64 { return to[i*stagingPart : min(len(to), (i+1)*stagingPart)] }
	ask := func(i int) error {
		part := &g.parts[i%2]
		return g.device.Do(func() error {
			if err := g.stream.Download(part.values[:len(piece(i))], from.At(int64(i)*stagingPart*8)); err != nil {
				return err
			}
			return g.stream.Record(part.passed)
		})
	}
	// A piece that is still on its way up is passed before, on the same stream.
	for i := range min(2, count) {
		if err := ask(i); err != nil {
			return err
		}
	}
	for i := range count {
		part := &g.parts[i%2]
		if err := g.await(ctx, part.passed); err != nil {
			return err
		}
		copy(piece(i), part.values)
		if i+2 < count {
			if err := ask(i + 2); err != nil {
				return err
			}
		}
	}
	return nil
}

// await waits for a piece, or returns the cause for which the context has ended: also
// where no piece was ever waited for.
func (g *Staging) await(ctx context.Context, passed *Event) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return g.device.Wait(ctx, passed)
}
