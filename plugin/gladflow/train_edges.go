package main

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/gladflow/gladflow/pipelines/job"
	"github.com/gladflow/gladflow/pipelines/progress"
	"github.com/gladflow/gladflow/pipelines/training/edges"
	"github.com/gladflow/gladflow/solver/glad/card"
)

func trainEdgesCommand() *cobra.Command {
	var t job.EdgeTraining
	c := &cobra.Command{
		Use:   "edges",
		Short: "train how likely an edge is, for a model of GLAD",
		Long: `Trains the edge head of a model: a small neural network that makes the
probability of an edge of the correlations and partial correlations of a pair and
of its table, see docs/method.md. The cells of the model stay as they are. The
tables are simulated networks of many kinds and sizes, empty ones among them.

At the end it is checked on networks that it was not trained on, two kinds of them
unseen; the reliability table that is printed stands in the model's card too:
gladflow models --card MODEL. The same seed gives the same file.`,
		Example: `  gladflow train edges --from general --seed 1 --out general.json
  gladflow recover expression.csv --solvers glad --model general.json --out network`,
		Args: arguments(),
		RunE: func(c *cobra.Command, _ []string) error {
			bar := newProgressBar(c.ErrOrStderr())
			defer bar.close()
			r, err := edges.Run(c.Context(), t, edges.Host{Progress: bar.show})
			bar.close()
			if err != nil {
				return asFlag(c, &t, err)
			}
			if t.JSON {
				printJSON(c.OutOrStdout(), r)
			} else {
				printEdgeTraining(c.OutOrStdout(), r)
			}
			return nil
		},
	}
	bindOutFirst(c, &t, job.Facts{})
	flag := c.Flags().Lookup("name")
	flag.Value = shown{flag.Value, "NAME"}
	return c
}

func printEdgeTraining(w io.Writer, r *edges.Result) {
	fmt.Fprintf(w, "%s: an edge head of %d parameters\ntrained on %s with %s, seed %d, validation %.5f; %s s, engine %s\n\n", r.Model, r.Parameters,
		progress.Count(r.Edges.Tables, "simulated table"), progress.Count(r.Edges.Pairs, "pair"), r.Training.Seed, r.Edges.Validation, seconds(r.Seconds), r.Engine)
	printReliability(w, r.Edges)
	fmt.Fprintf(w, `model in %s
try next:
  gladflow models --card %[1]s
  gladflow recover YOUR-TABLE.csv --solvers glad --model %[1]s --out network
`, r.Training.Out)
}

// printReliability prints how the probabilities of an edge head do.
func printReliability(w io.Writer, e *card.Edges) {
	figures := textTable{columns: []column{{"edges of", left}, {"trained on", left}, {"tables", right}, {"Brier", right}, {"of the share", right},
		{"AUPR", right}, {"of |pcor|", right}, {"of |r|", right}, {"kept", right}, {"false", right}}}
	for _, f := range e.Families {
		seen := "no"
		if f.Seen {
			seen = "yes"
		}
		aupr := func(v float64) string {
			if f.Edges == 0 {
				return none
			}
			return figure(job.Float(v), "%.3f")
		}
		figures.add(f.Family, seen, fmt.Sprint(f.Tables), figure(job.Float(f.Brier), "%.4f"), figure(job.Float(f.Constant), "%.4f"),
			aupr(f.AUPR), aupr(f.AUPRPartial), aupr(f.AUPRCorrelation), fmt.Sprint(f.Kept), figure(job.Float(f.FalseShare), "%.3f"))
	}
	figures.print(w)
	fmt.Fprint(w, "\nshare of edges less mean probability, by probability (number of pairs)\n")
	reliability := textTable{columns: []column{{"edges of", left}}}
	for b := range 10 {
		reliability.columns = append(reliability.columns, column{fmt.Sprintf(".%d", b), right})
	}
	for _, f := range e.Families {
		row := []string{f.Family}
		for b, n := range f.Counts {
			text := none
			if n > 0 {
				text = fmt.Sprintf("%+.3f (%d)", f.Held[b]-f.Said[b], n)
			}
			row = append(row, text)
		}
		reliability.add(row...)
	}
	reliability.print(w)
	fmt.Fprintf(w, "\nchecked on %s; AUPR: average precision, mean over tables; kept: pairs at an\nexpected share of false edges of .2, false: the share of them that are none\n", e.Checked)
}
