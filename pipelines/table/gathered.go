package table

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/gladflow/gladflow/arrowio"
	"github.com/gladflow/gladflow/arrowio/batch"
	"github.com/gladflow/gladflow/pipelines/job"
	"github.com/gladflow/gladflow/pipelines/progress"
	"github.com/gladflow/gladflow/solver/covariance"
	"github.com/gladflow/gladflow/solver/dense"
	"github.com/gladflow/gladflow/solver/glasso"
)

// HoldsColumns says whether Estimate can have Columns in place of S: of samples without
// weights that miss no value, as far as is known before they are read no more than variables.
func (t *Table) HoldsColumns() bool {
	s, d := t.source, len(t.Names)
	switch {
	case !s.holdsSamples(), s.Weights != "", s.Shrinkage == job.ShrinkageLedoitWolf, s.treatsMissing() && t.Preparation.Missing > 0:
		return false
	case t.rows != nil:
		return len(t.rows)/d <= d
	case t.samples == nil: // they have been read
		return false
	}
	n, known := t.samples.Promised()
	return !known || n <= d
}

// hasMissing says that gathered samples miss values that are not filled in.
func (t *Table) hasMissing() bool {
	return t.Preparation.Missing > 0 && t.source.treatsMissing() && t.source.Missing != job.MissingMean
}

// estimateGathered estimates from samples in memory.
func (t *Table) estimateGathered(ctx context.Context, s covariance.Settings, report *progress.Reporter) (*covariance.Result, error) {
	d := len(t.Names)
	if t.weights != nil {
		return covariance.EstimateWeighted(ctx, t.rows, d, t.weights, s)
	}
	if more := t.sampleMemory(s) * int64(len(t.rows)/d); more > 0 && t.keep != nil {
		if err := t.keep(more); err != nil {
			return nil, err
		}
	}
	if t.Preparation.Missing == 0 || !t.source.treatsMissing() {
		return t.estimate(ctx, &counted{Source: covariance.NewTable(t.rows, d), report: report}, s)
	}
	how := t.treatment()(len(t.rows)/d, s.Engine)
	if how.Treatment == covariance.EM {
		first := math.NaN()
		how.Progress = func(iteration int, change float64) {
			if iteration == 1 {
				first = change
			}
			done := math.Log(first/change) / math.Log(first/covariance.ChangeOfEM)
			report.Report(min(1, max(0, done)), fmt.Sprintf("EM, iteration %d", iteration))
		}
	}
	return covariance.EstimateIncomplete(ctx, t.rows, d, s, how)
}

// treatment is what is done about missing values in so many samples.
func (t *Table) treatment() func(samples int, engine dense.Engine) covariance.Incomplete {
	d := len(t.Names)
	return func(samples int, engine dense.Engine) covariance.Incomplete {
		how := covariance.Incomplete{}
		switch t.source.Missing {
		case job.MissingMean:
			how.Treatment = covariance.Mean
		case job.MissingEM:
			how.Treatment = covariance.EM
			how.Solver = glasso.BCD{Settings: glasso.Settings{
				Penalty: glasso.Penalty{Rho: covariance.PenaltyOfEM(d, samples)}, Gap: gapOfEM, Engine: engine,
			}}
		}
		return how
	}
}

// resampler is that of gathered samples, before they are estimated from, which fills in
// what is missing; nil where none is asked for.
func (t *Table) resampler(s covariance.Settings) (*covariance.Resampler, error) {
	if !t.KeepResampler {
		return nil, nil
	}
	r := &covariance.Resampler{Rows: t.rows, D: len(t.Names), Settings: s, Weights: t.weights, Covariates: t.covariates}
	missing := t.Preparation.Missing > 0 && t.source.treatsMissing()
	if !missing && t.weights == nil { // the estimate leaves the rows as they are
		return r, nil
	}
	if t.keep != nil {
		if err := t.keep(8 * int64(len(t.rows))); err != nil {
			return nil, err
		}
	}
	if r.Rows = slices.Clone(t.rows); missing {
		r.Treatment = t.treatment()
	}
	return r, nil
}

// gapOfEM is the relative duality gap of the graphical lasso inside of EM.
const gapOfEM = 1e-7

// constants is err, and where it is about variables that do not vary, names them all and
// the option that leaves them out.
func (t *Table) constants(err error) error {
	var column *covariance.ColumnError
	if !errors.As(err, &column) || !column.Constant {
		return err
	}
	e := &arrowio.InputError{
		Path: t.name, Column: t.Names[column.Column], Reason: "the variable " + column.Reason, Err: err,
		Advice: arrowio.Advice{
			Option: "constant", Value: job.ConstantDrop,
			With:    "a variable that does not vary is related to none, so remove it or pass %s",
			Without: "a variable that does not vary is related to none, so remove it",
		},
	}
	if len(column.OtherConstants) > 0 {
		names := make([]string, len(column.OtherConstants))
		for i, j := range column.OtherConstants {
			names[i] = strconv.Quote(t.Names[j])
		}
		more := ""
		if len(names) > mostNamed {
			more = fmt.Sprintf(" and %d more", len(names)-mostNamed)
			names = names[:mostNamed]
		}
		e.Reason += fmt.Sprintf(" (constant too: %s%s)", strings.Join(names, ", "), more)
	}
	if reason := t.explained(t.Names[column.Column]); reason != "" {
		e.Reason = reason
		if a := t.Preparation.Adjusted; len(a.Explained) > 1 {
			e.Reason += fmt.Sprintf(" (%d variables in all: %s)", len(a.Explained), job.AllOf(a.Explained[:min(len(a.Explained), mostNamed)]))
		}
		e.Advice.With = "leave it out with %s, or leave out a covariate"
		e.Advice.Without = "leave it out, or leave out a covariate"
	}
	if slices.Contains(t.source.Fixed, e.Advice.Option) {
		e.Advice.Option = ""
	}
	return e
}

// mostNamed is the most variables that a sentence names.
const mostNamed = 20

// warnings are sentences on how the table was read.
func (t *Table) warnings() []string {
	list := t.notes
	if w := headerWarning(t.Names, t.name == batch.StreamName); w != "" {
		list = append(list, w)
	}
	if w := Across(t.source, t.Names); w != "" {
		list = append(list, w)
	}
	p := t.Preparation
	if p.Missing > 0 && t.source.Missing == job.MissingRows {
		list = append(list, fmt.Sprintf("%d of %d samples were left out, for they miss values (%d in all)", p.WithoutSome, p.SamplesRead, p.Missing))
	}
	return list
}
