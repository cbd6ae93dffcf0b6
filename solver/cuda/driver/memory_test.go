//go:build cuda && cgo

package driver_test

import (
	"math"
	"slices"
	"testing"

	"github.com/gladflow/gladflow/solver/cuda/driver"
)

func TestMemory(t *testing.T) {
	d, _ := use(t)
	do(t, d, func() error {
		free := d.Properties().Free
		p, err := d.Alloc(1 << 20)
		if err != nil || p == 0 {
			t.Fatal(p, err)
		}
		if d.Allocated() != 1<<20 || d.Properties().Free != free-1<<20 {
			t.Errorf("%d allocated, %d free", d.Allocated(), d.Properties().Free)
		}
		if p.At(24) != p+24 || p.At(-8) != p-8 {
			t.Error(p.At(24))
		}
		if err := d.Free(p); err != nil {
			t.Error(err)
		}
		if d.Allocated() != 0 || d.Properties().Free != free {
			t.Errorf("%d allocated, %d free", d.Allocated(), d.Properties().Free)
		}
		wants(t, d.Free(p), driver.Failed, "freed twice")
		wants(t, d.Free(p.At(8)), driver.Failed, "not allocated")
		if p, err := d.Alloc(0); p != 0 || err != nil || d.Free(p) != nil {
			t.Error(p, err)
		}
		_, err = d.Alloc(-8)
		wants(t, err, driver.Failed, "-8 bytes")
		return nil
	})
}

func TestOutOfMemory(t *testing.T) {
	d, _ := use(t)
	do(t, d, func() error {
		p, err := d.Alloc(1 << 28)
		if err != nil {
			return err
		}
		_, err = d.Alloc(5e9)
		e := wants(t, err, driver.OutOfMemory, "GPU 0 (", "has no room for 5.0 GB", "4.0 GB of 4.3 GB are free", "this process holds 268.4 MB")
		if e.Code != 2 || e.Name != "CUDA_ERROR_OUT_OF_MEMORY" {
			t.Errorf("%d %s", e.Code, e.Name)
		}
		return d.Free(p)
	})
}

func TestHostMemory(t *testing.T) {
	d, control := use(t)
	before := control.Count("pinned")
	do(t, d, func() error {
		values, err := d.AllocHost(1000)
		if err != nil {
			return err
		}
		if len(values) != 1000 || control.Count("pinned") != before+1 {
			t.Errorf("%d values, %d pinned", len(values), control.Count("pinned")-before)
		}
		for i := range values {
			values[i] = float64(i)
		}
		if err := d.FreeHost(values); err != nil {
			return err
		}
		if none, err := d.AllocHost(0); len(none) != 0 || err != nil || d.FreeHost(none) != nil {
			t.Error(none, err)
		}
		_, err = d.AllocHost(-1)
		wants(t, err, driver.Failed, "-1 values")
		control.Set(t, "EMULATOR_FAIL_CODE", "2")
		control.Set(t, "EMULATOR_FAIL", "cuMemHostAlloc:1")
		_, err = d.AllocHost(1e6)
		wants(t, err, driver.OutOfMemory, "this machine has no 8.0 MB of memory that can be pinned for GPU 0 (")
		control.Set(t, "EMULATOR_FAIL_CODE", "801")
		control.Set(t, "EMULATOR_FAIL", "cuMemHostAlloc:1")
		_, err = d.AllocHost(1)
		wants(t, err, driver.Failed, "cuMemHostAlloc failed with CUDA_ERROR_NOT_SUPPORTED (801")
		return nil
	})
}

func TestViews(t *testing.T) {
	values := []float64{math.Float64frombits(0x00000002_ffffffff), math.Float64frombits(7)}
	if got := driver.Int32s(values); !slices.Equal(got, []int32{-1, 2, 7, 0}) {
		t.Error(got)
	}
}
