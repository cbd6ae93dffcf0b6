// Package dense holds symmetric matrices and the few kernels on which every
// solver rests: products, the symmetric eigendecomposition, Cholesky
// factorisation and inverse. It is not a linear-algebra library: what is here
// is what graph recovery needs.
//
// The kernels come from an Engine: OpenBLAS, opened at run time when the
// machine has it, or gonum, which every machine has.
//
//	engine, err := dense.Open("auto")
//	w := dense.NewWorkspace(engine, s.Len())
//	logdet, ok := w.Inverse(theta, s)
//
// Both engines agree to 1e-10 of the largest entry for condition numbers up to
// 1e4; the tests of this package hold them to it. The same engine with the same
// number of threads gives the same bits on the same machine, also when several
// goroutines call at once.
//
// OpenBLAS is the faster one: at n = 1000 and on two cores some 8 times for a
// product, 5 times for a Cholesky factorisation and 9 times for an
// eigendecomposition, which is what most solvers spend their time on; at n = 100
// it is 2.5 times for an eigendecomposition. Programs that run kernels from several
// goroutines at a time call SpareProcessor when they start. Kernels of both are
// divided among goroutines here: see WithThreads and LimitCores.
package dense

import (
	"github.com/gladflow/gladflow/solver/dense/internal/matrixroot"
	"github.com/gladflow/gladflow/solver/dense/internal/tridiagonal"
)

// An Engine is a source of dense kernels. All matrices are row-major; sizes
// and strides are the caller's to get right. Engines are safe for concurrent
// use.
type Engine interface {
	// Name says what it is, with its version, for people and for run.json.
	Name() string
	// Gemm computes C = alpha·op(A)·op(B) + beta·C with op(A) m×k, op(B) k×n
	// and C m×n; op is the transpose where transA or transB is set.
	Gemm(transA, transB bool, m, n, k int, alpha float64, a []float64, lda int, b []float64, ldb int, beta float64, c []float64, ldc int)
	// Symm computes C = alpha·A·B + beta·C with A m×m, symmetric and stored in
	// full, and B and C m×n.
	Symm(m, n int, alpha float64, a []float64, lda int, b []float64, ldb int, beta float64, c []float64, ldc int)
	// Syrk computes the upper triangle of C = alpha·A·Aᵀ + beta·C with A n×k,
	// or of alpha·Aᵀ·A + beta·C with A k×n where trans is set. The strict
	// lower triangle of C is left alone or holds anything.
	Syrk(trans bool, n, k int, alpha float64, a []float64, lda int, beta float64, c []float64, ldc int)
	// Eigen replaces a, n×n and symmetric, by its eigenvectors, one a row,
	// and fills values with the eigenvalues in ascending order. It reports
	// whether the iteration converged, false also where a has an entry that is
	// not finite. work is scratch that the engine may grow.
	Eigen(n int, a, values []float64, work *Scratch) bool
	// Cholesky overwrites the upper triangle of a with U, a = UᵀU, and
	// reports whether a is positive definite. The strict lower triangle of a
	// is left alone or holds anything.
	Cholesky(n int, a []float64) bool
	// CholeskyInverse overwrites the upper triangle of a, as Cholesky left
	// it, with the upper triangle of the inverse of the original matrix.
	CholeskyInverse(n int, a []float64) bool
}

// Scratch is memory that an engine keeps between calls.
type Scratch struct {
	Float []float64

	// Of eigen.
	vectors, tau, offDiagonal []float64
	parts                     []float64
	tridiagonal               tridiagonal.Solver

	// Of LogDetProxOver.
	root          matrixroot.Root
	panels, small [3][]float64
}
