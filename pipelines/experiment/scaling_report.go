package experiment

import (
	"fmt"
	"math"

	"github.com/gladflow/gladflow/pipelines/report"
	"github.com/gladflow/gladflow/solver/glad"
)

// scalingReport sets the costs of solvers and of reading into tables and a figure; from is
// the size from which exponents are fitted.
func scalingReport(r *Run, solvers, reading []*growth, sizes []int, from int, limit float64) *Report {
	t := newTable("work", "threads", "size", "seconds", "megabytes", "matrices")
	time := report.Lines{Title: "Time", X: "variables", Y: "seconds", LogX: true, LogY: true}
	memory := report.Lines{Title: "Memory", X: "variables", Y: "MB", LogX: true, LogY: true}
	read := report.Lines{Title: "Reading", X: "samples", Y: "seconds", LogX: true, LogY: true}
	head := []string{"solver", "threads"}
	for _, d := range sizes {
		head = append(head, fmt.Sprintf("d = %d", d))
	}
	main := [][]string{append(head, "time grows as d to the", "most memory, MB", "in d² numbers", "memory grows as d to the")}
	for _, g := range solvers {
		row := []string{g.name, fmt.Sprint(g.threads)}
		for i := range sizes {
			if i >= len(g.sizes) {
				row = append(row, "")
				continue
			}
			row = append(row, secondsText(g.seconds[i]))
			t.add(g.name, g.threads, g.sizes[i], g.seconds[i], g.bytes[i]/1e6, g.matrices(i))
		}
		last := len(g.sizes) - 1
		main = append(main, append(row, exponentText(g.exponent(g.seconds, from)), megabytes(g.bytes[last]),
			whole(g.matrices(last), "%.1f"), exponentText(g.exponent(g.bytes, from))))
		if g.threads == 1 {
			time.Series = append(time.Series, g.series(g.name, g.seconds, 1))
			memory.Series = append(memory.Series, g.series(g.name, g.bytes, 1e-6))
		}
	}
	rows := [][]string{{"file", "threads", "samples", "seconds", "MB/s of numbers", "memory, MB", "time grows as M to the"}}
	for _, g := range reading {
		for i, m := range g.sizes {
			rate := float64(m) * float64(readVariables(r)) * 8 / 1e6 / g.seconds[i]
			exponent := ""
			if i == len(g.sizes)-1 {
				exponent = exponentText(g.exponent(g.seconds, 0))
			}
			rows = append(rows, []string{g.name, fmt.Sprint(g.threads), fmt.Sprint(m), secondsText(g.seconds[i]), fmt.Sprintf("%.0f", rate), megabytes(g.bytes[i]), exponent})
			t.add("reading "+g.name, g.threads, m, g.seconds[i], g.bytes[i]/1e6, math.NaN())
		}
		read.Series = append(read.Series, g.series(fmt.Sprintf("%s, %d threads", g.name, g.threads), g.seconds, 1))
	}
	return &Report{
		Setting: fmt.Sprintf("er with 5 neighbours in the mean, M = d, weights U[-1, 1) sym, smallest eigenvalue 1, one table of each size; Pearson's correlation; classical solvers at the penalty that 96.5 %% of the |S| are below, to a relative gap of %.0e; glad with the model %s; median of three runs, or one that takes over 2 s; sizes that would take over %.0f s by the cube of the last one are left out; exponents by least squares of logarithms from d = %d", scalingGap, glad.DefaultModelName, limit, from),
		Errors:  "the standard error of the slope",
		Columns: t.done(), Main: main,
		Sections: []Section{{Title: fmt.Sprintf("From a file to the correlation of %d variables, by the number of samples", readVariables(r)), Rows: rows}},
		Figure:   report.Figure{Title: "Cost as the work grows, one thread", Panels: []report.Panel{time, memory, read}, Columns: 2},
		Paragraph: fmt.Sprintf("Times are those of a solver, reading and the correlation apart. Memory is the most that the process grew by in the run, the table and its correlation included, as the system counts it. Products and factorisations take the cube of the variables; solvers of sparse problems take less, for they work on what is not zero, and rankings of pairs the square. %s",
			growthText(solvers, from)),
	}
}

// readVariables are those of the tables that are read.
func readVariables(r *Run) int { return choose(r, 200, 20) }

// matrices is a size in d×d numbers.
func (g *growth) matrices(i int) float64 {
	return g.bytes[i] / 8 / float64(g.sizes[i]) / float64(g.sizes[i])
}

func (g *growth) series(name string, y []float64, unit float64) report.Series {
	s := report.Series{Name: name}
	for i, size := range g.sizes {
		if y[i] > 0 {
			s.X, s.Y = append(s.X, float64(size)), append(s.Y, y[i]*unit)
		}
	}
	return s
}

// growthText compares one thread with all on the largest size of each solver.
func growthText(solvers []*growth, from int) string {
	var gains []float64
	for i := 1; i < len(solvers); i++ {
		one, all := solvers[i-1], solvers[i]
		if one.name != all.name || all.threads == one.threads {
			continue
		}
		if k := min(len(one.sizes), len(all.sizes)) - 1; k >= 0 && one.sizes[k] >= from {
			gains = append(gains, one.seconds[k]/all.seconds[k])
		}
	}
	if len(gains) == 0 {
		return "This machine has one processor."
	}
	return fmt.Sprintf("%d threads are %.2f times as fast as one in the median of the solvers, at the largest size of each (%.2f to %.2f).",
		solvers[1].threads, quantile(gains, 0.5), quantile(gains, 0), quantile(gains, 1))
}

func secondsText(s float64) string { return fmt.Sprintf("%.3g s", s) }

func exponentText(slope, standardError float64) string {
	if math.IsNaN(slope) {
		return ""
	}
	return fmt.Sprintf("%.2f ± %.2f", slope, standardError)
}

func megabytes(bytes float64) string { return whole(bytes/1e6, "%.0f") }

// whole is a number, or nothing where there is none.
func whole(v float64, format string) string {
	if math.IsNaN(v) {
		return ""
	}
	return fmt.Sprintf(format, v)
}
