package pipelines

import (
	"errors"
	"reflect"
	"strconv"
	"strings"

	"github.com/gladflow/gladflow/pipelines/simulate"
)

// A Simulation is networks of a family with samples of them, to try solvers on
// and to train with. The zero value of every field but Family and Out is its
// default.
type Simulation struct {
	// Family is the kind of graph, one of simulate.Graphs.
	Family string `json:"family" jsonschema:"required,enum=er,enum=grid,enum=scale-free,enum=hub,enum=block,enum=band" jsonschema_description:"kind of graph"`
	// Dimension is d, the number of variables.
	Dimension int `json:"dimension,omitzero" jsonschema:"minimum=0,default=100" jsonschema_description:"number of variables"`
	// Samples is m, the number of samples of each network.
	Samples int `json:"samples,omitzero" jsonschema:"minimum=0,default=100" jsonschema_description:"number of samples of each network"`
	// Graphs is the number of networks. The k-th does not depend on how many
	// there are.
	Graphs int `json:"graphs,omitzero" jsonschema:"minimum=0,default=1" jsonschema_description:"number of networks"`
	// Seed chooses the random numbers: the same simulation gives the same bytes.
	Seed int `json:"seed,omitzero" jsonschema:"minimum=0" jsonschema_description:"seed of the random numbers; the same seed gives the same files"`

	// Density is the probability of an edge, see simulate.Family.
	Density float64 `json:"density,omitzero" jsonschema:"minimum=0,maximum=1" jsonschema_description:"probability of an edge in er, or within a block in block; 0 is the default, 0.1 and 0.3"`
	// Links is the number of edges of each new variable of scale-free.
	Links int `json:"links,omitzero" jsonschema:"minimum=0" jsonschema_description:"edges that each new variable of scale-free brings; 0 is the default, 1"`
	// Groups is the number of hubs or blocks.
	Groups int `json:"groups,omitzero" jsonschema:"minimum=0" jsonschema_description:"number of hubs or blocks; 0 is the default, one for 20 variables"`
	// Bandwidth is the number of neighbours on each side of band.
	Bandwidth int `json:"bandwidth,omitzero" jsonschema:"minimum=0" jsonschema_description:"neighbours on each side in band; 0 is the default, 2"`
	// Weights is the range of the uniform weights, LOW:HIGH.
	Weights string `json:"weights,omitzero" jsonschema:"default=-1:1" jsonschema_description:"range LOW:HIGH of the uniform draws of weights"`
	// Symmetrisation is how two draws make one weight, see simulate.Family.
	Symmetrisation string `json:"symmetrisation,omitzero" jsonschema:"enum=sym,enum=avg,default=sym" jsonschema_description:"weights: sym draws one for both triangles, avg is the mean of two"`
	// SmallestEigenvalue is that of the precision matrix, before Scales.
	SmallestEigenvalue float64 `json:"smallest_eigenvalue,omitzero" jsonschema:"minimum=0,default=1" jsonschema_description:"smallest eigenvalue of the precision matrix; the diagonal is raised to it"`
	// Scales is a range LOW:HIGH of factors by which Θ's rows and columns are
	// multiplied. Default: none.
	Scales string `json:"scales,omitzero" jsonschema_description:"range LOW:HIGH of factors on rows and columns of the precision matrix, for variables of unequal variance; without it none"`

	// Name is what the files are called: NAME.parquet, or NAME-1.parquet and so
	// on for several networks. Default: the family.
	Name string `json:"name,omitzero" jsonschema_description:"name of the files, before the number of the network; without it the family"`
	// Out is the folder for the files, made where it is missing. Files of the
	// same name are replaced, each at once and whole.
	Out string `json:"out" jsonschema:"required,minLength=1" jsonschema_description:"folder to write the files to"`
	// Format is that of samples and precision matrices.
	Format string `json:"format,omitzero" jsonschema:"enum=parquet,enum=arrow,enum=csv,default=parquet" jsonschema_description:"format of the tables written"`
	// JSON asks for one JSON document. Simulate leaves it to the command.
	JSON bool `json:"json,omitzero" jsonschema_description:"print the result as one JSON document"`
}

// Limits far beyond what a simulation is for: above them it would end without
// memory, or after days.
const (
	mostDimension = 20_000
	mostNumbers   = 1 << 29 // of one table of samples: 4 GiB
)

// Validate reports the first field that is wrong, as a *JobError.
func (s Simulation) Validate() error {
	if s.Family == "" {
		return wrong("family", "no family is named; choose %s", oneOf(simulate.Graphs()))
	}
	if err := checkChoices(&s); err != nil {
		return err
	}
	r := s.Resolved()
	switch {
	case r.Samples < 0:
		return wrong("samples", "%d is negative; give at least 1", r.Samples)
	case r.Graphs < 0:
		return wrong("graphs", "%d is negative; give at least 1", r.Graphs)
	case r.Seed < 0:
		return wrong("seed", "%d is negative; give zero or more", r.Seed)
	case r.Dimension > mostDimension:
		return wrong("dimension", "%d variables are too many to simulate; give at most %d", r.Dimension, mostDimension)
	case r.Dimension > 0 && r.Samples > mostNumbers/r.Dimension:
		return wrong("samples", "a table of %d×%d numbers would not fit into memory; give at most %d samples", r.Samples, r.Dimension, mostNumbers/r.Dimension)
	case strings.ContainsAny(s.Name, `/\`) || strings.HasPrefix(s.Name, "."):
		return wrong("name", "%q is not the name of a file; give one without slashes and a leading dot, and name the folder with out", s.Name)
	case s.Out == "":
		return wrong("out", "no folder is named; give one for the files")
	}
	f, err := s.family()
	if err != nil {
		return err
	}
	return s.checkUnused(f.Resolved())
}

// checkUnused refuses numbers that the family does not have, lest they be
// thought to count.
func (s Simulation) checkUnused(f simulate.Family) error {
	given, used := reflect.ValueOf(s), reflect.ValueOf(f)
	for _, field := range []string{"Density", "Links", "Groups", "Bandwidth"} {
		if !given.FieldByName(field).IsZero() && used.FieldByName(field).IsZero() {
			return wrong(strings.ToLower(field), "the family %s has none; leave this out", s.Family)
		}
	}
	return nil
}

// Resolved returns s with every default filled in that is a value.
func (s Simulation) Resolved() Simulation {
	r := s
	fillDefaults(&r)
	if r.Name == "" {
		r.Name = r.Family
	}
	return r
}

// family is the distribution of the networks. What is wrong with it is a
// *JobError.
func (s Simulation) family() (simulate.Family, error) {
	r := s.Resolved()
	f := simulate.Family{
		Graph:              r.Family,
		Dimension:          r.Dimension,
		Density:            r.Density,
		Links:              r.Links,
		Groups:             r.Groups,
		Bandwidth:          r.Bandwidth,
		Symmetrisation:     r.Symmetrisation,
		SmallestEigenvalue: r.SmallestEigenvalue,
	}
	var err error
	if f.WeightLow, f.WeightHigh, err = parseRange("weights", r.Weights); err != nil {
		return f, err
	}
	if f.WeightLow == 0 && f.WeightHigh == 0 {
		return f, wrong("weights", "all weights would be zero; give a range such as -1:1")
	}
	if r.Scales != "" {
		if f.ScaleLow, f.ScaleHigh, err = parseRange("scales", r.Scales); err != nil {
			return f, err
		}
		if f.ScaleLow == 0 && f.ScaleHigh == 0 {
			return f, wrong("scales", "factors of zero leave no distribution; give a range of positive numbers such as 0.7:1.3")
		}
	}
	return f, blameFamily(f.Validate())
}

// blameFamily makes an error of a family one of the document's field.
func blameFamily(err error) error {
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
	case "scale_low", "scale_high":
		key = "scales"
	}
	return &JobError{Field: key, Reason: field.Reason, Err: err}
}

// parseRange reads LOW:HIGH, or one number for a range of nothing else.
func parseRange(key, text string) (low, high float64, err error) {
	first, second, two := strings.Cut(text, ":")
	if !two {
		second = first
	}
	low, errLow := strconv.ParseFloat(strings.TrimSpace(first), 64)
	high, errHigh := strconv.ParseFloat(strings.TrimSpace(second), 64)
	if errLow != nil || errHigh != nil {
		return 0, 0, wrong(key, "%q is not a range; write LOW:HIGH, such as -1:1", text)
	}
	return low, high, nil
}
