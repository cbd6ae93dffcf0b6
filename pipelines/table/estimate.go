package table

import (
	"context"
	"fmt"
	"math"

	"github.com/gladflow/gladflow/pipelines/job"
	"github.com/gladflow/gladflow/pipelines/progress"
	"github.com/gladflow/gladflow/solver"
	"github.com/gladflow/gladflow/solver/covariance"
	"github.com/gladflow/gladflow/solver/dense"
)

// Data is the problem that was made of a table.
type Data struct {
	// Problem is S, d×d, and M. S is nil where there are Columns.
	Problem solver.Problem
	// Columns are what any part of S can be had of, where Table.KeepColumns asks for them and
	// there are no more samples than variables; nil elsewhere.
	Columns *covariance.Columns
	// Names are those of the variables, in the order of S.
	Names []string
	// StandardDeviations are those of the variables: of the samples, with the
	// source's divisor, or the roots of the covariance's diagonal.
	StandardDeviations []float64
	// Shrinkage is the weight that was applied, given or found.
	Shrinkage float64
	// Samples are the samples themselves, M·d numbers, one sample after the other,
	// where Table.KeepSamples asks for them: residuals where the source adjusts them; nil for
	// a covariance, and where samples miss values or have weights.
	Samples []float64
	// Resampler estimates again from some of the samples, where Table.KeepResampler asks for
	// it; nil for a covariance.
	Resampler *covariance.Resampler
	// Completion says what was done about missing values that were estimated around or
	// filled in; nil where there were none.
	Completion *covariance.Completion
	// Correlation is what was estimated, as Source.Correlation has it: what auto stands
	// for, or what was given.
	Correlation string
	// Kurtosis is m4/m2² of every variable, after the transform; NaN where it cannot be
	// told, nil for a covariance.
	Kurtosis []float64
	// CarriedByFew says that the same few samples carry most of the variance of most
	// variables: more than half of all squares lie in one sample of fifty, and the
	// median kurtosis is above 30 and above a quarter of their number.
	CarriedByFew bool
	// SHA256 is the checksum of the file's bytes.
	SHA256 string
	// Warnings are sentences on what the user may not have intended.
	Warnings []string
}

// Read opens the table of a source and estimates what the source says.
func Read(ctx context.Context, s Source, f Files, engine dense.Engine) (*Data, error) {
	t, err := Open(ctx, s, f)
	if err != nil {
		return nil, err
	}
	defer t.Close()
	return t.Estimate(ctx, engine, progress.Begin(nil, progress.Reading, ""))
}

// Estimate reads the table to its end and makes the problem of it. It can be
// called once. What the user can put right is a *job.Error.
func (t *Table) Estimate(ctx context.Context, engine dense.Engine, report *progress.Reporter) (*Data, error) {
	settings, err := t.settings(engine)
	if err != nil {
		return nil, err
	}
	d := len(t.Names)
	var estimated *covariance.Result
	sha := t.sha256
	isTable := t.samples != nil || t.rows != nil
	var samples []float64
	var resampler *covariance.Resampler
	switch {
	case t.rows != nil:
		if resampler, err = t.resampler(settings); err != nil {
			return nil, err
		}
		estimated, err = t.estimateGathered(ctx, settings, report)
		if t.KeepSamples && !t.hasMissing() && t.weights == nil {
			samples = t.rows
		}
		t.rows = nil
	case isTable:
		t.cleaned = newCleaned(t, false)
		source := &counted{Source: t.cleaned, report: report}
		source.gather = t.KeepSamples || t.KeepResampler
		if err := source.keepBy(t, settings); err != nil {
			return nil, err
		}
		estimated, err = t.estimate(ctx, source, settings)
		sha = t.samples.SHA256()
		if t.KeepSamples {
			samples = source.rows
		}
		if t.KeepResampler {
			resampler = &covariance.Resampler{Rows: source.rows, D: d, Settings: settings}
		}
		t.Close() // so that its memory is free while solvers are at work
		t.Preparation, t.kurtosis = t.cleaned.preparation(), t.cleaned.tails.kurtosis()
		t.samples = nil
	default:
		estimated, err = covariance.FromMatrix(ctx, t.matrix, d, t.source.Samples, settings)
		if err != nil && ctx.Err() == nil {
			err = &job.Error{Field: "input", Err: err}
		}
		t.matrix = nil
	}
	if err != nil {
		return nil, FieldError("input", t.constants(err))
	}
	if resampler != nil {
		resampler.Whole = estimated
	}
	data := &Data{
		Problem:            solver.Problem{S: estimated.S, Samples: estimated.Samples},
		Columns:            t.columns,
		Names:              t.Names,
		StandardDeviations: estimated.StdDevs,
		Shrinkage:          estimated.Shrinkage,
		Samples:            samples,
		Resampler:          resampler,
		Completion:         estimated.Incomplete,
		Correlation:        settings.Method.String(),
		Kurtosis:           t.kurtosis,
		SHA256:             sha,
	}
	if t.source.holdsSamples() {
		data.CarriedByFew = t.cleaned.tails.sameSamples() && carriedByFew(median(data.Kurtosis), estimated.Samples)
		data.Warnings = append(data.Warnings, t.warnings()...)
		data.Warnings = append(data.Warnings, t.squareWarnings()...)
		data.Warnings = append(data.Warnings, t.orderWarnings()...)
	}
	if isTable && estimated.Means != nil && isCounter(estimated) {
		data.Warnings = append(data.Warnings, fmt.Sprintf("the first column, %q, counts the rows and was taken for a variable; if it labels them, name it as the id column", t.Names[0]))
	} else if isTable {
		data.Warnings = append(data.Warnings, t.labelWarnings()...)
	}
	report.Done(fmt.Sprintf("%s of %s", progress.Count(estimated.Samples, "sample"), progress.Count(d, "variable")))
	return data, nil
}

// estimate is covariance.Estimate, or what stands in its place where columns are asked for.
func (t *Table) estimate(ctx context.Context, source covariance.Source, s covariance.Settings) (r *covariance.Result, err error) {
	d := len(t.Names)
	if !t.KeepColumns {
		return covariance.Estimate(ctx, source, d, s)
	}
	t.columns, r, err = covariance.EstimateColumns(ctx, source, d, s, d)
	return r, err
}

// settings translates the source.
func (t *Table) settings(engine dense.Engine) (covariance.Settings, error) {
	source := t.source
	s := covariance.Settings{Names: t.Names, Engine: engine}
	if a := t.Preparation.Adjusted; a != nil {
		s.Spent = a.Rank
	}
	var err error
	if source.Correlation == job.CorrelationAuto {
		s.Method = t.cleaned.tails.choose(t.kurtosis, len(t.rows)/len(t.Names))
	} else if s.Method, err = covariance.ParseMethod(source.Correlation); err != nil {
		return s, &job.Error{Field: "correlation", Err: err}
	}
	if source.Kind == job.KindCorrelation {
		s.Method = covariance.Pearson
	}
	if source.Divisor == "m-1" {
		s.Divisor = covariance.BySamplesLess1
	}
	s.LedoitWolf = source.Shrinkage == job.ShrinkageLedoitWolf
	if !s.LedoitWolf {
		s.Shrinkage, _ = source.Shrinkage.Number()
	}
	return s, nil
}

// isCounter reports whether the first variable looks like row numbers from 0 or
// 1: it has their mean and their standard deviation, which no measurement has
// by chance.
func isCounter(c *covariance.Result) bool {
	m := float64(c.Samples)
	divisor := c.Divisor.Of(c.Samples)
	deviation := math.Sqrt(m * (m*m - 1) / 12 / divisor)
	mean := c.Means[0]
	near := func(a, b float64) bool { return math.Abs(a-b) <= 1e-9*b }
	return m > 3 && near(c.StdDevs[0], deviation) && (near(mean, (m+1)/2) || near(mean, (m-1)/2))
}

// counted is a source of samples that reports how many have been read.
type counted struct {
	covariance.Source
	report  *progress.Reporter
	samples int
	keep    func(samples int) error // nil where none are kept, or all are reserved
	gather  bool
	rows    []float64 // all of them, where they are gathered
}

// Next implements covariance.Source.
func (c *counted) Next() ([]float64, int, error) {
	rows, n, err := c.Source.Next()
	if err == nil && n > 0 && c.keep != nil {
		err = c.keep(n)
	}
	c.samples += n
	if c.gather {
		c.rows = append(c.rows, rows...)
	}
	c.report.Report(math.NaN(), progress.Count(c.samples, "sample"))
	return rows, n, err
}
