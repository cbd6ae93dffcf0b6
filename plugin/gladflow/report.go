package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/gladflow/gladflow/arrowio/store"
	"github.com/gladflow/gladflow/pipelines/job"
	"github.com/gladflow/gladflow/pipelines/recovery"
	"github.com/gladflow/gladflow/pipelines/table"
)

func reportCommand() *cobra.Command {
	var r job.Reporting
	c := &cobra.Command{
		Use:   "report FOLDER",
		Short: "make the page of a finished run",
		Long: `Makes the page of a run that has finished, or was interrupted, from what it has
left in its folder: run.json, the lists of edges, and the reference if its file is
still the same. A run with --out writes its page itself, which has more: how the
solvers converged, and curves of every pair.`,
		Example: `  gladflow report network --report network/again.html
  gladflow report interrupted`,
		Args: arguments("FOLDER"),
		RunE: func(c *cobra.Command, args []string) error {
			r.Folder = args[0]
			written, missing, err := recovery.Report(c.Context(), r, table.Files{Stdin: c.InOrStdin(), Stores: store.All()})
			if err != nil {
				return asFlag(c, &r, err)
			}
			for _, sentence := range missing {
				fmt.Fprintln(c.OutOrStdout(), sentence)
			}
			fmt.Fprintf(c.OutOrStdout(), "report: %s\n", written.Name)
			return nil
		},
	}
	bind(c, &r, job.Facts{}, "folder")
	return c
}
