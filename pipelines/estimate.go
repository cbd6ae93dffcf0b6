package pipelines

import (
	"context"
	"fmt"
	"math"

	"github.com/gladflow/gladflow/solver"
	"github.com/gladflow/gladflow/solver/covariance"
)

// estimate reads the table to its end and makes the problem of it.
func (r *recovery) estimate(ctx context.Context) (solver.Problem, error) {
	report := r.host.stage(Reading, "")
	settings, err := r.estimator()
	if err != nil {
		return solver.Problem{}, err
	}
	var estimated *covariance.Result
	d := len(r.input.names)
	sha := r.input.sha256
	if s := r.input.samples; s != nil {
		estimated, err = covariance.Estimate(ctx, &counted{Source: s, report: report}, d, settings)
		sha = s.SHA256()
	} else {
		estimated, err = covariance.FromMatrix(ctx, r.input.matrix, d, r.job.Samples, settings)
		if err != nil && ctx.Err() == nil {
			err = &JobError{Field: "input", Err: err}
		}
		r.input.matrix = nil
	}
	if err != nil {
		return solver.Problem{}, blame("input", err)
	}
	r.result.Input = InputResult{
		Path:      r.result.Job.Input,
		Kind:      r.job.InputKind,
		SHA256:    sha,
		Samples:   estimated.Samples,
		Variables: d,
		Shrinkage: estimated.Shrinkage,
	}
	r.result.Variables = r.input.names
	r.result.StandardDeviations = estimated.StdDevs
	if r.input.samples != nil && isCounter(estimated) {
		r.result.Warnings = append(r.result.Warnings, fmt.Sprintf("the first column, %q, counts the rows and was taken for a variable; if it labels them, name it as the id column", r.input.names[0]))
	}
	report.done(fmt.Sprintf("%s of %s", plural(estimated.Samples, "sample"), plural(d, "variable")))
	return solver.Problem{S: estimated.S, Samples: estimated.Samples}, nil
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

// estimator translates the job.
func (r *recovery) estimator() (covariance.Settings, error) {
	s := covariance.Settings{Names: r.input.names, Engine: r.engine}
	var err error
	if s.Method, err = covariance.ParseMethod(r.job.Correlation); err != nil {
		return s, &JobError{Field: "correlation", Err: err}
	}
	if r.job.InputKind == KindCorrelation {
		s.Method = covariance.Pearson
	}
	if r.job.Divisor == "m-1" {
		s.Divisor = covariance.BySamplesLess1
	}
	s.LedoitWolf = r.job.Shrinkage == ShrinkageLedoitWolf
	if !s.LedoitWolf {
		s.Shrinkage, _ = r.job.Shrinkage.Number()
	}
	return s, nil
}

// standardised says whether the problem is that of standardised variables.
func (r *recovery) standardised() bool {
	return r.job.InputKind == KindCorrelation || r.job.Correlation != covariance.Covariance.String()
}
