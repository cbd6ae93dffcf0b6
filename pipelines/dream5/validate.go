package dream5

import (
	"regexp"

	"github.com/gladflow/gladflow/pipelines/job"
	"github.com/gladflow/gladflow/pipelines/recovery"
)

// Validate reports the first field that is wrong, as a *job.Error. It reads no file.
func Validate(d job.Dream5) error {
	if d.Folder == "" {
		return job.Errorf("folder", "no folder is named; give the one that the challenge's files are in")
	}
	if err := job.CheckFields(&d, Facts()); err != nil {
		return err
	}
	if d.Network != "" && !regexp.MustCompile(`^([1-9]|size[0-9]+_[1-9])$`).MatchString(d.Network) {
		return job.Errorf("network", "%q is no network; write 1, 3 or 4 of DREAM5, or size100_1 and the like of DREAM4", d.Network)
	}
	if err := job.CheckNames("baselines", "solver", d.Baselines, recovery.SolverNames()); err != nil {
		return err
	}
	return job.CheckComparison(Resolved(d).Solving(), d.Solvers, d.Bootstrap, d.Report, recovery.Facts())
}

// Resolved returns d with every default filled in that is a value. That of the model is
// none: it depends on whether the regulators are given.
func Resolved(d job.Dream5) job.Dream5 {
	model, ranking := d.Model, d.RankingModel
	job.Resolve(&d, Facts())
	d.Model, d.RankingModel = model, ranking
	return d
}
