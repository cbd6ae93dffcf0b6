package benchmark

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/gladflow/gladflow/arrowio"
	"github.com/gladflow/gladflow/pipelines/comparison"
	"github.com/gladflow/gladflow/pipelines/evaluation"
	"github.com/gladflow/gladflow/pipelines/job"
	"github.com/gladflow/gladflow/pipelines/metric"
	"github.com/gladflow/gladflow/pipelines/progress"
	"github.com/gladflow/gladflow/pipelines/recovery"
	"github.com/gladflow/gladflow/pipelines/table"
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
	Set
	table *comparison.Table
	judge *comparison.Judge
	job   job.Job // without solvers
	sums  question
}

// open reads the files of a set and makes the population. It notes what they are in
// the result.
func (r *run) open(ctx context.Context, s Set, result *SetResult) (*opened, error) {
	o := &opened{Set: s, job: r.solving()}
	o.job.Regulators = s.Regulators
	report := progress.Begin(r.told(s.Name), progress.Reading, "")
	regulators, err := sumOf(ctx, "regulators", s.Regulators)
	if err != nil {
		return nil, err
	}
	if o.table, err = readTable(ctx, &o.Set); err != nil {
		return nil, err
	}
	reference, err := evaluation.ReadReference(ctx, s.Reference, table.Files{})
	if err != nil {
		return nil, err
	}
	kind := metric.All
	if s.Population == metric.Labelled.String() || s.Population == "" && reference.Labelled {
		kind = metric.Labelled
	}
	settings := comparison.Settings{Kind: kind, Undirected: s.Undirected == "true", Resamples: r.resamples, Seed: uint64(r.Seed)}
	if s.Background != "" {
		settings.Scored = func(name string) bool { return !strings.HasPrefix(name, s.Background) }
		o.leaveOut(result)
	}
	known, left := withoutBackground(metric.Reference{Source: reference.Source, Target: reference.Target, Label: reference.Label}, s.Background)
	if o.judge, err = comparison.NewJudge(known, o.table.Names, settings); err != nil {
		return nil, err
	}
	result.Samples, result.Variables, result.SHA256 = o.table.Samples, len(o.table.Names), o.table.SHA256
	result.Reference = reference.Result(o.judge.Population)
	if left > 0 {
		result.Reference.Text += fmt.Sprintf("; %s of the reference on the background left out", progress.Count(left, "line"))
	}
	o.sums = question{
		Build: r.build, Table: o.table.SHA256, Reference: reference.SHA256, Regulators: regulators, Models: r.models,
		Set: o.Set, Job: o.job, Resamples: r.resamples, Seed: r.Seed,
	}
	report.Done(fmt.Sprintf("%s of %s", progress.Count(o.table.Samples, "sample"), progress.Count(len(o.table.Names), "variable")))
	return o, nil
}

// withoutBackground leaves out the pairs of variables whose names begin with background,
// and counts them.
func withoutBackground(r metric.Reference, background string) (some metric.Reference, left int) {
	if background == "" {
		return r, 0
	}
	for k, source := range r.Source {
		if strings.HasPrefix(source, background) || strings.HasPrefix(r.Target[k], background) {
			left++
			continue
		}
		some.Source, some.Target = append(some.Source, source), append(some.Target, r.Target[k])
		if r.Label != nil {
			some.Label = append(some.Label, r.Label[k])
		}
	}
	return some, left
}

// leaveOut leaves out background variables that do not vary, which solvers refuse: they
// are not scored anyway.
func (o *opened) leaveOut(result *SetResult) {
	var left []string
	kept := o.table.Only(func(name string) bool {
		out := strings.HasPrefix(name, o.Background) && o.table.Constant(name)
		if out {
			left = append(left, name)
		}
		return !out
	})
	if left != nil {
		o.table = kept
		result.Warnings = append(result.Warnings, "left out are variables of the background that do not vary: "+strings.Join(left, ", "))
	}
}

// readTable reads the table of a set. Of one that was found in a folder the column
// that labels the rows is taken where the file shows it.
func readTable(ctx context.Context, s *Set) (*comparison.Table, error) {
	options := arrowio.SampleOptions{IDColumn: s.IDColumn}
	var err error
	if options.Orientation, err = arrowio.ParseOrientation(s.Orientation); err != nil {
		return nil, err
	}
	if !s.found {
		return comparison.ReadTable(ctx, s.Table, options)
	}
	t, labels, err := comparison.ReadLabelled(ctx, s.Table, options)
	s.IDColumn = labels
	return t, err
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
	ran, err := comparison.Solve(ctx, j, o.table, comparison.Host{Progress: r.told(o.Name)}, func(s comparison.Solved) error {
		figures, err := o.judge.Score(ctx, s.Scores)
		if err != nil {
			return err
		}
		name := s.Result.Name
		found[name] = SolverFigures{Solver: name, Status: s.Result.StatusText(), Seconds: s.Result.Seconds, figures: figures}
		return r.store.save(o.Name, name, record{o.key(name), s.Result, figures})
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
