package benchmark

import (
	"context"
	"strings"

	"github.com/gladflow/gladflow/arrowio"
	"github.com/gladflow/gladflow/pipelines/comparison"
	"github.com/gladflow/gladflow/pipelines/evaluation"
	"github.com/gladflow/gladflow/pipelines/metric"
	"github.com/gladflow/gladflow/pipelines/table"
)

// A Known is a set whose files have been read: samples, and the pairs that are scored.
type Known struct {
	// Set has the name of the column that labels the rows, also where nobody has named it.
	Set
	// Data has the variables that solvers see.
	Data *comparison.Table
	// Judge scores on the pairs of the population, without those of the background.
	Judge *comparison.Judge
	// Network is the known one; LinesLeft is the number of its lines on the
	// background, which are left out.
	Network   evaluation.Reference
	LinesLeft int
	// ConstantLeft are variables of the background that do not vary, which solvers refuse.
	// They are not in the table.
	ConstantLeft []string
}

// Open reads the files of a set. Resamples is the number of bootstrap samples that scores
// have standard errors from, Seed that of their random numbers.
func (s Set) Open(ctx context.Context, resamples int, seed uint64) (*Known, error) {
	k := &Known{Set: s}
	var err error
	if k.Data, err = readTable(ctx, &k.Set); err != nil {
		return nil, err
	}
	if k.Network, err = evaluation.ReadReference(ctx, s.Reference, table.Files{}); err != nil {
		return nil, err
	}
	kind := metric.All
	if s.Population == metric.Labelled.String() || s.Population == "" && k.Network.Labelled {
		kind = metric.Labelled
	}
	settings := comparison.Settings{Kind: kind, Undirected: s.Undirected == "true", Resamples: resamples, Seed: seed}
	if s.Background != "" {
		settings.Scored = func(name string) bool { return !strings.HasPrefix(name, s.Background) }
		k.leaveOut()
	}
	var known metric.Reference
	known, k.LinesLeft = withoutBackground(metric.Reference{Source: k.Network.Source, Target: k.Network.Target, Label: k.Network.Label}, s.Background)
	k.Judge, err = comparison.NewJudge(known, k.Data.Names, settings)
	return k, err
}

// withoutBackground leaves out the pairs of variables whose names begin with background,
// and counts them.
func withoutBackground(r metric.Reference, background string) (some metric.Reference, left int) {
	if background == "" {
		return r, 0
	}
	for k, source := range r.Source {
		if strings.HasPrefix(source, background) || strings.HasPrefix(r.Target[k], background) {
			left++
			continue
		}
		some.Source, some.Target = append(some.Source, source), append(some.Target, r.Target[k])
		if r.Label != nil {
			some.Label = append(some.Label, r.Label[k])
		}
	}
	return some, left
}

// leaveOut leaves out background variables that do not vary, which solvers refuse: they
// are not scored anyway.
func (k *Known) leaveOut() {
	kept := k.Data.Only(func(name string) bool {
		out := strings.HasPrefix(name, k.Background) && k.Data.Constant(name)
		if out {
			k.ConstantLeft = append(k.ConstantLeft, name)
		}
		return !out
	})
	if k.ConstantLeft != nil {
		k.Data = kept
	}
}

// readTable reads the table of a set. Of one that was found in a folder the column
// that labels the rows is taken where the file shows it.
func readTable(ctx context.Context, s *Set) (*comparison.Table, error) {
	options := arrowio.SampleOptions{IDColumn: s.IDColumn}
	var err error
	if options.Orientation, err = arrowio.ParseOrientation(s.Orientation); err != nil {
		return nil, err
	}
	if !s.found {
		return comparison.ReadTable(ctx, s.Table, options)
	}
	t, labels, err := comparison.ReadLabelled(ctx, s.Table, options)
	s.IDColumn = labels
	return t, err
}
