//go:build cuda && cgo

package library

import (
	"math"
	"testing"
)

func TestGemm(t *testing.T) {
	const m, n, k = 5, 7, 3
	on(t, func(b *bench) {
		for _, ta := range []bool{false, true} {
			for _, tb := range []bool{false, true} {
				a := matrix{random(1, 9*8), 0, pick(ta, m, k) + 1}
				x := matrix{random(2, 9*8), 0, pick(tb, k, n) + 2}
				c := matrix{random(3, n*(m+3)), 0, m + 3}
				p := b.up(c.data)
				b.ok(b.Gemm(ta, tb, m, n, k, 1.5, b.up(a.data), a.lead, b.up(x.data), x.lead, -0.5, p, c.lead))
				b.same("gemm", b.down(p, len(c.data)), product(ta, tb, m, n, k, 1.5, a, x, -0.5, c))
			}
		}
	})
}

func TestGemmStridedBatched(t *testing.T) {
	const m, n, k, count = 4, 3, 5, 6
	const strideA, strideB, strideC = 31, 33, 37
	on(t, func(b *bench) {
		a, x, c := random(1, strideA*count), random(2, strideB*count), random(3, strideC*count)
		p := b.up(c)
		b.ok(b.GemmStridedBatched(true, false, m, n, k, 2, b.up(a), k+1, strideA, b.up(x), k+2, strideB, 0.25, p, m+1, strideC, count))
		want := append([]float64(nil), c...)
		for i := range count {
			cell := matrix{c[i*strideC : i*strideC+n*(m+1)], m, m + 1}
			copy(want[i*strideC:], product(true, false, m, n, k, 2, matrix{a[i*strideA:], k, k + 1}, matrix{x[i*strideB:], k, k + 2}, 0.25, cell))
		}
		b.same("batch", b.down(p, len(c)), want)
	})
}

func TestSyrk(t *testing.T) {
	const n, k = 6, 4
	on(t, func(b *bench) {
		for _, triangle := range []Triangle{Lower, Upper} {
			for _, trans := range []bool{false, true} {
				a := matrix{random(1, 8*8), 0, pick(trans, n, k) + 1}
				c := matrix{random(2, n*(n+1)), 0, n + 1}
				p := b.up(c.data)
				b.ok(b.Syrk(triangle, trans, n, k, -1.5, b.up(a.data), a.lead, 2, p, c.lead))
				want := product(trans, !trans, n, n, k, -1.5, a, a, 2, c)
				for j := range n {
					for i := range n {
						if (triangle == Lower && i < j) || (triangle == Upper && i > j) {
							want[j*c.lead+i] = c.data[j*c.lead+i]
						}
					}
				}
				b.same("syrk", b.down(p, len(c.data)), want)
			}
		}
	})
}

// symmetric is a matrix of order n, and what lies in one triangle of it: the other holds NaN.
func symmetric(seed uint64, n int, triangle Triangle) (whole, stored matrix) {
	whole = matrix{random(seed, n*n), n, n}
	stored = matrix{make([]float64, n*n), n, n}
	for j := range n {
		for i := range j {
			whole.data[i*n+j] = whole.data[j*n+i]
		}
	}
	copy(stored.data, whole.data)
	for j := range n {
		for i := range n {
			if (triangle == Lower && i < j) || (triangle == Upper && i > j) {
				stored.data[j*n+i] = math.NaN()
			}
		}
	}
	return whole, stored
}

func TestVectors(t *testing.T) {
	const m, n = 5, 3
	on(t, func(b *bench) {
		for _, trans := range []bool{false, true} {
			a := matrix{random(1, 8*n), 0, m + 1}
			rows, columns := pick(trans, m, n), pick(trans, n, m)
			x, y := random(2, 2*m), random(3, 3*m)
			p := b.up(y)
			b.ok(b.Gemv(trans, m, n, 2, b.up(a.data), a.lead, b.up(x), 2, -1, p, 3))
			// Vectors with an increment are matrices of one row.
			want := product(false, !trans, 1, rows, columns, 2, matrix{x, 0, 2}, a, -1, matrix{y, 0, 3})
			b.same("gemv", b.down(p, len(y)), want)
		}
		x, y := random(4, 10), random(5, 15)
		p, q := b.up(x), b.up(y)
		dot, norm := 0.0, 0.0
		for i := range 5 {
			dot += x[2*i] * y[3*i]
			norm += x[2*i] * x[2*i]
		}
		norm = math.Sqrt(norm)
		got, err := b.Dot(5, p, 2, q, 3)
		b.ok(err)
		b.same("dot", []float64{got}, []float64{dot})
		got, err = b.Nrm2(5, p, 2)
		b.ok(err)
		b.same("nrm2", []float64{got}, []float64{norm})
		b.ok(b.Axpy(5, 1.5, p, 2, q, 3))
		b.ok(b.Scal(5, -2, p, 2))
		for i := range 5 {
			y[3*i] += 1.5 * x[2*i]
			x[2*i] *= -2
		}
		b.same("axpy", b.down(q, 15), y)
		b.same("scal", b.down(p, 10), x)
	})
}
