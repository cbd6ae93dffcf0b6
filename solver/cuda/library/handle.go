//go:build cuda && cgo

package library

import (
	"unsafe"

	"github.com/ebitengine/purego"

	"github.com/gladflow/gladflow/solver/cuda/driver"
)

// A Handle calls the libraries for one stream of a device. Its methods belong inside
// the device's Do.
type Handle struct {
	*Libraries
	device *driver.Device
	stream *driver.Stream
	closed bool

	blas, solver, params uintptr

	// Scalars of one call: the libraries take their addresses, and read them before
	// they return. Calls come from one thread.
	alpha, beta, result float64
	length              int32
	bytes               [2]uint64
	arguments           [maxArguments]uintptr
}

// maxArguments is how many a function may have here.
const maxArguments = 20

// call calls a function, and takes no memory of Go's: SyscallN's arguments lie on the
// heap, for they may be pointers. Here those are of the handle, which does too.
func (h *Handle) call(function uintptr, arguments ...uintptr) uintptr {
	n := copy(h.arguments[:], arguments)
	r, _, _ := purego.SyscallN(function, h.arguments[:n]...)
	return r
}

// NewHandle makes a handle, inside the device's Do. It costs time, and tens
// of megabytes of the GPU's memory or more: one for a stream is enough.
func (l *Libraries) NewHandle(d *driver.Device, s *driver.Stream) (*Handle, error) {
	h := &Handle{Libraries: l, device: d, stream: s}
	if err := h.ready("cublasCreate", 0); err != nil {
		return nil, err
	}
	if err := h.create(); err != nil {
		h.Close()
		return nil, err
	}
	return h, nil
}

// NewSolverHandle is NewHandle for the calls of cuSOLVER in which no generic parameters
// are, as Potrf: it has none of cuBLAS, and costs less.
func (l *Libraries) NewSolverHandle(d *driver.Device, s *driver.Stream) (*Handle, error) {
	h := &Handle{Libraries: l, device: d, stream: s}
	if err := h.ready("cusolverDnCreate", 0); err != nil {
		return nil, err
	}
	r, _, _ := purego.SyscallN(h.solverCreate, uintptr(unsafe.Pointer(&h.solver)))
	err := h.solverError("cusolverDnCreate", r)
	if err == nil {
		r, _, _ = purego.SyscallN(h.solverSetStream, h.solver, s.Handle())
		err = h.solverError("cusolverDnSetStream", r)
	}
	if err != nil {
		h.Close()
		return nil, err
	}
	return h, nil
}

func (h *Handle) create() error {
	for _, c := range []struct {
		op       string
		function uintptr
		to       *uintptr
		err      func(string, uintptr) error
	}{
		{"cublasCreate", h.blasCreate, &h.blas, h.blasError},
		{"cusolverDnCreate", h.solverCreate, &h.solver, h.solverError},
		{"cusolverDnCreateParams", h.createParams, &h.params, h.solverError},
	} {
		r, _, _ := purego.SyscallN(c.function, uintptr(unsafe.Pointer(c.to)))
		if err := c.err(c.op, r); err != nil {
			return err
		}
	}
	r, _, _ := purego.SyscallN(h.blasSetStream, h.blas, h.stream.Handle())
	if err := h.blasError("cublasSetStream", r); err != nil {
		return err
	}
	r, _, _ = purego.SyscallN(h.solverSetStream, h.solver, h.stream.Handle())
	return h.solverError("cusolverDnSetStream", r)
}

// Close gives back what the handle holds, inside the device's Do. A second Close does
// nothing.
func (h *Handle) Close() error {
	if h.closed {
		return nil
	}
	var first error
	// A lost GPU takes no calls: what the libraries hold of it is gone with it.
	if first = h.device.Lost(); first == nil {
		for _, c := range []struct {
			op       string
			function uintptr
			handle   uintptr
			err      func(string, uintptr) error
		}{
			{"cusolverDnDestroyParams", h.destroyParams, h.params, h.solverError},
			{"cusolverDnDestroy", h.solverDestroy, h.solver, h.solverError},
			{"cublasDestroy", h.blasDestroy, h.blas, h.blasError},
		} {
			if c.handle == 0 {
				continue
			}
			r, _, _ := purego.SyscallN(c.function, c.handle)
			if err := c.err(c.op, r); err != nil && first == nil {
				first = err
			}
		}
	}
	h.closed = true
	return first
}

// A Triangle of a symmetric matrix, of columns: where it is stored row by row, as in
// package dense, the one is the other.
type Triangle uintptr

const (
	Lower Triangle = 0
	Upper Triangle = 1
)

// operation is cublasOperation_t.
func operation(trans bool) uintptr {
	if trans {
		return 1
	}
	return 0
}
