package vector

import (
	"slices"

	machine "golang.org/x/sys/cpu"
)

var haveAVX2 = machine.X86.HasAVX2 && machine.X86.HasFMA

// combine8AVX2 adds c[0]·x[0] + … + c[7]·x[7] to y, for n > 0 values, n a multiple
// of 4; combine4AVX2 and combine1AVX2 are the same for four rows and one.
//
//go:noescape
func combine8AVX2(y *float64, n int, c *[8]float64, x *[8]*float64)

//go:noescape
func combine4AVX2(y *float64, n int, c *[8]float64, x *[8]*float64)

//go:noescape
func combine1AVX2(y *float64, n int, c float64, x *float64)

// passAVX2 is passGo for k > 0.
//
//go:noescape
func passAVX2(l *Lasso, k int) float64

// passRowsAVX2 is passRowsGo of k > 0 coefficients.
//
//go:noescape
func passRowsAVX2(l *Rows, k int) float64

// clipAVX2 is clipGo for n > 0 values, n a multiple of 4.
//
//go:noescape
func clipAVX2(w, y, s, r, t *float64, n int, omega float64) float64

// outsideAVX2 returns the first i of 0, 4, 8, …, n for which one of the four values
// from i on is outside; n is a multiple of 4.
//
//go:noescape
func outsideAVX2(y, s, r *float64, limit float64, n int) int

// Combine adds Σ c[a]·w[index[a]*stride+i] to every y[i].
func Combine(y, w []float64, stride int, index []int32, c []float64) {
	n := len(y) &^ 3
	if !haveAVX2 || n == 0 {
		combineGo(y, w, stride, index, c)
		return
	}
	var f [8]float64
	var x [8]*float64
	m := 0
	for a, v := range c {
		if v == 0 {
			continue
		}
		f[m], x[m] = v, &w[int(index[a])*stride:][:len(y)][0]
		if m++; m == 8 {
			combine8AVX2(&y[0], n, &f, &x)
			m = 0
		}
	}
	at := 0
	if m >= 4 {
		combine4AVX2(&y[0], n, &f, &x)
		at = 4
	}
	for ; at < m; at++ {
		combine1AVX2(&y[0], n, f[at], x[at])
	}
	if n < len(y) {
		combineGo(y[n:], w[n:], stride, index, c)
	}
}

// Pass visits the first k coefficients of l once, each of which it makes the best
// one while the others stay. It returns the largest change of a gradient, |step|·Gₐₐ.
func Pass(l *Lasso, k int) float64 {
	if !haveAVX2 || k == 0 {
		return passGo(l, k)
	}
	n := l.Width
	_, _, _ = l.Gram[(k-1)*l.Stride+n-1], l.S[n-1], l.R[n-1]
	_, _, _, _ = l.Diagonal[n-1], l.Inverse[n-1], l.Beta[n-1], l.Fit[n-1]
	return passAVX2(l, k)
}

// PassRows visits the coefficients of l once, each of which it makes the best one while
// the others stay. It returns the largest change of a gradient, |step|·Gᵢᵢ.
func PassRows(l *Rows) float64 {
	k := len(l.Index)
	if !haveAVX2 || k == 0 || l.Width%8 != 0 {
		return passRowsGo(l)
	}
	last := int(slices.Max(l.Index))
	_, _, _, _ = l.Gram[last*l.Stride+l.Width-1], l.Inverse[last], l.S[last], l.R[last]
	_, _, _ = l.Beta[k-1], l.Fit[l.Width-1], l.Fit[last]
	return passRowsAVX2(l, k)
}

// Clip moves every w[i] by omega·(y[i] − w[i]), but not out of [s[i] − r[i], s[i] + r[i]],
// and returns the sum of the squares of the changes times t[i].
func Clip(w, y, s, r, t []float64, omega float64) float64 {
	n := len(w) &^ 3
	if !haveAVX2 || n == 0 {
		return clipGo(w, y, s, r, t, omega)
	}
	y, s, r, t = y[:len(w)], s[:len(w)], r[:len(w)], t[:len(w)]
	sum := clipAVX2(&w[0], &y[0], &s[0], &r[0], &t[0], n, omega)
	return sum + clipGo(w[n:], y[n:], s[n:], r[n:], t[n:], omega)
}

// Outside returns the first i ≥ from with |s[i] − y[i]| − r[i] > limit, or len(y).
func Outside(y, s, r []float64, limit float64, from int) int {
	s, r = s[:len(y)], r[:len(y)]
	if n := (len(y) - from) &^ 3; haveAVX2 && n > 0 {
		from += outsideAVX2(&y[from], &s[from], &r[from], limit, n)
	}
	return outsideGo(y, s, r, limit, from)
}
