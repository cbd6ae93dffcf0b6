package experiment

import (
	"fmt"
	"math"
	"slices"

	"github.com/gladflow/gladflow/pipelines/metric"
)

// leastPairs is how many pairs a bin needs for its share of edges to say something.
const leastPairs = 200

// reliabilityTable has, for each method with probabilities and each family over all sizes,
// what each bin of probabilities held; nil where no method has any.
func (g *generalRun) reliabilityTable() [][]string {
	var rows [][]string
	titles := []string{"method", "family", "calibration error", "Brier", "worst bin"}
	for k := range metric.ReliabilityBins {
		titles = append(titles, fmt.Sprintf("%.1f–%.1f", float64(k)/10, float64(k+1)/10))
	}
	var names []string
	for _, c := range g.cells {
		for _, x := range c.results {
			if x.reliability != nil && !slices.Contains(names, x.name) {
				names = append(names, x.name)
			}
		}
	}
	for _, name := range names {
		for _, f := range generalFamilies() {
			var all metric.Reliability
			for _, c := range g.cells {
				if x := c.named(name); c.family.name == f.name && x != nil && x.reliability != nil {
					all.Merge(x.reliability)
				}
			}
			if all.Pairs() > 0 {
				rows = append(rows, append([]string{name, f.name}, reliabilityCells(&all)...))
			}
		}
	}
	if rows == nil {
		return nil
	}
	return slices.Insert(rows, 0, titles)
}

// keptTable has, for each cell and model with probabilities, the pairs that are kept by them;
// nil where no model has any.
func (g *generalRun) keptTable() [][]string {
	var rows [][]string
	for _, c := range g.cells {
		for _, x := range c.results {
			if x.kept == nil || x.name == familyModel {
				continue
			}
			rows = append(rows, []string{
				c.family.name, fmt.Sprint(c.size.Dimension), fmt.Sprint(c.size.Samples), x.name, text(average(x.kept.pairs, nil)),
				fine(average(x.kept.wrong, nil)), fine(average(x.kept.recall, nil)),
			})
		}
	}
	if rows == nil {
		return nil
	}
	return slices.Insert(rows, 0, []string{"family", "d", "M", "model", "pairs kept", "share of false ones", "share of the edges found"})
}

func reliabilityCells(r *metric.Reliability) []string {
	worst := 0.0
	var shares []string
	for _, b := range r.Bins() {
		if b.Pairs < leastPairs {
			shares = append(shares, "")
			continue
		}
		worst = math.Max(worst, math.Abs(b.Said-b.Held))
		shares = append(shares, fmt.Sprintf("%.2f: %.2f", b.Said, b.Held))
	}
	return append([]string{fmt.Sprintf("%.3f", r.ExpectedError()), fmt.Sprintf("%.4f", r.Brier()), fmt.Sprintf("%.2f", worst)}, shares...)
}
