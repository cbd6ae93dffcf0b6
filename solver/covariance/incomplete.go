package covariance

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/gladflow/gladflow/solver"
	"github.com/gladflow/gladflow/solver/dense"
)

// Treatment is what is done about missing values.
type Treatment int

const (
	// Pairwise estimates every entry from the samples that have both variables, and
	// takes the correlation matrix nearest to that, which may have negative
	// eigenvalues: Higham, "Computing the nearest correlation matrix", IMA J.
	// Numerical Analysis 22 (2002).
	Pairwise Treatment = iota
	// EM maximises the likelihood of what was observed under a Gaussian model whose
	// precision matrix is a graphical lasso: Städler and Bühlmann, "Missing values:
	// sparse inverse covariance estimation and an extension to sparse regression",
	// Statistics and Computing 22 (2012). S is the expected covariance of the last
	// E-step.
	EM
	// Mean puts a variable's mean in place of its missing values, which draws
	// correlations towards zero.
	Mean
)

// Incomplete says how samples with missing values are estimated from.
type Incomplete struct {
	Treatment Treatment
	// Solver solves the graphical lasso of EM, with the penalty √(log d/M) on the
	// scale of correlations that PenaltyOfEM gives. Other treatments have none.
	Solver solver.Solver
	// Progress, if set, is told of every iteration of EM: its number and the largest
	// change of an entry of S, which ends at ChangeOfEM.
	Progress func(iteration int, change float64)
}

// PenaltyOfEM is the penalty of the graphical lasso inside of EM, for d standardised
// variables and m samples.
func PenaltyOfEM(d, m int) float64 { return math.Sqrt(math.Log(math.Max(2, float64(d))) / float64(m)) }

// ChangeOfEM is the largest change of an entry of S, on the scale of correlations, with
// which EM ends: far below the error of any correlation of as many samples as fit in
// memory.
const ChangeOfEM = 1e-5

// LeastTogether is how many samples two variables must have in common for Pairwise.
const LeastTogether = 3

// A Completion describes what was done about missing values.
type Completion struct {
	// Missing is the number of missing values.
	Missing int
	// LeastPair and MedianPair are the smallest and the median number of samples that
	// two variables have in common. Result.Samples is the harmonic mean, by which the
	// variances of correlations average.
	LeastPair, MedianPair int
	// Distance is how far Pairwise had to go to a correlation matrix, ‖S − S₀‖ over
	// ‖S₀‖ in the Frobenius norm.
	Distance float64
	// Iterations and Change are those of EM.
	Iterations int
	Change     float64
}

// EstimateIncomplete is Estimate for m·d numbers in memory, one sample after the other,
// in which NaN is a missing value. It overwrites them. Result.Incomplete says what was
// done.
//
// Ranks and scores of them are those among the values that a variable has. Standard
// deviations are those of the values that are there; with Covariance S is the
// correlation in their units.
//
// Errors, besides those of Estimate: a *ColumnError for a variable with fewer than two
// values, or that has no LeastTogether samples in common with another (Pairwise);
// LedoitWolf, which needs every value; those of the solver of EM.
func EstimateIncomplete(ctx context.Context, rows []float64, d int, s Settings, how Incomplete) (*Result, error) {
	if err := s.Validate(); err != nil {
		return nil, err
	}
	if d < 1 || len(rows)%d != 0 {
		return nil, fmt.Errorf("%d numbers are no samples of %d variables", len(rows), d)
	}
	if how.Treatment != Mean && s.LedoitWolf {
		return nil, errors.New("Ledoit-Wolf shrinkage needs every value; give a weight, or leave out the samples with missing values")
	}
	t := &incomplete{rows: rows, d: d, m: len(rows) / d, settings: s, how: how}
	if t.m < 2 {
		return nil, fmt.Errorf("%w, not %d; check that rows are samples and columns variables", ErrTooFewSamples, t.m)
	}
	if err := t.look(ctx); err != nil {
		return nil, err
	}
	if how.Treatment == Mean {
		return t.byMean(ctx)
	}
	if err := t.standardise(ctx); err != nil {
		return nil, err
	}
	together, err := t.together(ctx)
	if err != nil {
		return nil, err
	}
	r := &Result{
		Means: t.of.means, StdDevs: t.stdDevs(), Samples: t.count(together),
		Shrinkage: s.Shrinkage, Method: s.Method, Divisor: s.Divisor, Incomplete: &t.done,
	}
	if how.Treatment == EM {
		r.S, err = t.em(ctx)
	} else {
		r.S, err = t.pairwise(ctx, together)
	}
	if err != nil {
		return nil, err
	}
	if s.Method == Covariance {
		if err := r.toUnits(s.Names); err != nil {
			return nil, err
		}
	}
	shrink(r.S, s.Shrinkage)
	return r, nil
}

// incomplete is one call of EstimateIncomplete.
type incomplete struct {
	rows     []float64
	d, m     int
	settings Settings
	how      Incomplete

	of     spread // of the values that are there
	counts []int  // of them
	done   Completion
}

// columns calls f with every column, its values that are there, from several
// goroutines; f may change them.
func (t *incomplete) columns(ctx context.Context, f func(j int, present []float64) error) error {
	workers := dense.Threads(t.settings.engine())
	buffers := rows(workers, t.m)
	return dense.Each(ctx, t.d, workers, func(worker, j int) error {
		present := buffers[worker][:0]
		for i := range t.m {
			if v := t.rows[i*t.d+j]; v == v {
				present = append(present, v)
			}
		}
		if err := f(j, present); err != nil {
			return err
		}
		k := 0
		for i := range t.m {
			if v := &t.rows[i*t.d+j]; *v == *v {
				*v = present[k]
				k++
			}
		}
		return nil
	})
}

// rows are n slices of length each.
func rows(n, length int) [][]float64 {
	list := make([][]float64, n)
	for i := range list {
		list[i] = make([]float64, length)
	}
	return list
}

// look counts what is missing and refuses what cannot be used.
func (t *incomplete) look(ctx context.Context) error {
	for i, v := range t.rows {
		switch {
		case math.IsInf(v, 0):
			return notFinite(v, i/t.d, i%t.d, t.settings.Names)
		case v != v:
			t.done.Missing++
		}
	}
	t.of = spread{means: make([]float64, t.d), sds: make([]float64, t.d)}
	t.counts = make([]int, t.d)
	err := t.columns(ctx, func(j int, present []float64) error {
		t.counts[j] = len(present)
		if len(present) > 1 {
			t.of.means[j], t.of.sds[j] = moments1(present)
		}
		return nil
	})
	if err != nil {
		return err
	}
	if j := slices.IndexFunc(t.counts, func(n int) bool { return n < 2 }); j >= 0 {
		return columnError(j, t.settings.Names, fmt.Sprintf("has %d values in %d samples", t.counts[j], t.m), "a variable needs two at least, so remove it")
	}
	return t.of.check(t.m, t.settings.Names)
}

// byMean fills in means.
func (t *incomplete) byMean(ctx context.Context) (*Result, error) {
	for i, v := range t.rows {
		if v != v {
			t.rows[i] = t.of.means[i%t.d]
		}
	}
	r, err := Estimate(ctx, NewTable(t.rows, t.d), t.d, t.settings)
	if err == nil {
		r.Incomplete = &t.done
	}
	return r, err
}

// standardise replaces the values that are there by those, or by their scores, with
// mean 0 and standard deviation 1.
func (t *incomplete) standardise(ctx context.Context) error {
	return t.columns(ctx, func(j int, present []float64) error {
		mean, sd := t.of.means[j], t.of.sds[j]
		if t.settings.ranked() {
			r := newRanker(len(present), scores(len(present), t.settings.Method))
			r.rank(present)
			mean, sd = moments1(present)
		}
		for i, v := range present {
			present[i] = (v - mean) / sd
		}
		return nil
	})
}

func (t *incomplete) stdDevs() []float64 {
	sds := slices.Clone(t.of.sds)
	for j, n := range t.counts {
		sds[j] *= math.Sqrt(float64(n) / t.settings.Divisor.Of(n))
	}
	return sds
}

// together counts the samples that every two variables have in common.
func (t *incomplete) together(ctx context.Context) (*dense.Sym, error) {
	there := make([]float64, len(t.rows))
	for i, v := range t.rows {
		if v == v {
			there[i] = 1
		}
	}
	n := dense.NewSym(t.d, nil)
	err := dense.Await(ctx, func() { dense.NewWorkspace(t.settings.engine(), t.d).Gram(n, 1, there, t.m, 0) })
	return n, err
}

// count notes the smallest and the median number of samples of two variables, and
// returns the harmonic mean, at least 2.
func (t *incomplete) count(together *dense.Sym) int {
	if t.d == 1 {
		t.done.LeastPair, t.done.MedianPair = t.counts[0], t.counts[0]
		return t.counts[0]
	}
	times := make([]int, t.m+1) // how many pairs have so many
	var inverse float64
	pairs := t.d * (t.d - 1) / 2
	for i := range t.d {
		for _, v := range together.Row(i)[i+1:] {
			times[int(v)]++
			inverse += 1 / math.Max(v, 1)
		}
	}
	seen := 0
	t.done.LeastPair, t.done.MedianPair = -1, -1
	for n, k := range times {
		seen += k
		if t.done.LeastPair < 0 && k > 0 {
			t.done.LeastPair = n
		}
		if t.done.MedianPair < 0 && 2*seen > pairs {
			t.done.MedianPair = n
		}
	}
	return max(2, int(float64(pairs)/inverse))
}

// Variances are those of the d columns of rows, one sample after the other, with divisor
// M and without missing values, which are NaN. A column that is constant, or constant up
// to rounding, or has fewer than two values, has the variance 0, and no other.
func Variances(rows []float64, d int) []float64 { return WeightedVariances(rows, d, nil) }

// WeightedVariances is Variances of samples without missing values and with weights, one
// positive number a sample, up to a factor that is the same for all; nil are equal weights.
func WeightedVariances(rows []float64, d int, weights []float64) []float64 {
	variances := make([]float64, d)
	column := make([]float64, 0, len(rows)/max(1, d))
	roots := make([]float64, len(weights))
	for k, w := range weights {
		roots[k] = math.Sqrt(w)
	}
	for j := range d {
		column = column[:0]
		for i := j; i < len(rows); i += d {
			if v := rows[i]; v == v {
				column = append(column, v)
			}
		}
		if len(column) < 2 {
			continue
		}
		mean, sd := moments1(column)
		if sd > rounding*math.Abs(mean) && weights != nil {
			mean, sd = weightedMoments(column, roots)
		}
		if sd > rounding*math.Abs(mean) {
			variances[j] = math.Max(sd*sd, math.SmallestNonzeroFloat64)
		}
	}
	return variances
}
