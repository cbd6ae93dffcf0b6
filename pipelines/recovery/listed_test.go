package recovery

import (
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/gladflow/gladflow/pipelines/evaluation"
	"github.com/gladflow/gladflow/pipelines/internal/testtable"
	"github.com/gladflow/gladflow/pipelines/job"
	"github.com/gladflow/gladflow/pipelines/metric"
	"github.com/gladflow/gladflow/pipelines/table"
)

// A name that the format of the lists cannot hold is refused before anything is computed.
func TestFormatThatCannotHoldANameIsRefusedEarly(t *testing.T) {
	input := testtable.File(t, "samples.csv", "\"a\tb\",b\n1,2\n2,3\n1,5\n0,1\n")
	for format, refused := range map[string]bool{"sif": true, "graphml": false} {
		out := filepath.Join(t.TempDir(), "out")
		_, err := Run(t.Context(), job.Job{Input: input, Solvers: []string{"correlation"}, Out: out, Format: format}, Host{})
		wrong := new(job.Error)
		if isRefused := errors.As(err, &wrong) && wrong.Field == "format"; isRefused != refused || !refused && err != nil {
			t.Errorf("%s: %v", format, err)
		}
		if _, err := os.Stat(out); refused && err == nil {
			t.Errorf("%s: the folder was made", format)
		}
	}
}

// An evaluation of a list has the figures of the run that has written it, to the last bit:
// those of the list and, quoted, those of every pair.
func TestEvaluationOfOwnLists(t *testing.T) {
	input := testtable.CSV(t, 12, 40)
	reference := testtable.File(t, "known.tsv", testtable.Star)
	regulators := testtable.File(t, "regulators.txt", "v0\nv3\nv5\n")
	differ := 0
	for _, c := range []job.Job{
		{Edges: "support", Format: "parquet"},
		{Edges: "support", Format: "csv", Population: "all", Undirected: true},
		{Edges: "all", Format: "csv", Population: "all"},
		{Edges: "top:3", Format: "parquet", Population: "all", Undirected: true},
		{Edges: "top:9", Format: "arrow", Score: job.ScorePartialCorrelation},
		{Edges: "top:6", Format: "csv", Regulators: regulators, Population: "all", Undirected: true},
		{Edges: "support", Format: "parquet", Regulators: regulators},
		{Edges: "support", Format: "graphml", Population: "all"},
		{Edges: "top:6", Format: "cyjs", Regulators: regulators},
	} {
		j := c
		j.Input, j.IDColumn, j.Reference, j.Out, j.Penalty = input, "id", reference, t.TempDir(), "0.3"
		j.Solvers = []string{"bcd", "correlation", "spearman"}
		if j.Regulators == "" {
			j.Solvers = append(j.Solvers, "glad")
		}
		result, err := Run(t.Context(), j, Host{})
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range result.Solvers {
			name := fmt.Sprintf("%s of %+v", s.Name, c)
			e := job.Evaluation{EdgeList: filepath.Join(j.Out, s.Files[0].Name), Reference: reference, Population: j.Population, Undirected: j.Undirected}
			got, err := evaluation.Run(t.Context(), e, table.Files{})
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			want := s.Metrics
			if s.ListMetrics != nil {
				differ++
				want = s.ListMetrics
			}
			if got.Support == nil || s.ListSupport == nil || *got.Support != *s.ListSupport && got.Support.Pairs > 0 {
				t.Errorf("%s: the pairs listed are %+v, and the run says %+v", name, got.Support, s.ListSupport)
			}
			for _, m := range metric.OfRankings() {
				if a, b := got.Metrics.Get(m.Key), want.Get(m.Key); a != b {
					t.Errorf("%s: %s is %v, and the run says %v", name, m.Key, a, b)
				}
				if a, b := got.AllMetrics.Get(m.Key), s.Metrics.Get(m.Key); a != b {
					t.Errorf("%s: %s of every pair is quoted as %v, and the run says %v", name, m.Key, a, b)
				}
			}
			if c.Edges == job.EdgesAll && s.ListMetrics != nil {
				t.Errorf("%s: a list of all pairs has figures of its own: %v", name, s.ListMetrics)
			}
		}
	}
	if differ < 5 {
		t.Errorf("%d lists have figures of their own", differ)
	}
	// Of another population the run has said nothing.
	j := job.Job{Input: input, IDColumn: "id", Reference: reference, Out: t.TempDir(), Penalty: "0.9", Solvers: []string{"bcd"}}
	if _, err := Run(t.Context(), j, Host{}); err != nil {
		t.Fatal(err)
	}
	got, err := evaluation.Run(t.Context(), job.Evaluation{EdgeList: filepath.Join(j.Out, "bcd.edges.parquet"), Reference: reference, Population: "all"}, table.Files{})
	// The penalty is so large that the list is empty: every pair ties.
	if err != nil || got.AllMetrics != nil || got.Lines != 0 || got.Metrics.Get("auroc") != 0.5 {
		t.Errorf("%+v, %v", got, err)
	}
}

// The row of metrics of a solver has the figures of its list, after those of every pair: they
// are those of an evaluation of it, and of a list of all pairs those of every pair.
func TestMetricsOfLists(t *testing.T) {
	reference := testtable.File(t, "known.tsv", testtable.Star)
	for edges, all := range map[string]bool{job.EdgesSupport: false, job.EdgesAll: true} {
		j := job.Job{Input: testtable.CSV(t, 12, 40), IDColumn: "id", Reference: reference, Population: "all", Undirected: true, Penalty: "0.3", Edges: edges, Solvers: []string{"bcd"}}
		var rows []Network
		_, err := Run(t.Context(), j, Host{Solved: func(n Network) error { rows = append(rows, n); return nil }})
		if err != nil {
			t.Fatal(err)
		}
		figure := make(map[string]float64)
		var last string
		for _, c := range rows[0].Tables[TableMetrics].Columns {
			switch v := c.Values.(type) {
			case []float64:
				figure[c.Name] = v[0]
			case []int64:
				figure[c.Name] = float64(v[0])
			}
			last = c.Name
		}
		s := rows[0].Result
		p, r := figure["list_precision"], figure["list_recall"]
		if last != "list_early_precision_ratio" || figure["list_pairs"] != float64(s.ListSupport.Pairs) || math.Abs(figure["list_f1"]-2*p*r/(p+r)) > 1e-12 {
			t.Errorf("%s: %v, of %+v", edges, figure, s.ListSupport)
		}
		if all != (figure["list_pairs"] == figure["pairs"]) || all && r != 1 || all && figure["list_aupr"] != figure["aupr"] {
			t.Errorf("%s: %v", edges, figure)
		}
		if !all && (math.Abs(p-1+figure["fdr"]) > 1e-12 || r != figure["tpr"]) {
			t.Errorf("%s: the list is the support: %v", edges, figure)
		}
	}
}
