//go:build linux && (amd64 || arm64)

package emulator

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"unsafe"
)

// pinned is a page-locked slice, outside Go's memory.
func (d *device) pinned(values ...float64) ([]float64, uintptr) {
	d.t.Helper()
	var p uintptr
	d.must("cuMemAllocHost_v2", out(&p), uintptr(8*len(values)))
	s := unsafe.Slice((*float64)(*(*unsafe.Pointer)(unsafe.Pointer(&p))), len(values))
	copy(s, values)
	return s, p
}

func TestDeferredWorkWaits(t *testing.T) {
	d := open(t, "EMULATOR_DEFERRED", "1")
	s := d.stream(1)
	host, p := d.pinned(1)
	x := d.alloc(1)
	d.must("cuMemcpyHtoDAsync_v2", x, p, 8, s)
	host[0] = 2 // too early: the copy has not run
	back, q := d.pinned(0)
	d.must("cuMemcpyDtoHAsync_v2", q, x, 8, s)
	if back[0] != 0 {
		t.Error("a copy ran before anything synchronised")
	}
	d.must("cuStreamSynchronize", s)
	if back[0] != 2 {
		t.Errorf("the copy took %v, want 2: what the host holds when it runs", back[0])
	}
	d.must("cuMemFreeHost", p)
	d.must("cuMemFreeHost", q)
}

func TestDeferredPinnedMemoryGoneEarly(t *testing.T) {
	d := open(t, "EMULATOR_DEFERRED", "1")
	_, p := d.pinned(1)
	d.must("cuMemcpyHtoDAsync_v2", d.alloc(1), p, 8, 0)
	d.must("cuMemFreeHost", p)
	d.want(700, "cuCtxSynchronize")
	if want := "the pinned host memory was freed before the copy ran"; !strings.Contains(d.Complaint(), want) {
		t.Errorf("the driver says %q, want %q", d.Complaint(), want)
	}
}

// Two streams without an event between them run in either order, and with one in the right one.
func TestDeferredOrder(t *testing.T) {
	Build(t, Kernels(testKernels)) // or it is skipped as a whole
	for _, c := range []struct {
		name     string
		wait     bool
		null     bool // the first half runs in the null stream, which orders blocking streams
		blocking bool
		orders   int
	}{
		{"unordered", false, false, true, 2},
		{"event", true, false, false, 1},
		{"null stream", false, true, true, 1},
		{"null stream beside one that does not block", false, true, false, 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			seen := make(map[float64]bool)
			for seed := range 20 {
				t.Run(fmt.Sprint(seed), func(t *testing.T) {
					d := open(t, "EMULATOR_DEFERRED", fmt.Sprint(seed))
					flags := uintptr(1)
					if c.blocking {
						flags = 0
					}
					a, b, e := d.stream(flags), d.stream(flags), d.event()
					if c.null {
						a = 0
					}
					x, y := d.put(1), d.put(2)
					d.must("cuMemcpyDtoDAsync_v2", x, y, 8, a)
					if c.wait {
						d.must("cuEventRecord", e, a)
						d.must("cuStreamWaitEvent", b, e, 0)
					}
					host, p := d.pinned(0)
					d.must("cuMemcpyDtoHAsync_v2", p, x, 8, b)
					d.must("cuStreamSynchronize", b)
					seen[host[0]] = true
					d.must("cuCtxSynchronize")
					d.must("cuMemFreeHost", p)
				})
			}
			if len(seen) != c.orders {
				t.Errorf("the second stream saw %v, want %d different", seen, c.orders)
			}
		})
	}
}

func TestDeferredPolling(t *testing.T) {
	d := open(t, "EMULATOR_DEFERRED", "4")
	s, e := d.stream(1), d.event()
	x := d.alloc(1)
	for range 20 {
		d.must("cuMemsetD8Async", x, 0, 8, s)
	}
	d.must("cuEventRecord", e, s)
	polls := 0
	for d.call("cuEventQuery", e) == 600 {
		polls++
	}
	if polls == 0 {
		t.Error("the first query found everything done")
	}
	if code := d.call("cuStreamQuery", s); code != 0 {
		t.Errorf("the stream says %d after its last event", code)
	}
}

// What a kernel reads was freed before: the driver waits, and counts it.
func TestDeferredFree(t *testing.T) {
	d := open(t, "EMULATOR_DEFERRED", "1")
	var x uintptr
	d.must("cuMemAlloc_v2", out(&x), 8)
	host, p := d.pinned(3)
	d.must("cuMemcpyHtoDAsync_v2", x, p, 8, 0)
	d.must("cuMemcpyDtoHAsync_v2", p, x, 8, 0)
	before := d.Count("frees_that_waited")
	d.must("cuMemFree_v2", x)
	if d.Count("frees_that_waited") != before+1 || host[0] != 3 {
		t.Error("cuMemFree did not wait for the work before it")
	}
	d.must("cuMemFreeHost", p)
}

func TestEvents(t *testing.T) {
	d := open(t)
	a, b := d.event(), d.event()
	var ms float32
	d.want(400, "cuEventElapsedTime", out(&ms), a, b)
	d.must("cuEventQuery", a) // never recorded
	d.must("cuEventRecord", a, 0)
	m := d.module()
	x := d.put(ramp(1 << 16)...)
	if code := d.launch(d.function(m, "partial_sums"), 0, 4, 1, 128, d.alloc(4), x, 1<<16); code != 0 {
		t.Fatal(code)
	}
	d.must("cuEventRecord", b, 0)
	d.must("cuEventSynchronize", b)
	d.must("cuEventElapsedTime", out(&ms), a, b)
	if !(ms > 0 && ms < 1e5) || math.IsNaN(float64(ms)) {
		t.Errorf("%v ms between the events", ms)
	}
	var untimed uintptr
	d.must("cuEventCreate", out(&untimed), 2)
	d.must("cuEventRecord", untimed, 0)
	d.want(400, "cuEventElapsedTime", out(&ms), a, untimed)
	d.must("cuEventDestroy_v2", untimed)
	d.want(400, "cuEventDestroy_v2", untimed)
	d.want(400, "cuEventRecord", untimed, 0)

	d.Set(t, "EMULATOR_DEFERRED", "1")
	d.must("cuEventRecord", b, 0)
	d.want(600, "cuEventElapsedTime", out(&ms), a, b)
	d.must("cuCtxSynchronize")
	d.must("cuEventElapsedTime", out(&ms), a, b)
}

func TestStreams(t *testing.T) {
	d := open(t)
	d.CheckNothingLeft(t)
	var s uintptr
	d.want(1, "cuStreamCreate", out(&s), 2)
	d.must("cuStreamCreate", out(&s), 1)
	d.must("cuStreamQuery", s)
	d.must("cuStreamDestroy_v2", s)
	for _, name := range []string{"cuStreamDestroy_v2", "cuStreamSynchronize", "cuStreamQuery"} {
		d.want(400, name, s)
	}
	d.want(400, "cuMemcpyHtoDAsync_v2", d.alloc(1), out(new(float64)), 8, s)
}

// What is held waits while others go on, until it is let go or something has to wait for it.
func TestHeldWork(t *testing.T) {
	for seed := range 10 {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			d := open(t, "EMULATOR_DEFERRED", fmt.Sprint(seed), "EMULATOR_HOLD", "cublasDscal_v2")
			h, a, b, e := d.cublas(), d.stream(1), d.stream(1), d.event()
			x, y := d.put(1), d.alloc(1)
			d.must("cublasSetStream_v2", h, a)
			d.must("cublasDscal_v2", h, 1, num(2), x, 1)
			d.must("cuEventRecord", e, a)
			d.must("cuMemcpyDtoDAsync_v2", y, x, 8, b)
			d.must("cuStreamSynchronize", b)
			for range 20 {
				d.want(600, "cuEventQuery", e)
			}
			complaints := d.Count("complaints")
			if seed%2 == 0 {
				d.Set(t, "EMULATOR_HOLD", "")
			}
			d.must("cuStreamSynchronize", a)
			if got := d.Count("complaints") - complaints; got != seed%2 {
				t.Errorf("%d complaints, the last is %q", got, d.Complaint())
			}
			if got := d.get(x, 1)[0] + d.get(y, 1)[0]; got != 3 {
				t.Errorf("the sum is %v", got)
			}
		})
	}
}
