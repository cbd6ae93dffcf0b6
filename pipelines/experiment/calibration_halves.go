package experiment

import (
	"fmt"
	"math"
	"slices"

	"github.com/gladflow/gladflow/arrowio"
	"github.com/gladflow/gladflow/pipelines/job"
	"github.com/gladflow/gladflow/pipelines/metric"
	"github.com/gladflow/gladflow/pipelines/output"
	"github.com/gladflow/gladflow/pipelines/report"
	"github.com/gladflow/gladflow/solver/dense"
	"github.com/gladflow/gladflow/solver/stability"
)

// judgeHalves judges the list of all pairs of one solver.
func judgeHalves(s *job.StabilityResult, list output.Table, at map[string]int, truth *dense.Sym) *judgedHalves {
	out := &judgedHalves{selected: float64(s.Selected)}
	source, target := columnOf[string](list, "source"), columnOf[string](list, "target")
	selection, edge := columnOf[float64](list, arrowio.SelectionProbability), columnOf[float64](list, arrowio.EdgeProbability)
	bounds := stability.NewBounds(float64(s.Selected), s.Candidates, s.Halves/2)
	isEdge := make([]bool, len(source))
	for k := range source {
		isEdge[k] = truth.At(at[source[k]], at[target[k]]) != 0
		for _, c := range []struct {
			of []float64
			to *metric.Reliability
		}{{selection, &out.selection}, {edge, &out.edge}} {
			if c.of == nil {
				continue
			}
			if err := c.to.Add(c.of[k], isEdge[k]); err != nil {
				panic(err) // of a probability that a run has written
			}
		}
	}
	for _, expected := range falseEdges() {
		least := bounds.Threshold(expected)
		var kept, wrong float64
		for k, p := range selection {
			if int(math.Round(p*float64(s.Halves))) >= least {
				kept++
				if !isEdge[k] {
					wrong++
				}
			}
		}
		out.kept, out.wrong = append(out.kept, kept), append(out.wrong, wrong)
	}
	return out
}

// halvesTable has, for each cell and solver, what the bounds of false edges keep, and what is
// to be said of it.
func halvesTable(cells []calibrationCell) ([][]string, string) {
	rows := [][]string{{"family", "d", "M", "solver", "selected by a half"}}
	for _, bound := range falseEdges() {
		rows[0] = append(rows[0], fmt.Sprintf("kept, at most %v false", bound), "of these false")
	}
	said := ""
	over := make(map[string][]string)
	all := 0
	for k := range cells {
		c := &cells[k]
		for _, name := range calibrationSolvers() {
			row := []string{c.family.name, fmt.Sprint(c.d), fmt.Sprint(c.m), name, c.figureOf("%.1f", func(t judgedTable) float64 { return t.halves[name].selected })}
			for b, bound := range falseEdges() {
				wrong := func(t judgedTable) float64 { return t.halves[name].wrong[b] }
				row = append(row, c.figureOf("%.1f", func(t judgedTable) float64 { return t.halves[name].kept[b] }), c.figureOf("%.2f", wrong))
				if mean, se := c.meanOf(wrong); mean-2*se > bound {
					over[name] = append(over[name], fmt.Sprintf("%s %d×%d (%.1f of %v)", c.family.name, c.d, c.m, mean, bound))
				}
			}
			rows = append(rows, row)
		}
		all += len(falseEdges())
	}
	for _, name := range calibrationSolvers() {
		said += fmt.Sprintf("With %s more false edges are kept than the bound allows, by two standard errors, in %d of %d cases", name, len(over[name]), all)
		if len(over[name]) > 0 {
			said += ": " + job.AllOf(over[name])
		}
		said += ". "
	}
	return rows, said + "The bound is of pairs that a half selects no more often than it selects pairs on average; a false pair that it selects more often, such as two neighbours of a common one by their correlation, is outside of it; and a ranking selects as many pairs of noise as of anything else, of which it leaves a little more than the bound allows."
}

// calibrationReliability has the share of edges by probability, for each solver and size, and
// a panel for each solver.
func calibrationReliability(cells []calibrationCell) ([][]string, []report.Panel) {
	rows := [][]string{{"solver", "d", "M", "probability", "calibration error", "Brier", "worst bin"}}
	for k := range metric.ReliabilityBins {
		rows[0] = append(rows[0], fmt.Sprintf("%.1f–%.1f", float64(k)/10, float64(k+1)/10))
	}
	var sizes [][2]int
	for _, c := range cells {
		if size := [2]int{c.d, c.m}; !slices.Contains(sizes, size) {
			sizes = append(sizes, size)
		}
	}
	var panels []report.Panel
	for _, name := range calibrationSolvers() {
		panel := report.Lines{Title: name, X: "probability", Y: "share of edges", Low: 0, High: 1}
		for _, size := range sizes {
			for _, kind := range []string{"selection", "edge"} {
				var all metric.Reliability
				for _, c := range cells {
					if [2]int{c.d, c.m} != size {
						continue
					}
					for _, t := range c.results {
						if h := t.halves[name]; kind == "edge" {
							all.Merge(&h.edge)
						} else {
							all.Merge(&h.selection)
						}
					}
				}
				if all.Pairs() == 0 {
					continue
				}
				row := []string{name, fmt.Sprint(size[0]), fmt.Sprint(size[1]), kind}
				rows = append(rows, append(row, reliabilityCells(&all)...))
				line := report.Series{Name: fmt.Sprintf("%s probability, %d×%d", kind, size[0], size[1])}
				for _, b := range all.Bins() {
					if b.Pairs >= leastPairs {
						line.X, line.Y = append(line.X, b.Said), append(line.Y, b.Held)
					}
				}
				if len(line.X) > 0 {
					panel.Series = append(panel.Series, line)
				}
			}
		}
		if len(panel.Series) > 0 {
			panels = append(panels, panel)
		}
	}
	return rows, panels
}
