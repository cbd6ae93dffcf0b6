package adaptation

import (
	"context"
	"math"
	"math/rand/v2"

	"github.com/gladflow/gladflow/pipelines/simulate"
	"github.com/gladflow/gladflow/solver"
	"github.com/gladflow/gladflow/solver/glad/adapt"
)

// The ranges that Draw draws from, on a logarithmic scale.
const (
	leastDimension, mostDimension = 15, 160
	leastRatio, mostRatio         = 0.25, 10 // of d to M
	leastSamples                  = 8
	leastEigen, mostEigen         = 0.2, 2
)

// Draw draws a simulated table for a gate: er with mean degrees from .5 to 12, scale-free
// with one to three links, hub with stars of 5 to 40 variables, grid, block, and one in
// twelve without an edge; d from 15 to 160 and d/M from .25 to 10; the smallest eigenvalue
// is 1 or drawn. For the standardised set S is a correlation and the truth that of
// the standardised variables. family is the graph.
func Draw(ctx context.Context, rng *rand.Rand, set string) (e solver.Example, family string, err error) {
	d := int(logUniform(rng, leastDimension, mostDimension))
	m := max(leastSamples, int(float64(d)/logUniform(rng, leastRatio, mostRatio)))
	return DrawOf(ctx, rng, set, d, m)
}

// DrawOf is Draw of d variables and m samples.
func DrawOf(ctx context.Context, rng *rand.Rand, set string, d, m int) (e solver.Example, family string, err error) {
	f := simulate.Family{Dimension: d, SmallestEigenvalue: 1}
	if rng.IntN(3) == 0 {
		f.SmallestEigenvalue = logUniform(rng, leastEigen, mostEigen)
	}
	switch u := rng.IntN(12); {
	case u < 4:
		f.Graph, f.Density = simulate.GraphErdosRenyi, math.Min(0.5, logUniform(rng, 0.5, 12)/float64(d-1))
	case u < 6:
		f.Graph, f.Links = simulate.GraphScaleFree, 1+max(0, rng.IntN(4)-1)
	case u < 8:
		f.Graph, f.Groups = simulate.GraphHub, max(1, int(float64(d)/logUniform(rng, 5, 40)))
	case u < 9:
		f.Graph = simulate.GraphGrid
	case u < 11:
		f.Graph, f.Groups, f.Density = simulate.GraphBlock, 1+rng.IntN(max(1, d/12)), simulate.Uniform(0.1, 0.6)(rng)
	default:
		f.Graph = simulate.GraphEmpty
	}
	theta, err := f.Precision(rng)
	if err != nil {
		return e, f.Graph, err
	}
	if set == adapt.Standardised {
		if theta, err = simulate.Standardize(theta); err != nil {
			return e, f.Graph, err
		}
	}
	// What m samples are about their mean, m − 1 are about zero.
	s, err := simulate.Covariance(ctx, rng, theta, m-1)
	if err != nil {
		return e, f.Graph, err
	}
	if set == adapt.Standardised {
		simulate.Correlate(s)
	} else {
		s.Scale(float64(m-1) / float64(m))
	}
	return solver.Example{Truth: theta, S: s, Samples: m}, f.Graph, nil
}

// logUniform draws from [low, high), uniformly in the logarithm.
func logUniform(rng *rand.Rand, low, high float64) float64 {
	return low * math.Exp(rng.Float64()*math.Log(high/low))
}
