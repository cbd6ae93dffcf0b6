//go:build cuda

package main

import (
	"math"

	"github.com/gladflow/gladflow/solver/cuda/driver"
	"github.com/gladflow/gladflow/solver/cuda/library"
)

// exact is what a call alone may be off by, of the largest number of its result.
const exact = 1e-11

// A plain is a matrix by columns, computed with the simplest loops.
type plain struct {
	v     []float64
	m, n  int
	trans bool
}

func (a plain) at(i, j int) float64 {
	if a.trans {
		i, j = j, i
	}
	return a.v[j*a.m+i]
}

// product is alpha·A·B + beta·C for an m×n C.
func product(m, n, k int, alpha float64, a, b plain, beta float64, c []float64) []float64 {
	out := make([]float64, m*n)
	for j := range n {
		for i := range m {
			var sum float64
			for l := range k {
				sum += a.at(i, l) * b.at(l, j)
			}
			out[j*m+i] = alpha * sum
			if beta != 0 {
				out[j*m+i] += beta * c[j*m+i]
			}
		}
	}
	return out
}

func (c *check) normal(n int) []float64 {
	v := make([]float64, n)
	for i := range v {
		v[i] = c.random.NormFloat64()
	}
	return v
}

// definite is a positive definite matrix, with eigenvalues from 1 on.
func (c *check) definite(n int) []float64 {
	x := c.normal(n * n)
	a := product(n, n, n, 1/float64(n), plain{x, n, n, false}, plain{x, n, n, true}, 0, nil)
	for i := range n {
		a[i*(n+1)]++
	}
	return a
}

// calls checks every call of the libraries alone.
func (c *check) calls() {
	c.table("calls alone", "call", "size", "off by", "check")
	row := func(name string, size int, e float64) {
		c.row(name, size, e, c.verdict(e <= exact, "%s at %d is off by %.2g", name, size, e))
	}
	sizes := []int{1, 7, 33, 130}
	if c.quick {
		sizes = []int{1, 33}
	}
	c.card(func(k *card) {
		for _, n := range sizes {
			c.try("products", func() { k.on(func() { c.products(k, n, row) }) })
			c.try("factors", func() { k.on(func() { c.factors(k, n, row) }) })
			c.try("eigendecompositions", func() { k.on(func() { c.eigen(k, n, row) }) })
		}
	})
}

func (c *check) products(k *card, n int, row func(string, int, float64)) {
	m, l := n+2, n+5
	cc := c.normal(m * n)
	for t := range 4 {
		transA, transB := t&1 == 1, t&2 == 2
		a, b := plain{c.normal(m * l), m, l, transA}, plain{c.normal(l * n), l, n, transB}
		if transA {
			a.m, a.n = l, m
		}
		if transB {
			b.m, b.n = n, l
		}
		for _, beta := range []float64{0, 0.5} {
			to := k.room(m * n)
			if beta != 0 {
				to = k.up(cc)
			}
			must(k.Gemm(transA, transB, m, n, l, 1.5, k.up(a.v), a.m, k.up(b.v), b.m, beta, to, m))
			row("Gemm "+map[bool]string{false: "N", true: "T"}[transA]+map[bool]string{false: "N", true: "T"}[transB], n, apart(k.down(to, m*n), product(m, n, l, 1.5, a, b, beta, cc)))
		}
	}
	const count = 3
	a, b, to := c.normal(count*n*n), c.normal(count*n*n), k.room(count*n*n)
	must(k.GemmStridedBatched(false, false, n, n, n, 1, k.up(a), n, n*n, k.up(b), n, n*n, 0, to, n, n*n, count))
	var want []float64
	for i := range count {
		want = append(want, product(n, n, n, 1, plain{a[i*n*n:], n, n, false}, plain{b[i*n*n:], n, n, false}, 0, nil)...)
	}
	row("GemmStridedBatched", n, apart(k.down(to, count*n*n), want))

	x := c.normal(n * l)
	for _, trans := range []bool{false, true} {
		rows := n
		if trans {
			rows = l
		}
		to := k.up(make([]float64, n*n))
		must(k.Syrk(library.Lower, trans, n, l, 2, k.up(x), rows, 0, to, n))
		full := product(n, n, l, 2, plain{x, rows, n + l - rows, trans}, plain{x, rows, n + l - rows, !trans}, 0, nil)
		for j := range n {
			for i := range j {
				full[j*n+i] = 0
			}
		}
		row("Syrk", n, apart(k.down(to, n*n), full))
	}
	s, v, w := c.definite(n), c.normal(n), c.normal(n)
	to = k.room(n)
	must(k.Gemv(false, n, n, 1, k.up(s), n, k.up(v), 1, 0, to, 1))
	row("Gemv", n, apart(k.down(to, n), product(n, 1, n, 1, plain{s, n, n, false}, plain{v, n, 1, false}, 0, nil)))
	pv, pw := k.up(v), k.up(w)
	var dot, square float64
	sum := make([]float64, n)
	for i := range v {
		dot += v[i] * w[i]
		square += v[i] * v[i]
		sum[i] = 3 * (w[i] + 2*v[i])
	}
	scale := math.Sqrt(square) * float64(n) // a sum may cancel
	row("Dot", n, math.Abs(got(k.Dot(n, pv, 1, pw, 1))-dot)/max(scale, math.Abs(dot)))
	row("Nrm2", n, math.Abs(got(k.Nrm2(n, pv, 1))-math.Sqrt(square))/scale)
	must(k.Axpy(n, 2, pv, 1, pw, 1))
	must(k.Scal(n, 3, pw, 1))
	row("Axpy, Scal", n, apart(k.down(pw, n), sum))
}

func (c *check) factors(k *card, n int, row func(string, int, float64)) {
	s := c.definite(n)
	p, info := k.up(s), k.room(1)
	length := got(k.PotrfSize(library.Lower, n, p, n))
	must(k.Potrf(library.Lower, n, p, n, k.room(length), length, info))
	c.verdict(k.info(info) == 0, "Potrf at %d: info %d", n, k.info(info))
	l := lower(k.down(p, n*n), n)
	row("Potrf", n, apart(product(n, n, n, 1, plain{l, n, n, false}, plain{l, n, n, true}, 0, nil), s))
	length = got(k.PotriSize(library.Lower, n, p, n))
	must(k.Potri(library.Lower, n, p, n, k.room(length), length, info))
	c.verdict(k.info(info) == 0, "Potri at %d: info %d", n, k.info(info))
	inverse := k.down(p, n*n)
	identity := make([]float64, n*n)
	for j := range n {
		identity[j*(n+1)] = 1
		for i := range j {
			inverse[j*n+i] = inverse[i*n+j]
		}
	}
	row("Potri", n, apart(product(n, n, n, 1, plain{inverse, n, n, false}, plain{s, n, n, false}, 0, nil), identity))

	bad := append([]float64(nil), s...)
	bad[(n-1)*(n+1)] = -1e3
	p = k.up(bad)
	length = got(k.PotrfSize(library.Lower, n, p, n))
	must(k.Potrf(library.Lower, n, p, n, k.room(length), length, info))
	c.verdict(k.info(info) == int32(n), "Potrf of an indefinite matrix of %d: info %d", n, k.info(info))
}

// lower is the lower triangle.
func lower(a []float64, n int) []float64 {
	l := append([]float64(nil), a...)
	for j := range n {
		clear(l[j*n : j*n+j])
	}
	return l
}

// residual is by how much A·V is not V·values, and VᵀV not I.
func residual(a, v, values []float64, n int) float64 {
	right, identity := append([]float64(nil), v...), make([]float64, n*n)
	for j := range n {
		identity[j*(n+1)] = 1
		for i := range n {
			right[j*n+i] *= values[j]
		}
		if j > 0 && values[j] < values[j-1] {
			return math.NaN()
		}
	}
	e := apart(product(n, n, n, 1, plain{a, n, n, false}, plain{v, n, n, false}, 0, nil), right)
	f := apart(product(n, n, n, 1, plain{v, n, n, true}, plain{v, n, n, false}, 0, nil), identity)
	return max(e, f)
}

func (c *check) eigen(k *card, n int, row func(string, int, float64)) {
	s := c.definite(n)
	p, values, info := k.up(s), k.room(n), k.room(1)
	onDevice, onHost, err := k.SyevdSize(true, library.Lower, n, p, n, values)
	must(err)
	must(k.Syevd(true, library.Lower, n, p, n, values, k.room(int(onDevice/8)+1), onDevice, make([]byte, onHost), info))
	c.verdict(k.info(info) == 0, "Syevd at %d: info %d", n, k.info(info))
	row("Syevd", n, residual(s, k.down(p, n*n), k.down(values, n), n))

	const count = 2
	all := append(c.definite(n), c.definite(n)...)
	batched := func(name string, f func(p, values, infos driver.Pointer)) {
		p, values, infos := k.up(all), k.room(count*n), k.room(count)
		f(p, values, infos)
		v, w := k.down(p, count*n*n), k.down(values, count*n)
		row(name, n, max(residual(all[:n*n], v[:n*n], w[:n], n), residual(all[n*n:], v[n*n:], w[n:], n)))
	}
	if k.HasSyevBatched() {
		batched("SyevBatched", func(p, values, infos driver.Pointer) {
			onDevice, onHost, err := k.SyevBatchedSize(true, library.Lower, n, p, n, values, count)
			must(err)
			must(k.SyevBatched(true, library.Lower, n, p, n, values, k.room(int(onDevice/8)+1), onDevice, make([]byte, onHost), infos, count))
		})
	}
}
