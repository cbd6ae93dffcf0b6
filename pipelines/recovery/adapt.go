package recovery

import (
	"context"
	"slices"
	"time"

	"github.com/gladflow/gladflow/pipelines/adaptation"
	"github.com/gladflow/gladflow/pipelines/job"
	"github.com/gladflow/gladflow/solver"
	"github.com/gladflow/gladflow/solver/covariance"
	"github.com/gladflow/gladflow/solver/dense"
	"github.com/gladflow/gladflow/solver/glad"
	"github.com/gladflow/gladflow/solver/glad/adapt"
)

// checkAdapt reports what contradicts Job.Adapt.
func checkAdapt(j job.Job) error {
	if j.Adapt == "" {
		return nil
	}
	r := Resolved(j)
	equal := j.Adapt == job.AdaptEqualScales
	switch none := covariance.Covariance.String(); {
	case !slices.Contains(r.Solvers, gladName):
		return job.Errorf("adapt", "only glad is fitted to the table; add it to the solvers, or leave this out")
	case j.Regulators != "":
		return job.Errorf("adapt", "the experts know nothing of regulators; leave one of the two out")
	case j.Model != "" && j.Model != glad.DefaultModelName:
		return job.Errorf("adapt", "the model %s is fitted to no table; leave it out, for the one to fit is %s", j.Model, glad.DefaultModelName)
	case equal && j.InputKind == job.KindCorrelation:
		return job.Errorf("adapt", "the experts of equal scales need the variances, and a correlation has none; choose experts")
	case equal && r.Correlation != none:
		return job.Errorf("adapt", "the experts of equal scales need the covariance, not the correlation %s; leave that out, or choose experts", r.Correlation)
	case !equal && r.Correlation == none:
		return job.Errorf("adapt", "%s works on correlations, not on the covariance; leave out the correlation none, or choose equal-scales", j.Adapt)
	}
	return nil
}

// checkAdapting reports a table that is too large to train for.
func (r *run) checkAdapting() error {
	if d := len(r.table.Names); r.job.Adapt == job.AdaptTrain && d > adaptation.MostVariables {
		return job.Errorf("adapt", "training for a table of %d variables takes too long, at most %d are possible; choose experts", d, adaptation.MostVariables)
	}
	return nil
}

// checkAdaptingTo reports a table with too many samples to train for.
func (r *run) checkAdaptingTo(samples int) error {
	if d := len(r.table.Names); r.job.Adapt == job.AdaptTrain && samples*d > adaptation.MostNumbers {
		return job.Errorf("adapt", "training for a table of %d samples of %d variables takes too long, for it simulates many like it; choose experts", samples, d)
	}
	return nil
}

// holdsOut says that the samples of the job can decide among experts: they are whole, and
// as S sees them.
func holdsOut(j job.Job) bool {
	return j.WholeSamples() && (j.Adapt == job.AdaptExperts && j.Correlation == covariance.Pearson.String() || j.Adapt == job.AdaptEqualScales)
}

// An adapting is GLAD that is fitted to the table: a solver.Solver that leaves in result
// what it has done.
type adapting struct {
	solverConfig
	samples      []float64 // nil where the gate decides
	standardised bool
	result       *job.AdaptedResult
	report       func(done float64, what string)
}

// Solve implements solver.Solver.
func (a *adapting) Solve(ctx context.Context, p solver.Problem) (*solver.Estimate, error) {
	if a.job.Adapt == job.AdaptTrain {
		return a.train(ctx, p)
	}
	name := adapt.Standardised
	if a.job.Adapt == job.AdaptEqualScales {
		name = adapt.EqualScales
	}
	set, err := adapt.Builtin(name)
	if err != nil {
		return nil, err
	}
	est, choice, err := adapt.Solver{
		Set: set, Samples: a.samples, Standardised: a.standardised, Backend: a.backend(), Engine: a.engine, Report: a.report,
	}.Adapt(ctx, p)
	if err != nil {
		return nil, err
	}
	*a.result = job.AdaptedResult{By: choice.By, Gap: job.Float(choice.Gap)}
	for k, m := range set.Models {
		e := job.ExpertResult{Model: m.Name, Weight: job.Float(choice.Weights[k])}
		if choice.Expected != nil {
			e.Expected = job.Float(choice.Expected[k])
		}
		a.result.Experts = append(a.result.Experts, e)
	}
	return est, nil
}

// train fine-tunes the model before it runs. Within a time limit that is too short for
// that, the model runs as it is.
func (a *adapting) train(ctx context.Context, p solver.Problem) (*solver.Estimate, error) {
	start := time.Now()
	m, families, err := adaptation.Tune(ctx, a.model, p, adaptation.Settings{Backend: a.backend(), Engine: a.engine, Report: a.report})
	if ctx.Err() != nil {
		return glad.Solver{Model: a.model, Backend: a.backend(), Recorder: a.recorder}.Solve(ctx, p)
	}
	if err != nil {
		return nil, err
	}
	*a.result = job.AdaptedResult{By: job.AdaptedByTraining}
	for _, f := range families {
		a.result.Networks = append(a.result.Networks, job.NetworksResult{Family: f.Name, Graphs: f.Graphs})
	}
	est, err := glad.Solver{Model: m, Backend: a.backend()}.Solve(ctx, p)
	if err == nil {
		est.Elapsed = time.Since(start)
	}
	return est, err
}

// adaptMemory is what fitting takes besides GLAD itself, in bytes: estimates of every
// expert of every fold and of the whole table, products of them, and the samples twice; or
// the tables that are simulated.
func adaptMemory(c solverConfig, d int) int64 {
	const experts, folds, tables = 8, 5, 160
	switch c.job.Adapt {
	case "":
		return 0
	case job.AdaptTrain:
		return 2*tables*matrix(d) + int64(dense.Cores())*20*matrix(d)
	}
	n := 2*experts + 4
	if holdsOut(c.job) {
		n += folds*(experts+2) + experts
	}
	return int64(n)*matrix(d) + 2*8*int64(c.samples)*int64(d)
}
