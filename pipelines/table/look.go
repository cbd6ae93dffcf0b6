package table

import (
	"cmp"
	"context"
	"slices"

	"github.com/gladflow/gladflow/pipelines/job"
	"github.com/gladflow/gladflow/pipelines/progress"
	"github.com/gladflow/gladflow/solver/dense"
)

// Look reads the whole table of samples of a source, whatever it holds, and says what it
// is: everything of a job.Look but repeats and what to do. It returns S of the variables
// that vary as well, estimated pairwise or, where variables have too few samples in
// common, of the means in place of missing values, and the names of these variables.
func Look(ctx context.Context, s Source, f Files, engine dense.Engine) (*job.Look, *Data, error) {
	s.Constant, s.TopVariance, s.Missing = job.ConstantDrop, 0, job.MissingPairwise
	if s.besides() { // residuals and weights are of samples with all values
		s.Missing = job.MissingRows
	}
	if s.Correlation == job.CorrelationAuto {
		s.Correlation = ""
	}
	t, err := Open(ctx, s, f)
	if err != nil {
		return nil, nil, err
	}
	defer t.Close()
	look := &job.Look{
		Types:          t.types,
		WholeSamples:   t.Preparation.SamplesRead - t.Preparation.Excluded - t.Preparation.WithoutSome,
		MedianKurtosis: job.Float(median(t.kurtosis)),
		MostMissing:    t.cleaned.mostMissing(),
	}
	for _, j := range t.cleaned.tails.twoValued() {
		look.TwoValued = append(look.TwoValued, t.cleaned.names[j])
	}
	look.CarriedByFew = t.cleaned.tails.sameSamples() && carriedByFew(float64(look.MedianKurtosis), t.Preparation.SamplesRead)
	var rows []float64 // for a second try
	if t.hasMissing() {
		rows = t.rows
	}
	if f.Admit != nil {
		if err := f.Admit(t.Memory()+8*int64(len(rows)), len(t.Names)); err != nil {
			return nil, nil, err
		}
	}
	rows = slices.Clone(rows)
	report := f.Report
	if report == nil {
		report = progress.Begin(nil, progress.Reading, "")
	}
	data, err := t.Estimate(ctx, engine, report)
	if err != nil && ctx.Err() == nil && rows != nil {
		t.rows, t.source.Missing = rows, job.MissingMean
		data, err = t.Estimate(ctx, engine, report)
	}
	if err != nil {
		return nil, nil, err
	}
	p := t.Preparation
	look.Input = job.InputResult{
		Path: s.Path, Kind: job.KindSamples, SHA256: data.SHA256, Samples: p.SamplesRead, Variables: p.VariablesRead,
		Constant: p.Constant, Correlation: data.Correlation, HeavyTails: data.HeavyTails(),
	}
	look.Input.Excluded, look.Input.Adjusted, look.Input.Weighted = p.Excluded, p.Adjusted, p.Weighted
	if p.Missing > 0 {
		look.Input.Missing = &job.MissingResult{Values: p.Missing, Samples: p.WithoutSome}
		if c := data.Completion; c != nil {
			look.Input.Missing.LeastPair, look.Input.Missing.MedianPair, look.Input.Missing.Distance = c.LeastPair, c.MedianPair, c.Distance
		}
	}
	m := p.SamplesRead - p.Excluded
	if s.besides() {
		m = data.Problem.Samples
		look.Counted = m
	}
	look.Ratio = float64(len(data.Names)) / float64(m)
	at := func(j int) job.NamedValue {
		return job.NamedValue{Name: data.Names[j], Value: data.StandardDeviations[j]}
	}
	low, high := data.DeviationEnds()
	look.LeastDeviation, look.LargestDeviation = at(low), at(high)
	return look, data, nil
}

// mostMissing are the variables that miss most values.
func (c *cleaned) mostMissing() []job.NamedCount {
	var list []job.NamedCount
	for j, n := range c.lacking {
		if n > 0 {
			list = append(list, job.NamedCount{Name: c.names[j], Count: n})
		}
	}
	slices.SortStableFunc(list, func(a, b job.NamedCount) int { return cmp.Compare(b.Count, a.Count) })
	const most = 5
	return list[:min(most, len(list))]
}
