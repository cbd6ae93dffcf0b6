package stability

import (
	"math"
	"sort"
)

// Bounds bound the expected number of pairs of variables with a low selection probability
// among those that are selected at least so many times: of those that a half selects with a
// probability of at most θ = q/p, q being the mean number that a half selects of p. Where
// no false pair is selected more often than pairs are on average, these are the false ones.
type Bounds struct {
	q       float64
	p       int
	pairs   int // B
	theta   float64
	concave [2]*concave // of pairs of halves, and of halves
}

// NewBounds are the bounds for halves that select q of p pairs of variables in the mean,
// in so many pairs of halves.
func NewBounds(q float64, p, pairs int) Bounds {
	b := Bounds{q: q, p: p, pairs: pairs, theta: q / float64(p)}
	b.concave[0] = &concave{mean: b.theta * b.theta * float64(pairs), n: pairs, s: 2}
	b.concave[1] = &concave{mean: b.theta * 2 * float64(pairs), n: 2 * pairs, s: 4}
	return b
}

// A Bound is the expected number of false pairs of variables among those that are
// selected often enough, at most p.
type Bound struct {
	// WorstCase is q²/((2τ−1)p), Meinshausen and Bühlmann, Theorem 1, and Shah and
	// Samworth, Theorem 1, which assumes nothing of how often a false pair is selected.
	WorstCase float64
	// Unimodal assumes that the number of pairs of halves that select a false pair both
	// times has a unimodal distribution: Shah and Samworth, Theorem 2.
	Unimodal float64
	// Concave assumes r-concave distributions besides, r = −1/2 for pairs of halves and
	// r = −1/4 for halves: Shah and Samworth, Section 3.4.
	Concave float64
}

// At are the bounds for the pairs of variables that are selected by so many of the 2B
// halves or more. No more than half of them bound nothing: the bounds are p then.
func (b Bounds) At(times int) Bound {
	p := float64(b.p)
	worst := Bound{p, p, p}
	switch {
	case times <= b.pairs || b.pairs == 0:
		return worst
	case b.q == 0:
		return Bound{}
	}
	tau := float64(times) / float64(2*b.pairs)
	worst.WorstCase = math.Min(p, b.q*b.theta/(2*tau-1))
	worst.Unimodal = math.Min(worst.WorstCase, b.q*b.theta*b.unimodal(tau))
	// Of B pairs of halves at least times − B have selected it both times.
	of := math.Min(b.concave[0].tail(times-b.pairs), b.concave[1].tail(times))
	worst.Concave = math.Min(worst.Unimodal, p*of)
	return worst
}

// unimodal is C(τ, B) of Theorem 2; infinite where it says nothing.
func (b Bounds) unimodal(tau float64) float64 {
	half := 1 / float64(2*b.pairs)
	theta2 := b.theta * b.theta
	switch {
	case b.theta > 1/math.Sqrt(3) || tau < 0.5+2*half || tau <= math.Min(0.5+theta2, 0.5+half+0.75*theta2):
		return math.Inf(1)
	case tau <= 0.75:
		return 1 / (2 * (2*tau - 1 - half))
	}
	return 4 * (1 - tau + half) / (1 + 2*half)
}

// Threshold is the least number of halves such that the bound Concave of the pairs of
// variables that they have selected is at most expected; 2B + 1 where there is none.
func (b Bounds) Threshold(expected float64) int {
	all := 2 * b.pairs
	return sort.Search(all+1, func(times int) bool { return b.At(times).Concave <= expected })
}
