//go:build cuda && cgo

package driver_test

import (
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/gladflow/gladflow/solver/cuda/driver"
	"github.com/gladflow/gladflow/solver/cuda/internal/emulator"
)

func kernels(t testing.TB) string { return emulator.PTX(t, "testdata/kernels.cu") }

// bench is what most tests need: a stream, kernels, two vectors.
type bench struct {
	*driver.Device
	*emulator.Control
	stream *driver.Stream
	module *driver.Module
	scale  *driver.Function
	a, b   driver.Pointer
}

const size = 1000

func setUp(t testing.TB) *bench {
	d, control := use(t)
	k := &bench{Device: d, Control: control}
	do(t, d, func() (err error) {
		if k.stream, err = d.NewStream(); err != nil {
			return err
		}
		if k.module, err = d.Load(kernels(t)); err != nil {
			return err
		}
		if k.scale, err = k.module.Function("scale"); err != nil {
			return err
		}
		if k.a, err = d.Alloc(8 * size); err != nil {
			return err
		}
		k.b, err = d.Alloc(8 * size)
		return err
	})
	t.Cleanup(func() {
		d.Do(func() error {
			errs := []error{d.Free(k.a), d.Free(k.b), k.module.Unload(), k.module.Unload(), k.stream.Close(), k.stream.Close()}
			if err := errors.Join(errs...); err != nil && d.Lost() == nil {
				t.Error(err)
			}
			return nil
		})
	})
	return k
}

func ramp() []float64 {
	values := make([]float64, size)
	for i := range values {
		values[i] = math.Sin(float64(i))
	}
	return values
}

func TestLaunch(t *testing.T) {
	k := setUp(t)
	before := k.Count("launches")
	do(t, k.Device, func() error {
		for _, grid := range [][3]int{{0, 1, 1}, {1, 0, 1}, {1, 1, 0}, {1, 65536, 1}, {1 << 31, 1, 1}, {1, 1, 1025}, {-1, 1, 1}} {
			err := k.stream.Launch(k.scale, grid[0], grid[1], grid[2], k.b, k.a, 1.0, size)
			wants(t, err, driver.Failed, "the kernel scale cannot be launched", "cannot be")
		}
		wants(t, k.stream.Launch(k.scale, 1, 1, 1, k.b, k.a, float32(1), size), driver.Failed, "argument 2 is of type float32")
		wants(t, k.stream.Launch(k.scale, 1, 1, 1, k.b, nil), driver.Failed, "argument 1 is nil")
		wants(t, k.stream.Launch(k.scale, 1, 1, 1, make([]any, 33)...), driver.Failed, "33 arguments")
		if k.Count("launches") != before {
			t.Error("a wrong launch reached the driver")
		}
		_, err := k.module.Function("nothing")
		wants(t, err, driver.Failed, "the module has no kernel nothing")
		_, _, err = k.module.Global("nothing")
		wants(t, err, driver.Failed, "the module has no variable nothing")
		return nil
	})
}

func TestLaunchAllocatesNothing(t *testing.T) {
	k := setUp(t)
	do(t, k.Device, func() error {
		if err := k.stream.Set8(k.a, 0, 8*size); err != nil {
			return err
		}
		n := int64(size)
		allocations := testing.AllocsPerRun(100, func() {
			if err := k.stream.Launch(k.scale, 1, 1, 32, k.b, k.a, 1e300, n); err != nil {
				t.Fatal(err)
			}
		})
		if allocations != 0 {
			t.Errorf("%g allocations a launch", allocations)
		}
		return nil
	})
}

func TestConstants(t *testing.T) {
	k := setUp(t)
	do(t, k.Device, func() error {
		f, err := k.module.Function("sum_weights")
		if err != nil {
			return err
		}
		p, bytes, err := k.module.Global("weights")
		if bytes != 32 || err != nil {
			t.Fatal(bytes, err)
		}
		got := make([]float64, 1)
		err = errors.Join(k.stream.Upload(p, []float64{1, 10, 100, 1000}), k.stream.Launch(f, 1, 1, 32, k.a), k.stream.Download(got, k.a), k.stream.Synchronize())
		if got[0] != 1111 {
			t.Error(got)
		}
		return err
	})
}

func TestLoadFails(t *testing.T) {
	d, control := use(t)
	ptx := kernels(t)
	do(t, d, func() error {
		_, err := d.Load("nothing of the kind")
		e := wants(t, err, driver.Refused, "GPU 0 (", "refuses the kernels with CUDA_ERROR_INVALID_PTX (218", "ptxas fatal")
		if !strings.Contains(e.Log, "ptxas fatal") {
			t.Errorf("log %q", e.Log)
		}
		control.Set(t, "EMULATOR_CAPABILITY", "75")
		_, err = d.Load(ptx)
		wants(t, err, driver.TooOld, "the kernels ask for 8.0 or more", "take a newer GPU")
		control.Set(t, "EMULATOR_CAPABILITY", "")
		_, err = d.Load(strings.Replace(ptx, ".version 8.0", ".version 9.4", 1))
		wants(t, err, driver.TooOld, "NVIDIA's driver, of CUDA 12.9, is too old for the kernels, which are PTX 9.4: install a newer driver")
		for code, part := range map[string]string{"221": "libnvidia-ptxjitcompiler", "223": "unset CUDA_DISABLE_PTX_JIT", "300": "refuses the kernels"} {
			control.Set(t, "EMULATOR_FAIL_CODE", code)
			control.Set(t, "EMULATOR_FAIL", "cuModuleLoadDataEx:1")
			_, err = d.Load("nothing")
			wants(t, err, driver.Refused, part)
		}
		control.Set(t, "EMULATOR_FAIL_CODE", "2")
		control.Set(t, "EMULATOR_FAIL", "cuModuleLoadDataEx:1")
		_, err = d.Load("nothing")
		wants(t, err, driver.OutOfMemory, "too little memory for cuModuleLoadDataEx")
		return nil
	})
}
