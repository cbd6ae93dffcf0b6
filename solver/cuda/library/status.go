//go:build cuda && cgo

package library

import (
	"fmt"
	"math"

	"github.com/gladflow/gladflow/solver/cuda/driver"
)

// A status is what a code of a library means.
type status struct {
	name, words string
	kind        driver.Kind
}

// blasStatus is cublasStatus_t.
var blasStatus = map[int]status{
	1:  {"CUBLAS_STATUS_NOT_INITIALIZED", "cuBLAS is not initialised: the driver is too old for it, or the GPU has no memory left", driver.Failed},
	3:  {"CUBLAS_STATUS_ALLOC_FAILED", "there is too little memory for it", driver.OutOfMemory},
	7:  {"CUBLAS_STATUS_INVALID_VALUE", "an argument is out of range", driver.Failed},
	8:  {"CUBLAS_STATUS_ARCH_MISMATCH", "the GPU is too old for it", driver.TooOld},
	11: {"CUBLAS_STATUS_MAPPING_ERROR", "the GPU's memory cannot be reached", driver.Failed},
	13: {"CUBLAS_STATUS_EXECUTION_FAILED", "the GPU did not run it", driver.Failed},
	14: {"CUBLAS_STATUS_INTERNAL_ERROR", "something inside cuBLAS failed", driver.Failed},
	15: {"CUBLAS_STATUS_NOT_SUPPORTED", "cuBLAS does not do it with these arguments", driver.Failed},
	16: {"CUBLAS_STATUS_LICENSE_ERROR", "cuBLAS finds no licence", driver.Failed},
}

// solverStatus is cusolverStatus_t.
var solverStatus = map[int]status{
	1:  {"CUSOLVER_STATUS_NOT_INITIALIZED", "cuSOLVER is not initialised: the driver is too old for it, or the GPU has no memory left", driver.Failed},
	2:  {"CUSOLVER_STATUS_ALLOC_FAILED", "there is too little memory for it", driver.OutOfMemory},
	3:  {"CUSOLVER_STATUS_INVALID_VALUE", "an argument is out of range", driver.Failed},
	4:  {"CUSOLVER_STATUS_ARCH_MISMATCH", "the GPU is too old for it", driver.TooOld},
	5:  {"CUSOLVER_STATUS_MAPPING_ERROR", "the GPU's memory cannot be reached", driver.Failed},
	6:  {"CUSOLVER_STATUS_EXECUTION_FAILED", "the GPU did not run it", driver.Failed},
	7:  {"CUSOLVER_STATUS_INTERNAL_ERROR", "something inside cuSOLVER failed", driver.Failed},
	8:  {"CUSOLVER_STATUS_MATRIX_TYPE_NOT_SUPPORTED", "cuSOLVER does not do it with such a matrix", driver.Failed},
	9:  {"CUSOLVER_STATUS_NOT_SUPPORTED", "cuSOLVER does not do it with these arguments", driver.Failed},
	10: {"CUSOLVER_STATUS_ZERO_PIVOT", "a pivot is zero", driver.Failed},
	11: {"CUSOLVER_STATUS_INVALID_LICENSE", "cuSOLVER finds no licence", driver.Failed},
	31: {"CUSOLVER_STATUS_INVALID_WORKSPACE", "the workspace is too small or missing", driver.Failed},
}

// blas is the error of a call of cuBLAS.
func (h *Handle) blasError(op string, r uintptr) error { return h.failed(op, blasStatus, r) }

// solver is the error of a call of cuSOLVER.
func (h *Handle) solverError(op string, r uintptr) error { return h.failed(op, solverStatus, r) }

func (h *Handle) failed(op string, statuses map[int]status, r uintptr) error {
	code := int(int32(r))
	if code == 0 {
		return nil
	}
	// The libraries do not say that the GPU is lost: the driver does.
	if _, err := h.stream.Done(); driver.KindOf(err) == driver.Lost {
		return err
	}
	s, known := statuses[code]
	if !known {
		s = status{words: "a status that is not known", kind: driver.Failed}
	}
	e := &driver.Error{Op: op, Code: code, Name: s.name, Kind: s.kind}
	e.Message = fmt.Sprintf("%v: %s failed with %s", h.device, op, describe(code, s))
	switch s.kind {
	case driver.OutOfMemory:
		p := h.device.Properties()
		e.Message += fmt.Sprintf("; %.1f of its %.1f GB are free, this process holds %.1f: wait for other work, take a smaller problem, or run on the CPU",
			float64(p.Free)/1e9, float64(p.Memory)/1e9, float64(h.device.Allocated())/1e9)
	case driver.TooOld:
		e.Message += "; take a newer GPU, or run on the CPU"
	}
	return e
}

func describe(code int, s status) string {
	if s.name == "" {
		return fmt.Sprintf("%d, %s", code, s.words)
	}
	return fmt.Sprintf("%s (%d, %s)", s.name, code, s.words)
}

// ready is what every call asks first: that the GPU is there, and that the sizes, or-ed
// together, are what the libraries' 32 bits can hold.
func (h *Handle) ready(op string, sizes int) error {
	if h.closed {
		return &driver.Error{Op: op, Kind: driver.Failed, Message: fmt.Sprintf("%v: %s is called after Close", h.device, op)}
	}
	if err := h.device.Lost(); err != nil {
		return err
	}
	if sizes < 0 || sizes > math.MaxInt32 {
		return &driver.Error{Op: op, Kind: driver.Failed, Message: fmt.Sprintf("%v: %s takes no sizes above %d, nor below 0", h.device, op, math.MaxInt32)}
	}
	return nil
}
