//go:build cuda && cgo

package driver

import (
	"bytes"
	"fmt"
	"regexp"
	"runtime"
	"strings"

	"gorgonia.org/cu"
)

// A Module is kernels and constants that the driver has compiled and loaded.
type Module struct {
	card   *card
	module cu.Module
}

// Load compiles PTX for the GPU and loads it; the driver keeps the result on disk for
// the next time. The error, of Kind Refused or TooOld, holds the compiler's log.
func (d *Device) Load(ptx string) (*Module, error) {
	if err := d.ready(); err != nil {
		return nil, err
	}
	log := &cu.JITErrorLogBuffer{Buffer: make([]byte, 16<<10)}
	// The option takes the address of the buffer as a number.
	var pinned runtime.Pinner
	pinned.Pin(&log.Buffer[0])
	defer pinned.Unpin()
	m, err := cu.LoadDataEx(ptx, log)
	if err != nil {
		text, _, _ := bytes.Cut(log.Buffer, []byte{0})
		return nil, d.refused(code(err), ptx, strings.TrimSpace(string(text)))
	}
	return &Module{d.card, m}, nil
}

var (
	ptxVersion = regexp.MustCompile(`(?m)^\s*\.version\s+(\d+)\.(\d+)`)
	ptxTarget  = regexp.MustCompile(`(?m)^\s*\.target\s+sm_(\d+)(\d)`)
)

// refused says why PTX is not loaded.
func (c *card) refused(result int, ptx, log string) error {
	const op = "cuModuleLoadDataEx"
	e := &Error{Op: op, Code: result, Name: resultName(result), Kind: Refused, Log: log}
	p := c.properties
	switch result {
	case unsupportedPTX:
		e.Kind = TooOld
		e.Message = "NVIDIA's driver, of CUDA " + dotted(Version()) + ", is too old for the kernels"
		if v := ptxVersion.FindStringSubmatch(ptx); v != nil {
			e.Message += fmt.Sprintf(", which are PTX %s.%s", v[1], v[2])
		}
		e.Message += ": install a newer driver"
	case noBinary:
		e.Kind = TooOld
		e.Message = fmt.Sprintf("%s has the compute capability %d.%d, and the kernels ask for ", p, p.Major, p.Minor)
		if v := ptxTarget.FindStringSubmatch(ptx); v != nil {
			e.Message += v[1] + "." + v[2] + " or more"
		} else {
			e.Message += "another"
		}
		e.Message += ": take a newer GPU, or run on the CPU"
	case noCompiler:
		e.Message = "NVIDIA's driver has no compiler for kernels: install libnvidia-ptxjitcompiler, which belongs to the driver"
	case compilerDisabled:
		e.Message = "the compilation of kernels is forbidden here: unset CUDA_DISABLE_PTX_JIT"
	case invalidPTX, invalidImage, invalidSource:
		e.Message = fmt.Sprintf("%s: the driver, of CUDA %s, refuses the kernels with %s; report it, and run on the CPU", p, dotted(Version()), words(result))
	default:
		return c.fault(op, result)
	}
	return e
}

// Unload gives back what the module holds. Its functions are gone.
func (m *Module) Unload() error {
	if m.module == (cu.Module{}) {
		return nil
	}
	module := m.module
	m.module = cu.Module{}
	if err := m.card.ready(); err != nil {
		return err
	}
	return m.card.failed("cuModuleUnload", module.Unload())
}

// A Function is a kernel.
type Function struct {
	name string
	f    cu.Function
}

// Function finds a kernel by its name.
func (m *Module) Function(name string) (*Function, error) {
	if err := m.card.ready(); err != nil {
		return nil, err
	}
	f, err := m.module.Function(name)
	if err != nil {
		return nil, m.unknown("cuModuleGetFunction", "kernel", name, err)
	}
	return &Function{name, f}, nil
}

// Global finds a variable of the module, such as its constants: where it lies, and its
// size in bytes.
func (m *Module) Global(name string) (Pointer, int64, error) {
	if err := m.card.ready(); err != nil {
		return 0, 0, err
	}
	p, bytes, err := m.module.Global(name)
	if err != nil {
		return 0, 0, m.unknown("cuModuleGetGlobal", "variable", name, err)
	}
	return Pointer(p), bytes, nil
}

func (m *Module) unknown(op, what, name string, err error) error {
	if c := code(err); c == notFound {
		return &Error{Op: op, Code: c, Name: resultName(c), Kind: Failed, Message: fmt.Sprintf("the module has no %s %s", what, name)}
	}
	return m.card.failed(op, err)
}
