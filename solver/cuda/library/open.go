//go:build cuda && cgo

package library

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"unsafe"

	"github.com/ebitengine/purego"

	"github.com/gladflow/gladflow/solver/cuda/driver"
)

// Libraries are cuBLAS and cuSOLVER of one CUDA, open for the life of the process.
type Libraries struct {
	BLAS, Solver Library
	functions
}

// A Library says which one was found.
type Library struct {
	// Name is cuBLAS or cuSOLVER.
	Name string
	// Version is its own, such as "12.9.1"; cuSOLVER counts differently than CUDA.
	Version string
	// File is where it was found, "" if the system does not say.
	File string
}

func (l Library) String() string { return l.Name + " " + l.Version }

// Open looks for the libraries and opens them, once a process: in the folder of the
// environment variable GLADFLOW_CUDA_PATH, if it is set, and there alone; where the
// dynamic loader looks; in CUDA's usual folders; among the packages of Python. Of a
// place it takes the newest that the driver is new enough for, CUDA 13, 12 or 11.
//
// Its errors are driver.Errors: those of driver.Open, and the Kind NoLibrary.
func Open() (*Libraries, error) { return opened() }

var opened = sync.OnceValues(func() (*Libraries, error) {
	if err := driver.Open(); err != nil {
		return nil, err
	}
	l, err := find(places(os.Getenv), driver.Version())
	if err != nil {
		return nil, &driver.Error{Op: "dlopen", Kind: driver.NoLibrary, Message: err.Error()}
	}
	return l, nil
})

// A generation is the files of one CUDA.
type generation struct {
	cuda         int // the driver's oldest version for it
	blas, solver string
}

var generations = []generation{
	{13000, "libcublas.so.13", "libcusolver.so.12"},
	{12000, "libcublas.so.12", "libcusolver.so.11"},
	{11000, "libcublas.so.11", "libcusolver.so.11"},
}

// A place is the folders that may hold both libraries; "" is the dynamic loader's.
type place struct{ blas, solver string }

// places are where the libraries are looked for, in this order.
func places(getenv func(string) string) []place {
	if folder := getenv(driver.PathVariable); folder != "" {
		if abs, err := filepath.Abs(folder); err == nil {
			folder = abs // a name without a folder would be the loader's to find
		}
		return []place{{folder, folder}}
	}
	found := []place{{"", ""}}
	add := func(patterns ...string) {
		for _, pattern := range patterns {
			folders, _ := filepath.Glob(pattern)
			slices.Reverse(folders) // newer versions first
			for _, folder := range folders {
				found = append(found, place{folder, folder})
			}
		}
	}
	add("/usr/local/cuda/lib64", "/usr/local/cuda/targets/*-linux/lib", "/usr/local/cuda-*/lib64", "/opt/cuda/lib64")
	for _, prefix := range []string{getenv("VIRTUAL_ENV"), getenv("CONDA_PREFIX"), "/opt/conda", "/usr/local", "/usr", filepath.Join(getenv("HOME"), ".local")} {
		if !filepath.IsAbs(prefix) {
			continue
		}
		if prefix == getenv("CONDA_PREFIX") || prefix == "/opt/conda" {
			add(prefix + "/lib")
		}
		for _, packages := range []string{"/lib/python3*/site-packages/nvidia", "/lib64/python3*/site-packages/nvidia", "/lib/python3*/dist-packages/nvidia"} {
			add(prefix + packages + "/cu1?/lib")
			folders, _ := filepath.Glob(prefix + packages)
			slices.Reverse(folders)
			for _, folder := range folders {
				found = append(found, place{folder + "/cublas/lib", folder + "/cusolver/lib"})
			}
		}
	}
	return found
}

// find opens the first pair that is usable with a driver's version.
func find(places []place, version int) (*Libraries, error) {
	var faults []string
	for _, p := range places {
		for _, g := range generations {
			if version < g.cuda {
				continue
			}
			l, fault := open(p, g)
			if l != nil {
				return l, nil
			}
			if fault != "" {
				faults = append(faults, fault)
			}
		}
	}
	where := "where libraries are kept"
	if len(places) == 1 && places[0].blas != "" {
		where = fmt.Sprintf("in %s, the folder of %s", places[0].blas, driver.PathVariable)
	}
	const advice = "install them (Debian, Ubuntu: libcublas-12-x and libcusolver-12-x of NVIDIA's packages; anywhere: pip install nvidia-cublas-cu12 nvidia-cusolver-cu12)"
	if len(faults) > 0 {
		return nil, fmt.Errorf("cuBLAS and cuSOLVER are not usable %s: %s; %s", where, strings.Join(faults, "; "), advice)
	}
	return nil, fmt.Errorf("there are no cuBLAS and cuSOLVER %s that a driver of CUDA %d.%d runs: %s", where, version/1000, version%1000/10, advice)
}

// open opens the libraries of a generation in a place, or says what is wrong with
// them; nothing where there is no cuBLAS.
func open(p place, g generation) (*Libraries, string) {
	runtime.LockOSThread() // the loader tells its errors to the thread
	defer runtime.UnlockOSThread()
	blas, err := purego.Dlopen(filepath.Join(p.blas, g.blas), purego.RTLD_NOW|purego.RTLD_LOCAL)
	if err != nil {
		if strings.Contains(err.Error(), g.blas+": cannot open shared object file: No such file") {
			return nil, ""
		}
		return nil, err.Error()
	}
	solver, err := purego.Dlopen(filepath.Join(p.solver, g.solver), purego.RTLD_NOW|purego.RTLD_LOCAL)
	if err != nil {
		return nil, fmt.Sprintf("%s is there, but not what belongs to it: %v", g.blas, err)
	}
	l := new(Libraries)
	if fault := l.bind(blas, solver, g); fault != "" {
		return nil, fault
	}
	l.BLAS = Library{"cuBLAS", version(l.blasProperty), file(l.gemm)}
	l.Solver = Library{"cuSOLVER", version(l.solverProperty), file(l.potrf)}
	return l, ""
}

// version asks a library for the three parts of its version.
func version(property uintptr) string {
	var parts [3]string
	for i := range parts {
		value := new(int32)
		purego.SyscallN(property, uintptr(i), uintptr(unsafe.Pointer(value)))
		parts[i] = fmt.Sprint(*value)
	}
	return strings.Join(parts[:], ".")
}

// file is the file that a function lies in.
func file(function uintptr) string {
	dladdr, err := purego.Dlsym(purego.RTLD_DEFAULT, "dladdr")
	if err != nil {
		return ""
	}
	info := new(struct {
		file    *byte // C's memory
		base    uintptr
		name    *byte
		address uintptr
	})
	if r, _, _ := purego.SyscallN(dladdr, function, uintptr(unsafe.Pointer(info))); int32(r) == 0 || info.file == nil {
		return ""
	}
	n := 0
	for p := unsafe.Pointer(info.file); *(*byte)(unsafe.Add(p, n)) != 0; n++ {
	}
	return strings.Clone(unsafe.String(info.file, n))
}
