package benchmark

import (
	"slices"

	"github.com/gladflow/gladflow/arrowio"
	"github.com/gladflow/gladflow/pipelines/job"
	"github.com/gladflow/gladflow/pipelines/metric"
	"github.com/gladflow/gladflow/pipelines/recovery"
)

// Facts are the names that a job.Benchmark may hold.
func Facts() job.Facts {
	f := recovery.Facts()
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
	if err := job.CheckReport(b.Report); err != nil {
		return err
	}
	for i, m := range b.Metrics {
		switch known := facts.Words["metrics"]; {
		case !slices.Contains(known, m):
			return job.Errorf("metrics", "%q is unknown; choose from %s", m, job.AllOf(known))
		case slices.Contains(b.Metrics[:i], m):
			return job.Errorf("metrics", "%s is named twice; name every metric once", m)
		}
	}
	if _, ok := job.ResampleCount(Resolved(b).Resamples); !ok {
		return job.Errorf("resamples", "%q is neither a number of samples from 2 to 100000 nor none", string(b.Resamples))
	}
	if b.Seed < 0 {
		return job.Errorf("seed", "%d is negative; give a whole number from 0", b.Seed)
	}
	j := Resolved(b).Solving()
	j.Input, j.Solvers = job.Stdin, b.Solvers
	if err := j.ValidateBy(recovery.Facts()); err != nil {
		return err
	}
	return nil
}

// Resolved returns b with every default filled in that is a value.
func Resolved(b job.Benchmark) job.Benchmark {
	job.Resolve(&b, Facts())
	return b
}
