//go:build cuda && cgo

package library

import (
	"unsafe"

	"github.com/gladflow/gladflow/solver/cuda/driver"
)

// PotrfSize is how many values of workspace Potrf takes.
func (h *Handle) PotrfSize(t Triangle, n int, a driver.Pointer, lda int) (int, error) {
	return h.triangleSize("cusolverDnDpotrf_bufferSize", h.potrfSize, t, n, a, lda)
}

// Potrf overwrites a triangle of A with its Cholesky factor, L of L·Lᵀ or U of Uᵀ·U.
// What info points to, an int32 on the GPU, becomes 0; i where the leading i×i part is
// not positive definite; -i where argument i is wrong.
func (h *Handle) Potrf(t Triangle, n int, a driver.Pointer, lda int, work driver.Pointer, length int, info driver.Pointer) error {
	return h.triangle("cusolverDnDpotrf", h.potrf, t, n, a, lda, work, length, info)
}

// PotriSize is how many values of workspace Potri takes.
func (h *Handle) PotriSize(t Triangle, n int, a driver.Pointer, lda int) (int, error) {
	return h.triangleSize("cusolverDnDpotri_bufferSize", h.potriSize, t, n, a, lda)
}

// Potri overwrites a triangle that Potrf left with that of the inverse. Its info is as
// Potrf's: i where the i-th diagonal entry of the factor is zero.
func (h *Handle) Potri(t Triangle, n int, a driver.Pointer, lda int, work driver.Pointer, length int, info driver.Pointer) error {
	return h.triangle("cusolverDnDpotri", h.potri, t, n, a, lda, work, length, info)
}

func (h *Handle) triangleSize(op string, function uintptr, t Triangle, n int, a driver.Pointer, lda int) (int, error) {
	if err := h.ready(op, n|lda); err != nil {
		return 0, err
	}
	r := h.call(function, h.solver, uintptr(t), uintptr(n), uintptr(a), uintptr(lda), uintptr(unsafe.Pointer(&h.length)))
	return int(h.length), h.solverError(op, r)
}

func (h *Handle) triangle(op string, function uintptr, t Triangle, n int, a driver.Pointer, lda int, work driver.Pointer, length int, info driver.Pointer) error {
	if err := h.ready(op, n|lda|length); err != nil {
		return err
	}
	r := h.call(function, h.solver, uintptr(t), uintptr(n), uintptr(a), uintptr(lda), uintptr(work), uintptr(length), uintptr(info))
	return h.solverError(op, r)
}
