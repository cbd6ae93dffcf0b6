package genes

import (
	"math"
	"math/rand/v2"
	"slices"
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

// DrawListed draws a set to train a ranking with that is told the regulators, whatever the
// table: one of two is drawn by DrawRegulated, the other by DrawMixture and of those the
// ones with at least three regulators that are not more than half of the genes. To these
// regulators up to half as many decoys are added, genes without a target.
func DrawListed(rng *rand.Rand) (*Set, error) {
	if rng.IntN(2) == 0 {
		return DrawRegulated(rng)
	}
	for {
		s, err := DrawMixture(rng)
		if err != nil {
			return nil, err
		}
		genes := len(s.Names) - s.Background
		const fewest = 3
		if p := len(s.Regulators); p >= fewest && p <= genes/2 {
			s.addDecoys(rng, rng.IntN(min(p/2, genes/2-p)+1))
			return s, nil
		}
	}
}

// addDecoys lists n more genes, which are not background.
func (s *Set) addDecoys(rng *rand.Rand, n int) {
	listed := make([]bool, len(s.Names))
	for _, i := range s.Regulators {
		listed[i] = true
	}
	for _, i := range rng.Perm(len(s.Names) - s.Background) {
		if n > 0 && !listed[i] {
			s.Regulators = append(s.Regulators, i)
			n--
		}
	}
	slices.Sort(s.Regulators)
}

// logUniform draws from [low, high), uniformly in the logarithm.
func logUniform(rng *rand.Rand, low, high float64) float64 {
	return low * math.Exp(rng.Float64()*math.Log(high/low))
}
