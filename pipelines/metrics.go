package pipelines

import (
	"github.com/gladflow/gladflow/arrowio"
	"github.com/gladflow/gladflow/pipelines/metric"
	"github.com/gladflow/gladflow/solver"
)

// score ranks the pairs of a population by the estimate's score and compares
// its support with the truth.
func score(p *metric.Population, est *solver.Estimate) (*Metrics, error) {
	ranking, err := p.Score(est.Score)
	if err != nil {
		return nil, err
	}
	c := p.Support(func(i, j int) bool { return est.Support.At(i, j) != 0 })
	return &Metrics{
		AUROC:            Figure(ranking.AUROC),
		AUPR:             Figure(ranking.AUPR),
		AveragePrecision: Figure(ranking.AveragePrecision),
		FDR:              Figure(c.FDR()),
		TPR:              Figure(c.TPR()),
		FPR:              Figure(c.FPR()),
	}, nil
}

// writeMetrics writes a row for every solver that was scored.
func (r *recovery) writeMetrics() error {
	if r.job.Out == "" {
		return nil
	}
	t := r.metricsTable(r.result.Solvers)
	if t.Columns == nil {
		return nil
	}
	format := arrowio.TableFormats().For(r.job.Format)
	file := "metrics." + format.Name
	if err := format.Write(r.path(file), t.Columns, t.Metadata); err != nil {
		return err
	}
	r.result.Files = append(r.result.Files, file)
	return nil
}

// metricsTable has a row for each of the solvers that was scored, and no
// columns if none was.
func (r *recovery) metricsTable(solvers []SolverResult) Table {
	ref := r.result.Reference
	if ref == nil {
		return Table{}
	}
	var (
		names, statuses, populations     []string
		directed                         []bool
		pairs, positives                 []int64
		skipped, skippedPositives, loops []int64
		figures                          [6][]float64
	)
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
		m := s.Metrics
		for i, f := range []Figure{m.AUROC, m.AUPR, m.AveragePrecision, m.FDR, m.TPR, m.FPR} {
			figures[i] = append(figures[i], float64(f))
		}
	}
	if names == nil {
		return Table{}
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
	for i, name := range []string{"auroc", "aupr", "average_precision", "fdr", "tpr", "fpr"} {
		columns = append(columns, arrowio.Column{Name: name, Values: figures[i]})
	}
	return Table{columns, r.metadata()}
}
