//go:build cuda && cgo

package library

import (
	"unsafe"

	"github.com/gladflow/gladflow/solver/cuda/driver"
)

// Gemm computes C = alpha·op(A)·op(B) + beta·C with op(A) m×k, op(B) k×n and C m×n; op is
// the transpose where transA or transB is set.
func (h *Handle) Gemm(transA, transB bool, m, n, k int, alpha float64, a driver.Pointer, lda int, b driver.Pointer, ldb int, beta float64, c driver.Pointer, ldc int) error {
	const op = "cublasDgemm"
	if err := h.ready(op, m|n|k|lda|ldb|ldc); err != nil {
		return err
	}
	h.alpha, h.beta = alpha, beta
	r := h.call(h.gemm, h.blas, operation(transA), operation(transB), uintptr(m), uintptr(n), uintptr(k),
		uintptr(unsafe.Pointer(&h.alpha)), uintptr(a), uintptr(lda), uintptr(b), uintptr(ldb), uintptr(unsafe.Pointer(&h.beta)), uintptr(c), uintptr(ldc))
	return h.blasError(op, r)
}

// GemmStridedBatched is Gemm for count problems, whose matrices lie strideA, strideB and
// strideC values apart.
func (h *Handle) GemmStridedBatched(transA, transB bool, m, n, k int, alpha float64, a driver.Pointer, lda, strideA int, b driver.Pointer, ldb, strideB int, beta float64, c driver.Pointer, ldc, strideC, count int) error {
	const op = "cublasDgemmStridedBatched"
	if err := h.ready(op, m|n|k|lda|ldb|ldc|count); err != nil {
		return err
	}
	h.alpha, h.beta = alpha, beta
	r := h.call(h.gemmStridedBatched, h.blas, operation(transA), operation(transB), uintptr(m), uintptr(n), uintptr(k),
		uintptr(unsafe.Pointer(&h.alpha)), uintptr(a), uintptr(lda), uintptr(strideA), uintptr(b), uintptr(ldb), uintptr(strideB),
		uintptr(unsafe.Pointer(&h.beta)), uintptr(c), uintptr(ldc), uintptr(strideC), uintptr(count))
	return h.blasError(op, r)
}

// Syrk computes a triangle of C = alpha·A·Aᵀ + beta·C with A n×k, or of
// alpha·Aᵀ·A + beta·C with A k×n where trans is set. The other triangle stays.
func (h *Handle) Syrk(t Triangle, trans bool, n, k int, alpha float64, a driver.Pointer, lda int, beta float64, c driver.Pointer, ldc int) error {
	const op = "cublasDsyrk"
	if err := h.ready(op, n|k|lda|ldc); err != nil {
		return err
	}
	h.alpha, h.beta = alpha, beta
	r := h.call(h.syrk, h.blas, uintptr(t), operation(trans), uintptr(n), uintptr(k),
		uintptr(unsafe.Pointer(&h.alpha)), uintptr(a), uintptr(lda), uintptr(unsafe.Pointer(&h.beta)), uintptr(c), uintptr(ldc))
	return h.blasError(op, r)
}

// Gemv computes y = alpha·op(A)·x + beta·y with A m×n.
func (h *Handle) Gemv(trans bool, m, n int, alpha float64, a driver.Pointer, lda int, x driver.Pointer, incX int, beta float64, y driver.Pointer, incY int) error {
	const op = "cublasDgemv"
	if err := h.ready(op, m|n|lda|incX|incY); err != nil {
		return err
	}
	h.alpha, h.beta = alpha, beta
	r := h.call(h.gemv, h.blas, operation(trans), uintptr(m), uintptr(n),
		uintptr(unsafe.Pointer(&h.alpha)), uintptr(a), uintptr(lda), uintptr(x), uintptr(incX), uintptr(unsafe.Pointer(&h.beta)), uintptr(y), uintptr(incY))
	return h.blasError(op, r)
}

// Axpy computes y += alpha·x, for n values.
func (h *Handle) Axpy(n int, alpha float64, x driver.Pointer, incX int, y driver.Pointer, incY int) error {
	const op = "cublasDaxpy"
	if err := h.ready(op, n|incX|incY); err != nil {
		return err
	}
	h.alpha = alpha
	r := h.call(h.axpy, h.blas, uintptr(n), uintptr(unsafe.Pointer(&h.alpha)), uintptr(x), uintptr(incX), uintptr(y), uintptr(incY))
	return h.blasError(op, r)
}

// Scal computes x = alpha·x, for n values.
func (h *Handle) Scal(n int, alpha float64, x driver.Pointer, incX int) error {
	const op = "cublasDscal"
	if err := h.ready(op, n|incX); err != nil {
		return err
	}
	h.alpha = alpha
	r := h.call(h.scal, h.blas, uintptr(n), uintptr(unsafe.Pointer(&h.alpha)), uintptr(x), uintptr(incX))
	return h.blasError(op, r)
}

// Dot is the inner product of n values of x and y. It waits for the stream.
func (h *Handle) Dot(n int, x driver.Pointer, incX int, y driver.Pointer, incY int) (float64, error) {
	const op = "cublasDdot"
	if err := h.ready(op, n|incX|incY); err != nil {
		return 0, err
	}
	r := h.call(h.dot, h.blas, uintptr(n), uintptr(x), uintptr(incX), uintptr(y), uintptr(incY), uintptr(unsafe.Pointer(&h.result)))
	return h.result, h.blasError(op, r)
}

// Nrm2 is the Euclidean norm of n values of x. It waits for the stream.
func (h *Handle) Nrm2(n int, x driver.Pointer, incX int) (float64, error) {
	const op = "cublasDnrm2"
	if err := h.ready(op, n|incX); err != nil {
		return 0, err
	}
	r := h.call(h.nrm2, h.blas, uintptr(n), uintptr(x), uintptr(incX), uintptr(unsafe.Pointer(&h.result)))
	return h.result, h.blasError(op, r)
}
