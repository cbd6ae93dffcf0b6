//go:build cuda && cgo

package driver_test

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/gladflow/gladflow/solver/cuda/driver"
)

func TestStream(t *testing.T) {
	for _, deferred := range []string{"", "7"} {
		t.Run("deferred="+deferred, func(t *testing.T) {
			k := setUp(t)
			k.Set(t, "EMULATOR_DEFERRED", deferred)
			values, got, part := ramp(), make([]float64, size), make([]float64, 3)
			do(t, k.Device, func() error {
				return errors.Join(
					k.stream.Upload(k.a, values),
					k.stream.Launch(k.scale, 8, 1, 128, k.b, k.a, 2.5, int64(size)),
					k.stream.Download(got, k.b),
					k.stream.Set8(k.a, 0, 8),
					k.stream.Copy(k.a.At(8), k.b, 8),
					k.stream.Download(part, k.a),
					k.stream.Upload(k.a, nil), k.stream.Download(nil, k.a), k.stream.Copy(k.a, k.b, 0), k.stream.Set8(k.a, 1, 0),
					k.stream.Synchronize(),
				)
			})
			for i, v := range values {
				if got[i] != 2.5*v {
					t.Fatalf("entry %d is %g, not %g", i, got[i], 2.5*v)
				}
			}
			if want := []float64{0, 2.5 * values[0], values[2]}; !slices.Equal(part, want) {
				t.Errorf("%v, not %v", part, want)
			}
			do(t, k.Device, func() error {
				done, err := k.stream.Done()
				if !done {
					t.Error("not done after Synchronize")
				}
				return err
			})
		})
	}
}

// Work waits for an event of another stream.
func TestStreamWaits(t *testing.T) {
	k := setUp(t)
	for seed := range 10 {
		k.Set(t, "EMULATOR_DEFERRED", strconv.Itoa(seed+1))
		values, got := ramp(), make([]float64, size)
		values[999] = float64(seed) // what was there before is another
		do(t, k.Device, func() error {
			other, err := k.NewStream()
			if err != nil {
				return err
			}
			e, err := k.NewEvent()
			if err != nil {
				return err
			}
			return errors.Join(
				k.stream.Upload(k.a, values),
				k.stream.Record(e),
				other.Wait(e),
				other.Launch(k.scale, 1, 1, 1000, k.b, k.a, -1.0, size),
				other.Download(got, k.b),
				other.Synchronize(),
				other.Close(), e.Close(), e.Close(),
			)
		})
		if got[999] != -values[999] {
			t.Errorf("%g, not %g", got[999], -values[999])
		}
	}
}

func TestClosedStream(t *testing.T) {
	d, _ := use(t)
	do(t, d, func() error {
		s, err := d.NewStream()
		if err != nil {
			return err
		}
		if err := s.Close(); err != nil {
			return err
		}
		for _, err := range []error{s.Synchronize(), s.Upload(0, make([]float64, 1)), s.Set8(0, 0, 8), s.Launch(new(driver.Function), 1, 1, 1)} {
			wants(t, err, driver.Failed, "after Close")
		}
		return nil
	})
}

func TestEvents(t *testing.T) {
	k := setUp(t)
	var first, last *driver.Event
	do(t, k.Device, func() (err error) {
		if first, err = k.NewEvent(); err != nil {
			return err
		}
		if last, err = k.NewEvent(); err != nil {
			return err
		}
		if done, err := first.Done(); !done || err != nil {
			t.Error(done, err)
		}
		return nil
	})
	k.Set(t, "EMULATOR_DEFERRED", "3")
	do(t, k.Device, func() error {
		err := errors.Join(k.stream.Record(first), k.stream.Set8(k.a, 1, 8*size), k.stream.Record(last))
		if done, err := last.Done(); done || err != nil {
			t.Log("done at once:", done, err)
		}
		return err
	})
	if err := k.Wait(context.Background(), last); err != nil {
		t.Fatal(err)
	}
	do(t, k.Device, func() error {
		passed, err := last.Since(first)
		if passed < 0 || passed > time.Minute {
			t.Error(passed)
		}
		return errors.Join(err, first.Close(), last.Close())
	})
}

// A Wait ends with its context, and leaves the thread to others.
func TestWaitEnds(t *testing.T) {
	k := setUp(t)
	var e *driver.Event
	do(t, k.Device, func() (err error) {
		e, err = k.NewEvent()
		return err
	})
	do(t, k.Device, func() error { return errors.Join(k.stream.Set8(k.a, 0, 8), k.stream.Record(e)) })
	// From now on the driver says "not ready".
	k.Set(t, "EMULATOR_LOST_CODE", "600")
	k.Set(t, "EMULATOR_LOST_AFTER", "0")
	cause := errors.New("enough")
	ctx, cancel := context.WithCancelCause(context.Background())
	ended := make(chan error)
	go func() { ended <- k.Wait(ctx, e) }()
	time.Sleep(20 * time.Millisecond)
	do(t, k.Device, func() error { return nil })
	before := time.Now()
	cancel(cause)
	if err := <-ended; err != cause {
		t.Error(err)
	}
	if passed := time.Since(before); passed > 150*time.Millisecond {
		t.Errorf("it took %v", passed)
	}
	k.Set(t, "EMULATOR_LOST_AFTER", "")
	do(t, k.Device, func() error { return e.Close() })
}

// An urgent stream is one as others are, made with a priority.
func TestUrgentStream(t *testing.T) {
	d, control := use(t)
	do(t, d, func() error {
		before := control.Count("call.cuStreamCreateWithPriority")
		s, err := d.NewUrgentStream()
		if err != nil {
			return err
		}
		if made := control.Count("call.cuStreamCreateWithPriority") - before; made != 1 {
			t.Errorf("%d streams were made with a priority", made)
		}
		p, err := d.Alloc(16)
		if err != nil {
			return err
		}
		got := make([]float64, 2)
		err = errors.Join(s.Upload(p, []float64{3, 4}), s.Download(got, p), s.Synchronize(), s.Close(), d.Free(p))
		if !slices.Equal(got, []float64{3, 4}) {
			t.Error(got)
		}
		control.Set(t, "EMULATOR_FAIL_CODE", "2")
		control.Set(t, "EMULATOR_FAIL", "cuStreamCreateWithPriority:1")
		_, failed := d.NewUrgentStream()
		wants(t, failed, driver.OutOfMemory, "cuStreamCreateWithPriority")
		return err
	})
}
