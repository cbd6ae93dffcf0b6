package recovery

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/gladflow/gladflow/arrowio"
	"github.com/gladflow/gladflow/pipelines/job"
	"github.com/gladflow/gladflow/pipelines/progress"
	"github.com/gladflow/gladflow/pipelines/table"
	"github.com/gladflow/gladflow/solver/dense"
)

// Look reads the table of a job of samples, whatever is missing or constant in it, and
// says what it is and how it would be recovered from. Of the job it takes how the table is
// read, the correlation and the model. What the user can put right is a *job.Error.
func Look(ctx context.Context, j job.Job, host Host) (*job.Look, error) {
	if err := Validate(j); err != nil {
		return nil, err
	}
	if !j.SamplesGiven() {
		return nil, job.Errorf("input_kind", "there is nothing to see in a %s; give the samples", j.InputKind)
	}
	r := newRun(j, host)
	var kernels dense.Background
	ctx = dense.WithBackground(ctx, &kernels)
	defer r.memory.release(&kernels)
	defer r.close()
	for _, step := range []func(context.Context) error{r.openEngine, r.openModel} {
		if err := step(ctx); err != nil {
			return nil, err
		}
	}
	files := r.host.Files
	files.Report, files.Admit = r.stage(progress.Reading, ""), r.admitLook
	look, data, err := table.Look(ctx, table.SourceOf(r.job), files, r.engine)
	labels := arrowio.LabelColumn(err)
	if labels != "" && j.IDColumn == "" && j.Input != job.Stdin {
		j.IDColumn, r.job.IDColumn = labels, labels
		look, data, err = table.Look(ctx, table.SourceOf(r.job), files, r.engine)
	}
	if err != nil {
		return nil, job.InterruptedOr(ctx, err)
	}
	if labels != "" {
		look.Advice = append(look.Advice, fmt.Sprintf("column %q holds words from the first row on and was taken for the labels of the rows", labels))
	}
	look.Input.Path = r.result.Job.Input
	groups := repeats(data.Problem.S, data.Shrinkage)
	for _, g := range groups {
		var names []string
		for _, i := range g {
			names = append(names, data.Names[i])
		}
		look.Repeats = append(look.Repeats, names)
	}
	dependent, count, err := dependencies(ctx, data, groups, r.engine)
	if err != nil {
		return nil, job.InterruptedOr(ctx, err)
	}
	for _, g := range dependent {
		var names []string
		for _, i := range g {
			names = append(names, data.Names[i])
		}
		look.Dependent = append(look.Dependent, names)
	}
	then := j
	advise(look, &then)
	if text := dependenciesText(data.Names, dependent, count); text != "" {
		look.Advice = append(look.Advice, text)
	}
	r.table = &table.Table{Names: data.Names}
	r.result.Input.Samples = data.Problem.Samples
	if r.model != nil {
		if warning := r.otherSize(); warning != "" {
			look.Advice = append(look.Advice, warning)
		}
	}
	look.Advice = append(look.Advice, data.Warnings...)
	if table.Across(table.SourceOf(r.job), data.Names) != "" {
		then.Orientation = "columns"
	}
	then.JSON = false
	look.Job, look.Command = then, then.Command(Facts())
	return look, nil
}

// admitLook reserves for the covariance of so many variables.
func (r *run) admitLook(bytes int64, variables int) error {
	return r.memory.raise(bytes, fmt.Sprintf("the covariance of %d variables", variables))
}

// advise says what to do about a table, and sets the fields of the job to it.
func advise(l *job.Look, j *job.Job) {
	say := func(format string, args ...any) { l.Advice = append(l.Advice, fmt.Sprintf(format, args...)) }
	if len(l.Input.Constant) > 0 && j.Constant == "" {
		j.Constant = job.ConstantDrop
		say("variables that do not vary are related to none: leave them out")
	}
	if m := l.Input.Missing; m != nil && j.Missing == "" {
		const nearlyAll = 0.95
		switch whole := float64(l.WholeSamples) / float64(l.Input.Samples); {
		case whole >= nearlyAll:
			j.Missing = job.MissingRows
			say("nearly all samples are whole: leave out the others")
		case m.LeastPair < 10:
			j.Missing = job.MissingEM
			say("some variables have %d samples in common, too few for a correlation: estimate by EM, or leave out those that miss most", m.LeastPair)
		default:
			j.Missing = job.MissingPairwise
			say("any two variables have %d samples in common and more: estimate every pair from these", m.LeastPair)
		}
	}
	d := l.Input.Variables - len(l.Input.Constant)
	if float64(l.Input.HeavyTails) >= table.HeavyShare*float64(d) && j.Correlation == "" {
		if l.CarriedByFew {
			say("a few samples have most of the variance: if they are errors leave them out, or take ranks (normal-scores); if they are what matters, keep pearson")
		} else {
			j.Correlation = job.CorrelationAuto
			say("%d of %d variables have heavy tails or outliers: ranks may find more", l.Input.HeavyTails, d)
		}
	}
	if l.Repeats != nil {
		var out []string
		for _, g := range l.Repeats {
			out = append(out, g[1:]...)
		}
		const most = 50
		if !slices.ContainsFunc(out, func(name string) bool { return strings.Contains(name, ",") }) && len(out) <= most {
			j.Exclude = append(slices.Clone(j.Exclude), out...)
		}
		say("of variables that repeat each other leave in one: the edges of the others say nothing")
	}
	if n := len(l.TwoValued); n > 0 && n <= 3 && 5*n < d {
		words := map[bool][3]string{true: {"has", "it names", "it"}, false: {"have", "they name", "them"}}[n == 1]
		say("%s %s two different values: if %s groups, leave %s out (exclude), or take what follows from %[4]s out of the others (adjust)", job.AllOf(l.TwoValued), words[0], words[1], words[2])
	} else if n > 0 {
		say("%d of %d variables have two different values: their edges are those of correlations of 0 and 1, not of a model of such values", n, d)
	}
	if m := l.Input.Samples; d > m {
		say("there are more variables than samples (%d to %d): only strong edges can be told from chance", d, m)
	}
	if l.LargestDeviation.Value > farUnits*l.LeastDeviation.Value && j.Correlation == "none" {
		say("standard deviations are %.0e apart: take a correlation, which has no units", l.LargestDeviation.Value/l.LeastDeviation.Value)
	}
}
