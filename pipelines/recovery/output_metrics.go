package recovery

import (
	"github.com/gladflow/gladflow/arrowio"
	"github.com/gladflow/gladflow/pipelines/job"
	"github.com/gladflow/gladflow/pipelines/metric"
	"github.com/gladflow/gladflow/pipelines/output"
)

// writeMetrics writes a row for every solver that was scored.
func (r *run) writeMetrics() error {
	if r.folder == nil {
		return nil
	}
	t := r.metricsTable(r.result.Solvers)
	if t.Columns == nil {
		return nil
	}
	format := arrowio.TableFormats().For(r.job.Format)
	file := TableMetrics + "." + format.Name
	files, err := format.Write(r.folder.Root(), file, t.Columns, t.Metadata)
	if err != nil {
		return err
	}
	r.result.Files = append(r.result.Files, output.Listed(files)...)
	return nil
}

// metricsTable has a row for each of the solvers that was scored, and no
// columns if none was.
func (r *run) metricsTable(solvers []job.SolverResult) output.Table {
	ref := r.result.Reference
	if ref == nil {
		return output.Table{}
	}
	var (
		names, statuses, populations     []string
		directed                         []bool
		pairs, positives                 []int64
		skipped, skippedPositives, loops []int64
	)
	metrics := metric.Table()
	values := make([][]float64, len(metrics))
	var listed []int64
	var support [3][]float64
	list := make([][]float64, len(metric.OfRankings()))
	for _, s := range solvers {
		if s.Metrics == nil {
			continue
		}
		names = append(names, s.Name)
		statuses = append(statuses, s.StatusText())
		populations = append(populations, ref.Population)
		directed = append(directed, ref.Directed)
		pairs = append(pairs, int64(ref.Pairs))
		positives = append(positives, int64(ref.Positives))
		skipped = append(skipped, int64(ref.Skipped))
		skippedPositives = append(skippedPositives, int64(ref.SkippedPositives))
		loops = append(loops, int64(ref.SelfLoops))
		for i, m := range metrics {
			values[i] = append(values[i], float64(s.Metrics.Get(m.Key)))
		}
		of := s.ListSupport
		if of == nil { // no list was made
			of = &job.ListSupport{Precision: job.NaN(), Recall: job.NaN(), F1: job.NaN()}
		}
		listed = append(listed, int64(of.Pairs))
		for i, v := range []job.Float{of.Precision, of.Recall, of.F1} {
			support[i] = append(support[i], float64(v))
		}
		for i, m := range metric.OfRankings() {
			list[i] = append(list[i], float64(listMetric(s, m.Key)))
		}
	}
	if names == nil {
		return output.Table{}
	}
	columns := []arrowio.Column{
		{Name: "solver", Values: names},
		{Name: "status", Values: statuses},
		{Name: "population", Values: populations},
		{Name: "directed", Values: directed},
		{Name: "pairs", Values: pairs},
		{Name: "positives", Values: positives},
		{Name: "skipped", Values: skipped},
		{Name: "skipped_positives", Values: skippedPositives},
		{Name: "self_loops", Values: loops},
	}
	for i, m := range metrics {
		columns = append(columns, arrowio.Column{Name: m.Key, Values: values[i]})
	}
	// Figures of the lists of edges come last: columns are added and stay where they are.
	columns = append(columns, arrowio.Column{Name: "list_pairs", Values: listed})
	for i, name := range []string{"list_precision", "list_recall", "list_f1"} {
		columns = append(columns, arrowio.Column{Name: name, Values: support[i]})
	}
	for i, m := range metric.OfRankings() {
		columns = append(columns, arrowio.Column{Name: "list_" + m.Key, Values: list[i]})
	}
	return output.Table{Columns: columns, Metadata: r.metadata()}
}

// listMetric is a figure of a solver's list: that of every pair where both are the same, NaN
// where no list was made.
func listMetric(s job.SolverResult, key string) job.Float {
	switch {
	case s.ListSupport == nil:
		return job.NaN()
	case s.ListMetrics != nil:
		return s.ListMetrics.Get(key)
	}
	return s.Metrics.Get(key)
}
