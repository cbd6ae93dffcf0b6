package training

import (
	"math"
	"slices"
	"strings"

	"github.com/gladflow/gladflow/pipelines/device"
	"github.com/gladflow/gladflow/pipelines/job"
	"github.com/gladflow/gladflow/pipelines/simulate"
	"github.com/gladflow/gladflow/pipelines/simulation"
	"github.com/gladflow/gladflow/solver/covariance"
)

// A document is a job.Training with what this package knows of it.
type document struct{ job.Training }

// Validate reports the first field of t that is wrong in itself or contradicts
// another, as a *job.Error. It reads no file.
func Validate(t job.Training) error { return document{t}.validate() }

func (t document) validate() error {
	for _, check := range []func() error{
		t.checkSource, func() error { return job.CheckFields(&t.Training, Facts()) },
		t.checkCounts, t.checkFit, t.checkFamilies, t.checkFiles, t.checkDevice,
	} {
		if err := check(); err != nil {
			return err
		}
	}
	return nil
}

// checkSource checks that there is one source of examples, and refuses fields that
// belong to the other.
func (t document) checkSource() error {
	switch {
	case t.Family == "" && t.Data == "":
		return job.Errorf("family", "neither a family nor a folder with data is named; choose %s, or give the folder", job.OneOf(families()))
	case t.Family != "" && t.Data != "":
		return job.Errorf("data", "both the family %s and a folder are given; leave one out", t.Family)
	}
	simulated := []string{
		"dimension", "samples", "graphs", "covariances", "validation_graphs", "density", "links", "groups",
		"bandwidth", "neighbours", "rewiring", "weights", "symmetrisation", "smallest_eigenvalue", "scales",
	}
	read := []string{"correlation", "orientation", "id_column", "validation_part"}
	const asTables = "the tables of the folder say this themselves; leave it out"
	foreign := make(map[string]string) // why a key has no meaning with this source
	for _, key := range simulated {
		if t.Data != "" {
			foreign[key] = asTables
		} else if t.ofMixture() && !slices.Contains([]string{"dimension", "graphs", "validation_graphs"}, key) {
			foreign[key] = "the family " + t.Family + " draws this itself; leave it out"
		}
	}
	for _, key := range read {
		if t.Data == "" && !(key == "correlation" && t.drawsFamily()) {
			foreign[key] = "there is no folder of data that this is about; leave it out"
		}
	}
	for _, key := range job.Given(&t.Training) {
		if why := foreign[key]; why != "" {
			return job.Errorf(key, "%s", why)
		}
	}
	if err := t.checkGenes(); err != nil {
		return err
	}
	if c := t.Correlation; t.drawsFamily() && c != "" && c != covariance.Pearson.String() && c != covariance.Covariance.String() {
		return job.Errorf("correlation", "%s is not simulated; choose pearson or none", c)
	}
	if t.ofMixture() && len(t.Dimension) > 1 {
		return job.Errorf("dimension", "the family %s takes one number, the largest; give one", t.Family)
	}
	return nil
}

// drawsFamily says that the networks are those of one graph, whose family the document
// describes.
func (t document) drawsFamily() bool { return slices.Contains(simulate.Graphs(), t.Family) }

// standardises says that simulated examples are correlations, and their truth that of the
// standardised variables.
func (t document) standardises() bool {
	return t.drawsFamily() && t.Correlation == covariance.Pearson.String()
}

// checkCounts checks the whole numbers.
func (t document) checkCounts() error {
	for _, f := range []struct {
		key   string
		value int
	}{
		{"graphs", t.Graphs}, {"covariances", t.Covariances}, {"validation_graphs", t.ValidationGraphs}, {"seed", t.Seed},
		{"steps", t.Steps}, {"stop", t.Stop}, {"batch", t.Batch}, {"validate_every", t.ValidateEvery}, {"patience", t.Patience}, {"workers", t.Workers},
	} {
		if f.value < 0 {
			return job.Errorf(f.key, "%d is negative; give zero or more", f.value)
		}
	}
	r := t.resolved() // with the dimension that is not given, where there is one
	for _, d := range r.Dimension {
		switch {
		case d < 2:
			return job.Errorf("dimension", "%d variables are too few to learn from; give at least 2", d)
		case d > simulation.MostDimension:
			return job.Errorf("dimension", "%d variables are too many to simulate; give at most %d", d, simulation.MostDimension)
		}
		for _, m := range r.Samples {
			if m > simulation.MostNumbers/d {
				return job.Errorf("samples", "a table of %d×%d numbers would not fit into memory; give at most %d samples", m, d, simulation.MostNumbers/d)
			}
		}
	}
	for _, m := range t.Samples {
		if m < 1 {
			return job.Errorf("samples", "%d samples are too few; give at least 1", m)
		}
	}
	return nil
}

// checkFit checks the numbers of the optimiser.
func (t document) checkFit() error {
	cost, isNumber := t.SupportCost.Number()
	switch {
	case math.IsNaN(t.LearningRate) || math.IsInf(t.LearningRate, 0) || t.LearningRate < 0:
		return job.Errorf("learning_rate", "%v is no learning rate; give a positive number, such as 0.03", t.LearningRate)
	case !(t.Gamma >= 0 && t.Gamma <= 1):
		return job.Errorf("gamma", "%v is no weight; give a number above 0 and not above 1", t.Gamma)
	case !(t.ValidationPart >= 0 && t.ValidationPart < 1):
		return job.Errorf("validation_part", "%v is no part; give a number above 0 and below 1", t.ValidationPart)
	case t.SupportCost == "" || t.SupportCost == supportCostNone:
	case !isNumber || cost < 0:
		return job.Errorf("support_cost", "%q is neither decibels, zero or more, nor none", string(t.SupportCost))
	}
	if t.SupportCost != "" && t.Select == selectPS {
		return job.Errorf("support_cost", "the probability of success chooses the threshold; leave this out, or select by another figure")
	}
	return nil
}

// checkFamilies checks every distribution that may be drawn from.
func (t document) checkFamilies() error {
	if t.Data != "" || t.ofMixture() || t.ofGenes() {
		return nil // nothing is drawn by settings
	}
	r := t.resolved()
	densities, err := t.densities()
	if err != nil {
		return err
	}
	for _, d := range r.Dimension {
		for _, p := range densities.ends() {
			s := r.simulation(d, p)
			f, err := simulation.FamilyOf(s)
			if err != nil {
				return err
			}
			if err := simulation.CheckUnused(s, f.Resolved()); err != nil {
				return err
			}
		}
	}
	return nil
}

// checkFiles checks names of files.
func (t document) checkFiles() error {
	switch {
	case t.Out == "":
		return job.Errorf("out", "no model file is named; give one to write to, such as model.json")
	case strings.HasSuffix(t.Out, "/") || t.Out == job.Stdin:
		return job.Errorf("out", "%q is not a file; name one to write to, such as model.json", t.Out)
	case t.resolved().Checkpoint == t.Out:
		return job.Errorf("checkpoint", "%s is the model file already; name another", t.Out)
	}
	return nil
}

// checkDevice checks that the device is one, and that this build has code for it.
func (t document) checkDevice() error {
	if err := job.CheckDevice(t.Device); err != nil {
		return err
	}
	return device.Process().Check(t.Device)
}

// simulation is the document of networks of one size and density. It is not run;
// package simulation checks and draws by it.
func (t document) simulation(d int, density float64) job.Simulation {
	return job.Simulation{
		Family: t.Family, Dimension: d, Density: density, Links: t.Links, Groups: t.Groups, Bandwidth: t.Bandwidth,
		Neighbours: t.Neighbours, Rewiring: t.Rewiring,
		Weights: t.Weights, Symmetrisation: t.Symmetrisation, SmallestEigenvalue: t.SmallestEigenvalue, Scales: t.Scales,
	}
}
