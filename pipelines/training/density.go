package training

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"

	"github.com/gladflow/gladflow/pipelines/job"
	"github.com/gladflow/gladflow/pipelines/output"
	"github.com/gladflow/gladflow/pipelines/simulation"
)

// densities are the values of Density: one of a list, or one of a range.
type densities struct {
	list      []float64
	low, high float64 // without a list
}

func (t document) densities() (densities, error) {
	switch {
	case t.Density == "":
		return densities{list: []float64{0}}, nil // the family's default
	case strings.Contains(t.Density, ":"):
		low, high, err := simulation.ParseRange("density", t.Density)
		if err == nil && !(low > 0 && low <= high) {
			err = job.Errorf("density", "%q is no range of probabilities; write LOW:HIGH, such as 0.05:0.15", t.Density)
		}
		return densities{low: low, high: high}, err
	}
	var list []float64
	for word := range strings.SplitSeq(t.Density, ",") {
		p, err := strconv.ParseFloat(strings.TrimSpace(word), 64)
		if err != nil || !(p > 0) {
			return densities{}, job.Errorf("density", "%q is no probability; give a number above 0, several as 0.05,0.1, or a range as 0.05:0.15", strings.TrimSpace(word))
		}
		list = append(list, p)
	}
	return densities{list: list}, nil
}

// ends are the densities to check.
func (d densities) ends() []float64 {
	if d.list != nil {
		return d.list
	}
	return []float64{d.low, d.high}
}

// draw takes one. A single density takes nothing from rng.
func (d densities) draw(rng *rand.Rand) float64 {
	switch {
	case len(d.list) == 1:
		return d.list[0]
	case d.list != nil:
		return d.list[rng.IntN(len(d.list))]
	}
	return d.low + (d.high-d.low)*rng.Float64()
}

// String is "p=0.1,0.2" or "p=U(0.05, 0.15)", or nothing for one density.
func (d densities) String() string {
	switch {
	case len(d.list) == 1:
		return ""
	case d.list != nil:
		words := make([]string, len(d.list))
		for i, p := range d.list {
			words[i] = output.Number(p)
		}
		return "p=" + strings.Join(words, ",")
	}
	return fmt.Sprintf("p=U(%v, %v)", d.low, d.high)
}
