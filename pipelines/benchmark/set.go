package benchmark

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/gladflow/gladflow/pipelines/comparison"
	"github.com/gladflow/gladflow/pipelines/job"
	"github.com/gladflow/gladflow/pipelines/progress"
	"github.com/gladflow/gladflow/pipelines/recovery"
)

// withDefaults is the set with what the benchmark says of sets that do not say.
func (r *run) withDefaults(s Set) Set {
	defaulted := func(mine *string, of string) {
		if *mine == "" {
			*mine = of
		}
	}
	defaulted(&s.Orientation, r.Orientation)
	defaulted(&s.Orientation, "rows")
	defaulted(&s.IDColumn, r.IDColumn)
	defaulted(&s.Population, r.Population)
	defaulted(&s.Background, r.Background)
	defaulted(&s.Undirected, fmt.Sprint(r.Undirected))
	return s
}

// An opened set is one whose files have been read.
type opened struct {
	*Known
	job  job.Job // without solvers
	sums question
}

// open reads the files of a set and makes the population. It notes what they are in
// the result.
func (r *run) open(ctx context.Context, s Set, result *SetResult) (*opened, error) {
	o := &opened{job: r.solving()}
	o.job.Regulators = s.Regulators
	report := progress.Begin(r.told(s.Name), progress.Reading, "")
	regulators, err := sumOf(ctx, "regulators", s.Regulators)
	if err != nil {
		return nil, err
	}
	if o.Known, err = s.Open(ctx, r.resamples, uint64(r.Seed)); err != nil {
		return nil, err
	}
	if o.ConstantLeft != nil {
		result.Warnings = append(result.Warnings, "left out are variables of the background that do not vary: "+strings.Join(o.ConstantLeft, ", "))
	}
	result.Samples, result.Variables, result.SHA256 = o.Data.Samples, len(o.Data.Names), o.Data.SHA256
	result.Reference = o.Network.Result(o.Judge.Population)
	if o.LinesLeft > 0 {
		result.Reference.Text += fmt.Sprintf("; %s of the reference on the background left out", progress.Count(o.LinesLeft, "line"))
	}
	o.sums = question{
		Build: r.build, Table: o.Data.SHA256, Reference: o.Network.SHA256, Regulators: regulators, Models: r.models,
		Set: o.Set, Job: o.job, Resamples: r.resamples, Seed: r.Seed,
	}
	report.Done(fmt.Sprintf("%s of %s", progress.Count(o.Data.Samples, "sample"), progress.Count(len(o.Data.Names), "variable")))
	return o, nil
}

// set runs the solvers on a set that are not done, and gathers what all have found.
func (r *run) set(ctx context.Context, s Set) (SetResult, error) {
	result := SetResult{Set: s, Solvers: []SolverFigures{}}
	o, err := r.open(ctx, s, &result)
	if err != nil {
		return result, err
	}
	result.Set = o.Set
	solvers, missing := r.solversFor(o.job)
	if missing != nil {
		result.Warnings = append(result.Warnings, fmt.Sprintf("left out, for the set has no list of regulators: %s", job.AllOf(missing)))
	}
	found := make(map[string]SolverFigures)
	var todo []string
	for _, name := range solvers {
		if done, ok := r.store.load(s.Name, name, o.key(name)); ok {
			found[name] = SolverFigures{Solver: name, Status: done.Solver.StatusText(), Seconds: done.Solver.Seconds, Reused: true, figures: done.Figures}
			continue
		}
		todo = append(todo, name)
	}
	err = r.solve(ctx, o, todo, &result, found)
	for _, name := range solvers {
		if f, ok := found[name]; ok {
			result.Solvers = append(result.Solvers, f)
		}
	}
	return result, err
}

func (o *opened) key(solver string) string {
	q := o.sums
	q.Solver = solver
	return q.key()
}

// solve runs solvers on a set.
func (r *run) solve(ctx context.Context, o *opened, solvers []string, result *SetResult, found map[string]SolverFigures) error {
	if len(solvers) == 0 {
		return nil
	}
	j := o.job
	j.Solvers = solvers
	ran, err := comparison.Solve(ctx, j, o.Data, comparison.Host{Progress: r.told(o.Set.Name)}, func(s comparison.Solved) error {
		figures, err := o.Judge.Score(ctx, s.Scores)
		if err != nil {
			return err
		}
		name := s.Result.Name
		found[name] = SolverFigures{Solver: name, Status: s.Result.StatusText(), Seconds: s.Result.Seconds, figures: figures}
		return r.store.save(o.Set.Name, name, record{o.key(name), s.Result, figures})
	})
	if ran == nil {
		return err
	}
	result.Warnings = append(result.Warnings, ran.Warnings...)
	for _, s := range ran.Solvers {
		if s.Error != "" {
			found[s.Name] = SolverFigures{Solver: s.Name, Status: s.StatusText(), Seconds: s.Seconds, Error: s.Error}
		}
	}
	return err
}

// solversFor are those that run on a set: of the ones that are named, the baseline with
// them, or of all, those that can. The missing are those that are named and cannot.
func (r *run) solversFor(j job.Job) (can, missing []string) {
	named := r.Solvers
	if named == nil {
		named = comparison.Runnable(recovery.SolverNames(), j)
	}
	if !slices.Contains(named, r.Baseline) {
		named = append([]string{r.Baseline}, named...)
	}
	can = comparison.Runnable(named, j)
	for _, name := range named {
		if !slices.Contains(can, name) {
			missing = append(missing, name)
		}
	}
	return can, missing
}
