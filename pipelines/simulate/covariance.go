package simulate

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/gladflow/gladflow/solver/dense"
)

// Covariance draws m samples of N(0, Θ⁻¹), m ≥ 1, and returns S = XᵀX/m, d×d: not
// centred, for the mean is known to be zero. It uses as many draws of rng as
// Samples. When ctx ends first its error is returned.
func Covariance(ctx context.Context, rng *rand.Rand, theta *dense.Sym, m int) (*dense.Sym, error) {
	if m < 1 {
		return nil, fmt.Errorf("a covariance of %d samples asked for; it takes at least 1", m)
	}
	rows, err := Samples(ctx, rng, theta, m)
	if err != nil {
		return nil, err
	}
	s := dense.NewSym(theta.Len(), nil)
	// Always gonum, as in Precision: the same seed gives the same bits.
	dense.NewWorkspace(dense.Gonum{}, theta.Len()).Gram(s, 1/float64(m), rows, m, 0)
	return s, nil
}

// Correlate makes a covariance the correlation matrix that belongs to it, in place, and
// returns the standard deviations. Variances must be positive.
func Correlate(s *dense.Sym) []float64 {
	deviation := make([]float64, s.Len())
	for i := range deviation {
		deviation[i] = math.Sqrt(s.At(i, i))
	}
	rescale(s, func(i int) float64 { return 1 / deviation[i] })
	for i := range deviation {
		s.Set(i, i, 1)
	}
	return deviation
}

// Correlation draws the correlation matrix of m samples of N(0, Θ⁻¹) about their mean, m ≥ 2:
// what is known of a table whose means and scales are not. It takes as many draws as
// Covariance of m − 1 samples.
func Correlation(ctx context.Context, rng *rand.Rand, theta *dense.Sym, m int) (*dense.Sym, error) {
	s, err := Covariance(ctx, rng, theta, m-1) // what m samples are about their mean
	if err == nil {
		Correlate(s)
	}
	return s, err
}
