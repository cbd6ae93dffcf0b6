package dense

import (
	"math"

	"gonum.org/v1/gonum/floats"
)

// reducer is what an engine has for eigen: the orthogonal similarity between a
// symmetric matrix and a tridiagonal one, as a product of Householder
// reflections. Both are row-major.
type reducer interface {
	Engine
	// tridiagonalise overwrites a with the reflections, and fills diagonal, the
	// n−1 entries of the off-diagonal, and tau.
	tridiagonalise(n int, a, diagonal, offDiagonal, tau []float64, work *Scratch)
	// back replaces every row of q, an eigenvector of the tridiagonal matrix, by
	// that of a, of which tridiagonalise has left the reflections.
	back(n int, a, tau, q []float64, work *Scratch)
}

// eigen is Engine.Eigen, by divide and conquer on the tridiagonal matrix.
func eigen(e reducer, n int, a, values []float64, work *Scratch) bool {
	if n == 0 {
		return true
	}
	a, values = a[:n*n], values[:n]
	exponent, ok := reduce(e, n, a, values, work)
	return ok && decompose(e, n, a, values, exponent, work)
}

// reduce makes a tridiagonal: its diagonal, divided by 2^exponent, is in diagonal, the rest in
// work. It reports whether all entries of the upper triangle are finite.
func reduce(e reducer, n int, a, diagonal []float64, work *Scratch) (exponent int, ok bool) {
	var largest, nothing float64
	for i := range n {
		for _, v := range a[i*n+i : (i+1)*n] {
			nothing += v - v // NaN for what is not finite
			if v = math.Abs(v); v > largest {
				largest = v
			}
		}
	}
	if nothing != 0 {
		return 0, false
	}
	// A power of two changes no digit that matters, and keeps squares and
	// quotients in range. Where they are in range the few numbers of the tridiagonal matrix need it
	// only.
	_, exponent = math.Frexp(largest)
	far := exponent > moderate || exponent < -moderate
	if far {
		scale(a, -exponent)
	}
	work.offDiagonal, work.tau = grow(work.offDiagonal, n), grow(work.tau, n)
	e.tridiagonalise(n, a, diagonal, work.offDiagonal, work.tau, work)
	if !far {
		scale(diagonal, -exponent)
		scale(work.offDiagonal[:n-1], -exponent)
	}
	return exponent, true
}

// moderate is the exponent up to which a matrix is reduced as it is.
const moderate = 60

// decompose is the part of eigen after reduce.
func decompose(e reducer, n int, a, values []float64, exponent int, work *Scratch) bool {
	work.vectors = grow(work.vectors, n*n)
	order, ok := work.tridiagonal.Decompose(values, work.offDiagonal[:n-1], work.vectors, e)
	if !ok {
		return false
	}
	e.back(n, a, work.tau, work.vectors, work)
	for k, i := range order {
		copy(a[k*n:(k+1)*n], work.vectors[i*n:(i+1)*n])
	}
	scale(values, exponent)
	return finite(values)
}

// scale multiplies x by 2^exponent.
func scale(x []float64, exponent int) {
	if exponent == 0 {
		return
	}
	// 2^±1074 and beyond are out of range, their square roots are not.
	floats.Scale(math.Ldexp(1, exponent/2), x)
	floats.Scale(math.Ldexp(1, exponent-exponent/2), x)
}
