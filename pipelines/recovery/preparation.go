package recovery

import (
	"fmt"

	"github.com/gladflow/gladflow/pipelines/job"
	"github.com/gladflow/gladflow/pipelines/progress"
	"github.com/gladflow/gladflow/pipelines/table"
)

// describeTable notes what was done to the table before anything was estimated.
func (r *run) describeTable(data *table.Data) {
	in, p := &r.result.Input, r.table.Preparation
	if p.VariablesRead > in.Variables {
		in.VariablesRead = p.VariablesRead
	}
	if p.SamplesRead > in.Samples {
		in.SamplesRead = p.SamplesRead
	}
	in.Excluded, in.Adjusted, in.Weighted = p.Excluded, p.Adjusted, p.Weighted
	in.Constant, in.LeastVariance = p.Constant, p.LeastVariance
	if r.job.SamplesGiven() {
		in.Correlation, in.HeavyTails = data.Correlation, data.HeavyTails()
	}
	if p.Missing == 0 {
		return
	}
	in.Missing = &job.MissingResult{Values: p.Missing, Samples: p.WithoutSome}
	if c := data.Completion; c != nil {
		in.Missing.LeastPair, in.Missing.MedianPair = c.LeastPair, c.MedianPair
		in.Missing.Distance, in.Missing.Iterations, in.Missing.Change = c.Distance, c.Iterations, c.Change
	}
}

// Preparation are lines on what was done to a run's table before anything was estimated.
func Preparation(r *job.Result) []string {
	var lines []string
	in, j := r.Input, r.Job
	if in.Excluded > 0 {
		lines = append(lines, fmt.Sprintf("left out: %s of %d, by rows or exclude_rows", progress.Count(in.Excluded, "sample"), in.SamplesRead))
	}
	lines = append(lines, beside(in)...)
	if n := len(in.Constant); n > 0 {
		lines = append(lines, fmt.Sprintf("left out: %s that do not vary: %s", progress.Count(n, "variable"), few(in.Constant)))
	}
	if in.LeastVariance > 0 {
		lines = append(lines, fmt.Sprintf("taken: the %d variables of the largest variance, %.4g and more, of %d", in.Variables, in.LeastVariance, in.VariablesRead))
	}
	if j.Correlation == job.CorrelationAuto {
		lines = append(lines, fmt.Sprintf("correlation: %s, since %d of %d variables have heavy tails or outliers (a kurtosis above %d)", in.Correlation, in.HeavyTails, in.Variables, table.Heavy))
	}
	m := in.Missing
	if m == nil {
		return lines
	}
	what := fmt.Sprintf("missing: %s in %s", progress.Count(m.Values, "value"), progress.Count(m.Samples, "sample"))
	switch j.Missing {
	case job.MissingRows:
		what += fmt.Sprintf(" of %d, which are left out", in.SamplesRead)
	case job.MissingMean:
		what += "; the means of their variables stand in their place, which draws correlations towards zero"
	default:
		what += fmt.Sprintf("; two variables have %d samples or more in common, %d in the median, and count as %d", m.LeastPair, m.MedianPair, in.Samples)
		if m.Iterations > 0 {
			what += fmt.Sprintf("; EM ended after %s", progress.Count(m.Iterations, "iteration"))
		} else if m.Distance > 0 {
			what += fmt.Sprintf("; the nearest correlation matrix is %.2g away, relative to its norm", m.Distance)
		}
	}
	return append(lines, what)
}

// beside are lines on covariates and weights.
func beside(in job.InputResult) []string {
	var lines []string
	counts := fmt.Sprintf("so that the samples count as %d", in.Samples)
	if w := in.Weighted; w != nil {
		what := fmt.Sprintf("weights: of column %q, which count as %.1f equal samples", w.Column, w.Samples)
		if w.Zero > 0 {
			what += fmt.Sprintf(", %d of weight 0 left out", w.Zero)
		}
		lines = append(lines, what)
	}
	if a := in.Adjusted; a != nil {
		var names []string
		for _, c := range a.Covariates {
			name := c.Name
			if c.Words > 0 {
				name += fmt.Sprintf(" (%s)", progress.Count(c.Words, "group"))
			}
			names = append(names, name)
		}
		lines = append(lines, fmt.Sprintf("adjusted for %s, which take %s, %s", job.AllOf(names), degrees(a.Rank), counts))
	}
	return lines
}

func degrees(n int) string {
	if n == 1 {
		return "1 degree of freedom"
	}
	return fmt.Sprintf("%d degrees of freedom", n)
}

// few are the first of some names.
func few(names []string) string {
	const most = 5
	if len(names) <= most {
		return job.AllOf(names)
	}
	return fmt.Sprintf("%s and %d more", job.AllOf(names[:most]), len(names)-most)
}
