package main

import (
	"errors"
	"fmt"
	"io"
	"math"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/gladflow/gladflow/pipelines/job"
	"github.com/gladflow/gladflow/pipelines/progress"
	"github.com/gladflow/gladflow/pipelines/simulate"
	"github.com/gladflow/gladflow/pipelines/training"
)

func trainCommand() *cobra.Command {
	var t job.Training
	c := &cobra.Command{
		Use:   "train FAMILY",
		Short: "train a model of GLAD on simulated networks, or fine-tune one on your tables",
		Long: `Trains a model on networks of a family, as simulate draws them, and writes the
best weights found, by a figure on validation networks of their own, into a model
file for recover --model. FAMILY is ` + job.OneOf(simulate.Graphs()) + `, see
gladflow simulate --help, or mixed, which draws six of these, of all sizes up to --dimension,
or standardised, which draws correlation matrices.
gene-regulators is simulated gene expression whose regulators are known, for recover
--regulators; it takes a seed, numbers of networks and steps, and nothing else.
Elsewhere --dimension, --samples and --density may be several numbers, and --density
a range, for a model of mixed use.

With --from training starts from the weights of another model: fine-tuning. With
--data instead of FAMILY it is done on your own tables, in a folder that holds,
for each NAME, the table of samples (NAME.parquet, .arrow, .csv or .tsv) and what
is known of it, one of
  NAME.precision.parquet  the true precision matrix: columns row, column, value
  NAME.reference.csv      the true network: columns source, target and, if
                          labelled, 0 or 1; pairs that are not listed are no edges
For a network the matrix to learn is the maximum-likelihood precision matrix of
the table with its zeros, with a penalty of a thousandth of the mean variance on
the edges. --correlation is what recover will be told. With --from the result is
not worse than the start on the validation tables.

After every pass over the data the state is saved; when the training is
interrupted, the same command with --resume goes on, to the same result as without
interruption.`,
		Example: `  gladflow train er --dimension 100 --samples 100 --out model.json
  gladflow train er --dimension 39 --density 0.05 --samples 15,35,100 --graphs 30 --architecture pm-general --out mixed.json
  gladflow train grid --dimension 36 --samples 2000 --select ps --steps 300 --seed 1 --out grid.json
  gladflow train mixed --dimension 100 --graphs 300 --validation-graphs 60 --architecture pm-general --select mean-nmse --steps 2000 --out general.json
  gladflow train gene-regulators --seed 1 --out gene-regulators.json
  gladflow train --from model.json --data folder --correlation pearson --out tuned.json
  gladflow train --from model.json scale-free --dimension 100 --samples 100 --out tuned.json`,
		Args: func(c *cobra.Command, args []string) error {
			if t.Data != "" {
				return arguments()(c, args)
			}
			return arguments("FAMILY")(c, args)
		},
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) > 0 {
				t.Family = args[0]
			}
			if err := handOver(c, t.Device, nil); err != nil {
				return asFlag(c, &t, err)
			}
			bar := newTrainProgress(c.ErrOrStderr())
			defer bar.bar.close()
			r, err := training.Run(c.Context(), t, training.Host{Progress: bar.show})
			bar.bar.close()
			if err != nil {
				if checkpoint, command := resumption(err); command != "" {
					fmt.Fprintf(c.ErrOrStderr(), "the state of the training is in %s; go on with\n  %s\n", checkpoint, command)
				}
				return asFlag(c, &t, err)
			}
			if t.JSON {
				printJSON(c.OutOrStdout(), r)
			} else {
				printTraining(c.OutOrStdout(), r)
			}
			return nil
		},
		ValidArgsFunction: func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
			if len(args) > 0 {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			return simulate.Graphs(), cobra.ShellCompDirectiveNoFileComp
		},
	}
	bindOutFirst(c, &t, training.Facts(), "family")
	for name, placeholder := range map[string]string{
		"name": "NAME", "description": "TEXT",
		"weights": "LOW:HIGH", "scales": "SPREAD|LOW:HIGH", "density": "NUMBER|LOW:HIGH",
	} {
		flag := c.Flags().Lookup(name)
		flag.Value = shown{flag.Value, placeholder}
	}
	c.AddCommand(trainRankingCommand(), trainEdgesCommand())
	return c
}

// resumption is the checkpoint of a training that has ended with err, and the command that
// goes on from it; empty if there is none.
func resumption(err error) (checkpoint, command string) {
	var interruption *training.Interruption
	var halt *training.Halt
	switch {
	case errors.As(err, &interruption):
		return interruption.Checkpoint, interruption.Command
	case errors.As(err, &halt):
		return halt.Checkpoint, halt.Command
	}
	return "", ""
}

// shown is a flag whose value help calls by another word.
type shown struct {
	pflag.Value
	placeholder string
}

// Type implements pflag.Value.
func (s shown) Type() string { return s.placeholder }

// trainProgress shows a training on standard error: a bar on a terminal, a line
// every other second elsewhere.
type trainProgress struct {
	w    io.Writer
	bar  *progressBar
	last time.Time // of a line
}

func newTrainProgress(w io.Writer) *trainProgress {
	return &trainProgress{w: w, bar: newProgressBar(w)}
}

// betweenLines is the time between two lines where there is no terminal.
const betweenLines = 2 * time.Second

// show is the training.Host's.
func (p *trainProgress) show(now training.Update) {
	switch {
	case now.Stage != progress.Training || now.Done:
		p.bar.show(now.Update)
	case now.Step.RolledBack:
		p.bar.close()
		fmt.Fprintf(p.w, "training: %s\n", now.Detail)
	case p.bar.on:
		now.Detail = besideBar(now)
		p.bar.show(now.Update)
	case time.Since(p.last) >= betweenLines && now.Step.Steps > 0:
		p.last = time.Now()
		fmt.Fprintf(p.w, "training: %s\n", now.Detail)
	}
}

// besideBar is what a step says where a bar tells how many are done: short, for
// a line that wraps is not cleared.
func besideBar(now training.Update) string {
	if now.Step.Steps == 0 { // none has been done yet
		return ""
	}
	var words []string
	if v := now.Step.Loss; !math.IsNaN(v) {
		words = append(words, fmt.Sprintf("loss %.3g", v))
	}
	if v := now.Step.Validation; !math.IsNaN(v) {
		m, _ := training.MetricOf(now.Figure)
		words = append(words, fmt.Sprintf(m.Short, v))
	}
	if v := now.Step.Left; v > 0 {
		words = append(words, v.Round(time.Second).String()+" left")
	}
	return strings.Join(words, ", ")
}

func printTraining(w io.Writer, r *training.Result) {
	t := r.Training
	fmt.Fprintf(w, "%s: %s parameters", r.Model, fmt.Sprint(r.Parameters))
	if r.Architecture != "" {
		fmt.Fprintf(w, ", architecture %s", r.Architecture)
	}
	fmt.Fprintf(w, "\ntrained on %s", r.Family)
	if len(t.Samples) > 0 {
		fmt.Fprintf(w, ": %s of %s samples, %s", progress.Count(r.Examples, "covariance"), t.Samples, progress.Count(r.Graphs, "network"))
	}
	fmt.Fprintf(w, ", seed %d\n", t.Seed)
	by := t.Select
	if by == "" {
		by = "average precision of |B|"
	}
	if r.StartKept {
		fmt.Fprintf(w, "best by %s is the model to start from, which was kept: none of %d steps was better", by, r.Steps)
	} else {
		fmt.Fprintf(w, "best by %s at step %d of %d", by, r.Step, r.Steps)
	}
	if r.Starts > 1 {
		fmt.Fprintf(w, " from start %d of %d", r.Start, r.Starts)
	}
	fmt.Fprintf(w, "; %s s, engine %s, device %s", seconds(r.Seconds), r.Engine, r.Device)
	if r.RolledBack > 0 {
		fmt.Fprintf(w, "; %s rolled back, whose loss was not finite", progress.Count(r.RolledBack, "step"))
	}
	if r.DeviceName != "" {
		fmt.Fprintf(w, "\n%s: %s", r.Device, r.DeviceName)
	}
	if r.DeviceNote != "" {
		fmt.Fprintf(w, "\ndevice: %s", r.DeviceNote)
	}
	fmt.Fprint(w, "\n\n")
	figures := textTable{columns: []column{{"", left}}}
	for _, v := range r.Validation.Metrics {
		m, _ := training.MetricOf(v.Key)
		figures.columns = append(figures.columns, column{m.Title, right})
	}
	row := func(name string, f training.Figures) {
		cells := []string{name}
		for _, v := range f.Metrics {
			m, _ := training.MetricOf(v.Key)
			cells = append(cells, figure(v.Value, m.Format))
		}
		figures.add(cells...)
	}
	if r.Before != nil {
		row("before", *r.Before)
		row("after", r.Validation)
	} else {
		row("validation", r.Validation)
	}
	figures.print(w)
	fmt.Fprintf(w, "\nvalidation: %s of %s", progress.Count(r.Validation.Examples, "covariance"), progress.Count(r.Validation.Graphs, "network"))
	if t.Family == training.FamilyGeneRegulators {
		fmt.Fprint(w, "; edges from a regulator, mean over networks")
	} else {
		fmt.Fprint(w, "; NMSE: 10 log10(E|Z-Theta*|^2/E|Theta*|^2), its error over networks")
	}
	fmt.Fprintln(w)
	if r.Threshold > 0 {
		fmt.Fprintf(w, "threshold: partial correlations below %.4g are set to zero in Z\n", r.Threshold)
	}
	for _, warning := range r.Warnings {
		fmt.Fprintf(w, "warning: %s\n", warning)
	}
	correlation := t.Correlation
	if correlation == "" {
		correlation = "none"
	}
	if t.Family == training.FamilyGeneRegulators {
		correlation = "pearson --regulators YOUR-LIST.txt"
	}
	fmt.Fprintf(w, `model in %s
try next:
  gladflow models --card %[1]s
  gladflow recover YOUR-TABLE.csv --correlation %s --solvers glad --model %[1]s --out network
`, t.Out, correlation)
}
