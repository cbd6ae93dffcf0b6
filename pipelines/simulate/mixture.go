package simulate

import (
	"context"
	"math"
	"math/rand/v2"

	"github.com/gladflow/gladflow/solver"
	"github.com/gladflow/gladflow/solver/dense"
)

// GraphMixed is the name of Mixed among those of families; it is no Family.Graph.
const GraphMixed = "mixed"

// The ranges that Mixed draws from, those of sizes on a logarithmic scale.
const (
	mixedLeastDimension = 5
	mixedLeastSamples   = 5
	mixedMostSamples    = 1000
	mixedMostRatio      = 12 // of d to M
	mixedLeastDegree    = 0.7
	mixedMostDegree     = 10
	mixedLeastEigen     = 0.1
)

// Mixed draws an example from a wide mixture, for models that must cope with any
// table: d from 5 to largest, mostly small, M from d/12 (and 5) to 1000, six kinds
// of graphs (er, grid, scale-free, hub, block and band) with mean degrees from 0.7 to about 10, weights of one or of both signs,
// from zero or bounded away from it, a smallest eigenvalue from 0.1 to 1, and
// variables of equal diagonal, of unequal scales, or standardised by their samples
// as correlation matrices are. Sizes and degrees are drawn on a logarithmic scale.
// When ctx ends first its error is returned.
func Mixed(ctx context.Context, rng *rand.Rand, largest int) (solver.Example, error) {
	// Large ones are rarer still: they take most of the time.
	u := rng.Float64()
	d := int(math.Round(mixedLeastDimension * math.Pow(float64(max(largest, mixedLeastDimension))/mixedLeastDimension, u*u)))
	f := Family{Dimension: d, SmallestEigenvalue: 1}
	if rng.IntN(2) == 0 {
		f.SmallestEigenvalue = logUniform(rng, mixedLeastEigen, 1)
	}
	degree := logUniform(rng, mixedLeastDegree, mixedMostDegree)
	switch u := rng.IntN(11); {
	case u < 5:
		f.Graph, f.Density = GraphErdosRenyi, min(degree/float64(d-1), 0.5)
	case u < 7:
		f.Graph, f.Links = GraphScaleFree, 1+rng.IntN(3)
	case u < 8:
		f.Graph, f.Groups = GraphHub, 1+rng.IntN(max(1, d/8))
	case u < 9:
		f.Graph = GraphGrid
	case u < 10:
		f.Graph, f.Groups, f.Density = GraphBlock, 1+rng.IntN(max(1, d/10)), Uniform(0.1, 0.8)(rng)
	default:
		f.Graph, f.Bandwidth = GraphBand, 1+rng.IntN(3)
	}
	graph, err := f.Draw(rng)
	if err != nil {
		return solver.Example{}, err
	}
	weight := Uniform(-1, 1)
	switch rng.IntN(6) {
	case 0:
		weight = SignedUniform(Uniform(0.1, 0.6)(rng), 1)
	case 1:
		weight = Uniform(Uniform(-1, 0)(rng), 1)
	}
	theta, err := Precision(graph.Weights(rng, weight), f.SmallestEigenvalue)
	if err != nil {
		return solver.Example{}, err
	}
	kind := rng.IntN(3)
	if kind == 1 {
		scale := spread(Uniform(0, 0.5)(rng))
		rescale(theta, func(int) float64 { return scale(rng) })
	}
	m := int(math.Round(logUniform(rng, max(mixedLeastSamples, float64(d)/mixedMostRatio), mixedMostSamples)))
	s, err := Covariance(ctx, rng, theta, m)
	if err != nil {
		return solver.Example{}, err
	}
	if kind == 2 {
		deviation := Correlate(s)
		rescale(theta, func(i int) float64 { return deviation[i] })
	}
	return solver.Example{Truth: theta, S: s, Samples: m}, nil
}

// logUniform draws from [low, high), uniformly in the logarithm.
func logUniform(rng *rand.Rand, low, high float64) float64 {
	return low * math.Exp(rng.Float64()*math.Log(high/low))
}

// spread draws factors whose logarithm is uniform on [-s, s).
func spread(s float64) WeightFunc {
	return func(rng *rand.Rand) float64 { return math.Exp(s * (2*rng.Float64() - 1)) }
}

// rescale replaces a by DaD with the diagonal D of scale, which is called once
// for every variable, in order.
func rescale(a *dense.Sym, scale func(i int) float64) {
	d := a.Len()
	f := make([]float64, d)
	for i := range f {
		f[i] = scale(i)
	}
	for i := range d {
		for j := i; j < d; j++ {
			a.Set(i, j, f[i]*a.At(i, j)*f[j])
		}
	}
}
