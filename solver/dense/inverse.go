//go:build (linux || darwin) && (amd64 || arm64)

package dense

// largestTriangle is the largest triangle that is not divided.
const largestTriangle = 192

// half is where a triangle of n rows is divided.
func half(n int) int { return (n/2 + 15) / 16 * 16 }

// Cholesky implements Engine.
func (e *openBLAS) Cholesky(n int, a []float64) bool {
	return n == 0 || e.cholesky(n, a, n)
}

// cholesky divides A into A₁₁, A₁₂ and A₂₂: U₁₁ is the factor of A₁₁, U₁₂ is
// U₁₁⁻ᵀ·A₁₂, and U₂₂ the factor of A₂₂ − U₁₂ᵀ·U₁₂.
func (e *openBLAS) cholesky(n int, a []float64, lda int) (ok bool) {
	if n <= largestTriangle || !large(n, n, n) {
		e.alone(func() { ok = e.triangle(e.dpotrf, n, a, lda) })
		return ok
	}
	h := half(n)
	right, below := a[h:], a[h*lda+h:]
	if !e.cholesky(h, a, lda) {
		return false
	}
	e.columns(e.dtrsm, true, h, n-h, 1, a, right, lda)
	e.Syrk(true, n-h, h, -1, right, lda, 1, below, lda)
	return e.cholesky(n-h, below, lda)
}

// CholeskyInverse implements Engine: the inverse is U⁻¹·U⁻ᵀ.
func (e *openBLAS) CholeskyInverse(n int, a []float64) (ok bool) {
	switch {
	case n == 0:
		return true
	case !large(n, n, n):
		e.alone(func() { ok = e.triangle(e.dpotri, n, a, n) })
		return ok
	}
	if !e.invertTriangle(n, a, n) {
		return false
	}
	e.square(n, a, n)
	return true
}

// invertTriangle replaces U by its inverse V: V₁₂ is −U₁₁⁻¹·U₁₂·U₂₂⁻¹.
func (e *openBLAS) invertTriangle(n int, u []float64, ldu int) (ok bool) {
	if n <= largestTriangle {
		e.alone(func() { ok = e.trtri(n, u, ldu) })
		return ok
	}
	h := half(n)
	right, below := u[h:], u[h*ldu+h:]
	e.columns(e.dtrsm, false, h, n-h, -1, u, right, ldu)
	e.rows(e.dtrsm, false, h, n-h, below, right, ldu)
	return e.invertTriangle(h, u, ldu) && e.invertTriangle(n-h, below, ldu)
}

// square replaces V by the upper triangle of B = V·Vᵀ: B₁₁ is V₁₁·V₁₁ᵀ + V₁₂·V₁₂ᵀ,
// and B₁₂ is V₁₂·V₂₂ᵀ.
func (e *openBLAS) square(n int, v []float64, ldv int) {
	if n <= largestTriangle {
		e.alone(func() { e.triangle(e.dlauum, n, v, ldv) })
		return
	}
	h := half(n)
	right, below := v[h:], v[h*ldv+h:]
	e.square(h, v, ldv)
	e.Syrk(false, h, n-h, 1, right, ldv, 1, v, ldv)
	e.rows(e.dtrmm, true, h, n-h, below, right, ldv)
	e.square(n-h, below, ldv)
}

// columns is triangular with the triangle u on the left, which does every column of
// b by itself; both have the stride ld.
func (e *openBLAS) columns(function uintptr, trans bool, m, n int, alpha float64, u, b []float64, ld int) {
	count, bound := e.pieces(n)
	e.share(count, func(i int) {
		from, to := bound(i), bound(i+1)
		e.triangular(function, true, trans, m, to-from, alpha, u, ld, b[from:], ld)
	})
}

// rows is triangular with the triangle u on the right, which does every row of b by
// itself; both have the stride ld.
func (e *openBLAS) rows(function uintptr, trans bool, m, n int, u, b []float64, ld int) {
	count, bound := e.pieces(m)
	e.share(count, func(i int) {
		from, to := bound(i), bound(i+1)
		e.triangular(function, false, trans, to-from, n, 1, u, ld, b[from*ld:], ld)
	})
}
