package benchmark

import (
	"github.com/gladflow/gladflow/arrowio"
	"github.com/gladflow/gladflow/pipelines/job"
	"github.com/gladflow/gladflow/pipelines/output"
)

// write leaves the table of all figures and the document in the folder, and the report;
// either may be nil.
func (r *Result) write(folder *output.Folder, report *output.File) error {
	if t := r.table(); folder != nil && len(t.Columns) > 0 {
		format := arrowio.TableFormats().For(r.Benchmark.Format)
		files, err := format.Write(folder.Root(), "benchmark."+format.Name, t.Columns, t.Metadata)
		if err != nil {
			return err
		}
		r.Files = output.Listed(files)
	}
	if report != nil {
		written, err := report.Write(r.page().Encode)
		if err != nil {
			return err
		}
		written.Name = output.Beside(r.Benchmark.Out, r.Benchmark.Report)
		r.Files = append(r.Files, written)
	}
	if folder == nil {
		return nil
	}
	return folder.WriteJSON(DocumentFile, r)
}

// table has a row for every figure: of sets, of groups (set is empty) and over the
// groups (group is empty too).
func (r *Result) table() output.Table {
	var (
		group, set, solver, metrics          []string
		value, se, difference, differenceErr []float64
		wins, of                             []int64
		samples, variables, pairs, positives []int64
	)
	add := func(inGroup string, s SetResult, name string, figures []Figure) {
		for _, f := range figures {
			group, set, solver, metrics = append(group, inGroup), append(set, s.Name), append(solver, name), append(metrics, f.Metric)
			value, se = append(value, float64(f.Value)), append(se, float64(f.StandardError))
			difference, differenceErr = append(difference, float64(f.Difference)), append(differenceErr, float64(f.DifferenceError))
			wins, of = append(wins, int64(f.Wins)), append(of, int64(f.Of))
			samples, variables = append(samples, int64(s.Samples)), append(variables, int64(s.Variables))
			pairs, positives = append(pairs, int64(s.Reference.Pairs)), append(positives, int64(s.Reference.Positives))
		}
	}
	for _, s := range r.Sets {
		for _, f := range s.Solvers {
			add(s.Group, s, f.Solver, f.Figures)
		}
	}
	for _, g := range append(r.Groups, r.Overall) {
		for _, s := range g.Solvers {
			add(g.Group, SetResult{}, s.Solver, s.Figures)
		}
	}
	if len(value) == 0 {
		return output.Table{}
	}
	return output.Table{
		Columns: []arrowio.Column{
			{Name: "group", Values: group}, {Name: "set", Values: set}, {Name: "solver", Values: solver},
			{Name: "samples", Values: samples}, {Name: "variables", Values: variables},
			{Name: "pairs", Values: pairs}, {Name: "positives", Values: positives},
			{Name: "metric", Values: metrics}, {Name: "value", Values: value}, {Name: "standard_error", Values: se},
			{Name: "difference", Values: difference}, {Name: "difference_error", Values: differenceErr},
			{Name: "wins", Values: wins}, {Name: "of", Values: of},
		},
		Metadata: map[string]string{
			output.MetaVersion:   job.Version(),
			"gladflow.benchmark": output.JSON(r.Benchmark),
		},
	}
}
