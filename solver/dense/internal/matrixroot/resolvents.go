package matrixroot

import "math"

// columns is how many columns of the result a goroutine computes at a time, and chunk how
// many of them at once.
const (
	columns = 64
	chunk   = 4
)

// A Root computes ½(√(T² + cI) − T) with memory of its own, some 5p numbers a row. Its zero value is
// ready. It serves one goroutine at a time.
type Root struct {
	approximation approximation

	n, terms int
	stride   int
	f        []float64
	d, e     []float64
	exponent int
	// Of every row: what a resolvent's entries are multiplied by on the way to the row
	// above, and its entry on the diagonal, times its weight. Each has the real parts of
	// all terms and then the imaginary ones.
	ratios, diagonal []float64
	states           []float64 // by block of columns: see advance
	block            func(i int)

	last    [2 * MostTerms]float64
	weights [MostTerms]float64
}

// Bound is an upper bound of the absolute eigenvalues of the matrix with diagonal d and
// off-diagonal e: the largest sum of a row (Gershgorin).
func Bound(d, e []float64) float64 {
	var bound, last float64
	for i, v := range d {
		next := 0.0
		if i < len(e) {
			next = math.Abs(e[i])
		}
		bound = max(bound, math.Abs(v)+last+next)
		last = next
	}
	return bound
}

// Compute sets the upper triangle of f, n×n and row-major, to 2^exponent·½(√(T² + cI) − T) for the T
// with diagonal d and off-diagonal e, of n−1 entries, and c > 0. What it is below the diagonal is
// undefined. share calls a function for 0 ≤ i < n, on several goroutines or one.
//
// It reports false, and f is as it was, where √(1 + bound²/c) is more than
// LargestCondition, bound being that of Bound, or something is not finite.
func (r *Root) Compute(f []float64, d, e []float64, c float64, exponent int, share func(n int, f func(i int))) bool {
	if !r.approximation.approximate(c, Bound(d, e)) {
		return false
	}
	r.n, r.f, r.d, r.e, r.exponent = len(d), f, d, e, exponent
	r.terms = len(r.approximation.beta)
	r.stride = 2 * r.terms
	r.ratios, r.diagonal = grow(r.ratios, r.n*r.stride), grow(r.diagonal, r.n*r.stride)
	r.fractions()
	blocks := (r.n + columns - 1) / columns
	r.states = grow(r.states, blocks*columns*r.stride)
	if r.block == nil {
		r.block = r.columns
	}
	share(blocks, r.block)
	r.f, r.d, r.e = nil, nil, nil
	return true
}

// fractions fills ratios and diagonal. With u₁ = m₁, uₖ₊₁ = mₖ₊₁ − e²ₖ/uₖ down the rows of
// M = T − itI, and v the same upwards, the inverse G has Gₖₖ = 1/(uₖ − e²ₖ/vₖ₊₁) and, for
// i > k, Gₖᵢ = −(eₖ/uₖ)Gₖ₊₁ᵢ.
func (r *Root) fractions() {
	p, n, shift := r.terms, r.n, r.approximation.shift
	last := r.last[:r.stride] // what is taken from the next m
	clear(last)
	for k := range n {
		ratio, u := r.ratios[k*r.stride:(k+1)*r.stride], r.diagonal[k*r.stride:(k+1)*r.stride]
		var e float64
		if k < n-1 {
			e = r.e[k]
		}
		for t, s := range shift {
			x, y := r.d[k]-last[t], -s-last[p+t]
			u[t], u[p+t] = x, y
			x, y = reciprocal(x, y)
			ratio[t], ratio[p+t] = -e*x, -e*y
			last[t], last[p+t] = e*e*x, e*e*y
		}
	}
	clear(last)
	for t, s := range shift {
		r.weights[t] = math.Ldexp(-r.approximation.beta[t]/(2*s), r.exponent)
	}
	for k := n - 1; k >= 0; k-- {
		u := r.diagonal[k*r.stride : (k+1)*r.stride]
		var e float64
		if k > 0 {
			e = r.e[k-1]
		}
		for t, s := range shift {
			weight := r.weights[t]
			x, y := reciprocal(u[t]-last[t], u[p+t]-last[p+t])
			u[t], u[p+t] = weight*x, weight*y
			x, y = reciprocal(r.d[k]-last[t], -s-last[p+t])
			last[t], last[p+t] = e*e*x, e*e*y
		}
	}
}

// reciprocal is 1/(x + iy). No part of it is near the ends of the range of float64.
func reciprocal(x, y float64) (float64, float64) {
	s := 1 / (x*x + y*y)
	return x * s, -y * s
}

// columns computes a block of columns of f, from the diagonal upwards.
func (r *Root) columns(b int) {
	from := b * columns
	to := min(from+columns, r.n)
	p := r.terms
	chunks := (to - from + chunk - 1) / chunk
	state := r.states[b*columns*r.stride:][:chunks*chunk*r.stride]
	clear(state)
	var sums [columns]float64
	alpha := math.Ldexp(r.approximation.alpha/2, r.exponent)
	half := math.Ldexp(.5, r.exponent)
	for row := to - 1; row >= 0; row-- {
		if row < from-1 && row%columns == 0 && negligible(state, alpha) {
			for ; row >= 0; row-- {
				clear(r.f[row*r.n+from : row*r.n+to])
			}
			break
		}
		first := max(0, row-from) / chunk
		if row < to-1 {
			advance(sums[first*chunk:], state[first*chunk*r.stride:], r.ratios[row*r.stride:(row+1)*r.stride], chunks-first)
		}
		out := r.f[row*r.n:]
		if row < from {
			copy(out[from:to], sums[:])
			if row == from-1 {
				out[from] -= half * r.e[row]
			}
			continue
		}
		// Column row begins here.
		lane := (row - from) % chunk
		diagonal := r.diagonal[row*r.stride : (row+1)*r.stride]
		var sum float64
		for t := range p {
			at := (first*p + t) * 2 * chunk
			state[at+lane], state[at+chunk+lane] = diagonal[t], diagonal[p+t]
			sum += diagonal[p+t]
		}
		out[row] = alpha + sum - half*r.d[row]
		copy(out[row+1:to], sums[row+1-from:])
		if row+1 < to {
			out[row+1] -= half * r.e[row]
		}
	}
}

// negligible reports whether what is in a state, and can become of it further up, is far
// below the rounding of alpha. An entry of a resolvent is at most 1/t, and those on the diagonal
// are at least t/(‖T‖ + t)², so that none further up is more than 4·LargestCondition²
// times as large.
func negligible(state []float64, alpha float64) bool {
	limit := alpha * 0x1p-120
	for _, v := range state {
		if math.Abs(v) > limit {
			return false
		}
	}
	return true
}

// advanceGo multiplies the entries of all resolvents, chunk columns at a time, by ratios,
// and sets sums to the sums of their imaginary parts. The state of a chunk has, for every
// term, the real parts and then the imaginary ones.
func advanceGo(sums, state, ratios []float64, chunks int) {
	p := len(ratios) / 2
	for i := range chunks {
		var sum [chunk]float64
		for t := range p {
			s := (*[2 * chunk]float64)(state[(i*p+t)*2*chunk:])
			x, y := ratios[t], ratios[p+t]
			for l := range chunk {
				re, im := s[l], s[chunk+l]
				// Products are rounded before they are added, as in the assembly.
				s[l] = float64(re*x) - float64(im*y)
				im = float64(re*y) + float64(im*x)
				s[chunk+l] = im
				sum[l] += im
			}
		}
		copy(sums[i*chunk:], sum[:])
	}
}

func grow(s []float64, n int) []float64 {
	if cap(s) < n {
		return make([]float64, n)
	}
	return s[:n]
}
