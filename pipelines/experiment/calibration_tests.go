package experiment

import (
	"context"
	"fmt"
	"math"

	"github.com/gladflow/gladflow/pipelines/job"
	"github.com/gladflow/gladflow/solver"
	"github.com/gladflow/gladflow/solver/covariance"
	"github.com/gladflow/gladflow/solver/dense"
	"github.com/gladflow/gladflow/solver/inference"
)

// testMethods are the tests that are judged.
func testMethods() []string { return []string{job.PValuesLasso, job.PValuesPartial} }

// A testFigure is a figure of the tests of one table.
type testFigure struct {
	name string
	of   func(*judgedTests) float64
}

func testFigures() []testFigure {
	return []testFigure{
		{"size_05", func(t *judgedTests) float64 { return t.size5 }},
		{"size_01", func(t *judgedTests) float64 { return t.size1 }},
		{"fdr", func(t *judgedTests) float64 { return t.fdr }},
		{"power", func(t *judgedTests) float64 { return t.power }},
		{"coverage_edges", func(t *judgedTests) float64 { return t.covered }},
		{"coverage_others", func(t *judgedTests) float64 { return t.nulls }},
		{"crowding", func(t *judgedTests) float64 { return t.crowding }},
	}
}

// judgeTests tests the pairs of one table, by each test that it has samples for.
func (r *Run) judgeTests(ctx context.Context, judged judgedTable, truth *dense.Sym, rows []float64) error {
	d := truth.Len()
	engine := r.Engine
	if engine == nil {
		engine = dense.Default()
	}
	engine = dense.WithThreads(engine, 1)
	estimated, err := covariance.Estimate(ctx, covariance.NewTable(rows, d), d, covariance.Settings{Engine: engine})
	if err != nil {
		return err
	}
	p := solver.Problem{S: estimated.S, Samples: estimated.Samples}
	s := inference.Settings{Engine: engine}
	lasso, err := inference.Desparsified(ctx, p, s)
	if err != nil {
		return err
	}
	judged.tests[job.PValuesLasso] = judgePairs(lasso, truth)
	judged.tests[job.PValuesLasso].crowding = lasso.Crowding()
	if p.Samples >= d+2 {
		partial, err := inference.PartialCorrelations(ctx, p, s)
		if err != nil {
			return err
		}
		judged.tests[job.PValuesPartial] = judgePairs(partial, truth)
		judged.tests[job.PValuesPartial].crowding = math.NaN()
	}
	return nil
}

// judgePairs holds tests against the truth.
func judgePairs(t *inference.Tests, truth *dense.Sym) *judgedTests {
	const level, fdr = 0.95, 0.1
	var edges, others, kept, wrong float64
	out := new(judgedTests)
	for i := range truth.Len() {
		for j := range i {
			lower, upper := t.Interval(i, j, level)
			partial := -truth.At(i, j) / math.Sqrt(truth.At(i, i)*truth.At(j, j))
			covered := 0.0
			if lower <= partial && partial <= upper {
				covered = 1
			}
			found := t.Q(i, j) <= fdr
			if found {
				kept++
			}
			if truth.At(i, j) != 0 {
				edges++
				out.covered += covered
				if found {
					out.power++
				}
				continue
			}
			others++
			out.nulls += covered
			p := t.P(i, j)
			if p <= 0.05 {
				out.size5++
			}
			if p <= 0.01 {
				out.size1++
			}
			if found {
				wrong++
			}
		}
	}
	out.size5, out.size1, out.nulls = out.size5/others, out.size1/others, out.nulls/others
	out.power, out.covered = out.power/edges, out.covered/edges // NaN without an edge
	out.fdr = wrong / math.Max(1, kept)
	return out
}

// testsTable has, for each cell and test, how it does, and what is to be said of it.
func testsTable(cells []calibrationCell) ([][]string, string) {
	rows := [][]string{{"family", "d", "M", "test", "p ≤ .05", "p ≤ .01", "false discoveries at .1", "edges found", "intervals: edges", "other pairs", "s·log d/√M"}}
	var large, many, missed []string
	all := 0
	for k := range cells {
		c := &cells[k]
		for _, method := range testMethods() {
			if c.results[0].tests[method] == nil {
				continue
			}
			all++
			row := []string{c.family.name, fmt.Sprint(c.d), fmt.Sprint(c.m), method}
			name := fmt.Sprintf("%s %d×%d, %s", c.family.name, c.d, c.m, method)
			for _, f := range testFigures() {
				of := func(t judgedTable) float64 { return f.of(t.tests[method]) }
				format := "%.3f"
				if f.name == "crowding" {
					format = "%.1f"
				}
				row = append(row, c.figureOf(format, of))
				mean, se := c.meanOf(of)
				switch {
				case f.name == "size_05" && mean-2*se > 0.05:
					large = append(large, fmt.Sprintf("%s (%.3f)", name, mean))
				case f.name == "fdr" && mean-2*se > 0.1:
					many = append(many, fmt.Sprintf("%s (%.2f)", name, mean))
				case f.name == "coverage_edges" && mean+2*se < 0.95:
					missed = append(missed, fmt.Sprintf("%s (%.3f)", name, mean))
				}
			}
			rows = append(rows, row)
		}
	}
	tell := func(what string, list []string) string {
		text := fmt.Sprintf("%s, by two standard errors, in %d of %d cells", what, len(list), all)
		if len(list) > 0 {
			text += ": " + job.AllOf(list)
		}
		return text + ". "
	}
	said := tell("Of pairs without an edge more than 5 % have p ≤ .05", large) +
		tell("The share of false discoveries is above .1", many) +
		tell("Intervals of 95 % hold less than 95 % of the edges' partial correlations", missed)
	ends := func(of func(*judgedTests) float64) (low, high float64) {
		low, high = math.Inf(1), math.Inf(-1)
		for k := range cells {
			v, _ := cells[k].meanOf(func(t judgedTable) float64 { return of(t.tests[job.PValuesLasso]) })
			low, high = math.Min(low, v), math.Max(high, v)
		}
		return low, high
	}
	least, most := ends(func(t *judgedTests) float64 { return t.size5 })
	few, crowd := ends(func(t *judgedTests) float64 { return t.crowding })
	return rows, said + fmt.Sprintf("Of the de-sparsified graphical lasso %.1f %% to %.1f %% of these pairs have p ≤ .05, at s·log d/√M from %.1f to %.1f, which its theory wants to be small: less than 5 %% is power that is lost, not an error.", 100*least, 100*most, few, crowd)
}
