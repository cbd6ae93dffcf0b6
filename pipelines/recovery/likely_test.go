package recovery

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gladflow/gladflow/arrowio"
	"github.com/gladflow/gladflow/pipelines/internal/testtable"
	"github.com/gladflow/gladflow/pipelines/job"
	"github.com/gladflow/gladflow/pipelines/output"
	"github.com/gladflow/gladflow/solver/glad"
)

// withHead is a model file with an edge head: the odds of an edge rise with r√M. Without
// a head it is the same model.
func withHead(t *testing.T, head bool) string {
	t.Helper()
	m, err := glad.Builtin("general")
	if err != nil {
		t.Fatal(err)
	}
	m.Edge, m.EdgeRange, m.Card.Edges = glad.Network{}, nil, nil
	if head {
		m.Edge = glad.Network{Inputs: []glad.Feature{glad.EdgeCorrelationScore}, Layers: []glad.Layer{
			{Weights: [][]float64{{6}}, Bias: []float64{-8}, Activation: glad.Identity},
		}}
	}
	path := filepath.Join(t.TempDir(), "model.json")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := m.Write(f); err != nil {
		t.Fatal(err)
	}
	return path
}

// tablesOf runs a job for its tables, by name.
func tablesOf(t *testing.T, j job.Job) (*job.Result, map[string]output.Table) {
	t.Helper()
	var tables map[string]output.Table
	r, err := Run(context.Background(), j, Host{Solved: func(n Network) error { tables = n.Tables; return nil }})
	if err != nil {
		t.Fatal(err)
	}
	return r, tables
}

func column[T any](t *testing.T, of output.Table, name string) []T {
	t.Helper()
	for _, c := range of.Columns {
		if c.Name == name {
			return c.Values.([]T)
		}
	}
	t.Fatalf("no column %q", name)
	return nil
}

// Edges of a model with a head come with probabilities, are ranked by them unless the job says
// otherwise, and are as many as the expected share of false ones allows; the precision matrix
// is the model's whatever they are.
func TestProbabilityOfEdges(t *testing.T) {
	j := job.Job{Input: testtable.CSV(t, 8, 60), IDColumn: "id", Solvers: []string{"glad"}, Model: withHead(t, true), Out: t.TempDir()}
	r, all := tablesOf(t, with(j, func(j *job.Job) { j.Edges = job.EdgesAll }))
	p := column[float64](t, all[TableEdges], arrowio.EdgeProbability)
	if len(p) != 28 || !slices.Equal(p, column[float64](t, all[TableEdges], "score")) || r.Solvers[0].Score != job.ScoreProbability {
		t.Fatalf("%d probabilities, score %q", len(p), r.Solvers[0].Score)
	}
	if !slices.IsSortedFunc(p, descending) || !(p[0] <= 1) || !(p[27] > 0) {
		t.Errorf("probabilities %v", p)
	}
	var names []string
	for _, c := range EdgeColumns(j, "glad") {
		names = append(names, c.Name)
	}
	var columns []string
	for _, c := range all[TableEdges].Columns {
		columns = append(columns, c.Name)
	}
	if want := []string{"source", "target", "score", "precision", "partial_correlation", "sign", "edge_probability"}; !slices.Equal(columns, want) || !slices.Equal(names, want) {
		t.Errorf("columns %q, announced %q", columns, names)
	}
	last := 0
	for _, fdr := range []float64{0.01, 0, 0.2, 0.5} {
		j := with(j, func(j *job.Job) { j.FDR = fdr })
		r, tables := tablesOf(t, j)
		kept, wrong := 0, 0.0
		if fdr == 0 {
			fdr = 0.2
		}
		for sum, k := 0.0, 0; k < len(p); k++ {
			if sum += 1 - p[k]; sum <= fdr*float64(k+1) {
				kept, wrong = k+1, sum/float64(k+1)
			}
		}
		s := r.Solvers[0]
		if s.Edges != kept || kept < last || s.ExpectedFalse == nil || math.Abs(float64(*s.ExpectedFalse)-wrong) > 1e-12 {
			t.Errorf("fdr %v: %d edges, %d wanted, %v of %v", fdr, s.Edges, kept, s.ExpectedFalse, wrong)
		}
		last = kept
		if got := column[float64](t, tables[TableEdges], arrowio.EdgeProbability); !slices.Equal(got, p[:kept]) {
			t.Errorf("fdr %v: probabilities %v", fdr, got)
		}
		if z := column[float64](t, tables[TablePrecision], "value"); !slices.Equal(z, column[float64](t, all[TablePrecision], "value")) || len(z) == 8+kept {
			t.Errorf("fdr %v: %d entries of the precision matrix", fdr, len(z))
		}
		if m := tables[TableEdges].Metadata; m["gladflow.score"] != job.ScoreProbability || m["gladflow.fdr"] == "" {
			t.Errorf("metadata %v", m)
		}
	}
	if last == 0 || last == 28 {
		t.Fatalf("%d pairs are kept: the test tests nothing", last)
	}
	// The other score: another order, the same support.
	r, byPartial := tablesOf(t, with(j, func(j *job.Job) { j.Score, j.FDR = job.ScorePartialCorrelation, 0.5 }))
	score, partial := column[float64](t, byPartial[TableEdges], "score"), column[float64](t, byPartial[TableEdges], "partial_correlation")
	for k, v := range score {
		if v != math.Abs(partial[k]) {
			t.Fatalf("score %v of a partial correlation of %v", v, partial[k])
		}
	}
	got := slices.Clone(column[float64](t, byPartial[TableEdges], arrowio.EdgeProbability))
	slices.SortFunc(got, descending)
	if !slices.Equal(got, p[:last]) || r.Solvers[0].Score != job.ScorePartialCorrelation || slices.Equal(score, p[:last]) {
		t.Errorf("scores %v, probabilities %v", score, got)
	}
}

// What only a model with a head can do is refused, with the field that asks for it.
func TestProbabilityRefused(t *testing.T) {
	without := job.Job{Input: testtable.CSV(t, 8, 60), IDColumn: "id", Solvers: []string{"glad"}, Model: withHead(t, false)}
	head := with(without, func(j *job.Job) { j.Model = withHead(t, true) })
	regulators := testtable.File(t, "list.txt", "x0\nx1\n")
	for name, c := range map[string]struct {
		job           job.Job
		field, reason string
	}{
		"fdr without a head":      {with(without, func(j *job.Job) { j.FDR = 0.1 }), "fdr", "gives no probability"},
		"score without a head":    {with(without, func(j *job.Job) { j.Score = job.ScoreProbability }), "score", "gives no probability"},
		"fdr without glad":        {with(head, func(j *job.Job) { j.FDR, j.Solvers, j.Model = 0.1, []string{"bcd"}, "" }), "fdr", "glad"},
		"score without glad":      {with(head, func(j *job.Job) { j.Score, j.Solvers, j.Model = job.ScoreProbability, []string{"bcd"}, "" }), "score", "glad"},
		"fdr and regulators":      {with(head, func(j *job.Job) { j.FDR, j.Regulators = 0.1, regulators }), "fdr", "regulators"},
		"fdr that is no share":    {with(head, func(j *job.Job) { j.FDR = 1.5 }), "fdr", "no share"},
		"fdr that is no number":   {with(head, func(j *job.Job) { j.FDR = math.NaN() }), "fdr", "no share"},
		"score that there is not": {with(head, func(j *job.Job) { j.Score = "luck" }), "score", "luck"},
	} {
		var wrong *job.Error
		if _, err := Run(context.Background(), c.job, Host{}); !errors.As(err, &wrong) || wrong.Field != c.field || !strings.Contains(err.Error(), c.reason) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := Run(context.Background(), with(without, func(j *job.Job) { j.Score = job.ScorePartialCorrelation }), Host{}); err != nil {
		t.Errorf("partial correlations of a model without a head: %v", err)
	}
}

// An iterate that the time limit has interrupted has probabilities too.
func TestProbabilityOfInterrupted(t *testing.T) {
	j := job.Job{Input: testtable.CSV(t, 8, 60), IDColumn: "id", Solvers: []string{"glad"}, Model: withHead(t, true), TimeLimit: 1, Edges: job.EdgesAll}
	r, tables := tablesOf(t, j)
	if s := r.Solvers[0]; !s.TimeLimitReached || s.Score != job.ScoreProbability || len(column[float64](t, tables[TableEdges], arrowio.EdgeProbability)) != 28 {
		t.Errorf("%+v", s)
	}
}

// A table unlike those of the training is ranked by partial correlation, with the support of
// the model without its head, and says so; unless the job asks for more.
func TestProbabilityOfUnfamiliarTable(t *testing.T) {
	m, err := OpenModel("model", withHead(t, true), nil)
	if err != nil {
		t.Fatal(err)
	}
	m.EdgeRange = map[glad.Feature]glad.EdgeRange{glad.EdgeSampleRatio: {5, 6}}
	path := filepath.Join(t.TempDir(), "model.json")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := m.Write(f); err != nil {
		t.Fatal(err)
	}
	f.Close()
	j := job.Job{Input: testtable.CSV(t, 8, 60), IDColumn: "id", Solvers: []string{"glad"}, Model: withHead(t, false)}
	plain, _ := tablesOf(t, j)
	j.Model = path
	for name, c := range map[string]struct {
		change func(j *job.Job)
		score  string
		kept   bool // by probabilities
	}{
		"by default":     {func(*job.Job) {}, job.ScorePartialCorrelation, false},
		"fdr":            {func(j *job.Job) { j.FDR = 0.3 }, job.ScorePartialCorrelation, true},
		"by probability": {func(j *job.Job) { j.Score = job.ScoreProbability }, job.ScoreProbability, true},
	} {
		r, tables := tablesOf(t, with(j, c.change))
		s := r.Solvers[0]
		if s.Score != c.score || (s.ExpectedFalse != nil) != c.kept || !c.kept && s.Edges != plain.Solvers[0].Edges || len(warnings(r, "unlike the simulated")) != 1 {
			t.Errorf("%s: %+v, warnings %q", name, s, r.Warnings)
		}
		p, score := column[float64](t, tables[TableEdges], arrowio.EdgeProbability), column[float64](t, tables[TableEdges], "score")
		if slices.Equal(p, score) != (c.score == job.ScoreProbability) {
			t.Errorf("%s: scores %v of probabilities %v", name, score, p)
		}
	}
}

// A graph of GLAD's without edges, or with most pairs, comes with a sentence on why.
func TestGLADsGraphIsExplained(t *testing.T) {
	noise := job.Job{Input: independent(t, 40, 60), Solvers: []string{"glad"}}
	for name, c := range map[string]struct {
		job  job.Job
		says string
	}{
		"nothing is likely": {noise, "glad has no edge: the likeliest pair has a probability of 0."},
		"every entry":       {with(noise, func(j *job.Job) { j.Model = "er-d100-m20"; j.Correlation = "none" }), "more than a third: it estimates every entry"},
		"so many are asked": {with(noise, func(j *job.Job) { j.FDR = 1 }), "glad joins 780 of 780 pairs, more than a third: so many are likely"},
	} {
		r, _ := tablesOf(t, c.job)
		if len(warnings(r, c.says)) != 1 {
			t.Errorf("%s: %d edges, warnings %q", name, r.Solvers[0].Edges, r.Warnings)
		}
	}
	clear := job.Job{Input: testtable.CSV(t, 8, 60), IDColumn: "id", Solvers: []string{"glad"}, Model: "general-1"}
	if r, _ := tablesOf(t, clear); len(warnings(r, "has no edge")) > 0 || 3*r.Solvers[0].Edges > 28 != (len(warnings(r, "more than a third")) == 1) {
		t.Errorf("%d edges, warnings %q", r.Solvers[0].Edges, r.Warnings)
	}
}

// independent is a table of independent Gaussian variables.
func independent(t *testing.T, d, m int) string {
	rng := rand.New(rand.NewPCG(11, 3))
	var text strings.Builder
	for j := range d {
		fmt.Fprintf(&text, ",v%d", j)
	}
	lines := []string{text.String()[1:]}
	for range m {
		text.Reset()
		for range d {
			fmt.Fprintf(&text, ",%v", rng.NormFloat64())
		}
		lines = append(lines, text.String()[1:])
	}
	return testtable.File(t, "noise.csv", strings.Join(lines, "\n")+"\n")
}
