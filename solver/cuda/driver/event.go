//go:build cuda && cgo

package driver

import (
	"time"

	"gorgonia.org/cu"
)

// An Event is a place in the work of a stream, where Record put it.
type Event struct {
	card *card
	e    cu.Event
}

// NewEvent makes an event.
func (d *Device) NewEvent() (*Event, error) {
	if err := d.ready(); err != nil {
		return nil, err
	}
	e, err := cu.MakeEvent(cu.DefaultEvent)
	if err != nil {
		return nil, d.failed("cuEventCreate", err)
	}
	return &Event{d.card, e}, nil
}

// Close ends the event.
func (e *Event) Close() error {
	if e.e == (cu.Event{}) {
		return nil
	}
	if err := e.card.ready(); err != nil {
		return err
	}
	return e.card.failed("cuEventDestroy", cu.DestroyEvent(&e.e))
}

// Record puts the event behind the work that is queued so far; if it stood elsewhere,
// it moves.
func (s *Stream) Record(e *Event) error {
	if err := s.ready(); err != nil {
		return err
	}
	return s.card.failed("cuEventRecord", e.e.Record(s.s))
}

// Done reports whether the work before the event is done, and returns its errors. An
// event that was never recorded is done.
func (e *Event) Done() (bool, error) {
	if err := e.card.ready(); err != nil {
		return false, err
	}
	return e.card.done("cuEventQuery", e.e.Query())
}

// Since is the GPU's time from an earlier event to this one; both are done. Its
// resolution is about half a microsecond.
func (e *Event) Since(earlier *Event) (time.Duration, error) {
	if err := e.card.ready(); err != nil {
		return 0, err
	}
	ms, err := earlier.e.Elapsed(e.e)
	return time.Duration(ms * float64(time.Millisecond)), e.card.failed("cuEventElapsedTime", err)
}
