package dense

import (
	"fmt"
	"sync"
)

// Open returns the engine called name:
//
//   - "auto" or "": OpenBLAS if this machine has it, gonum otherwise;
//   - "openblas": OpenBLAS, looked for where the dynamic loader and the usual
//     package managers keep it (LD_LIBRARY_PATH helps on Linux), or an error
//     that says how to install it;
//   - "gonum": pure Go.
//
// There is one OpenBLAS in a process, looked for once. It runs large kernels on
// as many threads as Cores said then, or fewer where OPENBLAS_NUM_THREADS
// says so; see Threader.
func Open(name string) (Engine, error) {
	switch name {
	case "auto", "":
		return Default(), nil
	case "openblas":
		e, err := found()
		if err != nil {
			return nil, fmt.Errorf("cannot open OpenBLAS: %w; install it (Debian, Ubuntu: apt install libopenblas0-pthread; macOS: brew install openblas) or use the engine gonum", err)
		}
		return e, nil
	case "gonum":
		return Gonum{}, nil
	}
	return nil, fmt.Errorf("unknown engine %q; choose auto, openblas or gonum", name)
}

// Default is the engine that Open("auto") returns: OpenBLAS if this machine
// has it, gonum otherwise. The search is made once per process.
func Default() Engine {
	if e, err := found(); err == nil {
		return e
	}
	return Gonum{}
}

// found remembers the one search: libraries are never closed again.
var found = sync.OnceValues(findOpenBLAS)

// A Threader is an Engine whose number of threads can be set: OpenBLAS.
//
//	if t, ok := engine.(dense.Threader); ok {
//		t.SetThreads(1)
//	}
//
// The number is part of what makes results repeat bit by bit. Kernels below
// some n = 256 run on one thread whatever it is, and side by side when several
// goroutines call. Set it to 1 where many goroutines call with larger matrices.
type Threader interface {
	// Threads is the number of threads one kernel may use.
	Threads() int
	// SetThreads sets it, at least 1, for kernels that begin later, in the
	// whole process.
	SetThreads(n int)
}
