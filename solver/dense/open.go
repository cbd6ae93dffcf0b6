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
// There is one OpenBLAS in a process, looked for once. Engines run large kernels on
// as many threads as Cores says, OpenBLAS on fewer where OPENBLAS_NUM_THREADS says
// so; see WithThreads.
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
