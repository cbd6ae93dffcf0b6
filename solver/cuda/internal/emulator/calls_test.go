//go:build linux && (amd64 || arm64)

package emulator

import (
	"math"
	"path/filepath"
	"runtime"
	"testing"
	"unsafe"

	"github.com/ebitengine/purego"
)

const testKernels = "testdata/kernels.cu"

// A device calls the emulated libraries as a program would: without a type check, by their names.
type device struct {
	*Control
	t         testing.TB
	libraries []uintptr
	calls     uintptr // emulator_call
	context   uintptr
}

// open initialises the driver and makes device 0's primary context current on the
// test's thread, which is the test's alone until it ends.
func open(t testing.TB, settings ...string) *device {
	d := load(t, settings...)
	d.must("cuInit", 0)
	d.retain(0)
	return d
}

func load(t testing.TB, settings ...string) *device {
	t.Helper()
	return loadFrom(t, Build(t, Kernels(testKernels)), settings...)
}

func loadFrom(t testing.TB, folder string, settings ...string) *device {
	t.Helper()
	runtime.LockOSThread()
	t.Cleanup(runtime.UnlockOSThread)
	d := &device{Control: Open(t, folder), t: t}
	for _, l := range libraries[1:] {
		handle, err := purego.Dlopen(filepath.Join(folder, l.file), purego.RTLD_NOW|purego.RTLD_LOCAL)
		if err != nil {
			t.Fatal(err)
		}
		d.libraries = append(d.libraries, handle)
	}
	// purego passes up to 15 arguments, and cuBLAS and cuSOLVER have functions with more.
	var err error
	if d.calls, err = purego.Dlsym(d.libraries[0], "emulator_call"); err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(settings); i += 2 {
		d.Set(t, settings[i], settings[i+1])
	}
	return d
}

func (d *device) retain(ordinal int) {
	d.t.Helper()
	d.must("cuDevicePrimaryCtxRetain", out(&d.context), uintptr(ordinal))
	d.must("cuCtxSetCurrent", d.context)
	d.t.Cleanup(func() {
		d.call("cuCtxSetCurrent", 0)
		d.call("cuDevicePrimaryCtxRelease_v2", uintptr(ordinal))
	})
}

// call calls a function of any of the libraries and returns its status.
func (d *device) call(name string, arguments ...uintptr) int {
	d.t.Helper()
	for _, l := range d.libraries {
		// A library's handle finds what it needs as well, so that the first hit will do.
		if f, err := purego.Dlsym(l, name); err == nil {
			all := make([]uintptr, 20)
			copy(all, arguments)
			r, _, _ := purego.SyscallN(d.calls, f, at(all))
			return int(int32(r))
		}
	}
	d.t.Fatalf("the libraries have no %s", name)
	return 0
}

func (d *device) must(name string, arguments ...uintptr) {
	d.t.Helper()
	d.want(0, name, arguments...)
}

func (d *device) want(status int, name string, arguments ...uintptr) {
	d.t.Helper()
	if got := d.call(name, arguments...); got != status {
		d.t.Fatalf("%s returned %d, want %d (%s)", name, got, status, d.Complaint())
	}
}

// out is a variable's address. Variables that are handed over escape, so that their address stays.
func out[T any](p *T) uintptr {
	escaped = p
	return uintptr(unsafe.Pointer(p))
}

func at[T any](s []T) uintptr { return out(&s[0]) }

var escaped any

func (d *device) alloc(doubles int) uintptr {
	d.t.Helper()
	var p uintptr
	d.must("cuMemAlloc_v2", out(&p), uintptr(8*doubles))
	d.t.Cleanup(func() {
		d.call("cuCtxSetCurrent", d.context)
		d.call("cuMemFree_v2", p)
	})
	return p
}

func (d *device) put(values ...float64) uintptr {
	d.t.Helper()
	p := d.alloc(len(values))
	d.must("cuMemcpyHtoD_v2", p, at(values), uintptr(8*len(values)))
	return p
}

func (d *device) get(p uintptr, n int) []float64 {
	d.t.Helper()
	values := make([]float64, n)
	d.must("cuMemcpyDtoH_v2", at(values), p, uintptr(8*n))
	return values
}

func (d *device) stream(flags uintptr) uintptr {
	d.t.Helper()
	var s uintptr
	d.must("cuStreamCreate", out(&s), flags)
	d.t.Cleanup(func() { d.call("cuStreamDestroy_v2", s) })
	return s
}

func (d *device) event() uintptr {
	d.t.Helper()
	var e uintptr
	d.must("cuEventCreate", out(&e), 0)
	d.t.Cleanup(func() { d.call("cuEventDestroy_v2", e) })
	return e
}

func (d *device) module() uintptr {
	d.t.Helper()
	var m uintptr
	text := append([]byte(PTX(d.t, testKernels)), 0)
	d.must("cuModuleLoadData", out(&m), at(text))
	d.t.Cleanup(func() { d.call("cuModuleUnload", m) })
	return m
}

func (d *device) function(module uintptr, name string) uintptr {
	d.t.Helper()
	var f uintptr
	d.must("cuModuleGetFunction", out(&f), module, text(name))
	return f
}

func text(s string) uintptr { return at(append([]byte(s), 0)) }

// launch launches with arguments of uintptr, int and float64 and returns the status.
func (d *device) launch(f, stream uintptr, gridX, gridY, block int, arguments ...any) int {
	d.t.Helper()
	values := make([]uint64, len(arguments)+1)
	addresses := make([]uintptr, len(arguments)+1)
	for i, a := range arguments {
		switch a := a.(type) {
		case uintptr:
			values[i] = uint64(a)
		case int:
			values[i] = uint64(a)
		case float64:
			values[i] = math.Float64bits(a)
		default:
			d.t.Fatalf("argument of type %T", a)
		}
		addresses[i] = out(&values[i])
	}
	return d.call("cuLaunchKernel", f, uintptr(gridX), uintptr(gridY), 1, uintptr(block), 1, 1, 0, stream, at(addresses), 0)
}
