//go:build cuda && cgo

package driver

//go:generate go run ./internal/trampoline

/*
#cgo LDFLAGS: -L${SRCDIR}/link -ldl
#include "trampoline.h"
*/
import "C"

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"unsafe"

	"github.com/ebitengine/purego"
)

// PathVariable is the environment variable that names the folder in which the
// driver's library and those of CUDA are looked for; if it is set, nowhere else.
const PathVariable = "GLADFLOW_CUDA_PATH"

// oldest is the driver's version that this program asks for: CUDA 12.0.
const oldest = 12000

// Open loads libcuda.so.1 and starts the driver, once a process: later calls give
// the result of the first. It fails with an Error of Kind NoLibrary, NoDriver,
// NoDevice, TooOld or Failed.
func Open() error {
	_, err := opened()
	return err
}

// Version is the newest version of CUDA that the open driver knows, such as 12090 for
// 12.9; 0 where it could not be opened.
func Version() int {
	l, err := opened()
	if err != nil {
		return 0
	}
	return l.version
}

// libcuda is the driver's library, and what gorgonia.org/cu lacks of it.
type libcuda struct {
	version                int
	errorName, errorString uintptr
	memHostAlloc           uintptr
}

var opened = sync.OnceValues(openDriver)

// folders are where the driver's library may lie if the loader does not find it:
// Windows' Linux, containers of some clouds, NixOS.
var folders = []string{"", "/usr/lib/wsl/lib", "/usr/local/nvidia/lib64", "/run/opengl-driver/lib"}

func openDriver() (*libcuda, error) {
	// What the loader says of a failure it says to the thread that has failed.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	const name = "libcuda.so.1"
	failed := func(kind Kind, op string, code int, format string, args ...any) error {
		return &Error{Op: op, Code: code, Name: resultName(code), Kind: kind, Message: fmt.Sprintf(format, args...)}
	}
	handle, err := openFirst(name)
	if err != nil {
		return nil, &Error{Op: "dlopen", Kind: NoLibrary, Message: err.Error()}
	}
	l := new(libcuda)
	var initialise, getVersion uintptr
	for _, s := range []struct {
		name    string
		address *uintptr
	}{
		{"cuInit", &initialise},
		{"cuDriverGetVersion", &getVersion},
		{"cuGetErrorName", &l.errorName},
		{"cuGetErrorString", &l.errorString},
		{"cuMemHostAlloc", &l.memHostAlloc},
	} {
		if *s.address, err = purego.Dlsym(handle, s.name); err != nil {
			return nil, failed(NoDriver, "dlsym", 0, "%s is not the library of NVIDIA's driver: it has no %s", name, s.name)
		}
	}
	resultTexts.Store(l)
	var version int32
	if code := call(getVersion, uintptr(unsafe.Pointer(&version))); code != 0 {
		return nil, failed(NoDriver, "cuDriverGetVersion", code, "NVIDIA's driver does not run: %s", words(code))
	}
	l.version = int(version)
	if l.version < oldest {
		return nil, failed(TooOld, "cuDriverGetVersion", 0, "NVIDIA's driver is of CUDA %s, and %s is the oldest that can be used: install driver 525 or a newer one",
			dotted(l.version), dotted(oldest))
	}
	if code := call(initialise, 0); code != 0 {
		kind, sentence := startFault(code, os.Getenv)
		return nil, failed(kind, "cuInit", code, "%s", sentence)
	}
	C.gladflow_cuda_fill(*(*unsafe.Pointer)(unsafe.Pointer(&handle)))
	return l, nil
}

// openFirst opens the driver's library. It stays open for the life of the process.
func openFirst(name string) (uintptr, error) {
	if folder := os.Getenv(PathVariable); folder != "" {
		if abs, err := filepath.Abs(folder); err == nil {
			folder = abs // a name without a folder would be the loader's to find
		}
		handle, err := purego.Dlopen(filepath.Join(folder, name), purego.RTLD_NOW|purego.RTLD_GLOBAL)
		if err != nil {
			return 0, fmt.Errorf("there is no usable %s in %s, the folder of %s: %w", name, folder, PathVariable, err)
		}
		return handle, nil
	}
	var first error
	for _, folder := range folders {
		handle, err := purego.Dlopen(filepath.Join(folder, name), purego.RTLD_NOW|purego.RTLD_GLOBAL)
		if err == nil {
			return handle, nil
		}
		if first == nil || !strings.Contains(err.Error(), "No such file") {
			first = err
		}
	}
	if !strings.Contains(first.Error(), "No such file") {
		return 0, fmt.Errorf("NVIDIA's driver cannot be used: %w", first)
	}
	return 0, fmt.Errorf("there is no %s, the library of NVIDIA's driver: install the driver, or start the container with the GPUs (docker run --gpus all), or run on the CPU", name)
}

// startFault says what a result of cuInit means.
func startFault(code int, getenv func(string) string) (Kind, string) {
	switch code {
	case noDevice, invalidDevice:
		const visible = "CUDA_VISIBLE_DEVICES"
		if v := getenv(visible); v != "" {
			return NoDevice, fmt.Sprintf("NVIDIA's driver finds no GPU among those that %s=%s leaves: change that, or run on the CPU", visible, v)
		}
		return NoDevice, "NVIDIA's driver runs, but finds no GPU: see what nvidia-smi lists, give the container its GPUs, or run on the CPU"
	case stubLibrary:
		return NoDriver, "the libcuda.so.1 that was found is the stub of a CUDA toolkit, not the driver: install NVIDIA's driver, and take the toolkit's folder stubs out of LD_LIBRARY_PATH"
	case driverMismatch:
		return NoDriver, "the library of NVIDIA's driver and its kernel module are of different versions, as after an update: restart the machine"
	case compatNotSupported:
		return TooOld, "the CUDA compatibility package on this machine does not work with its GPU or driver: remove cuda-compat, or install a newer driver"
	case systemNotReady:
		return NoDriver, "the GPUs of this machine are not ready: start nvidia-fabricmanager, and try again"
	case notPermitted:
		return NoDriver, "this user may not use NVIDIA's driver: see who may read and write /dev/nvidia*"
	case outOfMemory:
		return OutOfMemory, "NVIDIA's driver does not start for want of memory: give the process or the container more"
	}
	return NoDriver, fmt.Sprintf("NVIDIA's driver does not start: cuInit says %s; see whether nvidia-smi works, load the kernel module (modprobe nvidia-uvm), or restart the machine", words(code))
}

// call calls a function of the driver that returns a result.
//
//go:uintptrescapes
func call(function uintptr, args ...uintptr) int {
	r, _, _ := purego.SyscallN(function, args...)
	return int(int32(r))
}

// dotted writes CUDA's number of a version, as 12.9 for 12090.
func dotted(version int) string {
	return fmt.Sprintf("%d.%d", version/1000, version%1000/10)
}
