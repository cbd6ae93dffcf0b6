package dense

import (
	"math"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"
)

// Gemm and Syrk against three loops, for all shapes and strides.
func TestProducts(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		size := rapid.OneOf(rapid.IntRange(1, 20), rapid.IntRange(60, 100))
		m, n, k := size.Draw(rt, "m"), size.Draw(rt, "n"), size.Draw(rt, "k")
		ta, tb := rapid.Bool().Draw(rt, "transA"), rapid.Bool().Draw(rt, "transB")
		alpha := rapid.SampledFrom([]float64{0, 1, -1.5}).Draw(rt, "alpha")
		beta := rapid.SampledFrom([]float64{0, 1, 0.5}).Draw(rt, "beta")
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(rt, "seed"), 1))
		ra, ca, rb, cb := m, k, k, n
		if ta {
			ra, ca = k, m
		}
		if tb {
			rb, cb = n, k
		}
		a, lda := random(r, ra, ca)
		b, ldb := random(r, rb, cb)
		c, ldc := random(r, m, n)
		g, ldg := random(r, m, m)
		at := func(x []float64, ld int, trans bool, i, j int) float64 {
			if trans {
				i, j = j, i
			}
			return x[i*ld+j]
		}
		for _, e := range engines(t) {
			got := append([]float64(nil), c...)
			e.Gemm(ta, tb, m, n, k, alpha, a, lda, b, ldb, beta, got, ldc)
			gram := append([]float64(nil), g...)
			e.Syrk(ta, m, k, alpha, a, lda, beta, gram, ldg)
			for i := range m {
				for j := range n {
					want := beta * c[i*ldc+j]
					for l := range k {
						want += alpha * at(a, lda, ta, i, l) * at(b, ldb, tb, l, j)
					}
					if d := math.Abs(got[i*ldc+j] - want); !(d <= eps(k+1, 10)) { // terms below 10
						rt.Fatalf("%s: product (%d,%d) off by %v", engineName(e), i, j, d)
					}
				}
				for j := i; j < m; j++ {
					want := beta * g[i*ldg+j]
					for l := range k {
						want += alpha * at(a, lda, ta, i, l) * at(a, lda, ta, j, l)
					}
					if d := math.Abs(gram[i*ldg+j] - want); !(d <= eps(k+1, 10)) {
						rt.Fatalf("%s: Gram (%d,%d) off by %v", engineName(e), i, j, d)
					}
				}
				for j := n; j < ldc && i+1 < m; j++ {
					if got[i*ldc+j] != c[i*ldc+j] {
						rt.Fatalf("%s: wrote outside the matrix", engineName(e))
					}
				}
			}
		}
	})
}

// Symm against three loops, for all shapes and strides.
func TestSymmetricProduct(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		size := rapid.OneOf(rapid.IntRange(1, 20), rapid.IntRange(60, 100))
		m, n := size.Draw(rt, "m"), size.Draw(rt, "n")
		alpha := rapid.SampledFrom([]float64{0, 1, -1.5}).Draw(rt, "alpha")
		beta := rapid.SampledFrom([]float64{0, 1, 0.5}).Draw(rt, "beta")
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(rt, "seed"), 2))
		a, lda := random(r, m, m)
		for i := range m {
			for j := range i {
				a[i*lda+j] = a[j*lda+i]
			}
		}
		b, ldb := random(r, m, n)
		c, ldc := random(r, m, n)
		for _, e := range engines(t) {
			got := append([]float64(nil), c...)
			e.Symm(m, n, alpha, a, lda, b, ldb, beta, got, ldc)
			for i := range m {
				for j := range n {
					want := beta * c[i*ldc+j]
					for l := range m {
						want += alpha * a[i*lda+l] * b[l*ldb+j]
					}
					if d := math.Abs(got[i*ldc+j] - want); !(d <= eps(m+1, 10)) { // terms below 10
						rt.Fatalf("%s: product (%d,%d) off by %v", engineName(e), i, j, d)
					}
				}
			}
		}
	})
}

// random is a matrix of r×c normal numbers, held within ±4, with a stride of its
// own.
func random(r *rand.Rand, rows, columns int) ([]float64, int) {
	ld := columns + r.IntN(3)
	a := make([]float64, rows*ld)
	for i := range a {
		a[i] = math.Max(-4, math.Min(4, r.NormFloat64()))
	}
	return a, ld
}
