//go:build linux && (amd64 || arm64)

package emulator

import (
	"runtime"
	"testing"
)

// onThread runs f on an OS thread of its own, on which no context is current.
func onThread(f func()) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		runtime.LockOSThread() // never unlocked: the thread ends with the goroutine
		f()
	}()
	<-done
}

func TestThreadWithoutContext(t *testing.T) {
	d := open(t)
	var p uintptr
	x, s, m := d.alloc(1), d.stream(0), d.module()
	f := d.function(m, "write_before")
	var blas, solver uintptr
	d.must("cublasCreate_v2", out(&blas))
	defer d.call("cublasDestroy_v2", blas)
	d.must("cusolverDnCreate", out(&solver))
	defer d.call("cusolverDnDestroy", solver)
	onThread(func() {
		for _, c := range []struct {
			want      int
			name      string
			arguments []uintptr
		}{
			{201, "cuMemAlloc_v2", []uintptr{out(&p), 8}},
			{201, "cuMemFree_v2", []uintptr{x}},
			{201, "cuMemcpyDtoH_v2", []uintptr{out(new(float64)), x, 8}},
			{201, "cuStreamCreate", []uintptr{out(&p), 0}},
			{201, "cuStreamSynchronize", []uintptr{s}},
			{201, "cuModuleLoadData", []uintptr{out(&p), text(".version 8.0\n.target sm_80\n")}},
			{201, "cuLaunchKernel", []uintptr{f, 1, 1, 1, 1, 1, 1, 0, s, at([]uintptr{out(&x)}), 0}},
			{201, "cuCtxSynchronize", nil},
			{0, "cuDeviceGetCount", []uintptr{out(new(int32))}},
			{1, "cublasCreate_v2", []uintptr{out(&p)}},
			{1, "cublasDscal_v2", []uintptr{blas, 1, out(new(float64)), x, 1}},
			{1, "cusolverDnCreate", []uintptr{out(&p)}},
			{1, "cusolverDnDpotrf_bufferSize", []uintptr{solver, 0, 1, x, 1, out(new(int32))}},
		} {
			if got := d.call(c.name, c.arguments...); got != c.want {
				t.Errorf("%s on a thread without context: %d, want %d", c.name, got, c.want)
			}
		}
		// With the context the same thread may do all that.
		if d.call("cuCtxSetCurrent", d.context) != 0 || d.call("cuStreamSynchronize", s) != 0 {
			t.Error("a second thread cannot use the context")
		}
	})
}

func TestTwoDevices(t *testing.T) {
	d := load(t, "EMULATOR_DEVICES", "2")
	d.must("cuInit", 0)
	var n int32
	if d.must("cuDeviceGetCount", out(&n)); n != 2 {
		t.Fatalf("%d devices, want 2", n)
	}
	d.want(101, "cuDeviceGet", out(&n), 2)
	var a, b [16]byte
	d.must("cuDeviceGetUuid", out(&a), 0)
	d.must("cuDeviceGetUuid", out(&b), 1)
	if a == b {
		t.Error("both devices have one UUID")
	}
	d.retain(1)
	on1, s := d.alloc(1), d.stream(0)
	first := d.context
	d.retain(0)
	on0, m := d.alloc(1), d.module()
	// Neither a stream nor memory of the other device will do.
	if code := d.launch(d.function(m, "write_before"), s, 1, 1, 1, on0); code != 400 {
		t.Errorf("launch in another context's stream: %d, want 400", code)
	}
	if code := d.launch(d.function(m, "write_before"), 0, 1, 1, 1, on1); code != 700 {
		t.Errorf("launch with another context's memory: %d, want 700", code)
	}
	d.call("cuCtxSetCurrent", first)
	blas := d.cublas()
	d.must("cublasDscal_v2", blas, 1, num(2), on1, 1)
	d.call("cuCtxSetCurrent", d.context)
	d.want(1, "cublasDscal_v2", blas, 1, num(2), on1, 1)
	d.call("cuCtxSetCurrent", first)
	d.want(13, "cublasDscal_v2", blas, 1, num(2), on0, 1)
	d.must("cuDevicePrimaryCtxGetState", 1, out(&a), out(&n))
	if n != 1 {
		t.Error("device 1 is not active")
	}
}

func TestPrimaryContext(t *testing.T) {
	d := open(t)
	var again, now uintptr
	d.must("cuDevicePrimaryCtxRetain", out(&again), 0)
	if again != d.context {
		t.Error("the device has two primary contexts")
	}
	d.must("cuDevicePrimaryCtxRelease_v2", 0)
	d.must("cuCtxGetCurrent", out(&now))
	if now != d.context {
		t.Error("the context is not current any more")
	}
	d.must("cuDevicePrimaryCtxRelease_v2", 0)
	d.want(709, "cuCtxSynchronize")
	d.want(201, "cuDevicePrimaryCtxRelease_v2", 0)
	d.want(201, "cuCtxSetCurrent", d.context)
	d.must("cuDevicePrimaryCtxRetain", out(&d.context), 0)
}

func TestDevices(t *testing.T) {
	d := open(t, "EMULATOR_CAPABILITY", "86", "EMULATOR_MULTIPROCESSORS", "132")
	for attribute, want := range map[uintptr]int32{1: 1024, 10: 32, 16: 132, 75: 8, 76: 6} {
		var v int32
		if d.must("cuDeviceGetAttribute", out(&v), attribute, 0); v != want {
			t.Errorf("attribute %d is %d, want %d", attribute, v, want)
		}
	}
	var name [32]byte
	d.must("cuDeviceGetName", out(&name), 32, 0)
	if string(name[:17]) != "Emulated device 0" {
		t.Errorf("the device is called %q", name)
	}
	var v int32
	d.must("cuDriverGetVersion", out(&v))
	if v != 12090 {
		t.Errorf("driver version %d", v)
	}
}

func TestNoDevice(t *testing.T) {
	d := load(t, "EMULATOR_NO_DEVICE", "1")
	d.want(100, "cuInit", 0)
}

func TestBusyDevice(t *testing.T) {
	d := load(t, "EMULATOR_BUSY", "1")
	d.must("cuInit", 0)
	var c uintptr
	d.want(46, "cuDevicePrimaryCtxRetain", out(&c), 0)
	var mode int32
	d.must("cuDeviceGetAttribute", out(&mode), 20, 0)
	if mode != 3 {
		t.Errorf("compute mode %d, want 3, exclusive", mode)
	}
}

func TestErrorNames(t *testing.T) {
	d := load(t)
	var p *byte
	d.must("cuGetErrorName", 700, out(&p))
	d.must("cuGetErrorString", 2, out(&p))
	d.want(1, "cuGetErrorString", 12345, out(&p))
}
