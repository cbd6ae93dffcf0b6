package oracle

import (
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/integrate/quad"
)

// An entry is the conditional distribution of one θij given all other entries:
// a spike of weight 1−p at zero and a uniform slab of weight p, times the
// likelihood. As a function of the step δ away from the present value that is
//
//	ℓ(δ) = m/2·(log q(δ) − 2·Sij·δ),  q(δ) = 1 + 2uδ − vδ²,
//
// where q is det Θ(δ)/det Θ(0), with u = Wij and v = Wii·Wjj − Wij², W = Θ⁻¹.
// Θ is positive definite where q > 0, on both sides of zero. ℓ is concave.
type entry struct {
	low, high float64 // of the slab
	p         float64
	half      float64 // m/2

	nodes   []float64 // of Gauss and Legendre, on [0, 1]
	shares  []float64 // their weights, of sum 1
	weights []float64 // those of the slab that at has computed last
}

func newEntry(low, high, p float64, m, points int) *entry {
	e := &entry{low: low, high: high, p: p, half: float64(m) / 2}
	e.nodes = make([]float64, points)
	e.shares = make([]float64, points)
	e.weights = make([]float64, points)
	quad.Legendre{}.FixedLocations(e.nodes, e.shares, 0, 1)
	return e
}

// A posterior is what an entry's distribution comes to.
type posterior struct {
	// logOdds are those of the slab against the spike.
	logOdds float64
	// inclusion is the probability of the slab, mean that of the entry, the
	// spike counted.
	inclusion, mean float64

	// The slab stands at first + width·node with the entry's weights of that sum.
	first, width, sum float64
}

// at computes the distribution where the entry is now x and Sij is s.
func (e *entry) at(x, u, v, s float64) posterior {
	log := func(delta float64) float64 {
		q := 1 + delta*(2*u-v*delta)
		if !(q > 0) { // outside, or at the very edge by rounding
			return math.Inf(-1)
		}
		return e.half * (math.Log(q) - 2*s*delta)
	}
	spike := log(-x)
	root := math.Sqrt(u*u + v)
	if -x <= (u-root)/v || -x >= (u+root)/v {
		spike = math.Inf(-1)
	}
	// Where the slab and positive definiteness allow δ to be.
	left, right := max((u-root)/v, e.low-x), min((u+root)/v, e.high-x)
	// The root of ℓ′ between those of q, moved to there, is where ℓ is largest.
	top := 2 * (u - s) / (v + 2*s*u + math.Sqrt(v*v+4*s*s*(u*u+v)))
	top = min(max(top, left), right)
	highest := log(top)
	if !(left < right) || math.IsInf(highest, -1) {
		return posterior{logOdds: math.Inf(-1)}
	}
	// The parabola that touches ℓ at top has fallen by drop at the distance
	// reach. What lies beyond is left out, unless ℓ is wider, as it may be for
	// a few samples.
	const drop, enough = 32, 20
	ratio := 2 * (u - v*top) / (1 + top*(2*u-v*top))
	slope := e.half * math.Abs(ratio-2*s)
	curvature := e.half * (2*v/(1+top*(2*u-v*top)) + ratio*ratio)
	reach := 2 * drop / (slope + math.Sqrt(slope*slope+2*drop*curvature))
	end := func(limit, sign float64) float64 {
		for at := reach; ; at *= 2 {
			switch delta := top + sign*at; {
			case sign*(limit-delta) <= 0:
				return limit
			case log(delta) < highest-enough:
				return delta
			}
		}
	}
	left, right = end(left, -1), end(right, 1)

	r := posterior{first: x + left, width: right - left}
	var moment float64
	for k, node := range e.nodes {
		delta := r.width * node
		w := e.shares[k] * math.Exp(log(left+delta)-highest)
		e.weights[k] = w
		r.sum += w
		moment += w * (r.first + delta)
	}
	r.logOdds = math.Log(e.p/(1-e.p)*r.sum*r.width/(e.high-e.low)) + highest - spike
	r.inclusion = 1 / (1 + math.Exp(-r.logOdds))
	r.mean = r.inclusion * moment / r.sum
	return r
}

// draw draws a value from the distribution that at has just computed: zero, or one
// of the nodes, whose weights give smooth functions their expectation.
func (e *entry) draw(rng *rand.Rand, r posterior) float64 {
	if !(rng.Float64() < r.inclusion) {
		return 0
	}
	rest := rng.Float64() * r.sum
	for k, w := range e.weights {
		if rest -= w; rest < 0 {
			return r.first + r.width*e.nodes[k]
		}
	}
	return r.first + r.width*e.nodes[len(e.nodes)-1]
}
