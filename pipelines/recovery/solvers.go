package recovery

import (
	"context"
	"slices"

	"github.com/gladflow/gladflow/pipelines/device"
	"github.com/gladflow/gladflow/pipelines/job"
	"github.com/gladflow/gladflow/solver"
	learned "github.com/gladflow/gladflow/solver/association/ranking"
	"github.com/gladflow/gladflow/solver/dense"
	"github.com/gladflow/gladflow/solver/glad"
	"github.com/gladflow/gladflow/solver/glasso"
)

// solvers lists the solvers that a job can name, in the order in which they are
// presented. Each has a file of its own.
func solvers() []solverEntry {
	return []solverEntry{
		gladEntry(), bcdEntry(), gistaEntry(), admmEntry(), amEntry(),
		correlationEntry(), spearmanEntry(), clrEntry(), pcorEntry(), spectralEntry(), expressionEntry(), ridgeEntry(),
	}
}

// A solverEntry is a solver that a job can name.
type solverEntry struct {
	job.SolverInfo
	// takesPenalty, takesModel and takesRankingModel say what it needs besides the problem.
	takesPenalty, takesModel, takesRankingModel bool
	// onGPU says that it has code for GPUs.
	onGPU bool
	// objectiveOption is the key of the option that weighs a quadratic penalty
	// in its objective; empty for an objective without one.
	objectiveOption string
	// build makes the solver, or rank ranks pairs: it is one of the two.
	build func(solverConfig) solver.Solver
	// buildParts makes the solver for parts of S; nil where it needs all of it.
	buildParts func(solverConfig) partsSolver
	rank       func(context.Context, rankingConfig) (*ranking, error)
	// needsSamples says that it cannot do with their covariance; usesSamples that it
	// takes them where they are given.
	needsSamples, usesSamples bool
	// marginal says that its ranking is by relations of two variables whatever the others do.
	marginal bool
	// probability says that its ranking has the probability of an edge.
	probability bool
	// ranks says that it sees the ranks of the samples, by the job.
	ranks func(job.Job) bool
	// memory is what it takes at a time on d variables, in bytes: S is not among it,
	// the estimate is. It is no less than what it takes and, on a network whose
	// variables are all connected, at most about twice as much:
	// TestMemoryOfSolvers measures both.
	memory func(c solverConfig, d int) int64
	// work is about how much it calculates on a table, to an order of magnitude.
	work func(c solverConfig, t shape) work
}

// A solverConfig is what a run gives to its solvers.
type solverConfig struct {
	job      job.Job // resolved
	penalty  glasso.Penalty
	model    *glad.Model
	learned  *learned.Model
	engine   dense.Engine
	gpu      device.GPU // nil on the CPU
	recorder solver.Recorder
	samples  int // 0 while they are not counted
	// adapting makes the solver in GLAD's place where it is fitted to the table; nil
	// elsewhere.
	adapting func(solverConfig) solver.Solver
}

// configuration is what the solvers of the run are given.
func (r *run) configuration(penalty glasso.Penalty, recorder solver.Recorder) solverConfig {
	return solverConfig{job: r.job, penalty: penalty, model: r.model, learned: r.rankingModel, engine: r.engine, gpu: r.place.GPU, recorder: recorder, samples: r.result.Input.Samples}
}

// settings are those of a classical solver.
func (c solverConfig) settings() glasso.Settings {
	return glasso.Settings{
		Penalty:        c.penalty,
		Gap:            c.job.Gap,
		IterationLimit: c.job.IterationLimit,
		Engine:         c.engine,
		Recorder:       c.recorder,
	}
}

// lassoObjective is what the graphical lasso minimises.
const lassoObjective = "-log det Θ + tr(SΘ) + Σ ρij|Θij|"

// Solvers describes the solvers there are.
func Solvers() []job.SolverInfo {
	var infos []job.SolverInfo
	for _, s := range solvers() {
		infos = append(infos, s.SolverInfo)
	}
	return infos
}

// SolverNames are the names that Job.Solvers may hold.
func SolverNames() []string {
	var names []string
	for _, s := range solvers() {
		names = append(names, s.Name)
	}
	return names
}

// SelfSufficient are the names of the solvers that need nothing besides a table of
// samples.
func SelfSufficient() []string {
	return slices.DeleteFunc(SolverNames(), func(name string) bool { return find(name).NeedsRegulators })
}

// ObjectiveOption is the key of the option of job.Job that weighs a quadratic
// penalty in the objective of the solver named, such as am_lambda. It is empty for
// other solvers.
func ObjectiveOption(name string) string {
	for _, s := range solvers() {
		if s.Name == name {
			return s.objectiveOption
		}
	}
	return ""
}

// find returns a solver that Validate has found to be known.
func find(name string) solverEntry {
	all := solvers()
	return all[slices.IndexFunc(all, func(s solverEntry) bool { return s.Name == name })]
}

// anySolver reports whether one of the solvers named is as is says.
func anySolver(names []string, is func(solverEntry) bool) bool {
	return slices.ContainsFunc(names, func(n string) bool { return is(find(n)) })
}
