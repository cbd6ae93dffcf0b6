package main

import (
	"github.com/spf13/cobra"

	"github.com/gladflow/gladflow/arrowio/store"
	"github.com/gladflow/gladflow/pipelines"
)

func recoverCommand() *cobra.Command {
	var job pipelines.Job
	c := &cobra.Command{
		Use:   "recover INPUT",
		Short: "recover networks from a table",
		Long: `Reads a table of samples (rows are samples and columns variables), estimates
their correlation, runs the solvers on it and prints how each of them did.

With --out every solver leaves its list of edges and its precision matrix, and
the run leaves run.json; with --reference the networks are scored against a
known one. INPUT may be - for standard input.`,
		Example: `  gladflow recover expression.parquet --out network
  gladflow recover expression.tsv.gz --id-column condition --solvers glad,bcd,gista,admm,am --penalty 0.5 --gap 1e-4 --out network
  gladflow recover expression.tsv.gz --orientation columns --correlation spearman --reference known.tsv
  gladflow recover covariance.csv --input covariance --samples 301 --penalty 0.1 --format csv --out network
  zcat expression.csv.gz | gladflow recover - --input-format csv --json`,
		Args: arguments("INPUT"),
		RunE: func(c *cobra.Command, args []string) error {
			job.Input = args[0]
			return asFlag(c, &job, recoverJob(c, job))
		},
	}
	bind(c, &job, "input")
	return c
}

// recoverJob runs a job and prints what came of it.
func recoverJob(c *cobra.Command, job pipelines.Job) error {
	progress := newProgress(c.ErrOrStderr())
	defer progress.close()
	result, err := pipelines.Run(c.Context(), job, pipelines.Host{Stdin: c.InOrStdin(), Stores: store.All(), Progress: progress.show})
	progress.close()
	switch {
	case result == nil:
	case job.JSON:
		printJSON(c.OutOrStdout(), result)
	case len(result.Solvers) > 0:
		printResult(c.OutOrStdout(), result)
	}
	return err
}
