package main

import (
	"fmt"
	"io"
	"path/filepath"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/gladflow/gladflow/arrowio/store"
	"github.com/gladflow/gladflow/pipelines/job"
	"github.com/gladflow/gladflow/pipelines/progress"
	"github.com/gladflow/gladflow/pipelines/simulation"
	"github.com/gladflow/gladflow/pipelines/table"
)

func simulateGenesCommand() *cobra.Command {
	var s job.GeneSimulation
	c := &cobra.Command{
		Use:   "genes",
		Short: "draw tables of gene expression with the network behind each",
		Long: `Draws tables of gene expression and writes for each the samples, the network
with signs, directions and the parameters of its rate laws, the list of
regulators and the network as a list of labelled pairs, which --reference
reads. genes.json says what was drawn.

The network is random and scale-free, or --network names a file with one, of
which --genes may draw a part. The families say how expression follows from it:
  syntren     rate laws at steady state and three noises, as SynTReN has them
  background  the same, with genes beside it whose samples are shuffled
  gnw         perturbations of every gene at once, as GeneNetWeaver has them
  knockout    linear responses to one gene knocked down in every sample
  sem         non-linear structural equations
  linear      linear structural equations
  confounded  syntren with factors that reach all genes, and noise
  switch      syntren with steep laws and strong noise: genes are on or off`,
		Example: `  gladflow simulate genes --genes 100 --samples 300 --seed 1 --out expression
  gladflow simulate genes --network regulon.sif --genes 50 --subnetwork clusters --background 50 --out part
  gladflow simulate genes --genes 200 --regulators 60 --decoys 20 --noise 0.05 --out with-decoys
  gladflow simulate genes --family gnw --marginals heavy-tailed --sets 10 --out gnw`,
		Args: arguments(),
		RunE: func(c *cobra.Command, _ []string) error {
			bar := newProgressBar(c.ErrOrStderr())
			defer bar.close()
			r, err := simulation.RunGenes(c.Context(), s, table.Files{Stdin: c.InOrStdin(), Stores: store.All()}, bar.show)
			bar.close()
			if err != nil {
				return asFlag(c, &s, err)
			}
			if s.JSON {
				printJSON(c.OutOrStdout(), r)
			} else {
				printGenes(c.OutOrStdout(), r)
			}
			return nil
		},
	}
	bind(c, &s, simulation.GeneFacts())
	return c
}

func printGenes(w io.Writer, r *simulation.GeneResult) {
	s := r.Simulation
	fmt.Fprintf(w, "%s; seed %d\n%s each\n\n", s.Family, s.Seed, progress.Count(s.Samples, "sample"))
	t := textTable{columns: []column{
		{"samples", left}, {"network", left}, {"genes", right}, {"background", right}, {"regulators", right}, {"edges", right}, {"of pairs", right},
	}}
	for _, n := range r.Sets[:min(networksShown, len(r.Sets))] {
		t.add(n.Samples, n.Network, strconv.Itoa(n.Variables), strconv.Itoa(n.Background),
			strconv.Itoa(n.Listed), strconv.Itoa(n.Edges), strconv.Itoa(n.Pairs))
	}
	t.print(w)
	if more := len(r.Sets) - networksShown; more > 0 {
		fmt.Fprintf(w, "and %d more, see genes.json\n", more)
	}
	first := r.Sets[0]
	path := func(name string) string { return filepath.Join(s.Out, name) }
	fmt.Fprintf(w, `
files in %s, with genes.json
try next:
  gladflow recover %s --solvers glad,bcd --reference %s --undirected --out %s
`, s.Out, path(first.Samples), path(first.Reference), path("recovered"))
}
