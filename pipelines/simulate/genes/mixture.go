package genes

import (
	"math"
	"math/rand/v2"
)

// fewestEdges a set of the mixture has; another is drawn where there are fewer.
const fewestEdges = 3

// DrawMixture draws a set to train a ranking with that has to cope with any table:
// the family by its share (syntren .25, background .11, gnw .18, sem .16, linear
// .1, confounded .08, knockout .07, switch .05), 18 to 300 genes and 20 to 1000
// samples, both uniform in the logarithm, and marginals distorted in two sets of
// five, those of background and knockout never. Background genes, 10 to 100, come
// on top of at most 150 others. A set has at least three edges.
func DrawMixture(rng *rand.Rand) (*Set, error) {
	for {
		f := drawFamily(rng)
		genes, samples := int(logUniform(rng, 18, 300)), int(logUniform(rng, 20, 1000))
		background := 0
		if f.name == "background" {
			genes, background = min(genes, 150), 10+rng.IntN(91)
		}
		if s := f.set(rng, genes, background, samples, true); len(s.Edges) >= fewestEdges {
			return s, nil
		}
	}
}

func drawFamily(rng *rand.Rand) family {
	all := families()
	u := rng.Float64()
	for _, f := range all {
		if u -= f.share; u < 0 {
			return f
		}
	}
	return all[0]
}

// The sets of DrawRegulated.
const (
	regulatedGenes      = 120
	regulatedRegulators = 30
)

// DrawRegulated draws a set to train a ranking with that is told the regulators:
// family syntren, a scale-free acyclic network of 120 genes whose edges start at 30
// listed regulators, some of which have no target, 40 to 500 samples, uniform in
// the logarithm, half of the inputs following others, and both noises from .01 to
// .1.
func DrawRegulated(rng *rand.Rand) (*Set, error) {
	samples := int(logUniform(rng, 40, 500))
	net := renumber(rng, drawHubs(rng, regulatedGenes, regulatedRegulators), regulatedRegulators, false)
	t, laws := drawSyntren(rng, net, samples, kinetics{
		complexes: .3, correlated: .5, biological: uniform(rng, .01, .1), measurement: uniform(rng, .01, .1),
	})
	vary(rng, t)
	return t.set("syntren", net, signsOf(laws)), nil
}

// logUniform draws from [low, high), uniformly in the logarithm.
func logUniform(rng *rand.Rand, low, high float64) float64 {
	return low * math.Exp(rng.Float64()*math.Log(high/low))
}
