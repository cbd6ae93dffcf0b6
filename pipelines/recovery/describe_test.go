package recovery

import (
	"context"
	"encoding/json"
	"runtime"
	"slices"
	"testing"

	"github.com/gladflow/gladflow/pipelines/internal/testtable"
	"github.com/gladflow/gladflow/pipelines/job"
	"github.com/gladflow/gladflow/solver/glad"
)

func TestDescribe(t *testing.T) {
	d, err := Describe()
	if err != nil {
		t.Fatal(err)
	}
	if d.Version != job.Version() || d.Go != runtime.Version() || len(d.Solvers) != len(solvers()) || len(d.Devices) == 0 || d.Devices[0] != job.DeviceCPU || slices.Contains(d.Devices, job.DeviceCUDA) {
		t.Errorf("%+v", d)
	}
	gonum := d.Engines[slices.IndexFunc(d.Engines, func(e job.EngineInfo) bool { return e.Name == "gonum" })]
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
	j := job.Job{Input: testtable.CSV(t, 5, 30), IDColumn: "id", Solvers: SolverNames(), Penalty: "0.2", Regulators: testtable.File(t, "regulators.txt", "v0\nv1\nv4\n")}
	result, err := Run(context.Background(), j, Host{})
	if err != nil {
		t.Fatal(err)
	}
	for i, info := range Solvers() {
		s := result.Solvers[i]
		if s.Name != info.Name || (s.DualityGap >= 0) != info.Certified || (info.Minimises != "") != info.Certified || info.Ranking != s.Ranking || info.Title == "" || info.Description == "" {
			t.Errorf("%+v: %+v", info, s)
		}
	}
}
