package solver

import (
	"math"
	"slices"

	"github.com/gladflow/gladflow/solver/dense"
)

// DefaultFDR is the expected share of false edges in a support where nobody says another.
const DefaultFDR = 0.2

// LikelyThreshold is the least probability at which pairs are kept so that the expected share
// of false edges among them is at most fdr, in (0, 1]: the mean of 1 − p over all pairs with
// p at or above it. Pairs of equal probability stay together. It is above 1 where no pair can
// be kept. probability is symmetric; its diagonal does not count.
//
// With probabilities that hold, it is the Bayesian false discovery rate of Newton, Noueiry,
// Sarkar and Ahlquist, "Detecting differential gene expression with a semiparametric
// hierarchical mixture method", Biostatistics 5 (2004), section 4.1.
func LikelyThreshold(probability *dense.Sym, fdr float64) float64 {
	d := probability.Len()
	p := make([]float64, 0, d*(d-1)/2)
	for i := range d {
		p = append(p, probability.Row(i)[i+1:]...)
	}
	slices.Sort(p)
	slices.Reverse(p)
	threshold, wrong := math.Nextafter(1, 2), 0.0
	for k, v := range p {
		wrong += 1 - v
		if wrong > fdr*float64(k+1) {
			break
		}
		if k+1 == len(p) || p[k+1] < v {
			threshold = v
		}
	}
	return threshold
}

// KeepLikely sets EdgeThreshold by LikelyThreshold, so that edges are the pairs whose
// Probability, which must be there, says so. Support stays what the solver estimates: the
// posterior mean of an uncertain entry is small and not zero, and zeros in its place would
// cost accuracy. It returns the number of edges and the share of them that is expected to be
// false, 0 of none.
func (e *Estimate) KeepLikely(fdr float64) (kept int, expected float64) {
	e.EdgeThreshold = LikelyThreshold(e.Probability, fdr)
	for i := range e.Probability.Len() {
		for _, p := range e.Probability.Row(i)[i+1:] {
			if p >= e.EdgeThreshold {
				kept++
				expected += 1 - p
			}
		}
	}
	return kept, expected / math.Max(1, float64(kept))
}
