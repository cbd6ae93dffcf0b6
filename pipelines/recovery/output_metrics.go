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
	if err := format.Write(r.folder.Root(), file, t.Columns, t.Metadata); err != nil {
		return err
	}
	r.result.Files = append(r.result.Files, file)
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
	return output.Table{Columns: columns, Metadata: r.metadata()}
}
