package experiment

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/gladflow/gladflow/arrowio"
	"github.com/gladflow/gladflow/pipelines/report"
	"github.com/gladflow/gladflow/solver"
)

// report puts everything together.
func (g *generalRun) report() *Report {
	rep := &Report{
		Setting: g.setting(),
		Columns: g.columns(),
		Figure:  g.figure(),
	}
	if len(g.cells) > 0 {
		rep.Main = g.standardTable()
		for k, spread := range g.Scales {
			rep.Sections = append(rep.Sections, Section{
				Title: fmt.Sprintf("NMSE of Z (dB) in the units of the table, scales ±%v", spread), Rows: g.originalTable(k),
			})
		}
		rep.Sections = append(rep.Sections, Section{Title: "AUPR (average precision; ties in every order)", Rows: g.precisionTable()})
		if rows := g.keptTable(); rows != nil {
			rep.Sections = append(rep.Sections, Section{
				Title: fmt.Sprintf("Pairs kept by their probability (an expected share of false ones of %v at most)", solver.DefaultFDR), Rows: rows,
			})
		}
		if rows := g.reliabilityTable(); rows != nil {
			rep.Sections = append(rep.Sections, Section{Title: "Probabilities of edges: what was said, and the share that held", Rows: rows})
		}
	}
	if len(g.noise) > 0 {
		rows := [][]string{{"model", "d", "M", "edges listed", "most"}}
		for _, n := range g.noise {
			rows = append(rows, []string{n.model, fmt.Sprint(n.size.Dimension), fmt.Sprint(n.size.Samples), figure(n.edges.value, n.edges.err), fmt.Sprint(n.most)})
		}
		if rep.Main == nil {
			rep.Main = rows
		} else {
			rep.Sections = append(rep.Sections, Section{Title: "Edges listed where there are none", Rows: rows})
		}
	}
	rep.Paragraph = g.paragraph()
	return rep
}

func (g *generalRun) setting() string {
	var families []string
	for _, f := range generalFamilies() {
		if slices.Contains(g.Families, f.name) {
			families = append(families, strings.Replace(f.sized(100).String(), ", d=100", "", 1))
		}
	}
	origin := fmt.Sprintf("models of a family trained on %d graphs of it with %d tables each, of the same d and M (d at most %d, then with as many variables a sample), that for equal scales on covariances",
		choose(g.Run, trainingGraphs, 2), trainingCopies, expertDimension)
	switch {
	case slices.Contains(g.Without, withoutFamily):
		origin = "models of families left out"
	case g.Experts != "":
		origin += ", unless they were given"
	}
	return fmt.Sprintf("%d graphs a cell; %s; NMSE of standardised variables does not depend on scales; in the units of the table by shrunk deviations; %s; %s",
		g.Graphs, strings.Join(families, "; "), origin, g.training())
}

// matrixMethods are the models and those of a list that took part, in the order of the
// results.
func (g *generalRun) matrixMethods(with ...string) []string {
	var names []string
	for k := range g.models {
		names = append(names, g.modelName(k))
	}
	for _, x := range g.cells[0].results {
		if slices.Contains(with, x.name) {
			names = append(names, x.name)
		}
	}
	return names
}

// rows is a table with a row for each cell, of what value gives for each method.
func (g *generalRun) rows(names []string, value func(*cellResult) measured, more []string, last func(c cell) []string) [][]string {
	rows := [][]string{slices.Concat([]string{"family", "d", "M"}, names, more)}
	for _, c := range g.cells {
		row := []string{c.family.name, fmt.Sprint(c.size.Dimension), fmt.Sprint(c.size.Samples)}
		for _, name := range names {
			row = append(row, text(value(c.named(name))))
		}
		rows = append(rows, append(row, last(c)...))
	}
	return rows
}

func text(m measured) string {
	switch {
	case !m.known():
		return ""
	case math.IsNaN(m.err):
		return number(m.value)
	}
	return figure(m.value, m.err)
}

// fine is text with three decimals.
func fine(m measured) string {
	if !m.known() {
		return ""
	}
	return strings.Replace(fmt.Sprintf("%.3f ± %.3f", m.value, m.err), "-", "−", 1)
}

func (g *generalRun) standardTable() [][]string {
	first := g.modelName(0)
	names := g.matrixMethods(adaptedGeneral, adaptedEqual, lassoByTruth, familyModel, familyEqual, ledoitWolf, noEdges)
	less := func(c cell, other string) string {
		return text(decibelsLess(c.named(first).standard, c.named(other).standard))
	}
	return g.rows(names, func(x *cellResult) measured { return decibels(x.standard) },
		[]string{first + " less the lasso", first + " less the family's model"},
		func(c cell) []string { return []string{less(c, lassoByTruth), less(c, familyModel)} })
}

func (g *generalRun) originalTable(spread int) [][]string {
	with := []string{adaptedGeneral, lassoByTruth, familyModel, ledoitWolf}
	if g.Scales[spread] == 0 {
		with = append(with, adaptedEqual, familyEqual)
	}
	first := g.modelName(0)
	return g.rows(g.matrixMethods(with...), func(x *cellResult) measured { return decibels(x.original[spread]) },
		[]string{first + " less the lasso"},
		func(c cell) []string {
			return []string{text(decibelsLess(c.named(first).original[spread], c.named(lassoByTruth).original[spread]))}
		})
}

func (g *generalRun) precisionTable() [][]string {
	first := g.modelName(0)
	names := g.matrixMethods(adaptedGeneral, lassoByTruth, familyModel, ledoitWolf, absCorrelation)
	rows := g.rows(names, func(*cellResult) measured { return unmeasured }, []string{first + " less the better of the last two"},
		func(c cell) []string { return []string{fine(g.precisionGain(c))} })
	for i, c := range g.cells {
		for k, name := range names {
			rows[i+1][3+k] = fine(average(c.named(name).precisions, nil))
		}
	}
	return rows
}

// precisionGain is the AUPR of the first model less that of Ledoit-Wolf or of the
// correlation, whichever is better in the cell.
func (g *generalRun) precisionGain(c cell) measured {
	other := c.named(ledoitWolf).precisions
	if r := c.named(absCorrelation).precisions; average(r, nil).value > average(other, nil).value {
		other = r
	}
	return average(c.named(g.modelName(0)).precisions, other)
}

// paragraph counts the cells in which the first model does what a general model should.
func (g *generalRun) paragraph() string {
	var b strings.Builder
	b.WriteString(`The graphical lasso has, for every graph and every figure, the penalty that is best by the truth, which nobody knows: it is a bound of what tuning can do. Scales are what simulated graphs have in common and measured ones have not: Θ* is multiplied by factors whose logarithm is uniform on ± the number given. Correlations do not see them, so that figures of standardised variables are those of every spread; a model of covariances does, and one that was trained on equal scales is shown where they are equal. Θ* of the standardised variables is the inverse of the true correlation.`)
	if len(g.cells) == 0 {
		return b.String()
	}
	first := g.modelName(0)
	var lasso, family, ranked int
	var familyCells, rankedCells int
	var worst, gain float64 = math.Inf(-1), 0
	for _, c := range g.cells {
		x := c.named(first)
		v := decibelsLess(x.standard, c.named(lassoByTruth).standard)
		if v.value <= -0.3 {
			lasso++
		}
		worst = max(worst, v.value)
		if c.size.Samples < c.size.Dimension {
			continue
		}
		limit := 0.3
		if c.family.name == "hub" {
			limit = 0.5
		}
		if v := decibelsLess(x.standard, c.named(familyModel).standard); v.known() {
			familyCells++
			if v.value <= limit {
				family++
			}
		}
		if v := g.precisionGain(c); v.known() {
			rankedCells++
			gain += v.value
			if v.value >= -0.01 {
				ranked++
			}
		}
	}
	fmt.Fprintf(&b, " In standardised units %s is at least 0.3 dB better than this lasso in %d of %d cells (in the worst cell %s dB)", first, lasso, len(g.cells), strings.Replace(fmt.Sprintf("%+.2f", worst), "-", "−", 1))
	if familyCells > 0 {
		fmt.Fprintf(&b, ", and where M ≥ d within 0.3 dB (hub: 0.5) of the model of the family in %d of %d", family, familyCells)
	}
	b.WriteString(".")
	if rankedCells > 0 {
		fmt.Fprintf(&b, " There its AUPR is at least that of Ledoit-Wolf and of the correlation less 0.01 in %d of %d cells, and %s above the better of them on average.",
			ranked, rankedCells, signedThousandths(gain/float64(rankedCells)))
	}
	return b.String()
}

// columns is the table of everything: a row for each cell, spread and method.
func (g *generalRun) columns() []arrowio.Column {
	t := newTable("family", "family_seen", "dimension", "samples", "size_seen", "scales", "method",
		"nmse_db", "nmse_standard_error", "original_nmse_db", "original_nmse_standard_error",
		"auroc", "auroc_standard_error", "aupr", "aupr_standard_error",
		"nmse_less_lasso", "nmse_less_lasso_error", "nmse_less_first", "nmse_less_first_error",
		"original_less_lasso", "original_less_lasso_error", "original_less_first", "original_less_first_error",
		"aupr_less_lasso", "aupr_less_lasso_error", "aupr_less_first", "aupr_less_first_error",
		"calibration_error", "brier", "edges_listed", "edges_listed_error", "false_share", "false_share_error")
	card := g.models[0].Card
	for _, c := range g.cells {
		first, lasso := c.named(g.modelName(0)), c.named(lassoByTruth)
		for k, spread := range g.Scales {
			for _, x := range c.results {
				if x.standard != nil && x.original[k] == nil {
					continue // it knows equal scales only
				}
				row := []any{c.family.name, flag(seenGraph(card, c.family.of.Graph)), c.size.Dimension, c.size.Samples, flag(seenSize(card, c.size)), spread, x.name}
				calibration, brier := math.NaN(), math.NaN()
				if x.reliability != nil {
					calibration, brier = x.reliability.ExpectedError(), x.reliability.Brier()
				}
				less := func(a, b *cellResult) []measured {
					if a.standard == nil {
						return []measured{unmeasured, unmeasured}
					}
					return []measured{decibelsLess(a.standard, b.standard), decibelsLess(a.original[k], b.original[k])}
				}
				byLasso, byFirst := less(x, lasso), less(x, first)
				for _, m := range []measured{
					decibels(x.standard), decibels(x.original[k]), average(x.areas, nil), average(x.precisions, nil),
					byLasso[0], byFirst[0], byLasso[1], byFirst[1], average(x.precisions, lasso.precisions), average(x.precisions, first.precisions),
				} {
					row = append(row, m.value, m.err)
				}
				row = append(row, calibration, brier)
				kept := []measured{unmeasured, unmeasured}
				if x.kept != nil {
					kept = []measured{average(x.kept.pairs, nil), average(x.kept.wrong, nil)}
				}
				for _, m := range kept {
					row = append(row, m.value, m.err)
				}
				t.add(row...)
			}
		}
	}
	for _, n := range g.noise {
		row := []any{"empty", flag(seenGraph(card, "empty")), n.size.Dimension, n.size.Samples, flag(seenSize(card, n.size)), 0., n.model}
		for range 22 {
			row = append(row, math.NaN())
		}
		row = append(row, n.edges.value, n.edges.err)
		for range 2 {
			row = append(row, math.NaN())
		}
		t.add(row...)
	}
	return t.done()
}

func flag(b bool) int {
	if b {
		return 1
	}
	return 0
}

// figure shows the NMSE of standardised variables less that of the lasso, a panel for each
// family.
func (g *generalRun) figure() report.Figure {
	if len(g.cells) == 0 {
		return g.noiseFigure()
	}
	f := report.Figure{Title: "NMSE less that of a graphical lasso tuned by the truth", Columns: 2}
	names := g.matrixMethods(adaptedGeneral, familyModel)
	for _, family := range generalFamilies() {
		panel := report.Bars{Title: family.name, X: "variables x samples", Y: "dB"}
		for _, c := range g.cells {
			if c.family.name != family.name {
				continue
			}
			panel.Groups = append(panel.Groups, c.size.String())
			for _, name := range names {
				m := decibelsLess(c.named(name).standard, c.named(lassoByTruth).standard)
				appendBar(&panel, name, m.value, m.err)
			}
		}
		if panel.Groups != nil {
			f.Panels = append(f.Panels, panel)
		}
	}
	return f
}

func (g *generalRun) noiseFigure() report.Figure {
	panel := report.Bars{Y: "edges"}
	for _, n := range g.noise {
		if group := n.size.String(); !slices.Contains(panel.Groups, group) {
			panel.Groups = append(panel.Groups, group)
		}
		appendBar(&panel, n.model, n.edges.value, n.edges.err)
	}
	return report.Figure{Title: "Edges listed where there are none", Panels: []report.Panel{panel}}
}
