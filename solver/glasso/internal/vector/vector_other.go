//go:build !amd64

package vector

// Combine adds Σ c[a]·w[index[a]*stride+i] to every y[i].
func Combine(y, w []float64, stride int, index []int32, c []float64) {
	combineGo(y, w, stride, index, c)
}

// Pass visits the first k coefficients of l once, each of which it makes the best
// one while the others stay. It returns the largest change of a gradient, |step|·Gₐₐ.
func Pass(l *Lasso, k int) float64 { return passGo(l, k) }

// PassRows visits the coefficients of l once, each of which it makes the best one while
// the others stay. It returns the largest change of a gradient, |step|·Gᵢᵢ.
func PassRows(l *Rows) float64 { return passRowsGo(l) }

// Clip moves every w[i] by omega·(y[i] − w[i]), but not out of [s[i] − r[i], s[i] + r[i]],
// and returns the sum of the squares of the changes times t[i].
func Clip(w, y, s, r, t []float64, omega float64) float64 { return clipGo(w, y, s, r, t, omega) }

// Outside returns the first i ≥ from with |s[i] − y[i]| − r[i] > limit, or len(y).
func Outside(y, s, r []float64, limit float64, from int) int {
	return outsideGo(y, s, r, limit, from)
}
