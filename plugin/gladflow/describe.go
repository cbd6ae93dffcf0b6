package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/gladflow/gladflow/pipelines/job"
	"github.com/gladflow/gladflow/pipelines/memory"
	"github.com/gladflow/gladflow/pipelines/recovery"
)

func describeCommand() *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:   "describe",
		Short: "say what this build is and what it finds on this machine",
		Example: `  gladflow describe
  gladflow describe --json`,
		Args: arguments(),
		RunE: func(c *cobra.Command, _ []string) error {
			d, err := recovery.Describe()
			if err != nil {
				return err
			}
			if asJSON {
				printJSON(c.OutOrStdout(), d)
			} else {
				printDescription(c.OutOrStdout(), d)
			}
			return nil
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print one JSON document")
	return c
}

func printDescription(w io.Writer, d job.Description) {
	line := func(name, text string) { fmt.Fprintf(w, "%-9s%s\n", name, text) }
	line("gladflow", strings.TrimSpace(d.Version+" "+d.Revision))
	line("go", d.Go+" on "+d.Platform)
	for _, e := range d.Engines {
		switch {
		case e.Found && e.Version != e.Name:
			line("engine", fmt.Sprintf("%s: %s, threads: %d", e.Name, e.Version, e.Threads))
		case e.Found:
			line("engine", fmt.Sprintf("%s, threads: %d", e.Name, e.Threads))
		default:
			line("engine", e.Name+": not found: "+e.Problem)
		}
	}
	line("devices", strings.Join(d.Devices, ", "))
	for _, g := range d.GPUs {
		line("gpu", gpuText(g))
	}
	line("solvers", strings.Join(recovery.SolverNames(), ", "))
	var models []string
	for _, m := range d.Models {
		models = append(models, m.Name)
	}
	line("models", strings.Join(models, ", "))
	line("reads", strings.Join(d.Inputs, ", "))
	line("writes", strings.Join(d.Outputs, ", "))
}

func gpuText(g job.GPUInfo) string {
	if !g.Found {
		return "none: " + g.Problem
	}
	text := fmt.Sprintf("%s: %s, %s, compute capability %s, CUDA %s by the driver", g.Device, g.Name, memory.Size(g.MemoryBytes), g.ComputeCapability, g.Driver)
	if g.Libraries != "" {
		text += ", " + g.Libraries
	}
	return text
}

func versionCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "version",
		Short:   "print the version",
		Example: `  gladflow version`,
		Args:    arguments(),
		RunE: func(c *cobra.Command, _ []string) error {
			fmt.Fprintf(c.OutOrStdout(), "gladflow %s\n", job.Version())
			return nil
		},
	}
}
