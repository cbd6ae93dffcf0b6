package main

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/gladflow/gladflow/pipelines/job"
	"github.com/gladflow/gladflow/pipelines/progress"
	"github.com/gladflow/gladflow/pipelines/training/rankings"
)

func trainRankingCommand() *cobra.Command {
	var t job.RankingTraining
	c := &cobra.Command{
		Use:   "ranking",
		Short: "train the learned ranking of expression on simulated gene expression",
		Long: `Trains the model of the solver expression, for recover --ranking-model: small
neural networks that rank the pairs of a table by six association scores and
four numbers of the table, see docs/method.md. The tables are simulated gene
expression, drawn as gladflow simulate genes draws them: all families, 18 to
300 genes, 20 to 1000 samples, marginals distorted in two of five.

With --regulators the model is for tables whose regulators are known: it ranks
the pairs from a regulator to another gene, by three inputs more, coefficients
of regressions on the regulators. Its tables come with lists of regulators, some
of which have no target; half of them have 120 genes and 30 regulators.

Other simulated networks serve to fit what probability of an edge a score stands
for, and others again to check it, and the ranking: that is what is printed. The
probability is one under these simulations. The same seed gives the same file.`,
		Example: `  gladflow train ranking --seed 1 --out gene.json
  gladflow recover expression.csv --solvers expression --ranking-model gene.json --out network
  gladflow train ranking --regulators --seed 1 --out gene-directed.json`,
		Args: arguments(),
		RunE: func(c *cobra.Command, _ []string) error {
			bar := newProgressBar(c.ErrOrStderr())
			defer bar.close()
			r, err := rankings.Run(c.Context(), t, rankings.Host{Progress: bar.show})
			bar.close()
			if err != nil {
				return asFlag(c, &t, err)
			}
			if t.JSON {
				printJSON(c.OutOrStdout(), r)
			} else {
				printRankingTraining(c.OutOrStdout(), r)
			}
			return nil
		},
	}
	bindOutFirst(c, &t, job.Facts{})
	for name, placeholder := range map[string]string{"name": "NAME", "description": "TEXT"} {
		flag := c.Flags().Lookup(name)
		flag.Value = shown{flag.Value, placeholder}
	}
	return c
}

func printRankingTraining(w io.Writer, r *rankings.Result) {
	t := r.Training
	fmt.Fprintf(w, "%s: %d parameters\ntrained on %s with %s, seed %d; %s s\n\n", r.Model, r.Parameters,
		progress.Count(r.Networks, "simulated network"), progress.Count(r.Pairs, "pair"), t.Seed, seconds(r.Seconds))
	families := textTable{columns: []column{{"checked on", left}, {"networks", right}, {"AUROC", right}, {"AUPR", right}, {"of spectral", right}}}
	if t.Regulators {
		families.columns = append(families.columns, column{"of z|R|+z|B|", right})
	}
	for _, f := range r.Families {
		row := []string{f.Family, fmt.Sprint(f.Networks), figure(f.AUROC, "%.3f"), figure(f.AveragePrecision, "%.3f"), figure(f.Spectral, "%.3f")}
		if t.Regulators {
			row = append(row, figure(f.Blend, "%.3f"))
		}
		families.add(row...)
	}
	families.print(w)
	fmt.Fprintln(w)
	bins := textTable{columns: []column{{"probability", left}, {"pairs", right}, {"said", right}, {"held", right}}}
	for _, b := range r.Calibration.Bins {
		bins.add(fmt.Sprintf("%.1f to %.1f", float64(b.From), float64(b.To)), fmt.Sprint(b.Pairs), figure(b.Said, "%.3f"), figure(b.Held, "%.3f"))
	}
	bins.print(w)
	fmt.Fprintf(w, "\nexpected calibration error %s; AUPR: average precision; means over networks\n", figure(r.Calibration.Error, "%.4f"))
	fmt.Fprintf(w, `model in %s
try next:
  gladflow models --card %[1]s
  gladflow recover YOUR-TABLE.csv --solvers expression --ranking-model %[1]s%[2]s --out network
`, t.Out, map[bool]string{true: " --regulators YOUR-REGULATORS.txt"}[t.Regulators])
}
