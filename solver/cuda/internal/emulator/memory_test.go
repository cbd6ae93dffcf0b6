//go:build linux && (amd64 || arm64)

package emulator

import (
	"math"
	"slices"
	"strings"
	"testing"
)

func TestMemory(t *testing.T) {
	d := open(t)
	d.CheckNothingLeft(t)
	x := d.put(1, 2, 3, 4)
	y := d.alloc(4)
	for _, v := range d.get(y, 4) {
		if !math.IsNaN(v) {
			t.Errorf("fresh memory holds %v, want NaN", v)
		}
	}
	d.must("cuMemcpyDtoDAsync_v2", y+8, x, 16, 0)
	d.must("cuMemsetD32_v2", y, 0, 2)
	if got := d.get(y, 3); !slices.Equal(got, []float64{0, 1, 2}) {
		t.Errorf("copied %v", got)
	}
	var base, bytes uintptr
	d.must("cuMemGetAddressRange_v2", out(&base), out(&bytes), x+17)
	if base != x || bytes != 32 {
		t.Errorf("address range %#x, %d bytes, want %#x, 32", base, bytes, x)
	}
	d.want(500, "cuMemGetAddressRange_v2", out(&base), out(&bytes), 4096)
	d.want(1, "cuMemAlloc_v2", out(&base), 0)
}

func TestMemoryMistakes(t *testing.T) {
	d := open(t)
	x := d.alloc(4)
	host := make([]float64, 9)
	for _, c := range []struct {
		name      string
		arguments []uintptr
		complaint string
	}{
		{"cuMemcpyHtoD_v2", []uintptr{x, at(host), 40}, "cuMemcpyHtoD_v2: 40 bytes at"},
		{"cuMemcpyHtoD_v2", []uintptr{x + 8, at(host), 32}, "do not lie in one allocation"},
		{"cuMemcpyDtoH_v2", []uintptr{at(host), x - 8, 8}, "do not lie in one allocation"},
		{"cuMemcpyHtoD_v2", []uintptr{at(host), x, 8}, "do not lie in one allocation"},
		{"cuMemcpyDtoH_v2", []uintptr{x, x + 8, 8}, "is not host memory"},
		{"cuMemsetD8Async", []uintptr{x, 0, 33, 0}, "do not lie in one allocation"},
		{"cuMemFree_v2", []uintptr{x + 8}, "is no allocation, or was freed before"},
		{"cuMemFreeHost", []uintptr{at(host)}, "is no pinned memory, or was freed before"},
	} {
		d.want(1, c.name, c.arguments...)
		if !strings.Contains(d.Complaint(), c.complaint) {
			t.Errorf("%s: the driver says %q, want %q", c.name, d.Complaint(), c.complaint)
		}
	}
	var p uintptr
	d.must("cuMemAlloc_v2", out(&p), 8)
	d.must("cuMemFree_v2", p)
	bad := d.Count("bad_frees")
	d.want(1, "cuMemFree_v2", p)
	if d.Count("bad_frees") != bad+1 {
		t.Error("a double free was not counted")
	}
	d.want(1, "cuMemcpyDtoH_v2", at(host), p, 8)
}

func TestOutOfMemory(t *testing.T) {
	d := open(t, "EMULATOR_MEMORY", "1048576")
	var available, total, p uintptr
	x := d.alloc(65 << 10 / 8)
	d.must("cuMemGetInfo_v2", out(&available), out(&total))
	if total != 1<<20 || available != 1<<20-65<<10 {
		t.Errorf("%d of %d bytes are free, want %d of %d", available, total, 1<<20-65<<10, 1<<20)
	}
	d.want(2, "cuMemAlloc_v2", out(&p), available+1)
	d.want(2, "cuMemAlloc_v2", out(&p), math.MaxUint64)
	d.must("cuMemAlloc_v2", out(&p), available)
	d.want(2, "cuMemAlloc_v2", out(&x), 1)
	d.must("cuMemFree_v2", p)
	d.must("cuMemAlloc_v2", out(&p), available)
	d.must("cuMemFree_v2", p)
}

func TestPinnedMemory(t *testing.T) {
	d := open(t)
	d.CheckNothingLeft(t)
	var p uintptr
	d.must("cuMemAllocHost_v2", out(&p), 64)
	if d.Count("pinned") != 1 || d.Count("pinned_bytes") != 64 {
		t.Errorf("%d pinned, of %d bytes", d.Count("pinned"), d.Count("pinned_bytes"))
	}
	x := d.put(1, 2)
	d.must("cuMemcpyDtoHAsync_v2", p+48, x, 16, 0)
	d.must("cuMemFreeHost", p)
	d.must("cuMemHostAlloc", out(&p), 8, 0)
	d.must("cuMemFreeHost", p)

	own := make([]float64, 4)
	d.must("cuMemHostRegister_v2", at(own), 32, 0)
	d.want(712, "cuMemHostRegister_v2", at(own), 8, 0)
	d.must("cuMemHostUnregister", at(own))
	d.want(713, "cuMemHostUnregister", at(own))
}

// What a context still holds when it ends is gone, and stays in the counts.
func TestContextEndsWithMemory(t *testing.T) {
	d := open(t)
	before := d.Count("allocations")
	var c, p uintptr
	d.must("cuCtxCreate_v2", out(&c), 0, 0)
	d.must("cuMemAlloc_v2", out(&p), 8)
	d.must("cuCtxDestroy_v2", c)
	d.must("cuCtxSetCurrent", d.context)
	if n := d.Count("allocations") - before; n != 1 {
		t.Errorf("%d allocations are left, want 1", n)
	}
	d.want(1, "cuMemFree_v2", p)
}
