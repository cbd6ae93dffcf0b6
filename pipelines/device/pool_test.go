package device_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gladflow/gladflow/pipelines/device"
	"github.com/gladflow/gladflow/pipelines/device/devicetest"
	"github.com/gladflow/gladflow/pipelines/job"
)

// opened opens the first GPU.
func opened(t *testing.T, pool *device.Pool) device.Place {
	t.Helper()
	place, err := pool.Open(t.Context(), "cuda", nil)
	if err != nil {
		t.Fatal(err)
	}
	return place
}

// Runs at the same time share a GPU. After the last it stays open for a minute, for the
// next one, and no longer.
func TestAGPUStaysOpenForAMinute(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &devicetest.Machine{Number: 1}
		pool := m.Pool()
		first, second := opened(t, pool), opened(t, pool)
		time.Sleep(time.Hour)
		if first.GPU != second.GPU || m.Opened() != 1 {
			t.Errorf("opened %d times", m.Opened())
		}
		first.Close()
		first.Close() // once is what counts
		time.Sleep(time.Hour)
		if !m.IsOpen(0) {
			t.Error("it is closed under a run")
		}
		second.Close()
		for range 3 { // each begins the minute anew
			time.Sleep(59 * time.Second)
			next := opened(t, pool)
			if next.GPU != first.GPU || m.Opened() != 1 {
				t.Fatalf("opened %d times", m.Opened())
			}
			time.Sleep(2 * time.Minute)
			if next.Close(); !m.IsOpen(0) {
				t.Error("it is closed at once")
			}
		}
		time.Sleep(61 * time.Second)
		if m.IsOpen(0) {
			t.Error("it is open after a minute")
		}
		again := opened(t, pool)
		if again.GPU == first.GPU || m.Opened() != 2 {
			t.Errorf("opened %d times", m.Opened())
		}
		again.Close()
		m.Ends(t)
	})
}

// At the end of a process what no run uses is closed at once, and the rest by the last run.
func TestCloseOfAPool(t *testing.T) {
	m := &devicetest.Machine{Number: 2}
	pool := m.Pool()
	used := opened(t, pool)
	idle, err := pool.Open(t.Context(), "cuda:1", nil)
	if err != nil {
		t.Fatal(err)
	}
	idle.Close()
	if !m.IsOpen(1) {
		t.Error("it is closed at once")
	}
	pool.Close(t.Context())
	pool.Close(t.Context())
	if m.IsOpen(1) || !m.IsOpen(0) {
		t.Errorf("cuda:0 is open: %v, cuda:1: %v", m.IsOpen(0), m.IsOpen(1))
	}
	used.Close()
	m.StillOpen(t)
	late := opened(t, pool)
	late.Close()
	m.StillOpen(t)
	(*device.Pool)(nil).Close(t.Context())
}

// A GPU that hangs while it is closed keeps neither the end of the process waiting, nor
// runs on other GPUs; one that comes for it waits until it is closed.
func TestAGPUThatHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &devicetest.Machine{Number: 2, Closing: make(chan struct{})}
		pool := m.Pool()
		hangs := opened(t, pool)
		hangs.Close()
		time.Sleep(2 * time.Minute)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := pool.Open(ctx, "cuda:0", nil); !errors.Is(err, context.DeadlineExceeded) || m.Opened() != 1 {
			t.Errorf("%v, opened %d times", err, m.Opened())
		}
		other, err := pool.Open(t.Context(), "cuda:1", nil)
		if err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		ending, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		if pool.Close(ending); time.Since(began) != 5*time.Second {
			t.Errorf("the end of the process takes %v", time.Since(began))
		}
		close(m.Closing)
		synctest.Wait()
		if m.Opened() != 3 { // for the run that has not waited
			t.Errorf("opened %d times", m.Opened())
		}
		other.Close()
		m.Ends(t)
	})
}

// A GPU that has failed is not kept, and runs that come do not get it; one that has no
// memory left is shared, for others may take less.
func TestAFailedGPUIsNotKept(t *testing.T) {
	for _, cause := range []*devicetest.Fault{devicetest.ErrLost, devicetest.ErrFull} {
		m := &devicetest.Machine{Number: 1}
		pool := m.Pool()
		first, second := opened(t, pool), opened(t, pool)
		if none := first.Fault(errors.New("of the numbers")); none != nil {
			t.Errorf("%v is no error of the GPU", none)
		}
		if of := first.Fault(cause); of == nil || of.Device != "cuda:0" || of.Full != cause.Full {
			t.Errorf("%+v", of)
		}
		third := opened(t, pool)
		if shared := third.GPU == second.GPU; shared != cause.Full {
			t.Errorf("%v: shared: %v", cause, shared)
		}
		first.Close()
		second.Close()
		if third.Close(); !cause.Full && !m.IsOpen(0) {
			t.Error("the GPU that was opened after it is not kept")
		} else if cause.Full && m.IsOpen(0) {
			t.Error("a GPU without memory is kept")
		}
		m.Ends(t)
	}
}

// A GPU that was lost while nobody used it costs no run: it is closed and opened anew.
func TestAGPUIsLostBetweenRuns(t *testing.T) {
	m := &devicetest.Machine{Number: 1, Lost: devicetest.ErrLost}
	pool := m.Pool()
	first := opened(t, pool)
	second := opened(t, pool) // it is in use, so that nobody asks
	if first.GPU != second.GPU {
		t.Error("it is not shared")
	}
	first.Close()
	second.Close()
	third := opened(t, pool)
	if third.GPU == first.GPU || m.Opened() != 2 || !m.IsOpen(0) {
		t.Errorf("opened %d times", m.Opened())
	}
	third.Close()
	m.Ends(t)
}

// A run that comes when a GPU could not be opened tries anew: it does not get the error
// of an attempt that had ended before it came, though others are still to hear of that.
func TestAnOldErrorOfOpening(t *testing.T) {
	for range 20 {
		synctest.Test(t, func(t *testing.T) {
			m := &devicetest.Machine{Number: 1, Broken: map[int]error{0: devicetest.ErrLost}, Opening: make(chan struct{})}
			pool := m.Pool()
			var all sync.WaitGroup
			var mended sync.Once
			for range 100 {
				all.Go(func() {
					if _, err := pool.Open(t.Context(), "cuda", nil); !errors.Is(err, devicetest.ErrLost) {
						t.Errorf("a GPU that cannot be opened: %v", err)
					}
					mended.Do(m.Mend)
					place, err := pool.Open(t.Context(), "cuda", nil)
					if err != nil {
						t.Errorf("a GPU that can be opened: %v", err)
					}
					place.Close()
				})
			}
			synctest.Wait() // all of them wait for the GPU
			close(m.Opening)
			all.Wait()
			m.Ends(t)
		})
	}
}

// A run that ends while a GPU is being opened, as the last that waited for it, leaves it
// for the next.
func TestAGPUThatNobodyWaitsFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &devicetest.Machine{Number: 1, Opening: make(chan struct{})}
		pool := m.Pool()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := pool.Open(ctx, "auto", nil); !errors.Is(err, context.DeadlineExceeded) {
			t.Error(err)
		}
		close(m.Opening)
		synctest.Wait()
		place := opened(t, pool)
		place.Close()
		if m.Opened() != 1 {
			t.Errorf("opened %d times", m.Opened())
		}
		time.Sleep(2 * time.Minute)
		m.StillOpen(t)
	})
}

// Many runs that come and go, with failures, leave nothing.
func TestManyRunsOfAPool(t *testing.T) {
	m := &devicetest.Machine{Number: 2}
	pool := m.Pool()
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			for k := range 200 {
				place, err := pool.Open(t.Context(), job.Device{CUDA: true, Index: (i + k) % 2}.String(), nil)
				if err != nil {
					t.Error(err)
				}
				switch {
				case k%17 == 3:
					place.Fault(devicetest.ErrLost)
				case k%23 == 5:
					place.Fault(devicetest.ErrFull)
				}
				place.Close()
			}
		})
	}
	all.Wait()
	m.Ends(t)
}
