package pipelines

import (
	"context"
	"encoding/json"
	"errors"
	"path/filepath"
	"runtime"
	"slices"
	"testing"

	"github.com/gladflow/gladflow/solver/glad"
)

// The demonstration shows what it is meant to: every solver finds most of the
// network, and the chosen penalty gives about as many edges as there are.
func TestDemo(t *testing.T) {
	out := filepath.Join(t.TempDir(), "demo")
	job, err := Demo(context.Background(), out)
	if err != nil {
		t.Fatal(err)
	}
	result, err := Run(context.Background(), job, Host{})
	if err != nil {
		t.Fatal(err)
	}
	if result.Input.Variables != 60 || result.Reference.Positives != 117 || result.Reference.Pairs != 60*59/2 {
		t.Errorf("input %+v, reference %+v", result.Input, result.Reference)
	}
	if len(result.Solvers) != 5 {
		t.Errorf("solvers %+v", result.Solvers)
	}
	for _, s := range result.Solvers {
		// A ranking by chance has 0.5 and 117/1770 = 0.066.
		if s.Metrics.AUROC < 0.9 || s.Metrics.AUPR < 0.8 {
			t.Errorf("%s: AUROC %.3f, AUPR %.3f", s.Name, s.Metrics.AUROC, s.Metrics.AUPR)
		}
		if slices.Contains([]string{"bcd", "gista", "admm"}, s.Name) && (s.Edges < 100 || s.Edges > 160) {
			t.Errorf("%s: %d edges", s.Name, s.Edges)
		}
	}
	names := files(t, out)
	for _, want := range []string{"samples.parquet", "reference.csv", "run.json", "metrics.parquet", "am.edges.parquet"} {
		if !slices.Contains(names, want) {
			t.Errorf("%s is missing from %v", want, names)
		}
	}
}

func TestDemoInAFile(t *testing.T) {
	_, err := Demo(context.Background(), filepath.Join(file(t, "file", ""), "demo"))
	var wrong *JobError
	if !errors.As(err, &wrong) || wrong.Field != "out" {
		t.Errorf("error %v", err)
	}
}

func TestDescribe(t *testing.T) {
	d, err := Describe()
	if err != nil {
		t.Fatal(err)
	}
	if d.Version != Version || d.Go != runtime.Version() || len(d.Solvers) != 5 || !slices.Equal(d.Devices, []string{"cpu"}) {
		t.Errorf("%+v", d)
	}
	gonum := d.Engines[slices.IndexFunc(d.Engines, func(e EngineInfo) bool { return e.Name == "gonum" })]
	if !gonum.Found || gonum.Problem != "" {
		t.Errorf("gonum is everywhere: %+v", gonum)
	}
	for _, e := range d.Engines {
		if e.Found == (e.Problem != "") {
			t.Errorf("%+v", e)
		}
	}
	if len(d.Models) == 0 || d.Models[0].Name != glad.DefaultModelName || d.Models[0].Parameters == 0 {
		t.Errorf("models %+v", d.Models)
	}
	if _, err := json.Marshal(d); err != nil {
		t.Error(err)
	}
	if _, err := DescribeModel("no-such-model"); err == nil {
		t.Error("a model that does not exist is described")
	}
}

// Certified says whether a solver's estimate carries a gap.
func TestRegistryTellsTheTruth(t *testing.T) {
	job := Job{Input: table(t, 5, 30), IDColumn: "id", Solvers: SolverNames(), Penalty: "0.2"}
	result, err := Run(context.Background(), job, Host{})
	if err != nil {
		t.Fatal(err)
	}
	for i, info := range Solvers() {
		s := result.Solvers[i]
		if s.Name != info.Name || (s.DualityGap >= 0) != info.Certified || (info.Minimises != "") != info.Certified || info.Title == "" || info.Description == "" {
			t.Errorf("%+v: %+v", info, s)
		}
	}
}

func TestSuggestion(t *testing.T) {
	known := []string{"penalty", "population", "gap"}
	for word, want := range map[string]string{
		"penlty": "; did you mean penalty?", "gapp": "; did you mean gap?", "penalty": "; did you mean penalty?",
		"frobnicate": "", "": "", "x": "",
	} {
		if got := Suggestion(word, known); got != want {
			t.Errorf("%q: %q, want %q", word, got, want)
		}
	}
}
