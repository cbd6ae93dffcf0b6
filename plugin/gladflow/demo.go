package main

import (
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/gladflow/gladflow/pipelines/job"
	"github.com/gladflow/gladflow/pipelines/recovery"
	"github.com/gladflow/gladflow/pipelines/simulation"
)

func demoCommand() *cobra.Command {
	var out string
	var asJSON bool
	c := &cobra.Command{
		Use:   "demo",
		Short: "simulate a small network, recover it by all solvers and score them",
		Long: `Simulates 300 samples of a gene-like network of 60 variables, writes samples and
network into a folder, recovers the network by all solvers, scores them and
leaves their files beside, with report.html to look at.`,
		Example: `  gladflow demo
  gladflow demo --out /tmp/demo`,
		Args: arguments(),
		RunE: func(c *cobra.Command, _ []string) error {
			j, err := simulation.Demo(c.Context(), out, recovery.SelfSufficient())
			if err != nil {
				return asFlag(c, &job.Job{}, err)
			}
			j.JSON = asJSON
			if err := recoverJob(c, j, &jobMemory{freeMemory()}); err != nil || asJSON {
				return asFlag(c, &j, err)
			}
			fmt.Fprintf(c.OutOrStdout(), `
try next:
  gladflow recover %s --id-column %s --penalty 0.2 --edges top:20 --format csv --out top20
  gladflow evaluate %s %s --undirected
  gladflow recover YOUR-TABLE.csv --out network
`, j.Input, j.IDColumn, filepath.Join(out, "bcd.edges.parquet"), j.Reference)
			return nil
		},
	}
	c.Flags().StringVar(&out, "out", "gladflow-demo", "`FOLDER` to write the files to")
	c.Flags().BoolVar(&asJSON, "json", false, "print the result as one JSON document")
	return c
}
