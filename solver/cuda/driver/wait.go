//go:build cuda && cgo

package driver

import (
	"context"
	"runtime"
	"syscall"
	"time"
)

// Wait returns when all the work before the event has been done, with its errors, or
// when the context ends: with its cause, and with the work still going on, so that its
// memory must stay until the stream has been synchronised.
//
// It asks again and again, without a break for some tenths of a millisecond and then
// ever more seldom, at least once a millisecond. The device's thread is free meanwhile.
func (d *Device) Wait(ctx context.Context, e *Event) error {
	const (
		busy    = 200 * time.Microsecond
		longest = time.Millisecond
	)
	var done bool
	ask := func() (err error) { done, err = e.Done(); return }
	for start := time.Now(); ; {
		if err := d.Do(ask); err != nil || done {
			return err
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		passed := time.Since(start)
		if passed < busy {
			runtime.Gosched()
			continue
		}
		// Timers of Go's last a whole millisecond where nothing else runs.
		pause := syscall.NsecToTimespec(int64(min(passed/16, longest)))
		syscall.Nanosleep(&pause, nil)
	}
}
