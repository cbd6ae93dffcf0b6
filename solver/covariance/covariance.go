// Package covariance estimates S, the matrix that every solver starts from,
// from a stream of samples: the covariance, or the correlation of Pearson, of
// Spearman, of normal scores or of the nonparanormal model, with or without
// shrinkage.
//
// It knows no files. Every entry of a sample is a finite number, but for
// EstimateIncomplete, which takes NaN for a missing value. It estimates no network:
// solvers do.
//
//	r, err := covariance.Estimate(ctx, source, d, covariance.Settings{})
//	if err != nil {
//		return err
//	}
//	est, err := s.Solve(ctx, solver.Problem{S: r.S, Samples: r.Samples})
//
// Variables are always centred. Samples are read once. Pearson and Covariance
// keep d² numbers, which become S, and a block of at most 256 samples, however
// many samples there are; ranks, scores of them and Ledoit-Wolf keep the whole
// table, M·d numbers, besides: see Memory.
//
// The result does not depend on how the source cuts its batches, not even in
// the last bit: samples are gathered into blocks of one size first.
package covariance

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/gladflow/gladflow/solver/dense"
)

// Method is what S holds.
type Method int

const (
	// Pearson is the correlation Cov(i,j)/√(Cov(i,i)·Cov(j,j)), the default.
	Pearson Method = iota
	// Spearman is Pearson's correlation of the ranks; ties share the average
	// of their ranks.
	Spearman
	// Nonparanormal is Pearson's correlation of the truncated normal scores
	// of Liu, Lafferty and Wasserman, "The Nonparanormal", JMLR 10 (2009),
	// Eq. 7 and Section 4: the score of a value is Φ⁻¹ of its empirical
	// distribution F = rank/M, F being held within δ and 1−δ with
	// δ = 1/(4·M^¼·√(π·log M)). Ties share the average of their ranks. (The
	// other form in use, rank/(M+1) without truncation, is not offered.)
	Nonparanormal
	// Covariance is the covariance in the units of the variables.
	Covariance
	// NormalScores is Pearson's correlation of the normal scores of Blom,
	// "Statistical Estimates and Transformed Beta-Variables" (1958): the score of a
	// value is Φ⁻¹((rank − 3/8)/(M + 1/4)). Ties share the average of their ranks.
	NormalScores
)

var methodNames = [...]string{
	Pearson:       "pearson",
	Spearman:      "spearman",
	Nonparanormal: "nonparanormal",
	Covariance:    "none",
	NormalScores:  "normal-scores",
}

// String is the name that ParseMethod reads.
func (m Method) String() string {
	if m < 0 || int(m) >= len(methodNames) {
		return fmt.Sprintf("Method(%d)", int(m))
	}
	return methodNames[m]
}

// ParseMethod reads "pearson", "spearman", "nonparanormal", "normal-scores", or
// "none" for the plain covariance. The empty string is Pearson.
func ParseMethod(name string) (Method, error) {
	if name == "" {
		return Pearson, nil
	}
	for m, s := range methodNames {
		if s == name {
			return Method(m), nil
		}
	}
	return 0, fmt.Errorf("unknown correlation %q; choose pearson, spearman, nonparanormal, normal-scores or none", name)
}

// Divisor is what sums of squares are divided by. Correlations do not depend
// on it; covariances and standard deviations do.
type Divisor int

const (
	// BySamples divides by M: the maximum-likelihood estimate, the default.
	BySamples Divisor = iota
	// BySamplesLess1 divides by M−1: the unbiased estimate.
	BySamplesLess1
)

// Of is the divisor for m samples.
func (d Divisor) Of(m int) float64 {
	if d == BySamplesLess1 {
		return float64(m) - 1
	}
	return float64(m)
}

// Settings say what to estimate. The zero value is Pearson's correlation
// without shrinkage.
type Settings struct {
	// Method is what S holds. Default: Pearson.
	Method Method
	// Divisor is M or M−1. Default: M.
	Divisor Divisor
	// Shrinkage is the weight a in [0, 1] of (1−a)·S + a·T. The target T is
	// the identity for correlations and μ·I for Covariance, μ being the mean
	// of the variances. Default: 0, no shrinkage.
	Shrinkage float64
	// LedoitWolf sets the weight a by the formula of Ledoit and Wolf, "A
	// well-conditioned estimator for large-dimensional covariance matrices",
	// J. Multivariate Analysis 88 (2004), Section 3.2, for the variables as
	// Method transforms them, that is standardised for correlations. The
	// formula has the divisor M whatever Divisor says. It excludes Shrinkage.
	LedoitWolf bool
	// Spent is the number of degrees of freedom that were taken from the samples before,
	// such as by Residuals: M, in Result.Samples and in divisors, is less by as many.
	Spent int
	// Names are the d variables' names, for error messages only. Default:
	// variables are named by their number.
	Names []string
	// Engine does the linear algebra. A dense.AccumulatingEngine keeps the sums of
	// many samples of many variables. Default (nil): dense.Default().
	Engine dense.Engine
}

// Validate reports settings that contradict themselves or each other.
func (s Settings) Validate() error {
	switch {
	case s.Method < 0 || int(s.Method) >= len(methodNames):
		return fmt.Errorf("unknown %v; choose pearson, spearman, nonparanormal, normal-scores or none", s.Method)
	case s.Divisor != BySamples && s.Divisor != BySamplesLess1:
		return fmt.Errorf("unknown divisor %d; choose BySamples or BySamplesLess1", int(s.Divisor))
	case !(s.Shrinkage >= 0 && s.Shrinkage <= 1):
		return fmt.Errorf("the shrinkage weight is %v; give one from 0 to 1", s.Shrinkage)
	case s.Spent < 0:
		return fmt.Errorf("%d degrees of freedom are spent; give none or more", s.Spent)
	case s.LedoitWolf && s.Shrinkage != 0:
		return fmt.Errorf("both a shrinkage weight (%v) and Ledoit-Wolf are asked for; choose one", s.Shrinkage)
	}
	return nil
}

func (s Settings) engine() dense.Engine {
	if s.Engine == nil {
		return dense.Default()
	}
	return s.Engine
}

// A Result is an estimate and what it was made from.
type Result struct {
	// S is the d×d covariance or correlation, shrunk where that was asked
	// for. It is symmetric to the last bit, and positive semidefinite up to
	// rounding. A correlation has entries in [−1, 1] and a diagonal of 1.
	S *dense.Sym
	// Means and StdDevs are those of the original variables, whatever Method
	// says, in their units, with the Divisor of the settings and without
	// shrinkage. For Pearson, Θ in original units is Θij/(StdDevs[i]·
	// StdDevs[j]). FromMatrix leaves Means nil.
	Means, StdDevs []float64
	// Samples is M, less Settings.Spent.
	Samples int
	// Shrinkage is the weight that was applied, given or found.
	Shrinkage float64
	// Method and Divisor are those of the settings.
	Method  Method
	Divisor Divisor
	// Incomplete says what EstimateIncomplete did; nil for complete samples.
	Incomplete *Completion
}

// Estimate reads all samples of src, each of d variables, and returns their
// covariance or correlation.
//
// Errors: *ColumnError for a variable that is constant, constant up to
// rounding, not finite, or too large or small to be squared; ErrTooFewSamples
// for fewer than two samples; the settings' own (Settings.Validate); those of
// src, ctx and an engine that keeps the sums.
func Estimate(ctx context.Context, src Source, d int, s Settings) (r *Result, err error) {
	if err := s.Validate(); err != nil {
		return nil, err
	}
	if d < 1 {
		return nil, fmt.Errorf("%d variables; a table needs at least one column of numbers", d)
	}
	e := &estimation{
		settings: s,
		d:        d,
		ranked:   s.ranked(),
		sums:     newMoments(d, s.engine()),
	}
	defer func() {
		if failed := e.sums.close(); failed != nil {
			r, err = nil, errors.Join(err, failed)
		}
	}()
	if err := e.read(ctx, src); err != nil {
		return nil, err
	}
	return e.finish(ctx)
}

// estimation is one call of Estimate.
type estimation struct {
	settings Settings
	d        int
	ranked   bool
	sums     *moments
	kept     []block // what ranks, scores of them and Ledoit-Wolf need again
	samples  int
}

func (e *estimation) read(ctx context.Context, src Source) error {
	keep := e.ranked || e.settings.LedoitWolf
	blocks := newGatherer(src, e.d, e.settings.Names)
	for {
		b, err := blocks.next(ctx)
		if err != nil {
			return err
		}
		if b.rows == 0 {
			return e.sums.collect(ctx)
		}
		e.samples += b.rows
		if !e.ranked {
			if err := e.sums.add(ctx, b); err != nil {
				return err
			}
		}
		if keep {
			e.kept = append(e.kept, b)
			blocks.release()
		}
	}
}

func (e *estimation) finish(ctx context.Context) (*Result, error) {
	s := e.settings
	samples, err := e.counted()
	if err != nil {
		return nil, err
	}
	of, err := e.spread(ctx)
	if err != nil {
		return nil, err
	}
	divisor := s.Divisor.Of(samples)
	r := &Result{
		Means:     of.means,
		StdDevs:   of.stdDevs(e.samples, divisor),
		Samples:   samples,
		Shrinkage: s.Shrinkage,
		Method:    s.Method,
		Divisor:   s.Divisor,
	}
	if s.LedoitWolf {
		r.Shrinkage = e.sums.ledoitWolf(e.kept, s.Method != Covariance, s.Spent)
	}
	if s.Method == Covariance {
		r.S = e.sums.covariance(divisor)
		if err := representable(r.S, s.Names); err != nil {
			return nil, err
		}
	} else {
		r.S = e.sums.correlation()
	}
	shrink(r.S, r.Shrinkage)
	return r, nil
}

// counted is the number as which the samples count.
func (e *estimation) counted() (int, error) {
	s := e.settings
	if e.samples < 2 {
		return 0, fmt.Errorf("%w, not %d; check that rows are samples and columns variables", ErrTooFewSamples, e.samples)
	}
	samples := e.samples - s.Spent
	if samples < 2 {
		return 0, fmt.Errorf("%w, not %d, as which %d samples count after %d degrees of freedom were spent", ErrTooFewSamples, max(0, samples), e.samples, s.Spent)
	}
	return samples, nil
}

// spread is that of the original variables, all of which vary. It replaces them
// by ranks or scores and accumulates those.
func (e *estimation) spread(ctx context.Context) (spread, error) {
	if !e.ranked {
		of := e.sums.spread()
		return of, of.check(e.samples, e.settings.Names)
	}
	of, err := transform(ctx, e.kept, e.d, e.samples, e.settings.Method, dense.Threads(e.settings.engine()))
	if err == nil {
		err = of.check(e.samples, e.settings.Names)
	}
	for _, b := range e.kept {
		if err == nil {
			err = e.sums.add(ctx, b)
		}
	}
	if err == nil {
		err = e.sums.collect(ctx)
	}
	return of, err
}

// shrink sets s = (1−a)·s + a·μ·I, μ being the mean of its diagonal, 1 for a
// correlation. The weight a lies in [0, 1]; 0 leaves s as it is.
func shrink(s *dense.Sym, a float64) {
	if a == 0 || s.Len() == 0 {
		return
	}
	// Divided first: the sum of the diagonal may overflow.
	var mu float64
	for i := range s.Len() {
		mu += s.At(i, i) / float64(s.Len())
	}
	unit := true
	for i := range s.Len() {
		unit = unit && s.At(i, i) == 1
	}
	s.Scale(1 - a)
	if unit {
		for i := range s.Len() {
			s.Set(i, i, 1) // (1−a)+a may round
		}
		return
	}
	s.AddDiagonal(a * mu)
}

// clamp holds a correlation that rounding has carried past ±1.
func clamp(r float64) float64 { return math.Max(-1, math.Min(1, r)) }
