//go:build cuda

package cuda

import "math"

// The polar factor of a matrix whose singular values lie in [lo, hi] is approached by
// X ← X·T(XᵀX) with T(w) = a + bw + cw², that is by σ ← aσ + bσ³ + cσ⁵ for every
// singular value. The coefficients are those that bring all of [lo, hi] nearest to 1
// (Chen & Chow, "A stable scaling of Newton-Schulz for improving the sign function
// computation", 2014, for the cubic; Amsel et al., "The Polar Express", 2025, for the
// quintic).

// A quintic is σ ← aσ + bσ³ + cσ⁵.
type quintic struct{ a, b, c float64 }

func (q quintic) at(x float64) float64 {
	w := x * x
	return x * (q.a + w*(q.b+w*q.c))
}

// newtonSchulz converges cubically near 1: from 1 ± e to 1 ± 2.5e³.
var newtonSchulz = quintic{15. / 8, -10. / 8, 3. / 8}

const (
	// narrow is the relative width of the interval from which newtonSchulz is used.
	narrow = 1e-2
	// exchanges bounds Remez's algorithm, which takes some ten.
	exchanges = 100
)

// minimax is the quintic for singular values in [lo, hi], 0 < lo ≤ hi, and the e with
// which it brings them into [1 − e, 1 + e].
func minimax(lo, hi float64) (q quintic, e float64) {
	if hi/lo-1 <= narrow {
		e = max(math.Abs(1-lo), math.Abs(hi-1))
		return newtonSchulz, 2.6 * e * e * e
	}
	// Remez: p(x) − 1 takes the values −e, e, −e, e at lo, x1, x2 and hi.
	x1, x2 := lo+(hi-lo)/4, lo+3*(hi-lo)/4
	for range exchanges {
		q = alternating([4]float64{lo, x1, x2, hi})
		y1, y2, ok := q.extremes()
		if !ok {
			break
		}
		y1, y2 = min(max(y1, lo), hi), min(max(y2, lo), hi)
		done := math.Abs(y1-x1)+math.Abs(y2-x2) < 1e-14*hi
		x1, x2 = y1, y2
		if done {
			break
		}
	}
	e = 0
	for _, x := range []float64{lo, x1, x2, hi} {
		e = max(e, math.Abs(q.at(x)-1))
	}
	return q, e
}

// extremes are the two positive points where the derivative a + 3bx² + 5cx⁴ vanishes.
func (q quintic) extremes() (first, second float64, ok bool) {
	// c > 0 and b < 0: the roots in x² of a quadratic.
	half, product := -3*q.b/(10*q.c), q.a/(5*q.c)
	root := half*half - product
	if !(root >= 0) || !(half > 0) {
		return 0, 0, false
	}
	large := half + math.Sqrt(root)
	return math.Sqrt(product / large), math.Sqrt(large), true
}

// alternating is the quintic for which p(xi) is 1 − e, 1 + e, 1 − e and 1 + e, for some e.
func alternating(x [4]float64) quintic {
	// Rows of [x x³ x⁵ ±1 | 1], by elimination with pivots.
	var m [4][5]float64
	for i, v := range x {
		w := v * v
		sign := 1.
		if i%2 == 1 {
			sign = -1
		}
		m[i] = [5]float64{v, v * w, v * w * w, sign, 1}
	}
	for col := range 4 {
		pivot := col
		for r := col + 1; r < 4; r++ {
			if math.Abs(m[r][col]) > math.Abs(m[pivot][col]) {
				pivot = r
			}
		}
		m[col], m[pivot] = m[pivot], m[col]
		for r := range 4 {
			if r == col {
				continue
			}
			f := m[r][col] / m[col][col]
			for k := col; k < 5; k++ {
				m[r][k] -= f * m[col][k]
			}
		}
	}
	return quintic{m[0][4] / m[0][0], m[1][4] / m[1][1], m[2][4] / m[2][2]}
}
