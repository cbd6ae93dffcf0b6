package simulate

import (
	"context"
	"math"
	"math/rand/v2"

	"github.com/gladflow/gladflow/solver"
)

// GraphStandardised is the name of Standardised among those of families; it is no
// Family.Graph.
const GraphStandardised = "standardised"

// The ranges that Standardised draws from, on a logarithmic scale.
const (
	standardLeastDimension = 5
	standardLeastSamples   = 5
	standardMostRatio      = 12 // of d to M
	standardMostSamples    = 1000
	standardSampleRatio    = 10 // the largest M to d where that is more
	standardLeastDegree    = 0.7
	standardMostDegree     = 20
	standardLeastEigen     = 0.1
	standardMostEigen      = 1.5
	standardLeastStar      = 5
	standardMostStar       = 40
)

// Standardised draws an example from a wide mixture in which all variables are
// standardised: S is the correlation matrix of M samples, centred as those of a table
// whose means are not known, and the truth the inverse of the true correlation matrix
// (see Standardize). Units of variables, which no table tells anything with, are thus no
// part of it.
//
// d is drawn from 5 to largest and M from d/12 (and 5) to 10d (and 1000); graphs are er with
// mean degrees from .7 to 40, hub with stars of 5 to 40 variables, scale-free, block, grid
// and, one in forty, empty. Small-world and band graphs are left out, so that they can tell
// how a model does on graphs of no kind that it knows. Weights have one or both signs, from
// zero or bounded away from it; the smallest eigenvalue before standardisation is 1 or drawn
// from .1 to 1.5. Sizes, degrees and eigenvalues are drawn on a logarithmic scale. When ctx ends
// first its error is returned.
func Standardised(ctx context.Context, rng *rand.Rand, largest int) (solver.Example, error) {
	// Large ones are rarer still: they take most of the time.
	u := rng.Float64()
	span := float64(max(largest, standardLeastDimension)) / standardLeastDimension
	d := int(math.Round(standardLeastDimension * math.Pow(span, u*math.Sqrt(u))))
	graph, err := standardisedGraph(rng, d)
	if err != nil {
		return solver.Example{}, err
	}
	eigen := 1.0
	if rng.IntN(2) == 0 {
		eigen = logUniform(rng, standardLeastEigen, standardMostEigen)
	}
	weight := Uniform(-1, 1)
	switch rng.IntN(6) {
	case 0:
		weight = SignedUniform(Uniform(0.1, 0.6)(rng), 1)
	case 1:
		weight = Uniform(Uniform(-1, 0)(rng), 1)
	}
	theta, err := Precision(graph.Weights(rng, weight), eigen)
	if err != nil {
		return solver.Example{}, err
	}
	if theta, err = Standardize(theta); err != nil {
		return solver.Example{}, err
	}
	least := max(standardLeastSamples, float64(d)/standardMostRatio)
	most := max(standardMostSamples, standardSampleRatio*float64(d))
	m := int(math.Round(logUniform(rng, least, most)))
	// What m samples are about their mean, m − 1 are about zero.
	s, err := Covariance(ctx, rng, theta, m-1)
	if err != nil {
		return solver.Example{}, err
	}
	deviation := make([]float64, d)
	for i := range deviation {
		deviation[i] = math.Sqrt(s.At(i, i))
	}
	rescale(s, func(i int) float64 { return 1 / deviation[i] })
	for i := range d {
		s.Set(i, i, 1)
	}
	return solver.Example{Truth: theta, S: s, Samples: m}, nil
}

// standardisedGraph draws the graph of Standardised.
func standardisedGraph(rng *rand.Rand, d int) (Graph, error) {
	f := Family{Dimension: d}
	switch u := rng.IntN(40); {
	case u < 18:
		degree := logUniform(rng, standardLeastDegree, standardMostDegree)
		f.Graph, f.Density = GraphErdosRenyi, min(degree/float64(d-1), 0.5)
	case u < 24:
		star := logUniform(rng, standardLeastStar, standardMostStar)
		f.Graph, f.Groups = GraphHub, max(1, int(math.Round(float64(d)/star)))
	case u < 30:
		f.Graph, f.Links = GraphScaleFree, max(1, rng.IntN(5)-1)
	case u < 34:
		f.Graph, f.Groups, f.Density = GraphBlock, 1+rng.IntN(max(1, d/10)), Uniform(0.1, 0.8)(rng)
	case u < 39:
		f.Graph = GraphGrid
	default:
		f.Graph = GraphEmpty
	}
	return f.Draw(rng)
}
