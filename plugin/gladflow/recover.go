package main

import (
	"errors"

	"github.com/spf13/cobra"

	"github.com/gladflow/gladflow/arrowio/store"
	"github.com/gladflow/gladflow/pipelines/job"
	"github.com/gladflow/gladflow/pipelines/recovery"
	"github.com/gladflow/gladflow/pipelines/table"
	"github.com/gladflow/gladflow/solver/dense"
)

func recoverCommand() *cobra.Command {
	var j job.Job
	var limit *jobMemory
	var input []string
	c := &cobra.Command{
		Use:   "recover INPUT",
		Short: "recover networks from a table",
		Long: `Reads a table of samples (rows are samples and columns variables), estimates
their correlation, runs the solvers on it and prints how each of them did.

With --out every solver leaves its list of edges and its precision matrix, and
the run leaves run.json and report.html, a page to look at; with --reference the
networks are scored against a known one. INPUT may be - for standard input.`,
		Example: `  gladflow recover expression.parquet --out network
  gladflow recover expression.tsv.gz --id-column condition --solvers glad,bcd,gista,admm,am --penalty 0.5 --gap 1e-4 --out network
  gladflow recover expression.tsv.gz --orientation columns --correlation spearman --reference known.tsv --report network.html
  gladflow recover expression.parquet --solvers glad --adapt --out network
  gladflow recover expression.parquet --edges fdr:0.1 --out network
  gladflow recover expression.parquet --false-edges 5 --out network
  gladflow recover covariance.csv --input covariance --samples 301 --penalty 0.1 --format csv --out network
  zcat expression.csv.gz | gladflow recover - --input-format csv --json`,
		Args: func(c *cobra.Command, args []string) error {
			input = withValues(c, &j, recovery.Facts(), args, 1)
			return arguments("INPUT")(c, input)
		},
		RunE: func(c *cobra.Command, _ []string) error {
			j.Input = input[0]
			if err := handOver(c, j.Device, nil); err != nil {
				return asFlag(c, &j, err)
			}
			return asFlag(c, &j, recoverJob(c, j, limit))
		},
	}
	bind(c, &j, recovery.Facts(), "input")
	limit = bindJobMemory(c)
	return c
}

// recoverJob runs a job and prints its result.
func recoverJob(c *cobra.Command, j job.Job, limit *jobMemory) error {
	if j.Threads > 0 {
		dense.LimitCores(j.Threads) // the run has the process to itself
	}
	budget, err := limit.budget(c)
	if err != nil {
		return err
	}
	bar := newProgressBar(c.ErrOrStderr())
	defer bar.close()
	result, err := recovery.Run(c.Context(), j, recovery.Host{
		Files: table.Files{Stdin: c.InOrStdin(), Stores: store.All()}, Progress: bar.show, Memory: budget,
	})
	bar.close()
	switch {
	case result == nil:
	case j.JSON:
		printJSON(c.OutOrStdout(), result)
	case len(result.Solvers) > 0:
		undocumented := new(recovery.DocumentError)
		printResult(c.OutOrStdout(), result, !errors.As(err, &undocumented))
	}
	return err
}
