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

// few are the first of some names.
func few(names []string) string {
	const most = 5
	if len(names) <= most {
		return job.AllOf(names)
	}
	return fmt.Sprintf("%s and %d more", job.AllOf(names[:most]), len(names)-most)
}
