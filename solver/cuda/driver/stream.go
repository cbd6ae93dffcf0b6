//go:build cuda && cgo

package driver

import (
	"unsafe"

	"gorgonia.org/cu"
)

// A Stream is a queue of work of one GPU. What is queued on one is done in its order,
// beside the work of other streams.
type Stream struct {
	card *card
	s    cu.Stream
}

// NewStream makes a stream.
func (d *Device) NewStream() (*Stream, error) {
	if err := d.ready(); err != nil {
		return nil, err
	}
	s, err := cu.MakeStream(cu.NonBlocking)
	if err != nil {
		return nil, d.failed("cuStreamCreate", err)
	}
	return &Stream{d.card, s}, nil
}

// NewUrgentStream makes a stream whose kernels go before those of other streams: where
// the GPU is full they begin as blocks of others end, and not behind all of them.
func (d *Device) NewUrgentStream() (*Stream, error) {
	if err := d.ready(); err != nil {
		return nil, err
	}
	const first = -100 // beyond all priorities there are: the driver takes the highest
	s, err := cu.MakeStreamWithPriority(first, cu.NonBlocking)
	if err != nil {
		return nil, d.failed("cuStreamCreateWithPriority", err)
	}
	return &Stream{d.card, s}, nil
}

var errStreamClosed = &Error{Op: "Stream", Kind: Failed, Message: "a stream of the GPU is used after Close"}

// ready is what every call asks first. Without a stream CUDA would take its default
// one, which no other waits for.
func (s *Stream) ready() error {
	if s.s == cu.NoStream {
		return errStreamClosed
	}
	return s.card.ready()
}

// Handle is CUDA's own handle of the stream, for libraries.
func (s *Stream) Handle() uintptr { return uintptr(unsafe.Pointer(s.s.C())) }

// Close ends the stream. Work that it holds is still done.
func (s *Stream) Close() error {
	if s.s == cu.NoStream {
		return nil
	}
	if err := s.card.ready(); err != nil {
		return err
	}
	return s.card.failed("cuStreamDestroy", s.s.Destroy())
}

// Synchronize waits for all the work of the stream, and holds up the device's thread
// meanwhile. It returns the errors of that work.
func (s *Stream) Synchronize() error {
	if err := s.ready(); err != nil {
		return err
	}
	return s.card.failed("cuStreamSynchronize", s.s.Synchronize())
}

// Done reports whether all the work of the stream is done, and returns its errors.
func (s *Stream) Done() (bool, error) {
	if err := s.ready(); err != nil {
		return false, err
	}
	return s.card.done("cuStreamQuery", s.s.Query())
}

func (c *card) done(op string, err error) (bool, error) {
	if err != nil && code(err) == notReady {
		return false, nil
	}
	return err == nil, c.failed(op, err)
}

// Wait lets the work that is queued from now on wait for an event, which may be another
// stream's.
func (s *Stream) Wait(e *Event) error {
	if err := s.ready(); err != nil {
		return err
	}
	return s.card.failed("cuStreamWaitEvent", s.s.Wait(e.e, 0))
}

// Upload queues a copy to the GPU. The values must stay as they are until the stream
// has passed it. With memory of AllocHost it returns at once, else only when the
// values have been read.
func (s *Stream) Upload(to Pointer, from []float64) error {
	if err := s.ready(); err != nil || len(from) == 0 {
		return err
	}
	return s.card.failed("cuMemcpyHtoDAsync", cu.MemcpyHtoDAsync(cu.DevicePtr(to), unsafe.Pointer(unsafe.SliceData(from)), int64(len(from))*8, s.s))
}

// Download queues a copy from the GPU. The values are there when the stream has passed
// it. With memory of AllocHost it returns at once, else only then.
func (s *Stream) Download(to []float64, from Pointer) error {
	if err := s.ready(); err != nil || len(to) == 0 {
		return err
	}
	return s.card.failed("cuMemcpyDtoHAsync", cu.MemcpyDtoHAsync(unsafe.Pointer(unsafe.SliceData(to)), cu.DevicePtr(from), int64(len(to))*8, s.s))
}

// Copy queues a copy from one place on the GPU to another, which do not overlap.
func (s *Stream) Copy(to, from Pointer, bytes int64) error {
	if err := s.ready(); err != nil || bytes == 0 {
		return err
	}
	return s.card.failed("cuMemcpyDtoDAsync", cu.MemcpyDtoDAsync(cu.DevicePtr(to), cu.DevicePtr(from), bytes, s.s))
}

// Set8 queues the setting of bytes to a value.
func (s *Stream) Set8(to Pointer, value byte, bytes int64) error {
	if err := s.ready(); err != nil || bytes == 0 {
		return err
	}
	return s.card.failed("cuMemsetD8Async", cu.MemsetD8Async(cu.DevicePtr(to), value, bytes, s.s))
}
