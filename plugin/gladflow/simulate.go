package main

import (
	"fmt"
	"io"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/gladflow/gladflow/pipelines/job"
	"github.com/gladflow/gladflow/pipelines/progress"
	"github.com/gladflow/gladflow/pipelines/simulate"
	"github.com/gladflow/gladflow/pipelines/simulation"
)

func simulateCommand() *cobra.Command {
	var s job.Simulation
	c := &cobra.Command{
		Use:   "simulate FAMILY",
		Short: "draw networks and samples of them, to try solvers on and to train with",
		Long: `Draws sparse precision matrices and Gaussian samples of them, and writes for each
network the table of samples, the true precision matrix and the network as a
list of labelled pairs, which --reference reads. simulate.json says what was
drawn.

"gladflow simulate genes" draws tables of gene expression instead. FAMILY is the
kind of graph:
` + graphList(),
		Example: `  gladflow simulate er --dimension 100 --samples 100 --seed 1 --out data
  gladflow simulate grid --dimension 36 --samples 500 --symmetrisation avg --out grid
  gladflow simulate hub --dimension 60 --groups 3 --weights 0.3:0.8 --format csv --out hubs
  gladflow simulate small-world --neighbours 6 --rewiring 0.2 --scales 0.5 --out small-world
  gladflow simulate empty --dimension 400 --samples 100 --out noise
  gladflow simulate er --density 0.05 --dimension 39 --graphs 30 --out training`,
		Args: arguments("FAMILY"),
		RunE: func(c *cobra.Command, args []string) error {
			s.Family = args[0]
			bar := newProgressBar(c.ErrOrStderr())
			defer bar.close()
			r, err := simulation.Run(c.Context(), s, bar.show)
			bar.close()
			if err != nil {
				return asFlag(c, &s, err)
			}
			if s.JSON {
				printJSON(c.OutOrStdout(), r)
			} else {
				printSimulation(c.OutOrStdout(), r)
			}
			return nil
		},
		ValidArgsFunction: func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
			if len(args) > 0 {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			return simulate.Graphs(), cobra.ShellCompDirectiveNoFileComp
		},
	}
	bind(c, &s, simulation.Facts(), "family")
	c.AddCommand(simulateGenesCommand())
	return c
}

// graphList has a line for each kind of graph.
func graphList() string {
	var lines []string
	for _, k := range simulate.Kinds() {
		lines = append(lines, fmt.Sprintf("  %-11s %s", k.Name, k.Description))
	}
	return strings.Join(lines, "\n")
}

// networksShown is how many networks are printed one by one.
const networksShown = 20

func printSimulation(w io.Writer, r *simulation.Result) {
	s := r.Simulation
	fmt.Fprintf(w, "%s; seed %d\n%s each\n\n", r.Description, s.Seed, progress.Count(s.Samples, "sample"))
	t := textTable{columns: []column{
		{"samples", left}, {"truth", left}, {"reference", left},
		{"edges", right}, {"of pairs", right}, {"smallest eigenvalue", right}, {"largest", right},
	}}
	for _, n := range r.Networks[:min(networksShown, len(r.Networks))] {
		t.add(n.Samples, n.Precision, n.Reference, strconv.Itoa(n.Edges), strconv.Itoa(n.Pairs),
			fmt.Sprintf("%.4g", n.SmallestEigenvalue), fmt.Sprintf("%.4g", n.LargestEigenvalue))
	}
	t.print(w)
	if more := len(r.Networks) - networksShown; more > 0 {
		fmt.Fprintf(w, "and %d more, see simulate.json\n", more)
	}
	first := r.Networks[0]
	path := func(name string) string { return filepath.Join(s.Out, name) }
	scored := ""
	if first.Edges > 0 {
		scored = " --reference " + path(first.Reference) + " --undirected"
	}
	fmt.Fprintf(w, `
files in %s, with simulate.json
try next:
  gladflow recover %s --correlation none --solvers glad,bcd%s --out %s
`, s.Out, path(first.Samples), scored, path("recovered"))
	if len(r.Networks) > 1 {
		fmt.Fprintf(w, "  gladflow train --data %s --correlation none --out model.json\n", s.Out)
	}
}
