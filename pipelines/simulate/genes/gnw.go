package genes

import (
	"math"
	"math/rand/v2"
)

// sweeps towards the steady state of gnw, and the step of the damped iteration.
const (
	gnwSweeps    = 25
	gnwStep      = .7
	gnwTolerance = 1e-3
)

// A gnwLaw is a sum of Hill terms, activators adding to the basal rate and
// repressors taking from it.
type gnwLaw struct {
	signs              []int8
	half, power, share []float64
	basal              float64
}

func drawGNWLaw(rng *rand.Rand, n int) gnwLaw {
	l := gnwLaw{basal: uniform(rng, .05, .9)}
	activators := uniform(rng, .4, .8)
	for range n {
		sign := int8(-1)
		if rng.Float64() < activators {
			sign = 1
		}
		l.signs = append(l.signs, sign)
		l.half = append(l.half, uniform(rng, .15, .9))
		l.power = append(l.power, pick(rng, 1.0, 2, 2, 3, 4))
		l.share = append(l.share, uniform(rng, .3, 1))
	}
	return l
}

// drawGNW draws multifactorial perturbations as those of GeneNetWeaver (Marbach et
// al., PNAS 107:6286, 2010): the activation of every gene is perturbed in every
// sample, the network comes to its steady state, and additive noise measures it.
func drawGNW(rng *rand.Rand, net *network, samples int) (table, []gnwLaw) {
	d := len(net.parents)
	activation := newTable(d, samples)
	spread := uniform(rng, .1, .45)
	for _, column := range activation {
		for r := range column {
			column[r] = min(max(1+spread*rng.NormFloat64(), .05), 3)
		}
	}
	laws := make([]gnwLaw, d)
	for j, parents := range net.parents {
		laws[j] = drawGNWLaw(rng, len(parents))
	}
	t, next := newTable(d, samples), newTable(d, samples)
	for _, column := range t {
		for r := range column {
			column[r] = .5
		}
	}
	for range gnwSweeps {
		most := 0.0
		for j, parents := range net.parents {
			laws[j].apply(t, parents, next[j])
			for r, a := range activation[j] {
				next[j][r] *= a
				most = max(most, math.Abs(next[j][r]-t[j][r]))
			}
		}
		if most < gnwTolerance {
			t = next
			break
		}
		for j, column := range t {
			for r := range column {
				column[r] += gnwStep * (next[j][r] - column[r])
			}
		}
	}
	addNoise(rng, t, uniform(rng, .01, .08))
	return t, laws
}

// apply writes the rate before activation to out, at the parents' columns of t.
func (l gnwLaw) apply(t table, parents []int, out []float64) {
	start, total := l.basal, l.basal
	for k, share := range l.share {
		total += share
		if l.signs[k] < 0 {
			start += share
		}
	}
	for r := range out {
		out[r] = start
	}
	for k, parent := range parents {
		weight := float64(l.signs[k]) * l.share[k]
		for r, x := range t[parent] {
			out[r] += weight * hill(x, l.half[k], l.power[k])
		}
	}
	if len(parents) == 0 {
		return // the basal rate
	}
	for r, v := range out {
		out[r] = min(max(v/total, 0), 1.2)
	}
}

// addNoise adds normal noise of a standard deviation to every value.
func addNoise(rng *rand.Rand, t table, deviation float64) {
	for _, column := range t {
		for r := range column {
			column[r] += deviation * rng.NormFloat64()
		}
	}
}
