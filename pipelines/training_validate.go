package pipelines

import (
	"math"
	"reflect"
	"slices"
	"strings"

	"github.com/gladflow/gladflow/pipelines/simulate"
)

// Validate reports the first field that is wrong in itself or contradicts
// another, as a *JobError. It reads no file.
func (t Training) Validate() error {
	for _, check := range []func(Training) error{
		Training.checkSource, func(t Training) error { return checkChoices(&t) },
		Training.checkCounts, Training.checkFit, Training.checkFamilies, Training.checkFiles,
	} {
		if err := check(t); err != nil {
			return err
		}
	}
	return nil
}

// checkSource settles where the examples come from, and refuses what belongs to
// the other source.
func (t Training) checkSource() error {
	switch {
	case t.Family == "" && t.Data == "":
		return wrong("family", "neither a family nor a folder with data is named; choose %s, or give the folder", oneOf(append(simulate.Graphs(), simulate.GraphMixed)))
	case t.Family != "" && t.Data != "":
		return wrong("data", "both the family %s and a folder are given; leave one out", t.Family)
	}
	simulated := []string{
		"dimension", "samples", "graphs", "covariances", "validation_graphs", "density", "links", "groups",
		"bandwidth", "weights", "symmetrisation", "smallest_eigenvalue", "scales",
	}
	read := []string{"correlation", "orientation", "id_column", "validation_part"}
	const asTables = "the tables of the folder say this themselves; leave it out"
	foreign := make(map[string]string) // why a key has no meaning here
	for _, key := range simulated {
		if t.Data != "" {
			foreign[key] = asTables
		} else if t.Family == simulate.GraphMixed && !slices.Contains([]string{"dimension", "graphs", "validation_graphs"}, key) {
			foreign[key] = "the family mixed draws this itself; leave it out"
		}
	}
	for _, key := range read {
		if t.Data == "" {
			foreign[key] = "there is no folder of data that this is about; leave it out"
		}
	}
	v := reflect.ValueOf(t)
	for i := range v.NumField() {
		if why := foreign[keyOf(v.Type().Field(i))]; why != "" && !v.Field(i).IsZero() {
			return wrong(keyOf(v.Type().Field(i)), "%s", why)
		}
	}
	if t.Family == simulate.GraphMixed && len(t.Dimension) > 1 {
		return wrong("dimension", "the family mixed takes one number, the largest; give one")
	}
	return nil
}

// checkCounts checks the whole numbers.
func (t Training) checkCounts() error {
	for _, f := range []struct {
		key   string
		value int
	}{
		{"graphs", t.Graphs}, {"covariances", t.Covariances}, {"validation_graphs", t.ValidationGraphs}, {"seed", t.Seed},
		{"steps", t.Steps}, {"batch", t.Batch}, {"validate_every", t.ValidateEvery}, {"patience", t.Patience}, {"workers", t.Workers},
	} {
		if f.value < 0 {
			return wrong(f.key, "%d is negative; give zero or more", f.value)
		}
	}
	r := t.Resolved() // with the dimension that is not given
	for _, d := range r.Dimension {
		switch {
		case d < 2:
			return wrong("dimension", "%d variables are too few to learn from; give at least 2", d)
		case d > mostDimension:
			return wrong("dimension", "%d variables are too many to simulate; give at most %d", d, mostDimension)
		}
		for _, m := range r.Samples {
			if m > mostNumbers/d {
				return wrong("samples", "a table of %d×%d numbers would not fit into memory; give at most %d samples", m, d, mostNumbers/d)
			}
		}
	}
	for _, m := range t.Samples {
		if m < 1 {
			return wrong("samples", "%d samples are too few; give at least 1", m)
		}
	}
	return nil
}

// checkFit checks the numbers of the optimiser.
func (t Training) checkFit() error {
	cost, isNumber := t.SupportCost.Number()
	switch {
	case math.IsNaN(t.LearningRate) || math.IsInf(t.LearningRate, 0) || t.LearningRate < 0:
		return wrong("learning_rate", "%v is no learning rate; give a positive number, such as 0.03", t.LearningRate)
	case !(t.Gamma >= 0 && t.Gamma <= 1):
		return wrong("gamma", "%v is no weight; give a number above 0 and not above 1", t.Gamma)
	case !(t.ValidationPart >= 0 && t.ValidationPart < 1):
		return wrong("validation_part", "%v is no part; give a number above 0 and below 1", t.ValidationPart)
	case t.SupportCost == "" || t.SupportCost == SupportCostNone:
	case !isNumber || cost < 0:
		return wrong("support_cost", "%q is neither decibels, zero or more, nor none", string(t.SupportCost))
	}
	if t.SupportCost != "" && t.Select == SelectPS {
		return wrong("support_cost", "the probability of success chooses the threshold; leave this out, or select by another figure")
	}
	return nil
}

// checkFamilies checks every distribution that may be drawn from.
func (t Training) checkFamilies() error {
	if t.Data != "" || t.Family == simulate.GraphMixed {
		return nil // nothing is drawn by settings
	}
	r := t.Resolved()
	densities, err := t.densities()
	if err != nil {
		return err
	}
	for _, d := range r.Dimension {
		for _, p := range densities.ends() {
			s := r.simulation(d, p)
			f, err := s.family()
			if err != nil {
				return err
			}
			if err := s.checkUnused(f.Resolved()); err != nil {
				return err
			}
		}
	}
	return nil
}

// checkFiles checks names of files.
func (t Training) checkFiles() error {
	switch {
	case t.Out == "":
		return wrong("out", "no model file is named; give one to write to, such as model.json")
	case strings.HasSuffix(t.Out, "/") || t.Out == "-":
		return wrong("out", "%q is not a file; name one to write to, such as model.json", t.Out)
	case t.Resolved().Checkpoint == t.Out:
		return wrong("checkpoint", "%s is the model file already; name another", t.Out)
	}
	return nil
}

// simulation is the document of networks of one size and density. It is not
// run: it knows what the fields that it shares with t mean.
func (t Training) simulation(d int, density float64) Simulation {
	return Simulation{
		Family: t.Family, Dimension: d, Density: density, Links: t.Links, Groups: t.Groups, Bandwidth: t.Bandwidth,
		Weights: t.Weights, Symmetrisation: t.Symmetrisation, SmallestEigenvalue: t.SmallestEigenvalue, Scales: t.Scales,
	}
}
