package main

import (
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/gladflow/gladflow/pipelines/experiment"
	"github.com/gladflow/gladflow/pipelines/job"
)

func experimentCommand() *cobra.Command {
	var o experiment.Options
	var list bool
	c := &cobra.Command{
		Use:   "experiment NAME",
		Short: "repeat the paper's synthetic experiments, or judge a model for any table",
		Long: `Repeats one of the synthetic experiments of the paper that GLAD comes from, or
all of them. Each leaves a table (Parquet), a figure (SVG and PNG) and a
paragraph (Markdown) that sets our figure beside the paper's and explains the
difference; the paragraph is printed too.

The experiment "general" is none of the paper's: it judges models for any table by
simulated families, sizes and scales, beside tuned and trained solvers; its flags
say which of them.

With --all they go into one document, docs/RESULTS.md if it is not named.`,
		Example: `  gladflow experiment --list
  gladflow experiment admm-grid --quick
  gladflow experiment convergence --out results
  gladflow experiment ecoli-subnetwork --network ecoli_sub_30.sif
  gladflow experiment dream5 --challenge challenge
  gladflow experiment general --families er-0.1,hub --sizes 100x100 --graphs 4
  gladflow experiment general --models general,older.json --experts experts
  gladflow experiment --all`,
		Args: func(c *cobra.Command, args []string) error {
			if list || o.All {
				return arguments()(c, args)
			}
			return arguments("NAME")(c, args)
		},
		ValidArgs: experiment.Names(),
		RunE: func(c *cobra.Command, args []string) error {
			if list {
				listExperiments(c.OutOrStdout())
				return nil
			}
			if len(args) > 0 {
				o.Name = args[0]
			}
			bar := newProgressBar(c.ErrOrStderr())
			defer bar.close()
			outcomes, err := experiment.Perform(c.Context(), o, bar.show)
			bar.close()
			for i, out := range outcomes {
				if i > 0 {
					fmt.Fprintln(c.OutOrStdout())
				}
				fmt.Fprint(c.OutOrStdout(), out.Markdown(out.Experiment.Name+".svg", 1))
			}
			return experimentError(c, &o, err)
		},
	}
	bind(c, &o, job.Facts{}, "name")
	c.Flags().BoolVar(&list, "list", false, "list the experiments")
	return c
}

// experimentError is asFlag for a document whose name is the argument.
func experimentError(c *cobra.Command, o *experiment.Options, err error) error {
	var j *job.Error
	if errors.As(err, &j) && j.Field == "name" {
		return usage(c, "%s", j.Reason)
	}
	return asFlag(c, o, err)
}

func listExperiments(w io.Writer) {
	t := textTable{columns: []column{{"experiment", left}, {"about", left}}}
	for _, e := range experiment.All() {
		t.add(e.Name, e.Title)
	}
	t.print(w)
}
