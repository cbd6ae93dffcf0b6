package recovery

import (
	"context"

	"github.com/gladflow/gladflow/arrowio"
	"github.com/gladflow/gladflow/pipelines/evaluation"
	"github.com/gladflow/gladflow/pipelines/job"
	"github.com/gladflow/gladflow/pipelines/metric"
	"github.com/gladflow/gladflow/pipelines/output"
	"github.com/gladflow/gladflow/pipelines/progress"
	"github.com/gladflow/gladflow/pipelines/report/page"
	"github.com/gladflow/gladflow/pipelines/table"
	learned "github.com/gladflow/gladflow/solver/association/ranking"
	"github.com/gladflow/gladflow/solver/dense"
)

// prepare opens and checks everything that a run needs, so that nothing the
// user can put right stops it after hours of computing.
func (r *run) prepare(ctx context.Context) error {
	for _, step := range []func(context.Context) error{
		r.openEngine, r.openModel, r.openInput, r.openRegulators, r.openReference, r.openPenalties, r.admit, r.openOutput, r.openReport, r.openDevice,
	} {
		if err := step(ctx); err != nil {
			return err
		}
	}
	return nil
}

func (r *run) openEngine(context.Context) error {
	engine, err := dense.Open(r.job.Engine)
	if err != nil {
		return &job.Error{Field: "engine", Err: err}
	}
	r.engine = dense.WithThreads(engine, r.job.Threads)
	r.result.Engine = engine.Name()
	r.result.Threads = dense.Threads(r.engine)
	return nil
}

func (r *run) openModel(context.Context) (err error) {
	if anySolver(r.job.Solvers, func(s solverEntry) bool { return s.takesModel }) {
		r.model, err = OpenModel("model", r.job.Model, r.host.Root)
	}
	if err == nil {
		err = r.checkEdgeHead()
	}
	if err == nil && r.job.Correlation == "" {
		r.job.Correlation = correlationOf(r.model, r.job)
		r.result.Job.Correlation = r.job.Correlation
	}
	if err == nil && anySolver(r.job.Solvers, func(s solverEntry) bool { return s.takesRankingModel }) {
		r.rankingModel, err = OpenRankingModel("ranking_model", r.job.RankingModel, r.host.Root)
		if err == nil && r.rankingModel.Directed() && r.job.Regulators == "" {
			err = job.Errorf("ranking_model", "%s ranks the pairs from a regulator, and regulators are not known; list them, or take another model, such as %s",
				arrowio.Redacted(r.job.RankingModel), learned.DefaultModelName)
		}
	}
	return err
}

func (r *run) openInput(ctx context.Context) (err error) {
	source, files := table.SourceOf(r.job), r.host.Files
	if source.Gathers() {
		files.Report = r.stage(progress.Reading, "")
	}
	if r.table, err = table.Open(ctx, source, files); err == nil {
		if err := arrowio.CheckGraphNames(r.job.Format, r.table.Names); err != nil {
			return &job.Error{Field: "format", Err: err}
		}
		r.table.KeepSamples = holdsOut(r.job) || anySolver(r.job.Solvers, func(s solverEntry) bool { return s.usesSamples })
		r.table.KeepResampler = r.job.Stability > 0
		if rule, ok := r.penaltyRule(); ok {
			r.table.KeepResampler = r.table.KeepResampler || rule.NeedsSamples
		}
		err = r.checkAdapting()
	}
	return err
}

func (r *run) openReference(ctx context.Context) error {
	if r.job.Reference == "" {
		return nil
	}
	ref, err := evaluation.ReadReference(ctx, r.job.Reference, r.host.Files)
	if err != nil {
		return err
	}
	if r.job.Population == metric.All.String() {
		d := int64(len(r.table.Names))
		err = r.holdPopulation(d * (d - 1))
	} else {
		err = r.holdPopulation(int64(ref.Len()))
	}
	if err != nil {
		return err
	}
	if r.population, err = ref.Population(r.table.Names, r.job.Population, r.job.Undirected); err != nil {
		return err
	}
	found := ref.Result(r.population)
	r.result.Reference = &found
	return nil
}

func (r *run) openPenalties(ctx context.Context) error {
	path := r.job.PenaltyMatrix
	if path == "" {
		return nil
	}
	const field = "penalty_matrix"
	penalties, sha, err := table.ReadSquare(ctx, field, path, r.table.Names, r.host.Files,
		"give a penalty for every pair of variables and no other")
	if err != nil {
		return err
	}
	for i, name := range r.table.Names {
		for j, v := range penalties.Row(i) {
			if v < 0 {
				return job.Errorf(field, "%s: the penalty of %q and %q is %v; give numbers that are zero or more", path, name, r.table.Names[j], v)
			}
		}
	}
	if r.penalties = penalties; r.regulators != nil {
		r.penalties = penalties.Submatrix(r.regulators)
	}
	r.result.Penalty = &job.PenaltyResult{From: "matrix", Rho: job.NaN(), MatrixSHA256: sha}
	return nil
}

func (r *run) openOutput(context.Context) (err error) {
	if r.job.Out != "" {
		r.folder, err = output.OpenFolderIn(r.host.Root, "out", r.job.Out)
	}
	return err
}

func (r *run) openReport(context.Context) error {
	path := r.job.ReportPath()
	if path == "" && r.host.Reported == nil {
		return nil
	}
	var file *output.File
	if path != "" {
		var err error
		if file, err = output.OpenFileIn(r.host.Root, "report", path); err != nil {
			return err
		}
	}
	r.page = &reportPage{file: file, result: r.result, population: r.population, kept: make(map[string]*kept)}
	if r.population == nil {
		return nil
	}
	labelled := r.population.Positives
	if r.population.Kind == metric.Labelled {
		labelled = len(r.population.Pairs)
	}
	const labelBytes = 64 // in a map
	if err := r.memory.hold(labelBytes * int64(labelled)); err != nil {
		return err
	}
	r.page.known = page.KnownBy(r.population, r.regulators != nil)
	return nil
}
