package simulate

import (
	"context"
	"math"
	"math/rand/v2"

	"github.com/gladflow/gladflow/solver"
)

// The ranges that Pairs draws from, on a logarithmic scale.
const (
	pairsLeastDimension = 5
	pairsMostDimension  = 300
	pairsLeastSamples   = 5
	pairsMostSamples    = 2000
	pairsMostRatio      = 12 // of d to M
	pairsLeastDegree    = 0.7
	pairsMostDegree     = 10
	pairsMostDensity    = 0.15 // or a mean degree of as much of d
	pairsLeastEigen     = 0.1
	pairsEmpty          = 0.13 // share of empty graphs
)

// PairsDimension and PairsSamples are the ranges of d and of M that Pairs draws from.
func PairsDimension() (least, most int) { return pairsLeastDimension, pairsMostDimension }
func PairsSamples() (least, most int)   { return pairsLeastSamples, pairsMostSamples }

// PairsGraphs are the kinds of graphs that Pairs draws. Band and small-world are left out, so
// that they can tell how a model does on graphs of a kind that it has not seen.
func PairsGraphs() []string {
	return []string{GraphErdosRenyi, GraphScaleFree, GraphHub, GraphGrid, GraphBlock, GraphEmpty}
}

// Pairs draws an example from a mixture for models of how likely an edge is, and says of which
// of PairsGraphs its graph is: one in eight is empty. S is the correlation matrix of M samples,
// centred as those of a table, so that variables have no scales; the truth is in the units of
// S before. d is drawn from 5 to 300, large ones more often, M from d/12 (and 5) to 2000, mean degrees
// of er from .7 to 10 (and .15d); weights are uniform from −1 to 1 three times in four, else
// bounded away from zero, or mostly of one sign; the smallest eigenvalue is 1 three times in
// five, else from .1 to 1. When ctx ends first its error is returned.
func Pairs(ctx context.Context, rng *rand.Rand) (e solver.Example, graph string, err error) {
	// More large ones than on a logarithmic scale: most pairs are theirs.
	const skew = 0.6
	d := int(math.Round(pairsLeastDimension * math.Pow(float64(pairsMostDimension)/pairsLeastDimension, math.Pow(rng.Float64(), skew))))
	m := int(math.Round(logUniform(rng, max(pairsLeastSamples, float64(d)/pairsMostRatio), pairsMostSamples)))
	f := pairsFamily(rng, d)
	g, err := f.Draw(rng)
	if err != nil {
		return e, "", err
	}
	weight := Uniform(-1, 1)
	switch rng.IntN(8) {
	case 0:
		weight = SignedUniform(Uniform(0.1, 0.6)(rng), 1)
	case 1:
		weight = Uniform(Uniform(-1, 0)(rng), 1)
	}
	eigen := 1.0
	if rng.IntN(5) < 2 {
		eigen = logUniform(rng, pairsLeastEigen, 1)
	}
	if e.Truth, err = Precision(g.Weights(rng, weight), eigen); err != nil {
		return e, "", err
	}
	e.Samples = m
	e.S, err = Correlation(ctx, rng, e.Truth, m)
	return e, f.Graph, err
}

func pairsFamily(rng *rand.Rand, d int) Family {
	f := Family{Dimension: d, Graph: GraphEmpty}
	if rng.Float64() < pairsEmpty {
		return f
	}
	switch u := rng.IntN(20); {
	case u < 6:
		degree := logUniform(rng, pairsLeastDegree, max(pairsMostDegree, pairsMostDensity*float64(d)))
		f.Graph, f.Density = GraphErdosRenyi, min(degree/float64(d-1), 0.5)
	case u < 10:
		f.Graph, f.Links = GraphScaleFree, 1+rng.IntN(3)
	case u < 14:
		f.Graph, f.Groups = GraphHub, 1+rng.IntN(max(1, d/8))
	case u < 17:
		f.Graph = GraphGrid
	default:
		f.Graph, f.Groups, f.Density = GraphBlock, 1+rng.IntN(max(1, d/10)), Uniform(0.1, 0.8)(rng)
	}
	return f
}
