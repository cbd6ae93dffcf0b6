package simulation

import (
	"context"
	"math/rand/v2"
	"slices"

	"github.com/gladflow/gladflow/arrowio"
	"github.com/gladflow/gladflow/pipelines/job"
	"github.com/gladflow/gladflow/pipelines/output"
	"github.com/gladflow/gladflow/pipelines/progress"
	"github.com/gladflow/gladflow/pipelines/simulate/genes"
	"github.com/gladflow/gladflow/pipelines/table"
	"github.com/gladflow/gladflow/solver/dense"
)

// genesFile is the name of the document that RunGenes writes into its folder.
const genesFile = "genes.json"

// A GeneResult is what was simulated: what genes.json holds.
type GeneResult struct {
	Version    string             `json:"version"`
	Simulation job.GeneSimulation `json:"simulation"`
	// NetworkSHA256 is the checksum of the file that the network was read from.
	NetworkSHA256 string    `json:"network_sha256,omitzero"`
	Sets          []GeneSet `json:"sets"`
}

// A GeneSet is one table with its network and the names of its files.
type GeneSet struct {
	Name string `json:"name"`
	// Samples is the table, a column for each gene.
	Samples string `json:"samples"`
	// Network has an edge a row, with its sign and, in the family syntren, the
	// parameters of its rate law; Genes has a gene a row.
	Network string `json:"network"`
	Genes   string `json:"genes"`
	// SIF is the network once more, in the simple interaction format.
	SIF string `json:"sif"`
	// Reference lists every pair of a listed regulator and another gene that is no
	// background, with its label; Regulators those listed, a name a line.
	Reference  string `json:"reference"`
	Regulators string `json:"regulators"`
	// Files are these, and what describes them beside them, with their sizes and
	// checksums.
	Files []job.WrittenFile `json:"files"`
	// Variables counts the genes of the table, of which Background are background,
	// Edges those of the network without self-loops, of Pairs in the reference, and
	// Listed the regulators.
	Variables  int `json:"variables"`
	Background int `json:"background"`
	Edges      int `json:"edges"`
	Pairs      int `json:"pairs"`
	Listed     int `json:"listed"`
}

// RunGenes draws tables of gene expression and writes each, with what is behind it,
// into the folder, see GeneSet, and genes.json at the end. The same simulation gives
// the same bytes on every machine of one architecture.
//
// f reads the network. tell, if not nil, is called with every update of the
// progress. What the user can put right is a *job.Error. When ctx ends first, the
// sets that are whole stay, without genes.json.
func RunGenes(ctx context.Context, s job.GeneSimulation, f table.Files, tell func(progress.Update)) (*GeneResult, error) {
	if err := ValidateGenes(s); err != nil {
		return nil, err
	}
	r := geneRun{GeneSimulation: s.Resolved()}
	result := &GeneResult{Version: job.Version(), Simulation: r.GeneSimulation}
	job.Redact(&result.Simulation, arrowio.Redacted)
	if s.Network != "" {
		read, err := arrowio.ReadNetwork(ctx, s.Network, f.Lists())
		if err != nil {
			return nil, table.FieldError("network", err)
		}
		result.NetworkSHA256 = read.SHA256
		if r.source, err = sourceNetwork(read, s); err != nil {
			return nil, err
		}
	}
	var err error
	if r.folder, err = output.OpenFolderIn(f.Root, "out", r.Out); err != nil {
		return nil, err
	}
	defer r.folder.Close()
	report := progress.Begin(tell, progress.Simulating, "")
	for k := range r.Sets {
		set, err := r.set(ctx, k)
		if err != nil {
			if len(result.Sets) == 0 {
				r.folder.Discard()
			}
			return nil, job.InterruptedOr(ctx, err)
		}
		result.Sets = append(result.Sets, set)
		report.Report(float64(k+1)/float64(r.Sets), set.Name)
	}
	if err := r.folder.WriteJSON(genesFile, result); err != nil {
		return nil, err
	}
	report.Done(progress.Count(r.Sets, "table") + " of " + progress.Count(r.Samples, "sample"))
	return result, nil
}

// sourceNetwork is a network that was read, with its signs.
func sourceNetwork(read *arrowio.SIF, s job.GeneSimulation) (*genes.Network, error) {
	signs := make([]int8, read.Len())
	for i, kind := range read.Type {
		switch {
		case s.Unsigned:
		case kind == "ac" || kind == "+":
			signs[i] = 1
		case kind == "re" || kind == "-":
			signs[i] = -1
		}
	}
	n := genes.NewNetwork(read.Nodes, read.Source, read.Target, signs)
	switch most := len(n.Names); {
	case !slices.ContainsFunc(n.Edges, func(e genes.Edge) bool { return e.Source != e.Target }):
		return nil, job.Errorf("network", "no gene of the network regulates another; name a file with edges between genes")
	case s.Genes == 0 && most > MostGenes:
		return nil, job.Errorf("genes", "the network has %d genes, too many to simulate; give the number of a sub-network, at most %d", most, MostGenes)
	case s.Genes == 0 && s.Samples > MostNumbers/(most+s.Background):
		return nil, job.Errorf("samples", "a table of %d samples would not fit into memory; give at most %d", s.Samples, MostNumbers/(most+s.Background))
	}
	return n, nil
}

// geneRun is one run of a GeneSimulation, which is resolved.
type geneRun struct {
	job.GeneSimulation
	source *genes.Network // that was read; nil for random ones
	folder *output.Folder
}

// set draws and writes set k, from 0.
func (r geneRun) set(ctx context.Context, k int) (GeneSet, error) {
	// A stream for each set, so that the first ones stay what they are when more are
	// asked for.
	rng := rand.New(rand.NewPCG(uint64(r.Seed), uint64(k)))
	type drawn struct {
		set   *genes.Set
		model *genes.Model
	}
	d, err := dense.AwaitResult(ctx, func() (drawn, error) {
		s, m, err := r.draw(rng)
		return drawn{s, m}, err
	})
	if err != nil {
		return GeneSet{}, err
	}
	w := geneWriter{geneRun: r, set: d.set, model: d.model, k: k}
	return w.write()
}

// draw draws a set and, in the family syntren, the model behind it.
func (r geneRun) draw(rng *rand.Rand) (*genes.Set, *genes.Model, error) {
	if r.Family != familySyntren {
		s, err := genes.Draw(rng, r.Family, r.Genes, r.Samples)
		if err != nil {
			return nil, nil, err
		}
		return s, nil, s.Distort(rng, r.Marginals)
	}
	network, err := r.network(rng, r.Genes, "genes")
	if err != nil {
		return nil, nil, err
	}
	var background *genes.Network
	if r.Background > 0 {
		if background, err = r.network(rng, r.Background, "background"); err != nil {
			return nil, nil, err
		}
	}
	m, err := genes.Drawing{
		Steep:      r.Laws == "steep",
		Activators: number(r.Activators),
		Following:  number(r.Correlated),
		Decoys:     r.Decoys,
		Scaled:     r.Scaled,
	}.Draw(rng, network, background)
	if err != nil {
		return nil, nil, &job.Error{Field: "network", Reason: err.Error(), Err: err}
	}
	s, err := m.Sample(rng, genes.Conditions{
		Samples: r.Samples, Biological: number(r.BiologicalNoise), Measurement: number(r.MeasurementNoise), Input: number(r.InputNoise),
	})
	if err != nil {
		return nil, nil, err
	}
	return s, m, s.Distort(rng, r.Marginals)
}

// network draws a network of a number of genes, 0 for all that was read; field is
// the one that says how many.
func (r geneRun) network(rng *rand.Rand, count int, field string) (*genes.Network, error) {
	if r.source == nil {
		regulators := r.Regulators
		if field == "background" {
			regulators = max(1, count/5)
		}
		return genes.RandomNetwork(rng, count, regulators, min(r.Links, float64(regulators)))
	}
	if count == 0 {
		return r.source, nil
	}
	n, err := r.source.Subnetwork(rng, count, r.Subnetwork)
	if err != nil {
		return nil, &job.Error{Field: field, Reason: err.Error(), Err: err}
	}
	return n, nil
}

// number is a value that is known to be one.
func number(v job.Value) float64 {
	x, _ := v.Number()
	return x
}
