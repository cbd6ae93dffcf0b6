//go:build linux && (amd64 || arm64)

package kernels

import (
	"path/filepath"
	"runtime"
	"testing"
	"unsafe"

	"github.com/ebitengine/purego"

	"github.com/gladflow/gladflow/solver/cuda/internal/emulator"
)

// The emulated driver loads the module, and finds in it what the sources have.
func TestModuleOnEmulatedDriver(t *testing.T) {
	library, err := purego.Dlopen(filepath.Join(emulator.Build(t), "libcuda.so.1"), purego.RTLD_NOW|purego.RTLD_LOCAL)
	if err != nil {
		t.Fatal(err)
	}
	runtime.LockOSThread() // a context belongs to a thread
	defer runtime.UnlockOSThread()
	var pinner runtime.Pinner
	defer pinner.Unpin()
	text := func(s string) uintptr {
		p := unsafe.Pointer(unsafe.StringData(s + "\x00"))
		pinner.Pin(p)
		return uintptr(p)
	}
	result := func() (*uintptr, uintptr) {
		p := new(uintptr)
		pinner.Pin(p)
		return p, uintptr(unsafe.Pointer(p))
	}
	call := func(what, function string, args ...uintptr) {
		t.Helper()
		f, err := purego.Dlsym(library, function)
		if err != nil {
			t.Fatal(err)
		}
		if status, _, _ := purego.SyscallN(f, args...); int32(status) != 0 {
			t.Fatalf("%s: %s returns %d", what, function, int32(status))
		}
	}
	call("the driver", "cuInit", 0)
	context, to := result()
	call("device 0", "cuDevicePrimaryCtxRetain", to, 0)
	defer call("device 0", "cuDevicePrimaryCtxRelease_v2", 0)
	call("the context", "cuCtxSetCurrent", *context)
	module, to := result()
	call("kernels.ptx", "cuModuleLoadData", to, text(PTX))
	defer call("the module", "cuModuleUnload", *module)
	for _, k := range All() {
		_, to := result()
		call(string(k), "cuModuleGetFunction", to, *module, text(string(k)))
	}
	_, to = result()
	size, toSize := result()
	call(Weights, "cuModuleGetGlobal_v2", to, toSize, *module, text(Weights))
	if *size != WeightsBytes {
		t.Errorf("%s has %d bytes, want %d", Weights, *size, WeightsBytes)
	}
}
