// Package oracle computes what no method can beat on simulated networks: it is
// told the distribution that they were drawn from.
//
// PosteriorMean is the Bayes estimate of the precision matrix of an Erdős-Rényi
// family with uniform weights, given the true diagonal: the least mean squared
// error that there is, but for the little that the diagonal of
// simulate.Precision tells of the weights.
//
//	mean, inclusion, err := oracle.PosteriorMean(ctx, rng, s, m, diagonal, 0.1, oracle.Options{})
//
// Ceiling scores every pair by its odds of being an edge given all other true
// entries, which bounds how well edges can be ranked.
//
// An estimate that is better than either, on more than a few networks, has seen
// the truth. The package is for tests and for lines in figures; it recovers
// nothing from data whose family is unknown.
package oracle

import (
	"fmt"
	"math"

	"github.com/gladflow/gladflow/solver/dense"
)

// Options of PosteriorMean. The zero value is the default.
type Options struct {
	// Sweeps is the number of times that every entry is drawn (default 500), of
	// which the first BurnIn (default a fifth of them) do not count.
	Sweeps, BurnIn int
	// Points is the number of Gauss-Legendre nodes at which the density of an
	// entry is computed, over where it is not negligible (default 24).
	Points int
	// Low and High are the range of the weights; both zero are [-1, 1).
	Low, High float64
}

func (o Options) resolved() (Options, error) {
	if o.Sweeps == 0 {
		o.Sweeps = 500
	}
	if o.BurnIn == 0 {
		o.BurnIn = o.Sweeps / 5
	}
	if o.Points == 0 {
		o.Points = defaultPoints
	}
	if o.Low == 0 && o.High == 0 {
		o.Low, o.High = -1, 1
	}
	switch {
	case o.BurnIn < 0 || o.Sweeps <= o.BurnIn:
		return o, fmt.Errorf("%d sweeps of which %d do not count; leave at least one that does", o.Sweeps, o.BurnIn)
	case o.Points < 16:
		return o, fmt.Errorf("%d points are too few; give at least 16", o.Points)
	case !(o.Low < o.High) || math.IsInf(o.High-o.Low, 0):
		return o, fmt.Errorf("weights from %v to %v have no density; give a finite range, the lower end first", o.Low, o.High)
	}
	return o, nil
}

const defaultPoints = 24

func check(s *dense.Sym, m int, p float64) error {
	switch {
	case !s.Finite():
		return fmt.Errorf("the covariance holds a value that is not finite")
	case m < 1:
		return fmt.Errorf("the covariance is of %d samples; it takes at least 1", m)
	case !(p > 0 && p < 1):
		return fmt.Errorf("the density is %v; give a number between 0 and 1", p)
	}
	return nil
}
