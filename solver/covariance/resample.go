package covariance

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/gladflow/gladflow/solver/dense"
)

// A Resampler estimates again from some of a table's samples, in the way in which all of
// them were estimated from. Its methods may be called at the same time; none changes Rows.
type Resampler struct {
	// Rows are M·D numbers, one sample after the other, NaN for a missing value.
	Rows []float64
	// D is the number of variables.
	D int
	// Settings are those of the estimate from all samples.
	Settings Settings
	// Treatment is what is done about missing values in so many samples, with an engine for
	// its solver; nil where none are missing.
	Treatment func(samples int, engine dense.Engine) Incomplete
	// Weights are those of the samples; nil if they are equal.
	Weights []float64
	// Covariates were regressed out of all samples, columns of M numbers, and are regressed
	// out of some again: see Residuals. Default: none were.
	Covariates [][]float64
	// Whole is the estimate from all samples.
	Whole *Result
}

// Samples is M.
func (t *Resampler) Samples() int { return len(t.Rows) / max(1, t.D) }

// ErrTooFewTogether says of missing values that too few samples are left of two variables,
// or of one.
var ErrTooFewTogether = errors.New("too few values are left")

// Estimate is S, d×d, from the samples at rows only, with engine for the linear algebra. A
// variable that does not vary among them is related to no other: its row is zero, but for
// the diagonal, which is that of all samples. Where Pairwise finds too few samples that two
// variables have in common, the error wraps ErrTooFewTogether.
func (t *Resampler) Estimate(ctx context.Context, rows []int, engine dense.Engine) (*dense.Sym, error) {
	taken := make([]float64, 0, len(rows)*t.D)
	for _, i := range rows {
		taken = append(taken, t.Rows[i*t.D:(i+1)*t.D]...)
	}
	s := t.Settings
	s.Engine = engine
	weights := at(t.Weights, rows)
	if len(t.Covariates) > 0 {
		covariates := make([][]float64, len(t.Covariates))
		for k, c := range t.Covariates {
			covariates[k] = at(c, rows)
		}
		fit, err := Residuals(ctx, taken, t.D, covariates, weights)
		if err != nil {
			return nil, err
		}
		s.Spent = fit.Rank
	}
	return t.estimate(ctx, taken, weights, s)
}

// at are the numbers at rows; nil of none.
func at(numbers []float64, rows []int) []float64 {
	if numbers == nil {
		return nil
	}
	some := make([]float64, len(rows))
	for k, i := range rows {
		some[k] = numbers[i]
	}
	return some
}

// estimate is S from samples with weights, nil for equal ones, which it may overwrite.
func (t *Resampler) estimate(ctx context.Context, taken, weights []float64, s Settings) (*dense.Sym, error) {
	var varying []int
	for j, v := range WeightedVariances(taken, t.D, weights) {
		if v > 0 {
			varying = append(varying, j)
		}
	}
	of := func() (*dense.Sym, error) {
		d := len(varying)
		if d == 0 {
			return dense.NewSym(0, nil), nil
		}
		taken = columnsOf(taken, t.D, varying)
		s.Names = namesOf(s.Names, varying)
		var r *Result
		var err error
		switch {
		case t.Treatment != nil:
			r, err = EstimateIncomplete(ctx, taken, d, s, t.Treatment(len(taken)/d, s.Engine))
		case weights != nil:
			r, err = EstimateWeighted(ctx, taken, d, weights, s)
		default:
			r, err = Estimate(ctx, NewTable(taken, d), d, s)
		}
		if err != nil {
			return nil, err
		}
		return r.S, nil
	}
	found, err := of()
	var column *ColumnError
	switch {
	case errors.As(err, &column) && t.Treatment != nil:
		return nil, fmt.Errorf("%w: %v", ErrTooFewTogether, err)
	case err != nil:
		return nil, err
	case len(varying) == t.D:
		return found, nil
	}
	all := dense.NewSym(t.D, nil)
	for j := range t.D {
		all.Set(j, j, t.Whole.S.At(j, j))
	}
	all.SetSubmatrix(varying, found)
	return all, nil
}

// Permuted is S of a table in which the values of every variable are in an order of their
// own, drawn by rng: variables vary as they do and are related by chance only. The weight of
// shrinkage is that of all samples.
func (t *Resampler) Permuted(ctx context.Context, rng *rand.Rand, engine dense.Engine) (*dense.Sym, error) {
	m := t.Samples()
	taken := slices.Clone(t.Rows)
	for j := range t.D {
		rng.Shuffle(m, func(a, b int) {
			taken[a*t.D+j], taken[b*t.D+j] = taken[b*t.D+j], taken[a*t.D+j]
		})
	}
	s := t.Settings
	s.Engine, s.LedoitWolf, s.Shrinkage = engine, false, t.Whole.Shrinkage
	return t.estimate(ctx, taken, t.Weights, s)
}

// HeldOut is Σ w·z·zᵀ/Σw, d×d, over the samples at held, whose weights w are 1 without Weights,
// where z is a sample less the means of the samples at train, and in the units that S has: for a
// correlation z is divided by the standard deviations of these. Means and deviations are
// weighted too. Of ranked methods the values are the scores of all samples.
// What log det Θ − tr(SΘ) is with this S, for a Θ estimated from the samples at train, is a
// proper score of Θ. Where values are missing every entry is that of the samples that have
// both; without any it is that of train.
func (t *Resampler) HeldOut(ctx context.Context, scores []float64, train, held []int, trained *dense.Sym, engine dense.Engine) (*dense.Sym, error) {
	d := t.D
	z := make([]float64, len(held)*d)
	there := make([]float64, len(held)*d)
	whole := true
	column, roots := make([]float64, 0, len(train)), make([]float64, 0, len(train))
	for j := range d {
		column, roots = column[:0], roots[:0]
		for _, i := range train {
			if v := scores[i*d+j]; v == v {
				column = append(column, v)
				if t.Weights != nil {
					roots = append(roots, math.Sqrt(t.Weights[i]))
				}
			}
		}
		var mean float64
		unit := 1.0
		if len(column) > 0 {
			var sd float64
			if mean, sd = moments1(column); t.Weights != nil {
				mean, sd = weightedMoments(column, roots)
			}
			if t.Settings.Method != Covariance && sd > rounding*math.Abs(mean) {
				unit = sd
			} else if t.Settings.Method != Covariance {
				unit = math.Inf(1) // it does not vary here, and is related to none
			}
		}
		for k, i := range held {
			if v := scores[i*d+j]; v == v {
				z[k*d+j], there[k*d+j] = (v-mean)/unit, 1
			} else {
				whole = false
			}
		}
	}
	s := dense.NewSym(d, nil)
	n, sum := len(held), float64(len(held))
	if t.Weights != nil {
		sum = 0
		for k, i := range held {
			w := t.Weights[i]
			sum += w
			for j := range d {
				z[k*d+j] *= math.Sqrt(w)
				there[k*d+j] *= math.Sqrt(w)
			}
		}
	}
	err := dense.Await(ctx, func() { dense.NewWorkspace(engine, d).Gram(s, 1, z, n, 0) })
	if err != nil || whole {
		s.Scale(1 / sum)
		return s, err
	}
	together := dense.NewSym(d, nil)
	if err := dense.Await(ctx, func() { dense.NewWorkspace(engine, d).Gram(together, 1, there, n, 0) }); err != nil {
		return nil, err
	}
	for i := range d {
		for j := i; j < d; j++ {
			v := trained.At(i, j)
			if c := together.At(i, j); c > 0 {
				v = s.At(i, j) / c
			}
			s.Set(i, j, v)
		}
	}
	return s, nil
}

// Share is the share of the weight of all samples that those at rows have.
func (t *Resampler) Share(rows []int) float64 {
	if t.Weights == nil {
		return float64(len(rows)) / float64(t.Samples())
	}
	var some, all float64
	for _, i := range rows {
		some += t.Weights[i]
	}
	for _, w := range t.Weights {
		all += w
	}
	return some / all
}

// Scores are Rows, or for ranked methods the scores of their ranks.
func (t *Resampler) Scores(ctx context.Context) ([]float64, error) {
	if !t.Settings.ranked() {
		return t.Rows, nil
	}
	i := incomplete{rows: slices.Clone(t.Rows), d: t.D, m: t.Samples(), settings: t.Settings, of: spread{means: make([]float64, t.D), sds: make([]float64, t.D)}}
	for j := range i.of.sds {
		i.of.sds[j] = 1
	}
	return i.rows, i.standardise(ctx)
}

// columnsOf are the columns idx of rows of d numbers, in place.
func columnsOf(rows []float64, d int, idx []int) []float64 {
	if len(idx) == d {
		return rows
	}
	to := 0
	for i := range len(rows) / d {
		row := rows[i*d : (i+1)*d]
		for _, j := range idx {
			rows[to] = row[j]
			to++
		}
	}
	return rows[:to]
}

func namesOf(names []string, idx []int) []string {
	if names == nil {
		return nil
	}
	some := make([]string, len(idx))
	for k, j := range idx {
		some[k] = names[j]
	}
	return some
}
