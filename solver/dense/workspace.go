package dense

import (
	"errors"
	"math"
)

// ErrEigen is returned when an eigendecomposition does not converge: always where
// an entry or an eigenvalue is not finite; otherwise it has not been seen.
var ErrEigen = errors.New("the symmetric eigendecomposition did not converge")

// A Workspace calls an Engine with memory of its own, so that iterations
// allocate nothing after the first; it has no memory before. It serves one goroutine at a time.
type Workspace struct {
	engine  Engine
	scratch Scratch
	scaled  []float64
	vectors []float64
	values  []float64
}

// NewWorkspace returns a workspace for n×n matrices; other sizes work too.
func NewWorkspace(e Engine, _ int) *Workspace { return &Workspace{engine: e} }

// Engine is the engine behind w.
func (w *Workspace) Engine() Engine { return w.engine }

// Eigen decomposes a = QᵀΛQ: on return row k of vectors (n×n, row-major) is
// the eigenvector of values[k], ascending. a is unchanged; vectors may be the
// storage of a.
func (w *Workspace) Eigen(a *Sym, values, vectors []float64) error {
	n := a.Len()
	vectors = vectors[:n*n]
	load(vectors, a)
	if !w.engine.Eigen(n, vectors, values[:n], &w.scratch) {
		return ErrEigen
	}
	return nil
}

// Spectral sets dst = Σk f[k]·vk·vkᵀ with vk the rows of vectors, as Eigen
// returns them. Where no f is negative it costs half as much and dst is
// positive semidefinite by construction.
func (w *Workspace) Spectral(dst *Sym, f, vectors []float64) {
	n := dst.Len()
	w.scaled = grow(w.scaled, n*n)
	nonnegative := true
	for _, v := range f[:n] {
		nonnegative = nonnegative && v >= 0
	}
	for k := range n {
		c := f[k]
		if nonnegative {
			c = math.Sqrt(c)
		}
		row := w.scaled[k*n : (k+1)*n]
		for j, v := range vectors[k*n : (k+1)*n] {
			row[j] = c * v
		}
	}
	if nonnegative {
		w.engine.Syrk(true, n, n, 1, w.scaled, n, 0, dst.Raw(), n)
	} else {
		w.engine.Gemm(true, false, n, n, n, 1, w.scaled, n, vectors, n, 0, dst.Raw(), n)
	}
	mirror(dst.Raw(), n)
}

// LogDet returns log det a and true for a positive definite a, without
// changing it; otherwise false. factor is n² scratch, which may be a's own
// memory, and holds U afterwards.
func (w *Workspace) LogDet(a *Sym, factor []float64) (float64, bool) {
	n := a.Len()
	load(factor[:n*n], a)
	return w.cholesky(n, factor)
}

// Inverse sets dst = a⁻¹ and returns log det a and true for a positive
// definite a; otherwise it returns false and dst holds anything. dst may be a.
func (w *Workspace) Inverse(dst, a *Sym) (float64, bool) {
	n := a.Len()
	load(dst.Raw(), a)
	logdet, ok := w.cholesky(n, dst.Raw())
	if !ok || !w.engine.CholeskyInverse(n, dst.Raw()) {
		return 0, false
	}
	mirror(dst.Raw(), n)
	return logdet, true
}

// load copies the entries of a into to, which may be the memory of a.
func load(to []float64, a *Sym) {
	if from := a.Raw(); len(from) > 0 && &to[0] != &from[0] {
		copy(to, from)
	}
}

// cholesky factors in place and sums the logarithms of the pivots.
func (w *Workspace) cholesky(n int, a []float64) (float64, bool) {
	// LAPACK lets NaN pass for a pivot; the sum below does not.
	if !w.engine.Cholesky(n, a) {
		return 0, false
	}
	var l float64
	for i := range n {
		p := a[i*n+i]
		if !(p > 0) {
			return 0, false
		}
		l += math.Log(p)
	}
	return 2 * l, !math.IsNaN(l) && !math.IsInf(l, 0)
}

// Gram sets dst = alpha·XᵀX + beta·dst for X m×n, row-major.
func (w *Workspace) Gram(dst *Sym, alpha float64, x []float64, m int, beta float64) {
	n := dst.Len()
	w.engine.Syrk(true, n, m, alpha, x, n, beta, dst.Raw(), n)
	mirror(dst.Raw(), n)
}

// Mul sets dst = a·b for symmetric a and b; the product, n×n row-major, is in
// general not symmetric.
func (w *Workspace) Mul(dst []float64, a, b *Sym) {
	n := a.Len()
	w.engine.Symm(n, n, 1, a.Raw(), n, b.Raw(), n, 0, dst, n)
}

// Conjugate replaces the symmetric a by V·a·Vᵀ, or by Vᵀ·a·V where transposed
// is set, for V n×n, row-major, with as many scratch values. The rows of V may
// be eigenvectors as Eigen returns them.
func (w *Workspace) Conjugate(a *Sym, v []float64, transposed bool, scratch []float64) {
	n := a.Len()
	w.engine.Gemm(transposed, false, n, n, n, 1, v, n, a.Raw(), n, 0, scratch, n)
	w.engine.Gemm(false, !transposed, n, n, n, 1, scratch, n, v, n, 0, a.Raw(), n)
	mirror(a.Raw(), n)
}

func grow[T any](s []T, n int) []T {
	if cap(s) < n {
		return make([]T, n)
	}
	return s[:n]
}
