package main

import (
	"bytes"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/gladflow/gladflow/pipelines/job"
	"github.com/gladflow/gladflow/pipelines/recovery"
)

func runCommand() *cobra.Command {
	var asJSON bool
	var limit *jobMemory
	c := &cobra.Command{
		Use:   "run JOB",
		Short: "run a job that a YAML or JSON file describes",
		Long: `Runs a recovery as recover does, from a file. Its keys are the flags of recover
with underscores for dashes; input is the table and input_kind what
--input says. Paths are relative to the working directory. JOB may be - for
standard input.

    input: expression.tsv.gz
    id_column: condition
    solvers: [glad, bcd]
    penalty: 0.3
    reference: known.tsv
    out: network`,
		Example: `  gladflow run job.yaml
  gladflow run job.json --json
  gladflow schema > job.schema.json`,
		Args: arguments("JOB"),
		RunE: func(c *cobra.Command, args []string) error {
			var read bytes.Buffer // of standard input
			j, err := job.Open(args[0], io.TeeReader(c.InOrStdin(), &read))
			if err != nil {
				return err
			}
			var stdin []byte
			if args[0] == job.Stdin {
				stdin = read.Bytes()
			}
			if err := handOver(c, j.Device, stdin); err != nil {
				return documentError{err}
			}
			j.JSON = j.JSON || asJSON
			if err := recoverJob(c, j, limit); err != nil {
				return documentError{err}
			}
			return nil
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print the result as one JSON document")
	limit = bindJobMemory(c)
	return c
}

func schemaCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "schema",
		Short:   "print the JSON Schema of a job",
		Long:    `Prints the JSON Schema of the files that gladflow run reads: every key with its description, choices and default.`,
		Example: `  gladflow schema > job.schema.json`,
		Args:    arguments(),
		RunE: func(c *cobra.Command, _ []string) error {
			schema, err := recovery.Schema()
			if err != nil {
				return err
			}
			fmt.Fprintf(c.OutOrStdout(), "%s\n", schema)
			return nil
		},
	}
}
