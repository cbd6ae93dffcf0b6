package recovery

import (
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gladflow/gladflow/arrowio"
	"github.com/gladflow/gladflow/pipelines/evaluation"
	"github.com/gladflow/gladflow/pipelines/internal/testtable"
	"github.com/gladflow/gladflow/pipelines/job"
	"github.com/gladflow/gladflow/pipelines/output"
	"github.com/gladflow/gladflow/pipelines/table"
)

// Where regulators are known every solver lists directed edges from a regulator to
// another variable, each once, and is scored as its file is.
func TestRegulators(t *testing.T) {
	const d = 7
	out := t.TempDir()
	j := job.Job{
		Input: testtable.CSV(t, d, 50), IDColumn: "id", Solvers: SolverNames(), Penalty: "0.1", Format: "csv", Units: job.UnitsOriginal,
		Regulators: testtable.File(t, "regulators.txt", "v5\nv0\nx\nv3\n"),
		Reference:  testtable.File(t, "known.tsv", "v0\tv1\t1\nv3\tv0\t1\nv0\tv3\t0\nv5\tv2\t0\nv1\tv0\t0\n"), Out: out,
	}
	matrices := make(map[string]output.Table)
	result, err := Run(t.Context(), j, Host{Solved: func(n Network) error {
		matrices[n.Result.Name] = n.Tables[TablePrecision]
		return nil
	}})
	if err != nil {
		t.Fatal(err)
	}
	if list := result.Regulators; list.Listed != 4 || list.Found != 3 || len(list.SHA256) != 64 || !slices.ContainsFunc(result.Warnings, func(w string) bool { return strings.HasPrefix(w, "1 of the 4 regulators") }) {
		t.Errorf("%+v, %q", list, result.Warnings)
	}
	for _, s := range result.Solvers {
		path := filepath.Join(out, s.Name+".edges.csv")
		list, err := arrowio.ReadEdges(t.Context(), path, arrowio.ListOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if list.Len() != 3*(d-1) || s.Edges != list.Len() || list.Metadata[output.MetaDirected] != "true" || list.Duplicates != 0 || list.SelfLoops != 0 || !slices.IsSortedFunc(list.Score, descending) {
			t.Errorf("%s lists %d edges: %v", s.Name, list.Len(), list.Score)
		}
		for _, source := range list.Source {
			if !strings.Contains("v0 v3 v5", source) {
				t.Errorf("%s has an edge from %s", s.Name, source)
			}
		}
		scored, err := evaluation.Run(t.Context(), job.Evaluation{EdgeList: path, Reference: j.Reference, Rank: job.RankScore}, table.Files{})
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range scored.Metrics {
			if got := s.Metrics.Get(m.Key); got != m.Value {
				t.Errorf("%s: %s is %v, of its file %v", s.Name, m.Key, got, m.Value)
			}
		}
		matrix, has := matrices[s.Name], HasPrecision(s.Name)
		if has != (matrix.Columns != nil) || has && matrix.Metadata[output.MetaVariables] != `["v0","v3","v5"]` {
			t.Errorf("%s has the matrix %v", s.Name, matrix)
		}
	}
}

func descending(a, b float64) int { return int(math.Copysign(1, b-a)) }

// Units and the kind of the input do not show in the edges of a solver of the block,
// whose S is the same.
func TestRegulatorsOfACovariance(t *testing.T) {
	const d, m = 6, 40
	path := testtable.CSV(t, d, m)
	list := testtable.File(t, "regulators.txt", "v1\nv2\nv4\n")
	var names []string
	for v := range d {
		names = append(names, fmt.Sprintf("v%d", v))
	}
	square := filepath.Join(t.TempDir(), "covariance.parquet")
	if err := arrowio.WriteDensePrecision(square, arrowio.Parquet, names, testtable.Covariance(t, path), nil); err != nil {
		t.Fatal(err)
	}
	scores := func(j job.Job) (found map[string][]float64) {
		t.Helper()
		found = make(map[string][]float64)
		j.Regulators, j.Solvers, j.Penalty = list, []string{"bcd", "ridge"}, "1e-9"
		_, err := Run(t.Context(), j, Host{Solved: func(n Network) error {
			found[n.Result.Name] = n.Tables[TableEdges].Columns[2].Values.([]float64)
			return nil
		}})
		if err != nil {
			t.Fatal(err)
		}
		return found
	}
	want := scores(job.Job{Input: path, IDColumn: "id"})
	for _, correlation := range []string{"none", "pearson"} {
		got := scores(job.Job{Input: square, InputKind: job.KindCovariance, Samples: m, Correlation: correlation})
		for name, list := range want {
			for i, v := range list {
				if math.Abs(v-got[name][i]) > 1e-4 { // where the lasso has stopped
					t.Fatalf("%s, %s: %v, want %v", name, correlation, got[name], list)
				}
			}
		}
	}
}

func TestRegulatorsRefused(t *testing.T) {
	path := testtable.CSV(t, 5, 30)
	for _, j := range []job.Job{
		{Regulators: testtable.File(t, "r.txt", "x\ny\n")},
		{Regulators: testtable.File(t, "r.txt", "")},
		{Regulators: filepath.Join(t.TempDir(), "missing.txt")},
		{Solvers: []string{"ridge"}},
	} {
		j.Input, j.IDColumn = path, "id"
		var wrong *job.Error
		if _, err := Run(t.Context(), j, Host{}); !errors.As(err, &wrong) || wrong.Field != "regulators" {
			t.Errorf("%+v: %v", j, err)
		}
	}
}

// One regulator is enough, and every variable may be one; penalties are of their pairs.
func TestFewAndManyRegulators(t *testing.T) {
	const d = 5
	path := testtable.CSV(t, d, 40)
	matrix := testtable.File(t, "penalties.csv", "v0,v1,v2,v3,v4\n0,1,1,1,1\n1,0,1,.1,.2\n1,1,0,1,1\n1,.1,1,0,.3\n1,.2,1,.3,0\n")
	for list, edges := range map[string]int{"v2\n": d - 1, "v0\nv1\nv2\nv3\nv4\n": d * (d - 1), "v1\nv3\nv4\n": 3 * (d - 1)} {
		for _, j := range []job.Job{{Solvers: SolverNames(), Penalty: "0.1"}, {Solvers: []string{"bcd", "admm"}, PenaltyMatrix: matrix}, {Solvers: []string{"bcd"}}} {
			j.Input, j.IDColumn, j.Regulators = path, "id", testtable.File(t, "r.txt", list)
			result, err := Run(t.Context(), j, Host{Solved: func(n Network) error {
				score := n.Tables[TableEdges].Columns[2].Values.([]float64)
				if len(score) != edges || slices.ContainsFunc(score, func(v float64) bool { return math.IsNaN(v) || math.IsInf(v, 0) }) {
					t.Errorf("%q: %s has scores %v", list, n.Result.Name, score)
				}
				return nil
			}})
			if err != nil {
				t.Errorf("%q, %v: %v, %+v", list, j.Solvers, err, result)
			}
		}
	}
}

// Where regulators are known, expression ranks by a model of directed pairs, which the job
// can replace: a model of unordered pairs ranks as without the list, and what starts at a
// regulator is kept. Without a list, a model of directed pairs is refused.
func TestExpressionWithRegulators(t *testing.T) {
	const d, m = 8, 60
	path := testtable.CSV(t, d, m)
	list := testtable.File(t, "r.txt", "v1\nv4\nv6\n")
	type pair struct{ source, target string }
	type found struct {
		model               string
		scores              map[pair]float64
		ranked, probability []float64
	}
	run := func(model, regulators string) found {
		t.Helper()
		f := found{scores: make(map[pair]float64)}
		j := job.Job{Input: path, IDColumn: "id", Solvers: []string{"expression"}, Regulators: regulators, RankingModel: model}
		_, err := Run(t.Context(), j, Host{Solved: func(n Network) error {
			f.model = n.Result.Model
			c := n.Tables[TableEdges].Columns
			f.ranked, f.probability = c[2].Values.([]float64), c[4].Values.([]float64)
			for k, v := range f.ranked {
				f.scores[pair{c[0].Values.([]string)[k], c[1].Values.([]string)[k]}] = v
			}
			return nil
		}})
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	directed, plain, all := run("", list), run("gene", list), run("", "")
	if directed.model != "gene-directed" || plain.model != "gene" || all.model != "gene" {
		t.Errorf("models %s, %s and %s", directed.model, plain.model, all.model)
	}
	if len(directed.scores) != 3*(d-1) || len(plain.scores) != 3*(d-1) {
		t.Errorf("%d and %d pairs", len(directed.scores), len(plain.scores))
	}
	for at, v := range plain.scores {
		want, ok := all.scores[at]
		if !ok {
			want = all.scores[pair{at.target, at.source}]
		}
		if v != want {
			t.Errorf("%v has the score %v, without the list %v", at, v, want)
		}
	}
	if directed.scores[pair{"v1", "v4"}] == directed.scores[pair{"v4", "v1"}] {
		t.Error("both directions have the same score")
	}
	learned, err := OpenRankingModel("ranking_model", "gene-directed", nil)
	if err != nil {
		t.Fatal(err)
	}
	for k, p := range directed.probability {
		if want := learned.Probability.Of(directed.ranked[k], 3, m); math.Abs(p-want) > 1e-12 {
			t.Errorf("probability %v, want %v", p, want)
		}
	}
	var wrong *job.Error
	_, err = Run(t.Context(), job.Job{Input: path, IDColumn: "id", Solvers: []string{"expression"}, RankingModel: "gene-directed"}, Host{})
	if !errors.As(err, &wrong) || wrong.Field != "ranking_model" || !strings.Contains(err.Error(), "regulators are not known") {
		t.Errorf("%v", err)
	}
}

// A solver that reaches its time limit leaves the edges of its best iterate.
func TestRegulatorsAtTheTimeLimit(t *testing.T) {
	const p = 200
	var names strings.Builder
	for i := range p {
		fmt.Fprintf(&names, "gene%d\n", i)
	}
	j := job.Job{
		Input: connected(t, 320, 60), Regulators: testtable.File(t, "r.txt", names.String()),
		Solvers: []string{"admm"}, Penalty: "1e-4", TimeLimit: job.Duration(time.Millisecond),
	}
	edges := 0
	result, err := Run(t.Context(), j, Host{Solved: func(n Network) error {
		edges = len(n.Tables[TableEdges].Columns[2].Values.([]float64))
		return nil
	}})
	if err != nil || !result.Solvers[0].TimeLimitReached || edges != p*319 {
		t.Errorf("%v: %d edges, %+v", err, edges, result.Solvers)
	}
}
