package dream5

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/gladflow/gladflow/arrowio"
	"github.com/gladflow/gladflow/pipelines/comparison"
	"github.com/gladflow/gladflow/pipelines/evaluation"
	"github.com/gladflow/gladflow/pipelines/job"
	"github.com/gladflow/gladflow/pipelines/metric"
	"github.com/gladflow/gladflow/pipelines/progress"
	"github.com/gladflow/gladflow/pipelines/table"
)

// open reads the files of the network and makes the populations.
func (r *run) open(ctx context.Context) error {
	report := progress.Begin(r.host.Progress, progress.Reading, "")
	n, data := r.network, &r.result.Data
	data.Expression, data.Gold, data.Regulators = n.expression, n.gold, n.regulators
	var err error
	if r.table, _, err = comparison.ReadLabelled(ctx, n.expression, arrowio.SampleOptions{}); err != nil {
		return ofFolder(err)
	}
	r.table = r.table.Only(func(name string) bool { return !labels(name) })
	data.Samples, data.Genes, data.ExpressionSHA256 = r.table.Samples, len(r.table.Names), r.table.SHA256
	gold, err := evaluation.ReadReference(ctx, n.gold, table.Files{})
	if err != nil {
		return ofFolder(err)
	}
	data.GoldSHA256 = gold.SHA256
	known := metric.Reference{Source: gold.Source, Target: gold.Target, Label: gold.Label}
	if r.Genes != job.GenesAll {
		in := table.Positions(known.Names())
		r.table = r.table.Only(func(name string) bool { _, ok := in[name]; return ok })
	}
	data.Used = len(r.table.Names)
	if data.Used < 2 {
		return job.Errorf("folder", "%s and %s share %d genes; check that both are of network %s", n.expression, n.gold, data.Used, n.name)
	}
	if err := r.readRegulators(ctx); err != nil {
		return err
	}
	for _, p := range populations() {
		judge, err := comparison.NewJudge(known, r.table.Names, comparison.Settings{Kind: p.kind, Undirected: p.undirected, Resamples: r.resamples, Seed: uint64(r.Seed)})
		if err != nil {
			return ofFolder(err)
		}
		r.judges = append(r.judges, judge)
		r.result.Populations = append(r.result.Populations, PopulationResult{p.name, gold.Result(judge.Population).PopulationResult})
	}
	r.describe()
	report.Done(data.Text)
	return nil
}

// labels says of a column whether its name is that of the labels of samples, which may be
// numbers: genes of the challenges are called G and a number.
func labels(name string) bool {
	return slices.Contains([]string{"condition", "sample", "experiment", "chip", "id"}, strings.ToLower(name))
}

// readRegulators reads the list of regulators, if there is one.
func (r *run) readRegulators(ctx context.Context) error {
	data := &r.result.Data
	if r.network.regulators == "" {
		return nil
	}
	list, err := arrowio.ReadNames(ctx, r.network.regulators, arrowio.ListOptions{})
	if err != nil {
		return ofFolder(table.FieldError("folder", err))
	}
	r.listed = make(map[string]bool)
	for _, name := range list.Names {
		r.listed[name] = true
	}
	data.Listed, data.RegulatorsSHA256 = len(list.Names), list.SHA256
	for _, name := range r.table.Names {
		if r.listed[name] {
			data.Found++
		}
	}
	if data.Found == 0 {
		return job.Errorf("folder", "%s names no gene of %s; check that both are of network %s", r.network.regulators, r.network.expression, r.network.name)
	}
	return nil
}

// ofFolder makes an error of a file one of the field folder.
func ofFolder(err error) error {
	if wrong, ok := err.(*job.Error); ok { //nolint:errorlint // made by the function that was called
		return &job.Error{Field: "folder", Reason: wrong.Reason, Err: wrong.Err}
	}
	return err
}

// A population is pairs that figures are on.
type population struct {
	name       string
	kind       metric.Kind
	undirected bool
}

// populations are, first, that of the challenge; then the same with the better of the two
// directions; then every pair of the genes used, those without a label counting as
// negative.
func populations() []population {
	return []population{
		{"directed, labelled", metric.Labelled, false},
		{"undirected, labelled", metric.Labelled, true},
		{"undirected, all pairs", metric.All, true},
	}
}

// describe says in a sentence what the data are.
func (r *run) describe() {
	data := &r.result.Data
	name := filepath.Base(data.Expression)
	f, known := factsOf(r.network.name)
	r.result.Title = f.title
	data.Whole = known && data.Samples == f.samples && data.Genes == f.genes
	size := fmt.Sprintf("%s: %s × %s", name, progress.Count(data.Samples, "sample"), progress.Count(data.Genes, "gene"))
	switch {
	case data.Whole:
		data.Text = size + ", as many as in the challenge"
	case known:
		data.Text = fmt.Sprintf("%s, not the challenge's %d × %d: figures are not comparable with those published on them", size, f.samples, f.genes)
	default:
		data.Text = size
	}
	if data.Used < data.Genes {
		data.Text += fmt.Sprintf("; solvers see the %d genes of the gold standard", data.Used)
	}
	for _, p := range published() {
		if p.network == r.network.name {
			r.result.Published = append(r.result.Published, p.Published)
		}
	}
}
