//go:build cuda && cgo

package library

import (
	"unsafe"

	"github.com/ebitengine/purego"

	"github.com/gladflow/gladflow/solver/cuda/driver"
)

const real64 = 1 // CUDA_R_64F

// eigenvectors is cusolverEigMode_t.
func eigenvectors(vectors bool) uintptr { return operation(vectors) }

// SyevdSize is how many bytes of workspace Syevd takes, on the GPU and the host's.
func (h *Handle) SyevdSize(vectors bool, t Triangle, n int, a driver.Pointer, lda int, values driver.Pointer) (device, host int64, err error) {
	const op = "cusolverDnXsyevd_bufferSize"
	if err := h.ready(op, n|lda); err != nil {
		return 0, 0, err
	}
	r := h.call(h.syevdSize, h.solver, h.params, eigenvectors(vectors), uintptr(t), uintptr(n), real64, uintptr(a), uintptr(lda),
		real64, uintptr(values), real64, uintptr(unsafe.Pointer(&h.bytes[0])), uintptr(unsafe.Pointer(&h.bytes[1])))
	return int64(h.bytes[0]), int64(h.bytes[1]), h.solverError(op, r)
}

// Syevd computes the eigenvalues of a symmetric matrix, of which it reads a triangle, in
// ascending order, and overwrites it: with its eigenvectors as columns where vectors is
// set. The host's workspace must stay until the stream has passed it. What info points
// to, an int32 on the GPU, becomes 0, or the number of values that did not converge.
func (h *Handle) Syevd(vectors bool, t Triangle, n int, a driver.Pointer, lda int, values, work driver.Pointer, bytes int64, host []byte, info driver.Pointer) error {
	const op = "cusolverDnXsyevd"
	if err := h.ready(op, n|lda); err != nil {
		return err
	}
	r, _, _ := purego.SyscallN(h.syevd, h.solver, h.params, eigenvectors(vectors), uintptr(t), uintptr(n), real64, uintptr(a), uintptr(lda),
		real64, uintptr(values), real64, uintptr(work), uintptr(bytes), uintptr(unsafe.Pointer(unsafe.SliceData(host))), uintptr(len(host)), uintptr(info))
	return h.solverError(op, r)
}

// HasSyevBatched reports whether SyevBatched is there: from CUDA 12.6 on.
func (l *Libraries) HasSyevBatched() bool { return l.syevBatched != 0 && l.syevBatchedSize != 0 }

// SyevBatchedSize is how many bytes of workspace SyevBatched takes, on the GPU and the
// host's.
func (h *Handle) SyevBatchedSize(vectors bool, t Triangle, n int, a driver.Pointer, lda int, values driver.Pointer, count int) (device, host int64, err error) {
	const op = "cusolverDnXsyevBatched_bufferSize"
	if err := h.ready(op, n|lda|count); err != nil {
		return 0, 0, err
	}
	r := h.call(h.syevBatchedSize, h.solver, h.params, eigenvectors(vectors), uintptr(t), uintptr(n), real64, uintptr(a), uintptr(lda),
		real64, uintptr(values), real64, uintptr(unsafe.Pointer(&h.bytes[0])), uintptr(unsafe.Pointer(&h.bytes[1])), uintptr(count))
	return int64(h.bytes[0]), int64(h.bytes[1]), h.solverError(op, r)
}

// SyevBatched is Syevd for count matrices, lda·n values apart, whose eigenvalues come n
// apart. infos points to count values. It may be called only where HasSyevBatched.
func (h *Handle) SyevBatched(vectors bool, t Triangle, n int, a driver.Pointer, lda int, values, work driver.Pointer, bytes int64, host []byte, infos driver.Pointer, count int) error {
	const op = "cusolverDnXsyevBatched"
	if err := h.ready(op, n|lda|count); err != nil {
		return err
	}
	r, _, _ := purego.SyscallN(h.syevBatched, h.solver, h.params, eigenvectors(vectors), uintptr(t), uintptr(n), real64, uintptr(a), uintptr(lda),
		real64, uintptr(values), real64, uintptr(work), uintptr(bytes), uintptr(unsafe.Pointer(unsafe.SliceData(host))), uintptr(len(host)), uintptr(infos), uintptr(count))
	return h.solverError(op, r)
}
