package simulation

import (
	"slices"

	"github.com/gladflow/gladflow/arrowio"
	"github.com/gladflow/gladflow/pipelines/job"
	"github.com/gladflow/gladflow/pipelines/simulate/genes"
)

// Limits of a simulation of genes.
const (
	// MostGenes is the largest number of genes of a network, and of its background.
	MostGenes = 5000
	// mostNoise is the largest standard deviation of noise.
	mostNoise = 2
)

// familySyntren is the family that has rate laws to choose.
const familySyntren = "syntren"

// GeneFacts are the names that a job.GeneSimulation may hold.
func GeneFacts() job.Facts {
	return job.Facts{Words: map[string][]string{
		"family":    genes.Families(),
		"marginals": genes.Marginals(),
		"format":    arrowio.TableFormats().Names(),
	}}
}

// Fields that a simulation of genes has only in some cases.
var (
	forSyntren = []string{
		"network", "subnetwork", "regulators", "links", "decoys", "background", "laws", "activators", "unsigned",
		"correlated", "noise", "biological_noise", "measurement_noise", "input_noise", "scaled",
	}
	forRead   = []string{"subnetwork", "unsigned"}
	forRandom = []string{"regulators", "links"}
)

// ValidateGenes reports the first field that is wrong, as a *job.Error. It does not
// read the network.
func ValidateGenes(s job.GeneSimulation) error {
	if err := job.CheckFields(&s, GeneFacts()); err != nil {
		return err
	}
	r := s.Resolved()
	for _, key := range job.Given(&s) {
		switch {
		case r.Family != familySyntren && slices.Contains(forSyntren, key):
			return job.Errorf(key, "the family %s has none; leave this out", r.Family)
		case s.Network == "" && slices.Contains(forRead, key):
			return job.Errorf(key, "the network is random; name a file with network, or leave this out")
		case s.Network != "" && slices.Contains(forRandom, key):
			return job.Errorf(key, "the network is read from a file; leave this out")
		}
	}
	switch {
	case r.Genes != 0 && r.Genes < genes.FewestGenes || r.Genes < 0:
		return job.Errorf("genes", "%d genes are too few; give at least %d", r.Genes, genes.FewestGenes)
	case r.Genes > MostGenes:
		return job.Errorf("genes", "%d genes are too many to simulate; give at most %d", r.Genes, MostGenes)
	case r.Network == "" && (r.Regulators < 1 || r.Regulators >= r.Genes):
		return job.Errorf("regulators", "%d regulators of %d genes make no network; give from 1 to %d", r.Regulators, r.Genes, r.Genes-1)
	case r.Network == "" && !(r.Links >= 1 && r.Links <= float64(r.Regulators)):
		return job.Errorf("links", "%v regulators of a gene are too few or more than there are; give from 1 to %d", r.Links, r.Regulators)
	case r.Background != 0 && r.Background < genes.FewestGenes:
		return job.Errorf("background", "%d genes are too few for a background; give at least %d, or none", r.Background, genes.FewestGenes)
	case r.Background > MostGenes:
		return job.Errorf("background", "%d genes are too many to simulate; give at most %d", r.Background, MostGenes)
	case r.Decoys < 0:
		return job.Errorf("decoys", "%d is negative; give zero or more", r.Decoys)
	case r.Samples < genes.FewestSamples:
		return job.Errorf("samples", "%d samples are too few; give at least %d", r.Samples, genes.FewestSamples)
	case r.Samples > MostNumbers/(max(r.Genes, genes.FewestGenes)+r.Background):
		return job.Errorf("samples", "a table of %d samples would not fit into memory; give at most %d", r.Samples, MostNumbers/(max(r.Genes, genes.FewestGenes)+r.Background))
	case r.Sets < 1:
		return job.Errorf("sets", "%d is negative; give at least 1", r.Sets)
	case r.Seed < 0:
		return job.Errorf("seed", "%d is negative; give zero or more", r.Seed)
	}
	for _, v := range []struct {
		key   string
		value job.Value
		most  float64
	}{
		{"activators", r.Activators, 1},
		{"correlated", r.Correlated, 1},
		{"noise", r.Noise, mostNoise},
		{"biological_noise", r.BiologicalNoise, mostNoise},
		{"measurement_noise", r.MeasurementNoise, mostNoise},
		{"input_noise", r.InputNoise, mostNoise},
	} {
		if x, ok := v.value.Number(); !ok || x < 0 || x > v.most {
			return job.Errorf(v.key, "%q is not a number from 0 to %v; give one", string(v.value), v.most)
		}
	}
	return checkFiles(s.Name, s.Out)
}
