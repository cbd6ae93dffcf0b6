package recovery

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/gladflow/gladflow/arrowio"
	"github.com/gladflow/gladflow/pipelines/internal/testtable"
	"github.com/gladflow/gladflow/pipelines/job"
	"github.com/gladflow/gladflow/solver"
	"github.com/gladflow/gladflow/solver/inference"
)

// Tests of pairs stand in the list of every solver, are those of package inference, and
// choose the list where the job asks for a false discovery rate.
func TestPairsAreTested(t *testing.T) {
	const d, m = 7, 60
	path := testtable.CSV(t, d, m)
	p := solver.Problem{S: testtable.Covariance(t, path), Samples: m}
	for method, test := range map[string]func() (*inference.Tests, error){
		job.PValuesPartial: func() (*inference.Tests, error) {
			return inference.PartialCorrelations(t.Context(), p, inference.Settings{})
		},
		job.PValuesLasso: func() (*inference.Tests, error) { return inference.Desparsified(t.Context(), p, inference.Settings{}) },
	} {
		want, err := test()
		if err != nil {
			t.Fatal(err)
		}
		j := job.Job{Input: path, IDColumn: "id", Solvers: []string{"bcd", "spearman"}, Penalty: "0.2", PValues: method, Confidence: 0.9, Edges: job.EdgesAll}
		for _, name := range j.Solvers {
			one := with(j, func(j *job.Job) { j.Solvers = []string{name} })
			r, tables := tablesOf(t, one)
			list := tables[TableEdges]
			source, target := column[string](t, list, "source"), column[string](t, list, "target")
			at := map[string]int{}
			for i, v := range r.Variables {
				at[v] = i
			}
			for k := range source {
				i, j := at[source[k]], at[target[k]]
				lower, upper := want.Interval(i, j, 0.9)
				for name, v := range map[string]float64{arrowio.PValue: want.P(i, j), arrowio.QValue: want.Q(i, j), arrowio.Lower: lower, arrowio.Upper: upper} {
					if got := column[float64](t, list, name)[k]; math.Abs(got-v) > 1e-6 {
						t.Errorf("%s, %s of %s and %s: %v, want %v", method, name, source[k], target[k], got, v)
					}
				}
			}
			if len(source) != d*(d-1)/2 || r.Tests == nil || r.Tests.Method != method || r.Tests.Kept != want.Kept(0.1) || r.Tests.Pairs != len(source) {
				t.Errorf("%s, %s: %d pairs, %+v", method, name, len(source), r.Tests)
			}
			var names, promised []string
			for _, c := range list.Columns {
				names = append(names, c.Name)
			}
			for _, c := range EdgeColumns(one, name) {
				promised = append(promised, c.Name)
			}
			if !slices.Equal(names, promised) {
				t.Errorf("%s has the columns %q and promises %q", name, names, promised)
			}
			r, tables = tablesOf(t, with(one, func(j *job.Job) { j.Edges = "fdr:0.05" }))
			q := column[float64](t, tables[TableEdges], arrowio.QValue)
			if n := want.Kept(0.05); len(q) != n || n == 0 || n == len(source) || slices.Max(q) > 0.05 || r.Tests.Kept != n {
				t.Errorf("%s, %s: %d pairs at .05, want %d, %+v", method, name, len(q), n, r.Tests)
			}
			if s := r.Solvers[0]; s.Ranking && s.Edges != len(q) {
				t.Errorf("%s: %d edges of %d", name, s.Edges, len(q))
			}
		}
	}
}

// auto is the classical test from twice as many samples as variables on, and what makes
// p-values approximate is said.
func TestChoiceOfTests(t *testing.T) {
	for name, c := range map[string]struct {
		d, m   int
		change func(j *job.Job)
		method string
		caveat string
	}{
		"many samples":    {6, 40, func(*job.Job) {}, job.PValuesPartial, ""},
		"few samples":     {12, 23, func(*job.Job) {}, job.PValuesLasso, ""},
		"ranks":           {6, 40, func(j *job.Job) { j.Correlation = "spearman" }, job.PValuesPartial, "which spearman takes"},
		"shrunk":          {6, 40, func(j *job.Job) { j.Shrinkage = "0.1" }, job.PValuesPartial, "the covariance is shrunk"},
		"edges by an FDR": {6, 40, func(j *job.Job) { j.PValues, j.Edges = "", "fdr:0.2" }, job.PValuesPartial, ""},
	} {
		j := job.Job{Input: testtable.CSV(t, c.d, c.m), IDColumn: "id", Solvers: []string{"correlation"}, PValues: job.PValuesAuto}
		c.change(&j)
		r, err := Run(t.Context(), j, Host{})
		if err != nil {
			t.Fatal(err)
		}
		said := strings.Join(r.Warnings, " ")
		if r.Tests.Method != c.method || !strings.Contains(said, c.caveat) || (c.caveat == "") != (len(r.Tests.Caveats) == 0 || r.Tests.Crowding > 1) {
			t.Errorf("%s: %+v, %q", name, r.Tests, said)
		}
	}
}

// What cannot be tested is refused before a solver starts, by the field that asks for it.
func TestTestsRefused(t *testing.T) {
	tiny := testtable.CSV(t, 6, 7)
	few := testtable.CSV(t, 12, 13)
	for name, c := range map[string]struct {
		job           job.Job
		field, reason string
	}{
		"four samples":     {job.Job{Input: testtable.CSV(t, 3, 4), PValues: "auto"}, "p_values", "needs 8, and there are 4"},
		"seven, by edges":  {job.Job{Input: tiny, Edges: "fdr:0.1"}, "edges", "needs 8, and there are 7"},
		"too few":          {job.Job{Input: few, PValues: "partial-correlation"}, "p_values", "need 14, and there are 13; choose desparsified"},
		"no rate":          {job.Job{Input: few, Edges: "fdr:1.5"}, "edges", "such as fdr:0.1"},
		"no number":        {job.Job{Input: few, Edges: "fdr:x"}, "edges", "such as fdr:0.1"},
		"no tests":         {job.Job{Input: few, Confidence: 0.9}, "confidence", "without tests"},
		"no probability":   {job.Job{Input: few, PValues: "auto", Confidence: 1}, "confidence", "such as 0.95"},
		"with regulators":  {job.Job{Input: few, PValues: "auto", Regulators: "r.txt"}, "p_values", "regulators"},
		"an unknown word":  {job.Job{Input: few, PValues: "t"}, "p_values", "unknown"},
		"edges, regulator": {job.Job{Input: few, Edges: "fdr:0.1", Regulators: "r.txt"}, "edges", "regulators"},
	} {
		c.job.IDColumn, c.job.Solvers = "id", []string{"bcd"}
		var wrong *job.Error
		if _, err := Run(t.Context(), c.job, Host{}); !errors.As(err, &wrong) || wrong.Field != c.field || !strings.Contains(err.Error(), c.reason) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A time limit ends tests, and the run goes on without them unless the list needs them.
func TestTestsWithinTheTimeLimit(t *testing.T) {
	j := job.Job{Input: testtable.CSV(t, 8, 12), IDColumn: "id", Solvers: []string{"glad"}, PValues: "auto", TimeLimit: 1}
	r, err := Run(t.Context(), j, Host{})
	if err != nil || r.Tests != nil || !strings.Contains(strings.Join(r.Warnings, " "), "pairs are not tested") {
		t.Errorf("%v, %q", err, r.Warnings)
	}
	j.Edges = "fdr:0.1"
	var wrong *job.Error
	if _, err := Run(t.Context(), j, Host{}); !errors.As(err, &wrong) || wrong.Field != "edges" {
		t.Errorf("%v", err)
	}
}
