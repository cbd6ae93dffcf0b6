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
// from the other folds and T the second moments of the fold in their units, and the penalty is
// the largest whose criterion is within one standard error of the best (Hastie, Tibshirani,
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
	scores, err := from.Scores(ctx)
	if err != nil {
		return c.interrupted(ctx, err)
	}
	train, out := s.folds(m, folds)
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
	for rho := l.largest; ; rho = l.next(rho) {
		started := time.Now()
		err := s.each(ctx, folds, func(k int, engine dense.Engine) error {
			lanes[k].set.Engine = engine
			return lanes[k].solve(ctx, rho)
		})
		if err != nil {
			return c.interrupted(ctx, err)
		}
		point := newPoint(rho)
		likelihoods := make([]float64, folds)
		for k, on := range lanes {
			point.note(on.last)
			point.Edges += float64(on.last.Edges()) / float64(folds)
			likelihoods[k] = on.logLikelihood(held[k], rho) / 2
		}
		point.Criterion, point.Error = meanAndError(likelihoods)
		point.Elapsed = time.Since(started)
		c.Path = append(c.Path, point)
		c.oneStandardError()
		s.report(math.NaN(), "penalty %.3g, %.0f edges, log-likelihood %.4g ± %.2g", rho, point.Edges, point.Criterion, point.Error)
		if stop.enough(-point.Criterion, point.Edges, len(c.Path) == 1) || l.over(rho, point.Edges) {
			return c, nil
		}
	}
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

func meanAndError(values []float64) (mean, se float64) {
	n := float64(len(values))
	for _, v := range values {
		mean += v / n
	}
	for _, v := range values {
		se += (v - mean) * (v - mean)
	}
	return mean, math.Sqrt(se / (n - 1) / n)
}

// inBlock are the rows and columns of s that belong to the variables of a block.
func inBlock(s *dense.Sym, block []int) *dense.Sym {
	if block == nil {
		return s
	}
	return s.Submatrix(block)
}
