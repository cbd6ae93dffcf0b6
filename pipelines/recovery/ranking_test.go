package recovery

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gladflow/gladflow/arrowio"
	"github.com/gladflow/gladflow/pipelines/evaluation"
	"github.com/gladflow/gladflow/pipelines/internal/testtable"
	"github.com/gladflow/gladflow/pipelines/job"
	"github.com/gladflow/gladflow/pipelines/table"
	"github.com/gladflow/gladflow/solver/covariance"
)

// rankings are the solvers that only rank, all pairs.
func rankings() []string {
	return slices.DeleteFunc(SelfSufficient(), func(name string) bool { return !find(name).Ranking })
}

// A ranking lists every pair once, best first, with the sign of its correlation, and is
// scored as its file is; it has neither a certificate nor a precision matrix.
func TestRankings(t *testing.T) {
	const d, m = 7, 50
	out := t.TempDir()
	j := job.Job{
		Input: testtable.CSV(t, d, m), IDColumn: "id", Solvers: rankings(), Format: "csv",
		Reference: testtable.File(t, "known.tsv", testtable.Star), Out: out,
	}
	tables := make(map[string][]arrowio.Column)
	result, err := Run(t.Context(), j, Host{Solved: func(n Network) error {
		tables[n.Result.Name] = n.Tables[TableEdges].Columns
		if _, ok := n.Tables[TablePrecision]; ok {
			t.Errorf("%s has a precision matrix", n.Result.Name)
		}
		return nil
	}})
	if err != nil {
		t.Fatal(err)
	}
	rows := testtable.Samples(t, d, m)
	pearson, err := covariance.Estimate(t.Context(), covariance.NewTable(rows, d), d, covariance.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range result.Solvers {
		if !s.Ranking || s.Status != "completed" || s.Edges != d*(d-1)/2 || !math.IsNaN(float64(s.DualityGap)) || !math.IsNaN(float64(s.Objective)) || !(s.Seconds >= 0) {
			t.Errorf("%+v", s)
		}
		path := filepath.Join(out, s.Name+".edges.csv")
		list, err := arrowio.ReadEdges(t.Context(), path, arrowio.ListOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if list.Len() != d*(d-1)/2 || !slices.IsSortedFunc(list.Score, descending) {
			t.Errorf("%s lists %d pairs: %v", s.Name, list.Len(), list.Score)
		}
		if s.Name == "correlation" {
			for k, score := range list.Score {
				var a, b int
				fmt.Sscanf(list.Source[k]+" "+list.Target[k], "v%d v%d", &a, &b)
				if want := math.Abs(pearson.S.At(a, b)); math.Abs(score-want) > 1e-9 {
					t.Errorf("%s and %s score %v, want %v", list.Source[k], list.Target[k], score, want)
				}
			}
		}
		scored, err := evaluation.Run(t.Context(), job.Evaluation{EdgeList: path, Reference: j.Reference}, table.Files{})
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range scored.Metrics {
			if got := s.Metrics.Get(m.Key); got != m.Value {
				t.Errorf("%s: %s is %v, of its file %v", s.Name, m.Key, got, m.Value)
			}
		}
		if len(s.Metrics) != len(scored.Metrics) {
			t.Errorf("%s: %v", s.Name, s.Metrics)
		}
		var names []string
		for _, c := range tables[s.Name] {
			names = append(names, c.Name)
		}
		want := []string{"source", "target", "score", "sign"}
		if s.Name == "expression" {
			want = append(want, arrowio.EdgeProbability)
			if p, ok := tables[s.Name][4].Values.([]float64); !ok || !slices.IsSortedFunc(p, func(a, b float64) int { return cmp.Compare(b, a) }) || !(p[0] < 1) || !(p[len(p)-1] > 0) || s.Model != "gene" {
				t.Errorf("model %q, probabilities %v", s.Model, tables[s.Name][4].Values)
			}
		}
		if !slices.Equal(names, want) {
			t.Errorf("%s has the columns %q, want %q", s.Name, names, want)
		}
		var promised []string
		for _, c := range EdgeColumns(j, s.Name) {
			promised = append(promised, c.Name)
		}
		if !slices.Equal(names, promised) || HasPrecision(s.Name) {
			t.Errorf("%s promises the columns %q", s.Name, promised)
		}
	}
}

// A covariance serves as well as its samples, where the samples are not needed.
func TestRankingsOfACovariance(t *testing.T) {
	const d, m = 6, 40
	path := testtable.CSV(t, d, m)
	s := testtable.Covariance(t, path)
	var names []string
	for v := range d {
		names = append(names, fmt.Sprintf("v%d", v))
	}
	square := filepath.Join(t.TempDir(), "covariance.parquet")
	if err := arrowio.WriteDensePrecision(square, arrowio.Parquet, names, s, nil); err != nil {
		t.Fatal(err)
	}
	lists := func(j job.Job) map[string][]float64 {
		t.Helper()
		found := make(map[string][]float64)
		_, err := Run(t.Context(), j, Host{Solved: func(n Network) error {
			found[n.Result.Name] = n.Tables[TableEdges].Columns[2].Values.([]float64)
			return nil
		}})
		if err != nil {
			t.Fatal(err)
		}
		return found
	}
	solvers := []string{"correlation", "pcor", "spectral"}
	want := lists(job.Job{Input: path, IDColumn: "id", Solvers: solvers, RankingCorrelation: "pearson"})
	for _, correlation := range []string{"none", "pearson"} {
		got := lists(job.Job{Input: square, InputKind: job.KindCovariance, Samples: m, Correlation: correlation, Solvers: solvers})
		for _, name := range solvers {
			for i, v := range want[name] {
				if math.Abs(v-got[name][i]) > 1e-9 {
					t.Fatalf("%s, %s: scores %v, want %v", correlation, name, got[name], want[name])
				}
			}
		}
	}
	for _, name := range []string{"spearman", "clr", "expression"} {
		var wrong *job.Error
		err := Validate(job.Job{Input: square, InputKind: job.KindCovariance, Samples: m, Solvers: []string{name}})
		if !errors.As(err, &wrong) || wrong.Field != "solvers" || !strings.Contains(err.Error(), "needs the samples") {
			t.Errorf("%s: %v", name, err)
		}
	}
	var wrong *job.Error
	err := Validate(job.Job{Input: square, InputKind: job.KindCovariance, Samples: m, RankingCorrelation: "pearson"})
	if !errors.As(err, &wrong) || wrong.Field != "ranking_correlation" {
		t.Errorf("%v", err)
	}
}

// Lists hold as many pairs as the job asks for.
func TestRankedPairsAsked(t *testing.T) {
	for edges, want := range map[string]int{"": 28, "all": 28, "top:3": 3, "top:100": 28} {
		result, err := Run(t.Context(), job.Job{Input: testtable.CSV(t, 8, 30), IDColumn: "id", Solvers: []string{"spectral"}, Edges: edges}, Host{
			Solved: func(n Network) error {
				if got := len(n.Tables[TableEdges].Columns[2].Values.([]float64)); got != want {
					t.Errorf("%q: %d pairs, want %d", edges, got, want)
				}
				return nil
			},
		})
		if err != nil || result.Solvers[0].Edges != want {
			t.Errorf("%q: %v, %+v", edges, err, result)
		}
	}
}

// A ranking that is given no time fails and says so; one that is interrupted is not
// called done.
func TestRankingWithoutTime(t *testing.T) {
	j := job.Job{Input: testtable.CSV(t, 8, 30), IDColumn: "id", Solvers: []string{"clr", "correlation"}, TimeLimit: job.Duration(time.Nanosecond)}
	result, err := Run(t.Context(), j, Host{})
	if err == nil || !strings.Contains(err.Error(), "time limit") || result.Solvers[0].Status != "failed" || result.Solvers[1].Status != "completed" {
		t.Errorf("%v, %+v", err, result)
	}
	ctx, cancel := context.WithCancel(t.Context())
	_, err = Run(ctx, job.Job{Input: j.Input, IDColumn: "id", Solvers: []string{"correlation", "clr"}}, Host{Solved: func(Network) error { cancel(); return nil }})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}

// Ranks are warned of where a few samples have the variance, and not where variables are
// merely skewed.
func TestOutliersAreWarnedOf(t *testing.T) {
	const d, m = 5, 400
	write := func(value func(sample int, v float64) float64) string {
		rng := rand.New(rand.NewPCG(3, 4))
		var b strings.Builder
		b.WriteString("a,b,c,d,e\n")
		for k := range m {
			for v := range d {
				fmt.Fprintf(&b, "%g%s", value(k, rng.NormFloat64()), map[bool]string{true: "\n", false: ","}[v == d-1])
			}
		}
		return testtable.File(t, "samples.csv", b.String())
	}
	far := write(func(k int, v float64) float64 {
		if k%200 == 7 {
			return 1000 * v
		}
		return v
	})
	skewed := write(func(_ int, v float64) float64 { return math.Exp(v) })
	for _, c := range []struct {
		input, solver, correlation string
		warned                     bool
	}{
		{far, "spectral", "", true}, {far, "spearman", "pearson", true}, {far, "clr", "", true},
		{far, "spectral", "pearson", false}, {far, "correlation", "", false}, {skewed, "spectral", "", false},
	} {
		result, err := Run(t.Context(), job.Job{Input: c.input, Solvers: []string{c.solver}, RankingCorrelation: c.correlation}, Host{})
		if err != nil {
			t.Fatal(err)
		}
		if got := slices.ContainsFunc(result.Warnings, func(w string) bool { return strings.Contains(w, "kurtosis") }); got != c.warned {
			t.Errorf("%s with %q: %q", c.solver, c.correlation, result.Warnings)
		}
	}
}

// A model of expression is taken by name or from a file; what is no such model is refused.
func TestRankingModel(t *testing.T) {
	m, err := OpenRankingModel("ranking_model", "gene", nil)
	if err != nil {
		t.Fatal(err)
	}
	m.Name = "mine"
	path := filepath.Join(t.TempDir(), "mine.json")
	if err := arrowio.ReplaceFile(path, m.Write); err != nil {
		t.Fatal(err)
	}
	j := job.Job{Input: testtable.CSV(t, 8, 30), IDColumn: "id", Solvers: []string{"expression"}, RankingModel: path}
	result, err := Run(t.Context(), j, Host{})
	if err != nil || result.Solvers[0].Model != "mine" {
		t.Errorf("%+v, %v", result, err)
	}
	info, err := DescribeModel(path)
	if err != nil || info.Name != "mine" || info.Kind != "ranking" || info.Parameters != m.Parameters() {
		t.Errorf("%+v, %v", info, err)
	}
	other := testtable.File(t, "other.json", `{"format": "gladflow.model", "version": 1}`)
	for name, want := range map[string]string{"nothing": "neither a built-in model (gene-directed or gene)", other: `is "gladflow.model"`} {
		j.RankingModel = name
		var wrong *job.Error
		if _, err := Run(t.Context(), j, Host{}); !errors.As(err, &wrong) || wrong.Field != "ranking_model" || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}
