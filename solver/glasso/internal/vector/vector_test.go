package vector

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// near reports whether got is want but for the rounding of sums whose terms have
// the absolute sum size.
func near(got, want, size float64) bool {
	return math.Abs(got-want) <= 1e-15*(8*size+math.Abs(want)) || got == want
}

// FuzzLoops holds the loops of this machine to those in Go, for any length and any
// place in memory; what stands beside their memory is left alone.
func FuzzLoops(f *testing.F) {
	for n := range uint(40) {
		f.Add(uint64(n), n, n%23, int8(n%5))
	}
	f.Add(uint64(0), uint(77), uint(0), int8(0))
	f.Fuzz(func(t *testing.T, seed uint64, n, k uint, magnitude int8) {
		check(t, rand.New(rand.NewPCG(seed, 1)), int(n%150), int(k%70), math.Pow(10, float64(magnitude%20)))
	})
}

func check(t *testing.T, rng *rand.Rand, n, k int, scale float64) {
	const guard = 7
	draw := func(n int) []float64 {
		at := rng.IntN(4)
		x := make([]float64, at+n+guard)[at:]
		for i := range x {
			x[i] = scale * rng.NormFloat64()
		}
		return x[:n]
	}
	clone := func(x []float64) []float64 { return slices.Clone(x[: len(x)+guard : len(x)+guard])[:len(x)] }
	untouched := func(what string, got, was []float64) {
		t.Helper()
		if m := len(got); !slices.Equal(got[m:m+guard], was[m:m+guard]) {
			t.Errorf("%s of %d values writes behind them", what, m)
		}
	}
	// Combine: rows with gaps between, some coefficients zero.
	stride := n + rng.IntN(5)
	w := draw((k + 1) * stride)
	index, c := make([]int32, k), make([]float64, k)
	for a := range index {
		index[a] = int32(rng.IntN(k + 1))
		if rng.IntN(4) > 0 {
			c[a] = rng.NormFloat64()
		}
	}
	y := draw(n)
	got, want, size := clone(y), clone(y), make([]float64, n)
	Combine(got, w, stride, index, c)
	combineGo(want, w, stride, index, c)
	for i := range size {
		size[i] = math.Abs(y[i])
		for a, f := range c {
			size[i] += math.Abs(f * w[int(index[a])*stride+i])
		}
		if !near(got[i], want[i], size[i]) {
			t.Fatalf("Combine of %d rows of %d values: %v at %d, want %v", k, n, got[i], i, want[i])
		}
	}
	untouched("Combine", got, y)

	// Clip and Outside.
	s, r, weight := draw(n), draw(n), draw(n)
	for i := range r {
		r[i] = math.Abs(r[i])
		weight[i] = rng.Float64()
	}
	old := draw(n)
	got, want = clone(old), clone(old)
	omega := 1 + rng.Float64()
	a, b := Clip(got, y, s, r, weight, omega), clipGo(want, y, s, r, weight, omega)
	for i := range got {
		if !near(got[i], want[i], math.Abs(y[i])+math.Abs(old[i])) || math.Abs(got[i]-s[i])-r[i] > 0x1p-52*(math.Abs(s[i])+r[i]) { // s ± r is rounded, and so is its distance
			t.Fatalf("Clip of %d values: %v at %d, want %v", n, got[i], i, want[i])
		}
	}
	if math.Abs(a-b) > 1e-13*b {
		t.Fatalf("Clip of %d values sums up %v, want %v", n, a, b)
	}
	untouched("Clip", got, old)
	for from := 0; from <= n; from++ {
		limit := scale * 2 * rng.Float64()
		if got, want := Outside(y, s, r, limit, from), outsideGo(y, s, r, limit, from); got != want {
			t.Fatalf("Outside of %d values from %d on: %d, want %d", n, from, got, want)
		}
	}
	checkPass(t, rng, k, clone, draw, untouched)
}

func checkPass(t *testing.T, rng *rand.Rand, k int, clone func([]float64) []float64, draw func(int) []float64, untouched func(string, []float64, []float64)) {
	width := (k + 3) &^ 3
	stride := width + rng.IntN(5)
	l := Lasso{Stride: stride, Width: width, Gram: draw(k * stride), S: draw(width), R: draw(width),
		Diagonal: draw(width), Inverse: draw(width), Beta: draw(width), Fit: draw(width)}
	for a := range k {
		for b := range width {
			l.Gram[a*stride+b] = rng.NormFloat64() / float64(k)
		}
		l.Diagonal[a] = 0.5 + rng.Float64()
		l.Inverse[a] = 1 / l.Diagonal[a]
		l.Gram[a*stride+a] = l.Diagonal[a]
		l.R[a] = math.Abs(l.R[a])
		if rng.IntN(3) == 0 {
			l.Beta[a] = 0
		}
	}
	m := l
	m.Beta, m.Fit = clone(l.Beta), clone(l.Fit)
	beta, fit := clone(l.Beta), clone(l.Fit)
	var size float64 // of all numbers that are added up
	for a := range k {
		size += math.Abs(l.S[a]) + math.Abs(l.Fit[a]) + math.Abs(l.Beta[a]) + l.R[a]
	}
	a, b := Pass(&l, k), passGo(&m, k)
	if !near(a, b, 10*size) {
		t.Fatalf("Pass over %d coefficients changes by %v, want %v", k, a, b)
	}
	for i := range k {
		if !near(l.Beta[i], m.Beta[i], 10*size) || !near(l.Fit[i], m.Fit[i], 10*size) {
			t.Fatalf("Pass over %d coefficients: β = %v and Gβ = %v at %d, want %v and %v", k, l.Beta[i], l.Fit[i], i, m.Beta[i], m.Fit[i])
		}
	}
	if !slices.Equal(l.Beta[k:], beta[k:]) {
		t.Fatalf("Pass over %d coefficients changes others", k)
	}
	untouched("Pass", l.Fit, fit)
	checkPassRows(t, rng, k, clone, draw, untouched)
}

// checkPassRows visits some of n variables.
func checkPassRows(t *testing.T, rng *rand.Rand, k int, clone func([]float64) []float64, draw func(int) []float64, untouched func(string, []float64, []float64)) {
	n := k + rng.IntN(20)
	width := (n + 7) &^ 7
	l := Rows{Stride: width + rng.IntN(5), Width: width, S: draw(n), R: draw(n), Inverse: draw(n), Beta: draw(k), Fit: draw(width)}
	l.Gram = draw((n + 1) * l.Stride)
	for i := range n {
		for j := range width {
			l.Gram[i*l.Stride+j] = rng.NormFloat64() / float64(n)
		}
		d := 0.5 + rng.Float64()
		l.Gram[i*l.Stride+i], l.Inverse[i] = d, 1/d
		l.R[i] = math.Abs(l.R[i])
	}
	var size float64
	for a, i := range rng.Perm(n)[:k] {
		l.Index = append(l.Index, int32(i))
		if rng.IntN(3) == 0 {
			l.Beta[a] = 0
		}
		size += math.Abs(l.S[i]) + math.Abs(l.Fit[i]) + math.Abs(l.Beta[a]) + l.R[i]
	}
	m := l
	m.Beta, m.Fit = clone(l.Beta), clone(l.Fit)
	beta, fit := clone(l.Beta), clone(l.Fit)
	a, b := PassRows(&l), passRowsGo(&m)
	if !near(a, b, 20*size) {
		t.Fatalf("PassRows over %d of %d variables changes by %v, want %v", k, n, a, b)
	}
	for i := range l.Fit {
		if !near(l.Fit[i], m.Fit[i], 20*size+math.Abs(fit[i])) {
			t.Fatalf("PassRows over %d of %d variables: Gβ = %v at %d, want %v", k, n, l.Fit[i], i, m.Fit[i])
		}
	}
	for i := range k {
		if !near(l.Beta[i], m.Beta[i], 20*size) || (l.Beta[i] == 0) != (m.Beta[i] == 0) {
			t.Fatalf("PassRows over %d of %d variables: β = %v at %d, want %v", k, n, l.Beta[i], i, m.Beta[i])
		}
	}
	untouched("PassRows", l.Fit, fit)
	untouched("PassRows", l.Beta, beta)
}

func BenchmarkLoops(b *testing.B) {
	const n, k = 1000, 16
	rng := rand.New(rand.NewPCG(1, 2))
	draw := func(n int) []float64 {
		x := make([]float64, n)
		for i := range x {
			x[i] = rng.NormFloat64()
		}
		return x
	}
	w, y, c, index := draw(k*n), draw(n), draw(k), make([]int32, k)
	for a := range index {
		index[a] = int32(a)
	}
	l := Lasso{Stride: k, Width: k, Gram: draw(k * k), S: draw(k), R: make([]float64, k), Diagonal: draw(k), Inverse: draw(k), Beta: draw(k), Fit: draw(k)}
	for a := range k {
		for i := range k {
			l.Gram[a*k+i] /= 10 * k
		}
		l.Diagonal[a], l.Inverse[a] = 1, 1
	}
	for _, f := range []struct {
		name string
		run  func()
	}{
		{"Combine", func() { Combine(y, w, n, index, c) }},
		{"combineGo", func() { combineGo(y, w, n, index, c) }},
		{"Pass", func() { Pass(&l, k) }},
		{"passGo", func() { passGo(&l, k) }},
		{"Clip", func() { Clip(y, w[:n], w[n:], w[2*n:], w[3*n:4*n], 1) }},
		{"clipGo", func() { clipGo(y, w[:n], w[n:], w[2*n:], w[3*n:4*n], 1) }},
		{"Outside", func() { Outside(y, w[:n], w[n:], 1e9, 0) }},
		{"outsideGo", func() { outsideGo(y, w[:n], w[n:], 1e9, 0) }},
	} {
		b.Run(f.name, func(b *testing.B) {
			for b.Loop() {
				f.run()
			}
		})
	}
}
