//go:build cuda && cgo

package driver_test

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"testing"

	"gorgonia.org/cu"

	"github.com/gladflow/gladflow/solver/cuda/driver"
	"github.com/gladflow/gladflow/solver/cuda/internal/emulator"
)

// From a fault of a kernel on everything fails with that fault, without a call of the
// driver; the next to use the GPU gets a new context.
func TestLost(t *testing.T) {
	control := emulated(t)
	d, err := driver.Use(0)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	// As the libraries of CUDA do, which never give it back.
	card, err := cu.GetDevice(0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := card.RetainPrimaryCtx(); err != nil {
		t.Fatal(err)
	}
	do(t, d, func() error {
		s, err := d.NewStream()
		if err != nil {
			return err
		}
		m, err := d.Load(kernels(t))
		if err != nil {
			return err
		}
		stray, err := m.Function("stray")
		if err != nil {
			return err
		}
		p, err := d.Alloc(8)
		if err != nil {
			return err
		}
		e, err := d.NewEvent()
		if err != nil {
			return err
		}
		if d.Lost() != nil {
			t.Error(d.Lost())
		}
		if err = s.Launch(stray, 1, 1, 1, driver.Pointer(0), int64(1)); err == nil {
			err = s.Synchronize()
		}
		lost := wants(t, err, driver.Lost, "GPU 0 (", "is lost", "CUDA_ERROR_ILLEGAL_ADDRESS (700", "start the program again")
		if d.Lost() != error(lost) {
			t.Error(d.Lost())
		}
		calls := control.Count("calls")
		one := make([]float64, 1)
		_, allocErr := d.Alloc(8)
		_, hostErr := d.AllocHost(8)
		_, streamErr := d.NewStream()
		_, eventErr := d.NewEvent()
		_, loadErr := d.Load("")
		_, functionErr := m.Function("scale")
		_, _, globalErr := m.Global("weights")
		_, doneErr := s.Done()
		_, eventDone := e.Done()
		_, sinceErr := e.Since(e)
		_, useErr := driver.Use(0)
		for i, err := range []error{
			allocErr, hostErr, streamErr, eventErr, loadErr, functionErr, globalErr, doneErr, eventDone, sinceErr, useErr,
			s.Upload(p, one), s.Download(one, p), s.Copy(p, p, 8), s.Set8(p, 0, 8), s.Launch(stray, 1, 1, 1, p, int64(0)), s.Synchronize(), s.Wait(e), s.Record(e),
			d.FreeHost(one), d.Free(p), e.Close(), m.Unload(), s.Close(), d.Wait(context.Background(), e),
		} {
			if err != error(lost) {
				t.Errorf("call %d says %v", i, err)
			}
		}
		if d.Allocated() != 0 || d.Properties().Free != 0 {
			t.Errorf("%d allocated, %d free", d.Allocated(), d.Properties().Free)
		}
		if now := control.Count("calls"); now != calls {
			t.Errorf("%d calls of a driver that is lost", now-calls)
		}
		return nil
	})
	if err := d.Close(); err != nil {
		t.Error(err)
	}
	again := setUp(t)
	do(t, again.Device, func() error {
		return errors.Join(again.stream.Upload(again.a, ramp()), again.stream.Synchronize())
	})
}

// Whatever call fails, with whatever code: a sentence, and nothing is left.
func TestEveryCallFails(t *testing.T) {
	control := emulated(t)
	ptx := kernels(t)
	before := living(control)
	for _, code := range []string{"1", "2", "46", "201", "400", "801", "1234", "700", "719", "999"} {
		if code == "700" {
			// What a lost GPU held is not given back, but gone.
			left(t, control, before)
		}
		for n := 1; ; n++ {
			control.Set(t, "EMULATOR_FAIL_CODE", code)
			control.Set(t, "EMULATOR_FAIL", strconv.Itoa(n))
			before := control.Count("failed_on_request")
			errs := scenario(ptx)
			failed := control.Count("failed_on_request") > before
			control.Set(t, "EMULATOR_FAIL", "")
			for _, err := range errs {
				if e, ok := errors.AsType[*driver.Error](err); !ok || e.Kind == 0 || len(e.Message) < 20 || strings.Contains(e.Message, "%!") || strings.Contains(e.Message, "\n") {
					t.Fatalf("call %d with %s: %#v", n, code, err)
				}
			}
			if !failed {
				if len(errs) > 0 {
					t.Errorf("without a fault: %v", errs)
				}
				if n < 20 {
					t.Errorf("only %d calls", n)
				}
				break
			}
			if len(errs) == 0 {
				t.Errorf("call %d with %s fails unseen", n, code)
			}
		}
	}
	// And after all that the GPU works.
	setUp(t)
}

func living(control *emulator.Control) map[string]int {
	counts := map[string]int{}
	for _, name := range append([]string{"complaints", "bad_frees"}, emulator.Living...) {
		counts[name] = control.Count(name)
	}
	return counts
}

func left(t *testing.T, control *emulator.Control, before map[string]int) {
	t.Helper()
	for name, count := range living(control) {
		if count != before[name] {
			t.Errorf("%d %s more than before (%s)", count-before[name], name, control.Complaint())
		}
	}
}

// scenario is a short run. It returns all the errors it met.
func scenario(ptx string) (errs []error) {
	see := func(err error) bool {
		if err != nil {
			errs = append(errs, err)
		}
		return err == nil
	}
	d, err := driver.Use(0)
	if !see(err) {
		return errs
	}
	d.Do(func() error {
		s, err := d.NewStream()
		if !see(err) {
			return nil
		}
		defer func() { see(s.Close()) }()
		m, err := d.Load(ptx)
		if !see(err) {
			return nil
		}
		defer func() { see(m.Unload()) }()
		f, err := m.Function("scale")
		if !see(err) {
			return nil
		}
		p, err := d.Alloc(8 * size)
		if !see(err) {
			return nil
		}
		defer func() { see(d.Free(p)) }()
		host, err := d.AllocHost(size)
		if !see(err) {
			return nil
		}
		defer func() { see(d.FreeHost(host)) }()
		e, err := d.NewEvent()
		if !see(err) {
			return nil
		}
		defer func() { see(e.Close()) }()
		see(s.Upload(p, host))
		see(s.Launch(f, 1, 1, 32, p, p, 2.0, int64(size)))
		see(s.Download(host, p))
		see(s.Record(e))
		see(d.Wait(context.Background(), e))
		see(s.Synchronize())
		return nil
	})
	see(d.Close())
	return errs
}
