package simulation

import (
	"errors"
	"reflect"
	"strconv"
	"strings"

	"github.com/gladflow/gladflow/arrowio"
	"github.com/gladflow/gladflow/pipelines/job"
	"github.com/gladflow/gladflow/pipelines/simulate"
)

// Limits far beyond what a simulation is for: above them it would end without
// memory, or after days.
const (
	// MostDimension is the largest number of variables.
	MostDimension = 20_000
	// MostNumbers is that of the numbers in one table of samples: 4 GiB.
	MostNumbers = 1 << 29
)

// Facts are the names that a job.Simulation may hold: families of graphs
// and formats.
func Facts() job.Facts {
	return job.Facts{Words: map[string][]string{
		"family": simulate.Graphs(),
		"format": arrowio.TableFormats().Names(),
	}}
}

// Validate reports the first field that is wrong, as a *job.Error.
func Validate(s job.Simulation) error {
	if s.Family == "" {
		return job.Errorf("family", "no family is named; choose %s", job.OneOf(simulate.Graphs()))
	}
	if err := job.CheckFields(&s, Facts()); err != nil {
		return err
	}
	r := s.Resolved()
	switch {
	case r.Samples < 0:
		return job.Errorf("samples", "%d is negative; give at least 1", r.Samples)
	case r.Graphs < 0:
		return job.Errorf("graphs", "%d is negative; give at least 1", r.Graphs)
	case r.Seed < 0:
		return job.Errorf("seed", "%d is negative; give zero or more", r.Seed)
	case r.Dimension > MostDimension:
		return job.Errorf("dimension", "%d variables are too many to simulate; give at most %d", r.Dimension, MostDimension)
	case r.Dimension > 0 && r.Samples > MostNumbers/r.Dimension:
		return job.Errorf("samples", "a table of %d×%d numbers would not fit into memory; give at most %d samples", r.Samples, r.Dimension, MostNumbers/r.Dimension)
	}
	if err := checkFiles(s.Name, s.Out); err != nil {
		return err
	}
	f, err := FamilyOf(s)
	if err != nil {
		return err
	}
	return CheckUnused(s, f.Resolved())
}

// checkFiles reports what is wrong with the name of files or their folder.
func checkFiles(name, out string) error {
	switch {
	case strings.ContainsAny(name, `/\`) || strings.HasPrefix(name, "."):
		return job.Errorf("name", "%q is not the name of a file; give one without slashes and a leading dot, and name the folder with out", name)
	case out == "":
		return job.Errorf("out", "no folder is named; give one for the files")
	}
	return nil
}

// CheckUnused refuses numbers in s that its family f, which is resolved, does not
// use: they would be ignored.
func CheckUnused(s job.Simulation, f simulate.Family) error {
	given, used := reflect.ValueOf(s), reflect.ValueOf(f)
	for _, field := range []string{"Density", "Links", "Groups", "Bandwidth", "Neighbours", "Rewiring"} {
		if !given.FieldByName(field).IsZero() && used.FieldByName(field).IsZero() {
			return job.Errorf(strings.ToLower(field), "the family %s has none; leave this out", s.Family)
		}
	}
	if r, d := s.Resolved(), (job.Simulation{}).Resolved(); f.Symmetrisation == "" {
		const none = "the family %s has no edges to weigh; leave this out"
		switch {
		case r.Weights != d.Weights:
			return job.Errorf("weights", none, s.Family)
		case r.Symmetrisation != d.Symmetrisation:
			return job.Errorf("symmetrisation", none, s.Family)
		}
	}
	return nil
}

// FamilyOf is the distribution of the networks of s. What is wrong with it is a
// *job.Error.
func FamilyOf(s job.Simulation) (simulate.Family, error) {
	r := s.Resolved()
	f := simulate.Family{
		Graph:              r.Family,
		Dimension:          r.Dimension,
		Density:            r.Density,
		Links:              r.Links,
		Groups:             r.Groups,
		Bandwidth:          r.Bandwidth,
		Neighbours:         r.Neighbours,
		Rewiring:           r.Rewiring,
		Symmetrisation:     r.Symmetrisation,
		SmallestEigenvalue: r.SmallestEigenvalue,
	}
	var err error
	if f.WeightLow, f.WeightHigh, err = ParseRange("weights", r.Weights); err != nil {
		return f, err
	}
	if f.WeightLow == 0 && f.WeightHigh == 0 {
		return f, job.Errorf("weights", "all weights would be zero; give a range such as -1:1")
	}
	switch {
	case r.Scales == "":
	case !strings.Contains(r.Scales, ":"):
		spread, err := strconv.ParseFloat(strings.TrimSpace(r.Scales), 64)
		if err != nil {
			return f, job.Errorf("scales", "%q is neither a number nor a range; write SPREAD, such as 0.5, or LOW:HIGH, such as 0.7:1.3", r.Scales)
		}
		f.ScaleSpread = spread
	default:
		if f.ScaleLow, f.ScaleHigh, err = ParseRange("scales", r.Scales); err != nil {
			return f, err
		}
		if f.ScaleLow == 0 && f.ScaleHigh == 0 {
			return f, job.Errorf("scales", "factors of zero leave no distribution; give a range of positive numbers such as 0.7:1.3")
		}
	}
	return f, familyError(f.Validate())
}

// familyError makes an error of a family one of the document's field.
func familyError(err error) error {
	var field *simulate.FieldError
	if !errors.As(err, &field) {
		return err
	}
	key := field.Field
	switch key {
	case "graph":
		key = "family"
	case "weight_low", "weight_high":
		key = "weights"
	case "scale_low", "scale_high", "scale_spread":
		key = "scales"
	}
	return &job.Error{Field: key, Reason: field.Reason, Err: err}
}

// ParseRange reads the text of the field key: LOW:HIGH, or one number that is both.
// An error is a *job.Error.
func ParseRange(key, text string) (low, high float64, err error) {
	first, second, two := strings.Cut(text, ":")
	if !two {
		second = first
	}
	low, errLow := strconv.ParseFloat(strings.TrimSpace(first), 64)
	high, errHigh := strconv.ParseFloat(strings.TrimSpace(second), 64)
	if errLow != nil || errHigh != nil {
		return 0, 0, job.Errorf(key, "%q is not a range; write LOW:HIGH, such as -1:1", text)
	}
	return low, high, nil
}
