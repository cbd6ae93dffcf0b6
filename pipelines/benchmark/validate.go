package benchmark

import (
	"github.com/gladflow/gladflow/arrowio"
	"github.com/gladflow/gladflow/pipelines/job"
	"github.com/gladflow/gladflow/pipelines/metric"
	"github.com/gladflow/gladflow/pipelines/recovery"
)

// Facts are the names that a job.Benchmark may hold.
func Facts() job.Facts {
	f := recovery.Facts()
	f.Defaults["penalty"] = recovery.EBIC
	f.Words["baseline"] = recovery.SolverNames()
	f.Words["format"] = arrowio.TableFormats().Names()
	for _, m := range metric.OfRankings() {
		f.Words["metrics"] = append(f.Words["metrics"], m.Key)
	}
	return f
}

// Validate reports the first field that is wrong, as a *job.Error. It reads no file.
func Validate(b job.Benchmark) error {
	if b.Sets == "" {
		return job.Errorf("sets", "no folder and no list of sets is named; give the path of one")
	}
	facts := Facts()
	if err := job.CheckFields(&b, facts); err != nil {
		return err
	}
	if err := job.CheckNames("metrics", "metric", b.Metrics, facts.Words["metrics"]); err != nil {
		return err
	}
	return job.CheckComparison(Resolved(b).Solving(), b.Solvers, b.Bootstrap, b.Report, recovery.Facts())
}

// Resolved returns b with every default filled in that is a value. That of the model is
// none: it depends on whether a set has regulators.
func Resolved(b job.Benchmark) job.Benchmark {
	model, ranking := b.Model, b.RankingModel
	job.Resolve(&b, Facts())
	b.Model, b.RankingModel = model, ranking
	return b
}
