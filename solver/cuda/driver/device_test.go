//go:build cuda && cgo

package driver_test

import (
	"errors"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/gladflow/gladflow/solver/cuda/driver"
	"github.com/gladflow/gladflow/solver/cuda/internal/emulator"
	"github.com/gladflow/gladflow/solver/dense"
)

// use takes hold of GPU 0 until the test ends, and checks that nothing is left then.
func use(t testing.TB) (*driver.Device, *emulator.Control) {
	t.Helper()
	control := emulated(t)
	control.CheckNothingLeft(t)
	d, err := driver.Use(0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	})
	return d, control
}

// do runs f on the device's thread and takes no error.
func do(t testing.TB, d *driver.Device, f func() error) {
	t.Helper()
	if err := d.Do(f); err != nil {
		t.Fatal(err)
	}
}

// wants checks an error's kind and parts of its sentence.
func wants(t testing.TB, err error, kind driver.Kind, parts ...string) *driver.Error {
	t.Helper()
	e, ok := errors.AsType[*driver.Error](err)
	if !ok {
		t.Errorf("the error is %v", err)
		return nil
	}
	if e.Kind != kind {
		t.Errorf("of kind %s: %v", e.Kind, err)
	}
	for _, part := range parts {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("%q does not say %q", err, part)
		}
	}
	if strings.Contains(err.Error(), "%!") || strings.Contains(err.Error(), "\n") || e.Op == "" {
		t.Errorf("%q of %q", err, e.Op)
	}
	return e
}

func TestDescribe(t *testing.T) {
	emulated(t)
	if n, err := driver.Count(); n != 2 || err != nil {
		t.Fatal(n, err)
	}
	p, err := driver.Describe(1)
	if err != nil {
		t.Fatal(err)
	}
	if p.Index != 1 || p.Name == "" || p.Major != 9 || p.Minor != 0 || p.Multiprocessors != 8 || p.Memory != 4<<30 || p.Free != 0 {
		t.Errorf("%+v", p)
	}
	if len(p.UUID) != len("GPU-00000000-0000-0000-0000-000000000000") || !strings.HasPrefix(p.UUID, "GPU-") {
		t.Error(p.UUID)
	}
	if p.String() != "GPU 1 ("+p.Name+")" {
		t.Error(p)
	}
	for _, index := range []int{-1, 2} {
		_, err := driver.Describe(index)
		wants(t, err, driver.NoDevice, "there is no GPU", "this machine shows 2, GPU 0 to GPU 1")
		_, err = driver.Use(index)
		wants(t, err, driver.NoDevice, "there is no GPU")
	}
	d, _ := use(t)
	if p, err := driver.Describe(0); err != nil || p.Free != 4<<30 {
		t.Errorf("free on a GPU in use: %d, %v", p.Free, err)
	}
	if p := d.Properties(); p.Free != 4<<30 || p.Index != 0 {
		t.Errorf("%+v", p)
	}
	if d.String() != d.Properties().String() {
		t.Error(d)
	}
}

func TestDescribeFails(t *testing.T) {
	control := emulated(t)
	for _, op := range []string{"cuDeviceGetCount", "cuDeviceGet", "cuDeviceGetName", "cuDeviceTotalMem_v2", "cuDeviceGetAttribute", "cuDeviceGetUuid"} {
		control.Set(t, "EMULATOR_FAIL_CODE", "1")
		control.Set(t, "EMULATOR_FAIL", op+":1")
		_, err := driver.Describe(0)
		wants(t, err, driver.Failed, strings.TrimSuffix(op, "_v2")+" failed with CUDA_ERROR_INVALID_VALUE (1, invalid")
		control.Set(t, "EMULATOR_FAIL_CODE", "719")
		control.Set(t, "EMULATOR_FAIL", op+":1")
		_, err = driver.Use(0)
		wants(t, err, driver.Lost)
	}
}

// Users of one GPU share its context and its thread.
func TestUseIsShared(t *testing.T) {
	control := emulated(t)
	control.CheckNothingLeft(t)
	before := control.Count("contexts")
	var devices []*driver.Device
	threads := map[int]bool{}
	for range 3 {
		d, err := driver.Use(0)
		if err != nil {
			t.Fatal(err)
		}
		devices = append(devices, d)
		do(t, d, func() error { threads[syscall.Gettid()] = true; return nil })
	}
	if control.Count("contexts") != before+1 || len(threads) != 1 {
		t.Errorf("%d contexts more, threads %v", control.Count("contexts")-before, threads)
	}
	for i, d := range devices {
		for range 2 {
			if err := d.Close(); err != nil {
				t.Error(err)
			}
		}
		wants(t, d.Do(func() error { return nil }), driver.Failed, "after Close")
		if want := min(1, 2-i); control.Count("contexts") != before+want {
			t.Errorf("after %d of 3 have closed there are %d contexts more", i+1, control.Count("contexts")-before)
		}
	}
}

func TestUseFails(t *testing.T) {
	control := emulated(t)
	control.CheckNothingLeft(t)
	fails := func(t *testing.T, op, code string) {
		control.Set(t, "EMULATOR_FAIL_CODE", code)
		control.Set(t, "EMULATOR_FAIL", op+":1")
	}
	const retain = "cuDevicePrimaryCtxRetain"
	for name, c := range map[string]struct {
		op, code string
		kind     driver.Kind
		sentence string
	}{
		"busy":       {retain, "46", driver.Busy, "is busy or unavailable: see what nvidia-smi lists on it"},
		"no memory":  {retain, "2", driver.OutOfMemory, "has no room for another program in its 4.3 GB of memory"},
		"lost":       {retain, "999", driver.Lost, "is lost: cuDevicePrimaryCtxRetain says CUDA_ERROR_UNKNOWN"},
		"anything":   {retain, "801", driver.Failed, "cuDevicePrimaryCtxRetain failed with CUDA_ERROR_NOT_SUPPORTED (801"},
		"no current": {"cuCtxSetCurrent", "1", driver.Failed, "cuCtxSetCurrent failed"},
		"spoilt":     {"cuMemGetInfo_v2", "719", driver.Lost, "is lost: cuMemGetInfo says CUDA_ERROR_LAUNCH_FAILED"},
	} {
		t.Run(name, func(t *testing.T) {
			fails(t, c.op, c.code)
			_, err := driver.Use(0)
			wants(t, err, c.kind, "GPU 0 (", c.sentence)
		})
	}
	t.Run("exclusive", func(t *testing.T) {
		control.Set(t, "EMULATOR_BUSY", "1")
		_, err := driver.Use(0)
		wants(t, err, driver.Busy, "is taken by another process, and its compute mode is Exclusive_Process", "nvidia-smi -i 0 -c DEFAULT")
	})
}

func TestDo(t *testing.T) {
	d, _ := use(t)
	want := errors.New("of the function")
	if err := d.Do(func() error { return want }); err != want {
		t.Error(err)
	}
	// A Do inside runs at once, on the same thread.
	var order []int
	do(t, d, func() error {
		outer := syscall.Gettid()
		err := d.Do(func() error {
			if syscall.Gettid() != outer {
				t.Error("another thread")
			}
			order = append(order, 1)
			return nil
		})
		order = append(order, 2)
		return err
	})
	if !slices.Equal(order, []int{1, 2}) {
		t.Error(order)
	}
	// Many at a time come one after the other.
	var group sync.WaitGroup
	count := 0
	for range 50 {
		group.Go(func() {
			for range 20 {
				if err := d.Do(func() error { count++; return nil }); err != nil {
					t.Error(err)
				}
			}
		})
	}
	group.Wait()
	if count != 1000 {
		t.Errorf("%d of 1000", count)
	}
}

func TestDoForwardsPanics(t *testing.T) {
	d, _ := use(t)
	func() {
		defer func() {
			p, ok := recover().(*dense.Panic)
			if !ok || p.Value != "a fault" || !strings.Contains(string(p.Stack), "TestDoForwardsPanics") {
				t.Errorf("%v", p)
			}
		}()
		d.Do(func() error { panic("a fault") })
		t.Error("Do returned")
	}()
	do(t, d, func() error { return nil })
}

// A function that ends its goroutine, as a test's Fatal does, leaves nobody waiting, and
// the GPU usable.
func TestDoWithoutReturn(t *testing.T) {
	d, _ := use(t)
	thread := 0
	do(t, d, func() error { thread = syscall.Gettid(); return nil })
	err := d.Do(func() error { runtime.Goexit(); return nil })
	if err == nil || !strings.Contains(err.Error(), "ended its goroutine") {
		t.Error(err)
	}
	do(t, d, func() error {
		if syscall.Gettid() == thread {
			t.Error("the same thread")
		}
		p, err := d.Alloc(8)
		if err != nil {
			return err
		}
		return d.Free(p)
	})
}

// Close may be called on the device's thread, and Describe while another closes.
func TestCloseInside(t *testing.T) {
	control := emulated(t)
	control.CheckNothingLeft(t)
	d, err := driver.Use(1)
	if err != nil {
		t.Fatal(err)
	}
	if err := d.Do(d.Close); err != nil {
		t.Error(err)
	}
	wants(t, d.Do(func() error { return nil }), driver.Failed, "after Close")

	var group sync.WaitGroup
	for range 4 {
		group.Go(func() {
			for range 50 {
				d, err := driver.Use(1)
				if err != nil {
					t.Error(err)
					return
				}
				if err := d.Close(); err != nil {
					t.Error(err)
				}
			}
		})
		group.Go(func() {
			for range 50 {
				if _, err := driver.Describe(1); err != nil {
					wants(t, err, driver.Failed, "after Close")
				}
			}
		})
	}
	group.Wait()
}
