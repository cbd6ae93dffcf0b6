package main

import (
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/gladflow/gladflow/pipelines"
)

func demoCommand() *cobra.Command {
	var out string
	var asJSON bool
	c := &cobra.Command{
		Use:   "demo",
		Short: "simulate a small network, recover it by all solvers and score them",
		Long: `Simulates 300 samples of a gene-like network of 60 variables, writes samples and
network into a folder, recovers the network by all solvers, scores them and
leaves their files beside.`,
		Example: `  gladflow demo
  gladflow demo --out /tmp/demo`,
		Args: arguments(),
		RunE: func(c *cobra.Command, _ []string) error {
			job, err := pipelines.Demo(c.Context(), out)
			if err != nil {
				return asFlag(c, &pipelines.Job{}, err)
			}
			job.JSON = asJSON
			if err := recoverJob(c, job); err != nil || asJSON {
				return asFlag(c, &job, err)
			}
			fmt.Fprintf(c.OutOrStdout(), `
try next:
  gladflow recover %s --id-column %s --penalty 0.2 --edges top:20 --format csv --out top20
  gladflow evaluate %s %s --undirected
  gladflow recover YOUR-TABLE.csv --out network
`, job.Input, job.IDColumn, filepath.Join(out, "bcd.edges.parquet"), job.Reference)
			return nil
		},
	}
	c.Flags().StringVar(&out, "out", "gladflow-demo", "`FOLDER` to write the files to")
	c.Flags().BoolVar(&asJSON, "json", false, "print the result as one JSON document")
	return c
}
