package recovery

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gladflow/gladflow/arrowio"
	"github.com/gladflow/gladflow/pipelines/internal/testtable"
	"github.com/gladflow/gladflow/pipelines/job"
	"github.com/gladflow/gladflow/pipelines/progress"
	"github.com/gladflow/gladflow/solver/stability"
)

// linesOf are the header and the lines of a file.
func linesOf(t *testing.T, path string) (header string, lines []string) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	all := strings.Split(strings.TrimSpace(string(text)), "\n")
	return all[0], all[1:]
}

// half writes the lines of some samples to a file.
func half(t *testing.T, header string, lines []string, rows []int) string {
	t.Helper()
	some := []string{header}
	for _, i := range rows {
		some = append(some, lines[i])
	}
	return testtable.File(t, "half.csv", strings.Join(some, "\n")+"\n")
}

// What a half selects is what the job finds in a file of these samples, for solvers of every
// kind: the support at the penalty, GLAD's by its bound of false edges, the best pairs of a
// ranking; and so with ranks, missing values and regulators.
func TestStabilityIsThatOfHalves(t *testing.T) {
	const d, m, pairs = 8, 41, 4
	path := testtable.CSV(t, d, m)
	header, lines := linesOf(t, path)
	holes := slices.Clone(lines)
	for i := 0; i < m; i += 5 {
		cells := strings.Split(holes[i], ",")
		cells[1+i%d] = ""
		holes[i] = strings.Join(cells, ",")
	}
	batches := slices.Clone(lines)
	for i := range batches {
		batches[i] += fmt.Sprintf(",%c,%d", 'a'+i%3, 1+i*i%4)
	}
	list := testtable.File(t, "r.txt", "v1\nv4\nv6\n")
	best := func(n int) string { return fmt.Sprintf("top:%d", mostSelected(n)) }
	for name, c := range map[string]struct {
		job   job.Job
		lines []string
		edges string
	}{
		"bcd":               {job.Job{Solvers: []string{"bcd"}, Penalty: "0.2"}, lines, ""},
		"admm of ranks":     {job.Job{Solvers: []string{"admm"}, Penalty: "0.2", Correlation: "spearman"}, lines, ""},
		"gista, shrunk":     {job.Job{Solvers: []string{"gista"}, Penalty: "0.1", Shrinkage: "ledoit-wolf"}, lines, ""},
		"am, covariance":    {job.Job{Solvers: []string{"am"}, Penalty: "0.6", Correlation: "none", AMLambda: 50}, lines, ""},
		"glad":              {job.Job{Solvers: []string{"glad"}, Model: withHead(t, true), FDR: 0.4}, lines, ""},
		"glad by threshold": {job.Job{Solvers: []string{"glad"}, Model: withHead(t, false)}, lines, ""},
		"glad, adapted":     {job.Job{Solvers: []string{"glad"}, Adapt: "experts", FDR: 0.4}, lines, ""},
		"bcd, pairwise":     {job.Job{Solvers: []string{"bcd"}, Penalty: "0.2", Missing: "pairwise"}, holes, ""},
		"bcd, em":           {job.Job{Solvers: []string{"bcd"}, Penalty: "0.2", Missing: "em"}, holes, ""},
		"clr, means":        {job.Job{Solvers: []string{"spearman"}, Missing: "mean"}, holes, best(d * (d - 1) / 2)},
		"glad, adjusted":    {job.Job{Solvers: []string{"glad"}, FDR: 0.4, Adjust: []string{"batch"}, Exclude: []string{"weight"}}, batches, ""},
		"bcd, weighted":     {job.Job{Solvers: []string{"bcd"}, Penalty: "0.2", Adjust: []string{"batch"}, Weights: "weight"}, batches, ""},
		"correlation":       {job.Job{Solvers: []string{"correlation"}}, lines, best(d * (d - 1) / 2)},
		"expression":        {job.Job{Solvers: []string{"expression"}}, lines, best(d * (d - 1) / 2)},
		"ridge":             {job.Job{Solvers: []string{"ridge"}, Regulators: list}, lines, best(3 * (d - 1))},
		"bcd of regulators": {job.Job{Solvers: []string{"bcd"}, Penalty: "0.2", Regulators: list}, lines, best(3 * (d - 1))},
	} {
		j, header := c.job, header
		if j.Adjust != nil {
			header += ",batch,weight"
		}
		j.IDColumn = "id"
		times := make(map[[2]string]float64)
		selected := 0.0
		for b := range pairs {
			first, second := stability.Halves(m, b, stabilitySeed)
			for _, rows := range [2][]int{first, second} {
				_, tables := tablesOf(t, with(j, func(j *job.Job) { j.Input, j.Edges = half(t, header, c.lines, rows), c.edges }))
				source, target := column[string](t, tables[TableEdges], "source"), column[string](t, tables[TableEdges], "target")
				for k := range source {
					times[[2]string{source[k], target[k]}]++
					selected++
				}
			}
		}
		j.Input, j.Edges, j.Stability = half(t, header, c.lines, upTo(m)), job.EdgesAll, pairs
		r, tables := tablesOf(t, j)
		source, target := column[string](t, tables[TableEdges], "source"), column[string](t, tables[TableEdges], "target")
		p, consistent := column[float64](t, tables[TableEdges], arrowio.SelectionProbability), column[float64](t, tables[TableEdges], arrowio.SignConsistency)
		for k := range source {
			n := times[[2]string{source[k], target[k]}]
			if p[k] != n/(2*pairs) || consistent[k] < 0 || consistent[k] > 1 || n == 0 && consistent[k] != 0 {
				t.Errorf("%s: %s and %s are selected with %v, want %v", name, source[k], target[k], p[k], n/(2*pairs))
			}
		}
		s := r.Solvers[0].Stability
		if s == nil || s.Halves != 2*pairs || s.HalfSamples != m/2 || float64(s.Selected) != selected/(2*pairs) || s.Candidates != len(source) || selected == 0 {
			t.Errorf("%s: %+v, %v selected", name, s, selected)
		}
		if (c.edges != "") != (s.Top > 0) {
			t.Errorf("%s: the best %d", name, s.Top)
		}
		var names, promised []string
		for _, c := range tables[TableEdges].Columns {
			names = append(names, c.Name)
		}
		for _, c := range EdgeColumns(j, j.Solvers[0]) {
			promised = append(promised, c.Name)
		}
		if !slices.Equal(names, promised) {
			t.Errorf("%s has the columns %q and promises %q", name, names, promised)
		}
	}
}

// upTo are 0, …, n−1.
func upTo(n int) []int {
	rows := make([]int, n)
	for i := range rows {
		rows[i] = i
	}
	return rows
}

// The number of threads changes no bit of what halves select.
func TestStabilityOfThreads(t *testing.T) {
	for _, engine := range []string{"auto", "gonum"} {
		for _, name := range []string{"bcd", "glad", "expression"} {
			var want []float64
			for _, threads := range []int{1, 2, 4} {
				j := job.Job{Input: testtable.CSV(t, 12, 30), IDColumn: "id", Solvers: []string{name}, Penalty: "0.3", Stability: 6, Edges: job.EdgesAll, Engine: engine, Threads: threads}
				_, tables := tablesOf(t, j)
				got := column[float64](t, tables[TableEdges], arrowio.SelectionProbability)
				if want == nil {
					want = got
				}
				if !slices.Equal(got, want) {
					t.Errorf("%s, %s: %d threads give %v instead of %v", engine, name, threads, got, want)
				}
			}
		}
	}
}

// Edges are kept by the bound of false ones, which the result has, in the list and in the
// count; a bound that none reaches leaves none and says so.
func TestFalseEdges(t *testing.T) {
	for _, name := range []string{"bcd", "glad", "correlation"} {
		j := job.Job{Input: testtable.CSV(t, 10, 60), IDColumn: "id", Solvers: []string{name}, Penalty: "0.4", Stability: 20}
		before, all := tablesOf(t, j)
		const most = 0.5
		j.FalseEdges = most
		after, kept := tablesOf(t, j)
		b, a := before.Solvers[0], after.Solvers[0]
		k := a.Stability.Kept
		if k == nil || float64(k.Concave) > most || float64(k.Concave) > float64(k.Unimodal) || float64(k.Unimodal) > float64(k.WorstCase) {
			t.Fatalf("%s: %+v", name, k)
		}
		if said := strings.Contains(strings.Join(after.Warnings, " "), "related through others"); said != (name == "correlation") {
			t.Errorf("%s: warnings %q", name, after.Warnings)
		}
		p := column[float64](t, kept[TableEdges], arrowio.SelectionProbability)
		n := 0
		for _, v := range column[float64](t, all[TableEdges], arrowio.SelectionProbability) {
			if v >= float64(k.Probability) {
				n++
			}
		}
		if a.Edges != len(p) || n != len(p) || a.Edges >= b.Edges || a.Edges == 0 || slices.Min(p) < float64(k.Probability) {
			t.Errorf("%s: %d edges of %d, %d listed, %d selected as often as %v", name, a.Edges, b.Edges, len(p), n, k.Probability)
		}
		j.FalseEdges = 1e-9
		none, tables := tablesOf(t, j)
		if s := none.Solvers[0]; s.Edges != 0 || s.Stability.Kept != nil || len(column[float64](t, tables[TableEdges], "score")) != 0 || !strings.Contains(strings.Join(none.Warnings, " "), "no edge is kept") {
			t.Errorf("%s: %d edges, %q", name, s.Edges, none.Warnings)
		}
	}
	r, _ := tablesOf(t, job.Job{Input: testtable.CSV(t, 6, 30), IDColumn: "id", Solvers: []string{"bcd"}, Penalty: "0.3", FalseEdges: 5})
	if r.Job.Stability != job.DefaultStability || r.Solvers[0].Stability.Halves != 2*job.DefaultStability {
		t.Errorf("%d pairs of halves", r.Job.Stability)
	}
}

// A variable that does not vary in a half is selected with no other there, and breaks
// nothing.
func TestStabilityOfConstantHalves(t *testing.T) {
	const d, m, pairs = 5, 24, 6
	header, lines := linesOf(t, testtable.CSV(t, d, m))
	for i := range lines {
		cells := strings.Split(lines[i], ",")
		cells[d] = fmt.Sprint(i / (m - 1)) // the last sample alone
		lines[i] = strings.Join(cells, ",")
	}
	path := half(t, header, lines, upTo(m))
	list := testtable.File(t, "r.txt", "v1\nv4\n")
	for name, j := range map[string]job.Job{
		"bcd": {Penalty: "0.05"}, "glad": {}, "correlation": {}, "spearman": {}, "clr": {}, "spectral": {}, "expression": {}, "pcor": {},
		"ridge": {Regulators: list}, "admm": {Penalty: "0.05", Correlation: "none"}, "am": {Penalty: "0.05", Correlation: "normal-scores"},
	} {
		j.Input, j.IDColumn, j.Solvers, j.Stability, j.Edges = path, "id", []string{name}, pairs, job.EdgesAll
		_, tables := tablesOf(t, j)
		source, target := column[string](t, tables[TableEdges], "source"), column[string](t, tables[TableEdges], "target")
		for k, p := range column[float64](t, tables[TableEdges], arrowio.SelectionProbability) {
			most := 1.0
			if source[k] == "v4" || target[k] == "v4" {
				most = 0.5 // it varies in one half of two at most
			}
			if !(p >= 0 && p <= most) {
				t.Errorf("%s: %s and %s are selected with %v", name, source[k], target[k], p)
			}
		}
	}
}

// Halves end with the run within a tenth of a second, and with the time limit, keeping what
// is there.
func TestStabilityIsCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var at time.Time
	j := job.Job{Input: testtable.CSV(t, 60, 200), IDColumn: "id", Solvers: []string{"admm"}, Penalty: "0.05", Gap: 1e-3, Stability: 1000}
	_, err := Run(ctx, j, Host{Progress: func(u progress.Update) {
		if u.Stage == progress.Halving && u.Fraction > 0 && at.IsZero() {
			at = time.Now()
			cancel()
		}
	}})
	if took := time.Since(at); !errors.Is(err, context.Canceled) || at.IsZero() || took > time.Second {
		t.Errorf("%v after %v", err, took)
	}
	j.TimeLimit = job.Duration(300 * time.Millisecond)
	r, tables := tablesOf(t, j)
	s := r.Solvers[0].Stability
	if !s.TimeLimitReached || s.Halves < 2 || s.Halves >= 2000 || s.Halves%2 != 0 || !strings.Contains(s.String(), "of 2000 asked for (time limit)") {
		t.Errorf("%+v", s)
	}
	if p := column[float64](t, tables[TableEdges], arrowio.SelectionProbability); len(p) == 0 || math.IsNaN(p[0]) {
		t.Errorf("probabilities %v", p)
	}
	j.TimeLimit, j.Solvers = 1, []string{"bcd"}
	r, err = Run(t.Context(), j, Host{})
	if err != nil || r.Solvers[0].Stability.Halves != 0 || !strings.Contains(r.Solvers[0].Stability.String(), "before a pair of halves") {
		t.Errorf("%v: %+v", err, r.Solvers)
	}
	j.FalseEdges = 3
	if _, err := Run(t.Context(), j, Host{}); err == nil || !strings.Contains(err.Error(), "no pair of halves") {
		t.Errorf("%v", err)
	}
}

// What no halves can be made for is refused before a solver starts.
func TestStabilityRefused(t *testing.T) {
	path := testtable.CSV(t, 4, 30)
	for name, c := range map[string]struct {
		job           job.Job
		field, reason string
	}{
		"four samples":   {job.Job{Input: testtable.CSV(t, 3, 4), Stability: 5}, "stability", "there are 4 samples"},
		"seven":          {job.Job{Input: testtable.CSV(t, 3, 7), FalseEdges: 5}, "false_edges", "8 are needed"},
		"too many":       {job.Job{Input: path, Stability: 1001}, "stability", "1 to 1000"},
		"negative":       {job.Job{Input: path, Stability: -1}, "stability", "1 to 1000"},
		"no number":      {job.Job{Input: path, FalseEdges: math.NaN()}, "false_edges", "above 0"},
		"a covariance":   {job.Job{Input: path, InputKind: "covariance", Samples: 9, Stability: 5}, "stability", "give the samples"},
		"all edges":      {job.Job{Input: path, FalseEdges: 5, Edges: "all"}, "false_edges", "edges lists all"},
		"training":       {job.Job{Input: path, Stability: 5, Solvers: []string{"glad"}, Adapt: "train"}, "stability", "choose experts"},
		"nothing varies": {job.Job{Input: path, Columns: []string{"v1"}, Stability: 5}, "stability", "one variable"},
	} {
		if c.job.SamplesGiven() {
			c.job.IDColumn = "id"
		}
		var wrong *job.Error
		if _, err := Run(t.Context(), c.job, Host{}); !errors.As(err, &wrong) || wrong.Field != c.field || !strings.Contains(err.Error(), c.reason) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
