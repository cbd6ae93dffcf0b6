package comparison

import (
	"context"
	"errors"
	"math"
	"path/filepath"
	"slices"
	"testing"

	"github.com/gladflow/gladflow/arrowio"
	"github.com/gladflow/gladflow/pipelines/internal/testtable"
	"github.com/gladflow/gladflow/pipelines/job"
	"github.com/gladflow/gladflow/pipelines/metric"
	"github.com/gladflow/gladflow/pipelines/output"
	"github.com/gladflow/gladflow/pipelines/recovery"
)

func star(t *testing.T) metric.Reference {
	t.Helper()
	return metric.Reference{
		Source: []string{"v0", "v0", "v3", "v3"}, Target: []string{"v1", "v2", "v4", "v1"},
		Label: []bool{true, true, false, false},
	}
}

func read(t *testing.T, d, m int) (*Table, string) {
	t.Helper()
	path := testtable.CSV(t, d, m)
	table, id, err := ReadLabelled(t.Context(), path, arrowio.SampleOptions{})
	if err != nil || id != "id" || table.Samples != m || len(table.Names) != d {
		t.Fatalf("%v, id column %q, %+v", err, id, table)
	}
	return table, path
}

// The figures are those that a recovery has with the same reference.
func TestFiguresAreThoseOfARecovery(t *testing.T) {
	table, path := read(t, 8, 60)
	j := job.Job{Solvers: []string{"bcd", "correlation", "clr"}, Penalty: "0.2", Gap: 1e-4}
	for _, undirected := range []bool{false, true} {
		judge, err := NewJudge(star(t), table.Names, Settings{Undirected: undirected})
		if err != nil {
			t.Fatal(err)
		}
		found := make(map[string]Figures)
		if _, err := Solve(t.Context(), j, table, Host{}, func(s Solved) error {
			f, err := judge.Score(t.Context(), s.Scores)
			found[s.Result.Name] = f
			return err
		}); err != nil {
			t.Fatal(err)
		}
		alone := j
		alone.Input, alone.IDColumn, alone.Edges, alone.Undirected = path, "id", job.EdgesAll, undirected
		alone.Reference, alone.Population = testtable.File(t, "known.tsv", testtable.Star), "labelled"
		want, err := recovery.Run(t.Context(), alone, recovery.Host{})
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range want.Solvers {
			for _, m := range metric.OfRankings() {
				got, want := found[s.Name].Value(m.Key), float64(s.Metrics.Get(m.Key))
				if got != want || math.IsNaN(got) {
					t.Errorf("%s, undirected %v: %s is %v, of a recovery %v", s.Name, undirected, m.Key, got, want)
				}
			}
		}
		if len(found) != 3 {
			t.Errorf("figures of %d solvers", len(found))
		}
	}
}

func TestScoresOf(t *testing.T) {
	names := []string{"a", "b", "c"}
	edges := func(directed string) output.Table {
		return output.Table{
			Columns: []arrowio.Column{
				{Name: "source", Values: []string{"a", "c"}}, {Name: "target", Values: []string{"b", "b"}}, {Name: "score", Values: []float64{2, 1}},
			},
			Metadata: map[string]string{output.MetaDirected: directed},
		}
	}
	last := math.Inf(-1)
	for directed, want := range map[string][]float64{"true": {2, last, last, 1}, "false": {2, 2, 1, 1}} {
		s, err := scoresOf(edges(directed), names)
		if err != nil {
			t.Fatal(err)
		}
		if got := []float64{s.At(0, 1), s.At(1, 0), s.At(1, 2), s.At(2, 1)}; !slices.Equal(got, want) || s.At(0, 2) != last || s.Unordered(1, 2) != 1 {
			t.Errorf("directed %s: %v, want %v", directed, got, want)
		}
	}
	if _, err := scoresOf(edges("true"), names[:2]); err == nil {
		t.Error("a pair of an unknown variable is no error")
	}
}

// Differences are paired: of a solver and itself there is none, with an error of 0.
func TestMinus(t *testing.T) {
	names := []string{"a", "b", "c", "d", "e"}
	var known metric.Reference
	for _, pair := range []string{"ab", "ac", "bd", "cd", "ea"} {
		known.Source, known.Target = append(known.Source, pair[:1]), append(known.Target, pair[1:])
	}
	judge, err := NewJudge(known, names, Settings{Kind: metric.All, Resamples: 50, Seed: 3})
	if err != nil {
		t.Fatal(err)
	}
	figures := func(shift float64) Figures {
		s := NewScores(names, true, func(i, j int) float64 { return math.Sin(float64(5*i+j) * shift) })
		f, err := judge.Score(t.Context(), s)
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	a, b := figures(1), figures(1.7)
	for _, m := range metric.OfRankings() {
		if d, e := a.Minus(a, m.Key); d != 0 || e != 0 {
			t.Errorf("%s: %v ± %v between a solver and itself", m.Key, d, e)
		}
	}
	d, e := a.Minus(b, "auroc")
	back, same := b.Minus(a, "auroc")
	if d != -back || math.Abs(e-same) > 1e-12 || !(e > 0) || d != a.Value("auroc")-b.Value("auroc") || len(a.Resampled["auroc"]) != 50 {
		t.Errorf("%v ± %v, the other way %v ± %v", d, e, back, same)
	}
	if se := a.StandardError("auroc"); se != metric.StandardDeviation(a.Resampled["auroc"]) || !(se > 0) {
		t.Errorf("standard error %v", se)
	}
	if _, e := a.Minus(Figures{Metrics: b.Metrics}, "auroc"); !math.IsNaN(e) {
		t.Errorf("%v is the error of a difference that nothing was drawn for", e)
	}
}

// Variables that are not scored are solved with and left out of the population.
func TestOnlyScoredVariables(t *testing.T) {
	table, _ := read(t, 8, 40)
	s := Settings{Kind: metric.All, Undirected: true, Scored: func(name string) bool { return name < "v5" }}
	judge, err := NewJudge(star(t), table.Names, s)
	if err != nil || len(judge.Population.Pairs) != 10 {
		t.Fatalf("%v, %v", err, judge.Population)
	}
	few := table.Only(func(name string) bool { return name != "v1" })
	if slices.Contains(few.Names, "v1") || len(few.Names) != 7 || table.Constant("v1") || few.Constant("v1") {
		t.Errorf("%v are left", few.Names)
	}
}

func TestSolveEnds(t *testing.T) {
	table, _ := read(t, 5, 30)
	mine := errors.New("no more")
	if _, err := Solve(t.Context(), job.Job{Solvers: []string{"correlation", "pcor"}}, table, Host{}, func(Solved) error { return mine }); !errors.Is(err, mine) {
		t.Errorf("the caller's error is %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	calls := 0
	_, err := Solve(ctx, job.Job{Solvers: []string{"correlation", "pcor"}}, table, Host{}, func(Solved) error {
		calls++
		cancel()
		return nil
	})
	if !errors.Is(err, context.Canceled) || calls != 1 {
		t.Errorf("%v after %d calls", err, calls)
	}
	wrong := new(job.Error)
	if _, err := ReadTable(t.Context(), filepath.Join(t.TempDir(), "none.csv"), arrowio.SampleOptions{}); !errors.As(err, &wrong) || wrong.Field != "input" {
		t.Errorf("a file that is not there: %v", err)
	}
	if got := Runnable([]string{"correlation", "bcd"}, job.Job{Penalty: "-1"}); got != nil {
		t.Errorf("%v run with a penalty that is wrong", got)
	}
	for model, want := range map[string][]string{"": {"expression", "clr"}, "gene-directed": {"clr"}} {
		if got := Runnable([]string{"expression", "ridge", "clr"}, job.Job{RankingModel: model}); !slices.Equal(got, want) {
			t.Errorf("with %q and no regulators %v run", model, got)
		}
	}
	if got := Runnable([]string{"expression", "ridge"}, job.Job{RankingModel: "gene-directed", Regulators: "r.txt"}); len(got) != 2 {
		t.Errorf("with regulators %v run", got)
	}
}
