package selection

import (
	"context"
	"math"
	"time"

	"github.com/gladflow/gladflow/solver"
	"github.com/gladflow/gladflow/solver/covariance"
	"github.com/gladflow/gladflow/solver/dense"
)

// HeldOut chooses by K-fold cross-validation: the criterion of a penalty is the mean over
// folds of the log-likelihood ½(log det Θ − tr(TΘ)) of a held-out sample, Θ being estimated
// from the other folds and T the second moments of the fold in their units. A fold counts by the
// weights of its samples, and without any as every other. The penalty is the largest whose criterion is within one standard error of the best (Hastie, Tibshirani,
// Friedman, "The Elements of Statistical Learning", Section 7.10). Samples are divided into
// folds by Seed. block are the variables that matter; nil for all.
//
// When ctx ends first, the choice among what is finished is returned together with ctx's
// error, or an *ErrNothing.
func HeldOut(ctx context.Context, from *covariance.Resampler, block []int, s Settings) (*Choice, error) {
	if err := checkSamples(from); err != nil {
		return nil, err
	}
	folds, err := number("folds", s.Folds, DefaultFolds, 2)
	if err != nil {
		return nil, err
	}
	m := from.Samples()
	folds = min(folds, m)
	c := &Choice{Resamples: folds, Size: m - (m+folds-1)/folds}
	train, out := s.folds(m, folds)
	shares := make([]float64, folds)
	for k, rows := range out {
		if shares[k] = 1 / float64(folds); from.Weights != nil {
			shares[k] = from.Share(rows)
		}
	}
	scores, err := from.Scores(ctx)
	if err != nil {
		return c.interrupted(ctx, err)
	}
	lanes, held := make([]*lane, folds), make([]*dense.Sym, folds)
	s.report(0, "%d folds", folds)
	err = s.each(ctx, folds, func(k int, engine dense.Engine) error {
		trained, err := from.Estimate(ctx, train[k], engine)
		if err != nil {
			return err
		}
		if held[k], err = from.HeldOut(ctx, scores, train[k], out[k], trained, engine); err != nil {
			return err
		}
		if block != nil {
			trained, held[k] = trained.Submatrix(block), held[k].Submatrix(block)
		}
		lanes[k] = newLane(solver.Problem{S: trained, Samples: len(train[k])}, s, s.gap(LooseGap), engine)
		return nil
	})
	if err != nil {
		return c.interrupted(ctx, err)
	}
	l := newLadder(inBlock(from.Whole.S, block))
	stop := patience{d: l.d}
	started := time.Now()
	err = s.abreast(ctx, l.rungs(), lanes, func(k int, rho float64) laneValue {
		v := laneValue{newPoint(rho), lanes[k].logLikelihood(held[k], rho) / 2}
		v.point.note(lanes[k].last)
		v.point.Edges = float64(lanes[k].last.Edges())
		return v
	}, func(rho float64, values []laneValue) bool {
		point := newPoint(rho)
		likelihoods := make([]float64, folds)
		for k, v := range values {
			point.join(v.point)
			point.Edges += v.point.Edges / float64(folds)
			likelihoods[k] = v.likelihood
		}
		point.Criterion, point.Error = meanAndError(likelihoods, shares)
		point.Elapsed = time.Since(started)
		started = time.Now()
		c.Path = append(c.Path, point)
		c.oneStandardError()
		s.report(math.NaN(), "penalty %.3g, %.0f edges, log-likelihood %.4g ± %.2g", rho, point.Edges, point.Criterion, point.Error)
		enough := stop.enough(-point.Criterion, point.Edges, len(c.Path) == 1)
		return enough || falling(c, l.d) || l.over(rho, point.Edges)
	})
	if err != nil {
		return c.interrupted(ctx, err)
	}
	return c, nil
}

// falling says that the held-out likelihood of penalties to come is less than at the best. It is
// smooth in the logarithm of the penalty, and rises and falls once: where it has fallen after the
// best, and its slope has become less for the second time in a row, it goes on to fall, and patience
// need not see it. The first edges may be those of chance alone, after which it rises again: there
// have to be half as many as variables.
func falling(c *Choice, d int) bool {
	n := len(c.Path)
	if n < 4 || c.Best == n-1 || c.Path[n-1].Edges < float64(d)/2 {
		return false
	}
	slope := func(k int) float64 { // at the step to point k
		a, b := c.Path[k-1], c.Path[k]
		return (b.Criterion - a.Criterion) / math.Log(a.Penalty/b.Penalty)
	}
	last, before, first := slope(n-1), slope(n-2), slope(n-3)
	return last < 0 && last < before && before < first
}

// folds divides m samples: those that are held out, and the others.
func (s Settings) folds(m, folds int) (train, held [][]int) {
	train, held = make([][]int, folds), make([][]int, folds)
	for i, row := range s.random("folds", 0).Perm(m) {
		for k := range folds {
			if i%folds == k {
				held[k] = append(held[k], row)
			} else {
				train[k] = append(train[k], row)
			}
		}
	}
	return train, held
}

// oneStandardError chooses the largest penalty within one standard error of the best.
func (c *Choice) oneStandardError() {
	for k, p := range c.Path {
		if p.Criterion > c.Path[c.Best].Criterion {
			c.Best = k
		}
	}
	best := c.Path[c.Best]
	for k, p := range c.Path {
		if p.Criterion >= best.Criterion-best.Error {
			c.Chosen, c.Rho = k, p.Penalty
			return
		}
	}
}

// meanAndError are the mean of values that have shares of it, and its standard error as that of
// a ratio of sums (Cochran, "Sampling Techniques", 1977, section 2.11): of equal shares it is that
// of a mean.
func meanAndError(values, shares []float64) (mean, se float64) {
	for k, v := range values {
		mean += shares[k] * v
	}
	for k, v := range values {
		se += shares[k] * shares[k] * (v - mean) * (v - mean)
	}
	n := float64(len(values))
	return mean, math.Sqrt(se * n / (n - 1))
}

// inBlock are the rows and columns of s that belong to the variables of a block.
func inBlock(s *dense.Sym, block []int) *dense.Sym {
	if block == nil {
		return s
	}
	return s.Submatrix(block)
}
