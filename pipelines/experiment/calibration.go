package experiment

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"

	"github.com/gladflow/gladflow/arrowio"
	"github.com/gladflow/gladflow/pipelines/job"
	"github.com/gladflow/gladflow/pipelines/metric"
	"github.com/gladflow/gladflow/pipelines/output"
	"github.com/gladflow/gladflow/pipelines/recovery"
	"github.com/gladflow/gladflow/pipelines/report"
	"github.com/gladflow/gladflow/pipelines/simulate"
	tables "github.com/gladflow/gladflow/pipelines/table"
	"github.com/gladflow/gladflow/pipelines/tune"
	"github.com/gladflow/gladflow/solver"
	"github.com/gladflow/gladflow/solver/dense"
	"github.com/gladflow/gladflow/solver/inference"
)

func calibration() Experiment {
	return Experiment{
		Name:  "calibration",
		Title: "how sure edges are: selection probabilities, their bounds of false edges, p-values and intervals, where the truth is known",
		Run:   runCalibration,
	}
}

// calibrationPairs is the number of pairs of halves of every table.
const calibrationPairs = 50

// calibrationSolvers are those whose halves are counted: the support of GLAD, that of a
// graphical lasso at the penalty √(log d/M), and the best pairs by absolute correlation.
func calibrationSolvers() []string { return []string{"glad", "bcd", "correlation"} }

// falseEdges are the bounds whose pairs are counted.
func falseEdges() []float64 { return []float64{1, 5} }

// A judgedTable is what one table shows.
type judgedTable struct {
	halves map[string]*judgedHalves // by solver
	tests  map[string]*judgedTests  // by method
}

// judgedHalves are the halves of one table by one solver.
type judgedHalves struct {
	selected        float64 // mean of a half
	selection, edge metric.Reliability
	kept, wrong     []float64 // pairs kept, and false ones, by bound
}

// judgedTests are the tests of one table.
type judgedTests struct {
	size5, size1   float64 // shares of small p-values of pairs without an edge
	fdr, power     float64 // at .1
	covered, nulls float64 // shares of edges and of other pairs whose interval holds the truth
	crowding       float64
}

// A calibrationCell is a family at one size.
type calibrationCell struct {
	family  generalFamily
	d, m    int
	results []judgedTable
}

func calibrationFamilies() []generalFamily {
	const least = 0.3
	return []generalFamily{
		{"er, 3 neighbours", simulate.Family{Graph: simulate.GraphErdosRenyi, SmallestEigenvalue: least}},
		{"hub", simulate.Family{Graph: simulate.GraphHub, SmallestEigenvalue: least}},
		{"band", simulate.Family{Graph: simulate.GraphBand, SmallestEigenvalue: least}},
		{"empty", simulate.Family{Graph: simulate.GraphEmpty}},
	}
}

func runCalibration(ctx context.Context, r *Run) (*Report, error) {
	n := choose(r, 6, 2)
	sizes := choose(r, [][2]int{{50, 50}, {50, 200}, {100, 100}}, [][2]int{{40, 60}})
	families := choose(r, calibrationFamilies(), calibrationFamilies()[:1])
	var cells []calibrationCell
	for _, f := range families {
		for _, size := range sizes {
			r.at(float64(len(cells))/float64(len(families)*len(sizes)), "%s, d=%d, M=%d", f.name, size[0], size[1])
			cell, err := r.calibrate(ctx, f, size[0], size[1], n)
			if err != nil {
				return nil, err
			}
			cells = append(cells, cell)
		}
	}
	halves, said := halvesTable(cells)
	tests, tested := testsTable(cells)
	reliable, panel := calibrationReliability(cells)
	return &Report{
		Setting: fmt.Sprintf("%d graphs a cell, weights U[-1, 1) sym, smallest eigenvalue 0.3 (er with 3 neighbours in the mean, the others by their defaults); Gaussian samples, Pearson's correlation; population: all unordered pairs; glad: the general model, --fdr .2; bcd: ρ = √(log d/M); correlation: the best √(0.8·p) of p pairs; %d pairs of halves", n, calibrationPairs),
		Columns: calibrationColumns(cells), Figure: report.Figure{Title: "Selection probability, edge probability and the share of edges", Panels: panel, Columns: 3},
		Main: halves,
		Sections: []Section{
			{"Share of true edges by selection probability and by edge probability, all families (mean probability of a bin: share of edges; bins of 200 pairs and more)", reliable},
			{"Tests of pairs: small p-values of pairs without an edge, false discoveries at q ≤ .1, intervals of 95 %", tests},
		},
		Paragraph: said + " " + tested + " A selection probability is no probability of an edge: the table says what it is worth, by solver and size.",
	}, nil
}

// calibrate judges n tables of a family at one size.
func (r *Run) calibrate(ctx context.Context, f generalFamily, d, m, n int) (calibrationCell, error) {
	family := f.sized(d)
	if family.Graph == simulate.GraphErdosRenyi {
		family.Density = 3 / float64(d)
	}
	cell := calibrationCell{family: f, d: d, m: m}
	graphs := r.random("calibration graphs", family.String())
	cases := make([]solver.Example, n)
	for i := range cases {
		truth, err := family.Precision(graphs)
		if err == nil {
			cases[i].Truth, err = simulate.Standardize(truth)
		}
		if err != nil {
			return cell, err
		}
	}
	var err error
	cell.results, err = tune.Each(ctx, cases, r.Workers, func(k int, e solver.Example) (judgedTable, error) {
		rows, err := simulate.Samples(ctx, r.random("calibration samples", fmt.Sprintf("%s, M=%d, graph %d", family, m, k)), e.Truth, m)
		if err != nil {
			return judgedTable{}, err
		}
		return r.judgeTable(ctx, e.Truth, rows)
	})
	return cell, err
}

// judgeTable runs what is judged as a user would, on one thread.
func (r *Run) judgeTable(ctx context.Context, truth *dense.Sym, rows []float64) (judgedTable, error) {
	d := truth.Len()
	m := len(rows) / d
	judged := judgedTable{halves: make(map[string]*judgedHalves), tests: make(map[string]*judgedTests)}
	names := make([]string, d)
	columns := make([]arrowio.Column, d)
	for j := range d {
		values := make([]float64, m)
		for i := range values {
			values[i] = rows[i*d+j]
		}
		names[j] = fmt.Sprintf("v%d", j)
		columns[j] = arrowio.Column{Name: names[j], Values: values}
	}
	record, err := arrowio.NewRecord(columns, nil)
	if err != nil {
		return judged, err
	}
	defer record.Release()
	records, err := array.NewRecordReader(record.Schema(), []arrow.Record{record})
	if err != nil {
		return judged, err
	}
	defer records.Release()
	j := job.Job{
		Input: job.Stdin, Solvers: calibrationSolvers(), Penalty: job.Value(fmt.Sprint(inference.TheoryPenalty(d, m))),
		Stability: calibrationPairs, Edges: job.EdgesAll, Threads: 1, Engine: r.engineName(), Device: job.DeviceCPU,
	}
	at := tables.Positions(names)
	_, err = recovery.Run(ctx, j, recovery.Host{Files: tables.Files{Records: records}, Solved: func(n recovery.Network) error {
		judged.halves[n.Result.Name] = judgeHalves(n.Result.Stability, n.Tables[recovery.TableEdges], at, truth)
		return nil
	}})
	if err != nil {
		return judged, err
	}
	return judged, r.judgeTests(ctx, judged, truth, rows)
}

// columnOf is the column of a name; nil where the table lacks it.
func columnOf[T any](t output.Table, name string) []T {
	k := slices.IndexFunc(t.Columns, func(c arrowio.Column) bool { return c.Name == name })
	if k < 0 {
		return nil
	}
	return t.Columns[k].Values.([]T)
}

// meanOf is a mean over the tables of a cell with its standard error.
func (c *calibrationCell) meanOf(of func(judgedTable) float64) (mean, se float64) {
	values := make([]float64, 0, len(c.results))
	for _, t := range c.results {
		if v := of(t); !math.IsNaN(v) {
			values = append(values, v)
		}
	}
	if len(values) == 0 {
		return math.NaN(), math.NaN()
	}
	return metric.MeanAndError(values)
}

// figureOf is meanOf for people.
func (c *calibrationCell) figureOf(format string, of func(judgedTable) float64) string {
	mean, se := c.meanOf(of)
	if math.IsNaN(mean) {
		return ""
	}
	return fmt.Sprintf(format+" ± "+format, mean, se)
}

// calibrationColumns are all figures.
func calibrationColumns(cells []calibrationCell) []arrowio.Column {
	t := newTable("family", "variables", "samples", "of", "figure", "mean", "error")
	for k := range cells {
		c := &cells[k]
		add := func(of, name string, value func(judgedTable) float64) {
			mean, se := c.meanOf(value)
			t.add(c.family.name, c.d, c.m, of, name, mean, se)
		}
		for _, name := range calibrationSolvers() {
			add(name, "selected", func(t judgedTable) float64 { return t.halves[name].selected })
			for b, bound := range falseEdges() {
				add(name, fmt.Sprintf("kept_%v", bound), func(t judgedTable) float64 { return t.halves[name].kept[b] })
				add(name, fmt.Sprintf("false_%v", bound), func(t judgedTable) float64 { return t.halves[name].wrong[b] })
			}
		}
		for _, method := range testMethods() {
			for _, f := range testFigures() {
				add(method, f.name, func(t judgedTable) float64 {
					if x := t.tests[method]; x != nil {
						return f.of(x)
					}
					return math.NaN()
				})
			}
		}
	}
	return t.done()
}
