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

// KeepLikely makes Support the sparse twin of Precision by LikelyThreshold: the pairs kept
// have the entries of Support, or of Precision where Support is zero; all other pairs have
// zeros, and the diagonal stays. The Probability must be there. It returns the number of
// pairs kept and the share of them that is expected to be false, 0 of none.
func (e *Estimate) KeepLikely(fdr float64) (kept int, expected float64) {
	threshold := LikelyThreshold(e.Probability, fdr)
	if e.Support == e.Precision {
		e.Support = e.Precision.Clone()
	}
	for i := range e.Support.Len() {
		row, dense, probability := e.Support.Row(i), e.Precision.Row(i), e.Probability.Row(i)
		for j, p := range probability {
			switch {
			case j == i:
			case p < threshold:
				row[j] = 0
			default:
				if row[j] == 0 {
					row[j] = dense[j]
				}
				if j > i {
					kept++
					expected += 1 - p
				}
			}
		}
	}
	return kept, expected / math.Max(1, float64(kept))
}
