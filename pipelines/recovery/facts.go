package recovery

import (
	"slices"
	"strings"

	"github.com/gladflow/gladflow/arrowio"
	"github.com/gladflow/gladflow/pipelines/device"
	"github.com/gladflow/gladflow/pipelines/job"
	"github.com/gladflow/gladflow/pipelines/job/schema"
	learned "github.com/gladflow/gladflow/solver/association/ranking"
	"github.com/gladflow/gladflow/solver/glad"
)

// Facts are the names that a job.Job may hold: solvers, rules for the penalty,
// built-in models and formats.
func Facts() job.Facts {
	var rules []string
	for _, p := range Penalties() {
		rules = append(rules, p.Name)
	}
	return job.Facts{
		Words: map[string][]string{
			"solvers": SolverNames(),
			"penalty": rules,
			"select":  rules,
			"model":   glad.BuiltinNames(),
			"format":  arrowio.EdgeFormats().Names(),

			"ranking_model": learned.BuiltinNames(),
		},
		Defaults: map[string]string{
			"penalty": rules[0],
			"model":   glad.DefaultModelName,

			"ranking_model": learned.DefaultModelName,
		},
	}
}

// Validate reports the first field of j that is wrong in itself or contradicts
// another, as a *job.Error. It reads no file: what files hold is checked by Run
// before a solver starts.
func Validate(j job.Job) error {
	if err := j.ValidateBy(Facts()); err != nil {
		return err
	}
	if err := checkAdapt(j); err != nil {
		return err
	}
	if err := checkRule(j); err != nil {
		return err
	}
	if j.Regulators == "" {
		for _, name := range Resolved(j).Solvers {
			if find(name).NeedsRegulators {
				return job.Errorf("regulators", "%s regresses on regulators; name the file that lists them, or leave out this solver", name)
			}
		}
	}
	if !anySolver(Resolved(j).Solvers, func(s solverEntry) bool { return s.takesModel }) {
		for _, key := range []string{"score", "fdr"} {
			if slices.Contains(job.Given(&j), key) {
				return job.Errorf(key, "it is about glad, which is not among the solvers; leave it out")
			}
		}
	}
	if !j.SamplesGiven() {
		for _, name := range Resolved(j).Solvers {
			if find(name).needsSamples {
				return job.Errorf("solvers", "%s needs the samples, not their %s; choose from %s", name, j.InputKind, strings.Join(withoutSamples(), ", "))
			}
		}
	}
	if j.SamplesGiven() && !j.WholeSamples() {
		for _, name := range Resolved(j).Solvers {
			switch {
			case !find(name).needsSamples:
			case j.Weights != "":
				return job.Errorf("solvers", "%s needs samples of equal weight; choose from %s, or leave the weights out", name, strings.Join(withoutSamples(), ", "))
			default:
				return job.Errorf("solvers", "%s needs samples without missing values; choose rows or mean for these, or choose from %s", name, strings.Join(withoutSamples(), ", "))
			}
		}
	}
	return device.Process().Check(j.Device)
}

// withoutSamples are the solvers for which a covariance is enough.
func withoutSamples() []string {
	return slices.DeleteFunc(SolverNames(), func(name string) bool { return find(name).needsSamples })
}

// Resolved returns j with every default filled in that is a value; a field whose
// default is "none", or that has no meaning beside the others, stays zero, and so does
// Correlation where a file says which: that of a model which is not built in. It is valid
// if j is.
func Resolved(j job.Job) job.Job {
	r := j.ResolvedBy(Facts())
	if j.Regulators != "" && j.Penalty == "" && j.Select == "" && j.PenaltyMatrix == "" {
		r.Penalty = ebic // what the weights of scores were fitted with: see lassoWeights
	}
	if j.Model == "" && j.Regulators != "" {
		r.Model = glad.RegulatorsModelName
	}
	if j.RankingModel == "" && j.Regulators != "" {
		r.RankingModel = learned.RegulatorsModelName
	}
	if j.Correlation == "" {
		r.Correlation = defaultCorrelation(r)
	}
	return r
}

// Schema is the JSON Schema (draft 2020-12) of a job.Job.
func Schema() ([]byte, error) {
	return schema.Of(&job.Job{}, Facts(), "gladflow job",
		"One recovery: a table in, networks out. Read by gladflow run, as JSON or YAML.")
}
