//go:build (linux || darwin) && (amd64 || arm64)

package dense

import (
	"errors"
	"fmt"
	"math"
	"os"
	"runtime"
	"strconv"
	"strings"
	"unsafe"

	"github.com/ebitengine/purego"
)

// candidates are the files that OpenBLAS goes by, best first. Bare names are
// for the dynamic loader to find.
func candidates() []string {
	if runtime.GOOS == "darwin" {
		return []string{
			"/opt/homebrew/opt/openblas/lib/libopenblas.dylib",
			"/usr/local/opt/openblas/lib/libopenblas.dylib",
			"/opt/local/lib/libopenblas.dylib",
			"libopenblas.dylib",
		}
	}
	triplet := "x86_64-linux-gnu"
	if runtime.GOARCH == "arm64" {
		triplet = "aarch64-linux-gnu"
	}
	return []string{
		"libopenblasp.so.0", // Fedora's build with threads; its libopenblas.so.0 has none
		"libopenblas.so.0",
		"libopenblas.so",
		"/usr/lib/" + triplet + "/openblas-pthread/libopenblas.so.0",
		"/usr/local/lib/libopenblas.so.0",
		"/usr/local/lib/libopenblas.so",
		"/opt/OpenBLAS/lib/libopenblas.so",
		"/home/linuxbrew/.linuxbrew/opt/openblas/lib/libopenblas.so",
	}
}

// findOpenBLAS opens the first usable candidate, which stays open for the life
// of the process.
func findOpenBLAS() (Engine, error) {
	// The library would otherwise start a thread for every processor when it is
	// opened: they spin for a while, each waiting for work that never comes.
	setenv(threadsVariables[0], "1")
	err := errors.New("there is no libopenblas where libraries are kept")
	for _, file := range candidates() {
		handle, missing := open(file)
		if missing != nil {
			continue
		}
		var e Engine
		if e, err = bind(handle, file); err == nil {
			return e, nil
		}
	}
	return nil, err
}

// open opens a library, a second time if another kernel of its serves this processor better
// than the one that it has chosen: it chooses when it is opened.
func open(file string) (uintptr, error) {
	handle, err := purego.Dlopen(file, purego.RTLD_NOW|purego.RTLD_LOCAL)
	if err != nil {
		return 0, err
	}
	better := betterCore(coreName(handle), haveAVX512(), os.Getenv)
	if better == "" || !setenv(coreVariable, better) {
		return handle, nil
	}
	if err := purego.Dlclose(handle); err != nil {
		return handle, nil // still open
	}
	return purego.Dlopen(file, purego.RTLD_NOW|purego.RTLD_LOCAL)
}

// setenv sets a variable in the environment that C sees, not in Go's, which children inherit.
func setenv(name, value string) bool {
	f, err := purego.Dlsym(purego.RTLD_DEFAULT, "setenv")
	if err != nil {
		return false
	}
	n, v := []byte(name+"\x00"), []byte(value+"\x00")
	failed, _, _ := purego.SyscallN(f, uintptr(unsafe.Pointer(&n[0])), uintptr(unsafe.Pointer(&v[0])), 1)
	return failed == 0
}

// threadsVariables are those in which OpenBLAS looks for its number of threads, in
// its order.
var threadsVariables = []string{"OPENBLAS_NUM_THREADS", "GOTO_NUM_THREADS", "OMP_NUM_THREADS"}

// threadsOf is the number of threads that an environment wants, or many.
func threadsOf(getenv func(string) string) int {
	for _, name := range threadsVariables {
		if n, err := strconv.Atoi(getenv(name)); err == nil && n > 0 {
			return n
		}
	}
	return math.MaxInt32
}

// bind makes an engine of an open library.
func bind(handle uintptr, file string) (Engine, error) {
	l := new(library)
	l.args.New = func() any { return new(arguments) }
	var (
		getConfig, setThreads uintptr
		err                   error
	)
	for _, s := range []struct {
		name    string
		address *uintptr
	}{
		{"dgemm_", &l.dgemm},
		{"dsymm_", &l.dsymm},
		{"dsyrk_", &l.dsyrk},
		{"dsyr2k_", &l.dsyr2k},
		{"dtrsm_", &l.dtrsm},
		{"dtrmm_", &l.dtrmm},
		{"dpotrf_", &l.dpotrf},
		{"dpotri_", &l.dpotri},
		{"dtrtri_", &l.dtrtri},
		{"dlauum_", &l.dlauum},
		{"dsytrd_", &l.dsytrd},
		{"dlatrd_", &l.dlatrd},
		{"dormtr_", &l.dormtr},
		{"dgemv_", &l.dgemv},
		{"openblas_set_num_threads", &setThreads},
		{"openblas_get_config", &getConfig},
	} {
		if *s.address, err = purego.Dlsym(handle, s.name); err != nil {
			return nil, fmt.Errorf("%s is unusable: it has no %s", file, s.name)
		}
	}
	address, _, _ := purego.SyscallN(getConfig)
	config := cString(address)
	if strings.Contains(config, "USE64BITINT") {
		return nil, fmt.Errorf("%s is unusable: it takes 64-bit integers", file)
	}
	l.name = describe(config)
	purego.SyscallN(setThreads, 1) // some builds do not read the variable
	return &openBLAS{l, newThreads(threadsOf(os.Getenv))}, nil
}

// cString copies the zero-terminated string at address, in C's memory.
func cString(address uintptr) string {
	if address == 0 {
		return ""
	}
	// Written so that vet does not take address for a Go pointer in an integer.
	p := *(*unsafe.Pointer)(unsafe.Pointer(&address))
	var b []byte
	for ; *(*byte)(p) != 0; p = unsafe.Add(p, 1) {
		b = append(b, *(*byte)(p))
	}
	return string(b)
}
