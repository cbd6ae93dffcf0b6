package selection

import (
	"context"
	"math"
	"sync/atomic"

	"github.com/gladflow/gladflow/solver/covariance"
	"github.com/gladflow/gladflow/solver/dense"
)

// Rotation chooses by the rotation information criterion (Lysen, "Permuted Inclusion Criterion:
// A Variable Selection Technique", 2009; Zhao et al., JMLR 13 (2012), Section 3): the values of
// every variable are put into an order of their own, which leaves relations by chance only, and
// the penalty is the smallest that leaves no edge then. Of several such permutations it is
// the least. Nothing is solved: without an edge |Sij| ≤ ρ says all. block are the variables
// that matter; nil for all.
//
// When ctx ends first, the least of what is finished is returned together with ctx's error, or
// an *ErrNothing.
func Rotation(ctx context.Context, from *covariance.Resampler, block []int, s Settings) (*Choice, error) {
	if err := checkSamples(from); err != nil {
		return nil, err
	}
	n, err := number("permutations", s.Permutations, DefaultPermutations, 1)
	if err != nil {
		return nil, err
	}
	largest := make([]float64, n)
	for k := range largest {
		largest[k] = math.NaN()
	}
	var done atomic.Int64
	err = s.each(ctx, n, func(k int, engine dense.Engine) error {
		of, err := from.Permuted(ctx, s.random("permutations", k), engine)
		if err != nil {
			return err
		}
		largest[k] = newLadder(inBlock(of, block)).largest
		i := done.Add(1)
		s.report(float64(i)/float64(n), "%d of %d permutations", i, n)
		return nil
	})
	c := &Choice{Chosen: -1, Best: -1, Rho: math.Inf(1), Size: from.Samples()}
	for _, v := range largest {
		if v == v {
			c.Permuted = append(c.Permuted, v)
			c.Rho = math.Min(c.Rho, v)
		}
	}
	c.Resamples = len(c.Permuted)
	if err != nil {
		return c.interrupted(ctx, err)
	}
	return c, nil
}
