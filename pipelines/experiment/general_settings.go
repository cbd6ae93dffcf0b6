package experiment

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/gladflow/gladflow/pipelines/job"
	"github.com/gladflow/gladflow/pipelines/simulate"
)

// A Part says what of the experiment general is performed. The zero value is all of it.
type Part struct {
	// Families are some of GeneralFamilies. Default: all.
	Families []string
	// Sizes are the pairs of d and M. Default: (50, 25), (100, 100), (100, 1000), (200, 1000)
	// and (400, 200).
	Sizes []Size
	// Scales are the spreads of the variables' scales, see simulate.Family. Default: 0, .5.
	Scales []float64
	// Graphs is their number in each cell. Default: 12, or 2 if quick.
	Graphs int
	// Models are names of built-in models and model files; the first is the one that the text
	// is about. Default: general.
	Models []string
	// Experts is a folder with models of the families: FAMILY.json for all sizes, or
	// FAMILY-d100-m100.json and, for covariances of equal scales, FAMILY-d100-m100-equal.json.
	// What is missing is trained and kept there. Default: all are trained and none is kept.
	Experts string
	// Without are the contenders that are left out: withoutFamily, withoutAdapt.
	Without []string
}

// Words of Part.Without.
const (
	withoutFamily = "family"
	withoutAdapt  = "adapt"
)

// A Size is a number of variables with one of samples.
type Size struct{ Dimension, Samples int }

// String is 100x1000.
func (s Size) String() string { return fmt.Sprintf("%dx%d", s.Dimension, s.Samples) }

// parseSize reads what Size.String writes.
func parseSize(text string) (Size, error) {
	first, second, _ := strings.Cut(text, "x")
	d, err := strconv.Atoi(first)
	m, errM := strconv.Atoi(second)
	switch {
	case err != nil || errM != nil:
		return Size{}, job.Errorf("sizes", "%q is no size; write variables and samples as 100x1000", text)
	case d < 5 || d > 2000:
		return Size{}, job.Errorf("sizes", "%d variables are not from 5 to 2000", d)
	case m < 5 || m > 100_000:
		return Size{}, job.Errorf("sizes", "%d samples are not from 5 to 100000", m)
	}
	return Size{d, m}, nil
}

// A generalFamily is a family of graphs of any size.
type generalFamily struct {
	name string
	of   simulate.Family
}

// generalFamilies are those of the experiment. The defaults of simulate.Family hold.
func generalFamilies() []generalFamily {
	return []generalFamily{
		{"er-0.02", simulate.Family{Graph: simulate.GraphErdosRenyi, Density: 0.02}},
		{"er-0.1", simulate.Family{Graph: simulate.GraphErdosRenyi, Density: 0.1}},
		{"grid", simulate.Family{Graph: simulate.GraphGrid}},
		{"scale-free", simulate.Family{Graph: simulate.GraphScaleFree}},
		{"hub", simulate.Family{Graph: simulate.GraphHub}},
		{"block", simulate.Family{Graph: simulate.GraphBlock}},
		{"band", simulate.Family{Graph: simulate.GraphBand}},
		{"small-world", simulate.Family{Graph: simulate.GraphSmallWorld}},
	}
}

// GeneralFamilies are the names of the families of the experiment general; the last, empty,
// is noise, of which edges are counted.
func GeneralFamilies() []string {
	var names []string
	for _, f := range generalFamilies() {
		names = append(names, f.name)
	}
	return append(names, simulate.GraphEmpty)
}

// sized is the family with d variables.
func (f generalFamily) sized(d int) simulate.Family {
	f.of.Dimension = d
	return f.of
}

// part reads the options of the experiment general. What is wrong is a *job.Error.
func (o Options) part() (Part, error) {
	p := Part{Families: o.Families, Graphs: o.Graphs, Models: o.Models, Experts: o.Experts, Without: o.Without}
	for _, name := range p.Families {
		if !slices.Contains(GeneralFamilies(), name) {
			return p, job.Errorf("families", "%q is unknown; choose from %s", name, strings.Join(GeneralFamilies(), ", "))
		}
	}
	for _, word := range p.Without {
		if word != withoutFamily && word != withoutAdapt {
			return p, job.Errorf("without", "%q is unknown; choose from %s, %s", word, withoutFamily, withoutAdapt)
		}
	}
	if p.Experts != "" && slices.Contains(p.Without, withoutFamily) {
		return p, job.Errorf("experts", "the models of families are left out; leave out one of the two")
	}
	for _, text := range o.Sizes {
		size, err := parseSize(text)
		if err != nil {
			return p, err
		}
		p.Sizes = append(p.Sizes, size)
	}
	for _, text := range o.Scales {
		v, err := strconv.ParseFloat(text, 64)
		if err != nil || !(v >= 0 && v <= simulate.MostSpread) {
			return p, job.Errorf("scales", "%q is no spread of scales; give numbers from 0 to %d, such as 0,0.5", text, simulate.MostSpread)
		}
		p.Scales = append(p.Scales, v)
	}
	if o.Graphs < 0 {
		return p, job.Errorf("graphs", "%d is negative; give at least 2", o.Graphs)
	}
	if o.Graphs == 1 {
		return p, job.Errorf("graphs", "one graph has no standard error; give at least 2")
	}
	return p, nil
}

// resolved is p with its defaults filled in.
func (p Part) resolved(quick bool) Part {
	if p.Families == nil {
		p.Families = GeneralFamilies()
		if quick {
			p.Families = []string{"er-0.1", "hub", simulate.GraphEmpty}
		}
	}
	if p.Sizes == nil {
		p.Sizes = []Size{{50, 25}, {100, 100}, {100, 1000}, {200, 1000}, {400, 200}}
		if quick {
			p.Sizes = []Size{{20, 20}}
		}
	}
	if p.Scales == nil {
		p.Scales = []float64{0, 0.5}
	}
	if p.Graphs == 0 {
		p.Graphs = 12
		if quick {
			p.Graphs = 2
		}
	}
	if p.Models == nil {
		p.Models = []string{"general"}
	}
	return p
}
