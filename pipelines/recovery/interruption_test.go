package recovery

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/gladflow/gladflow/arrowio"
	"github.com/gladflow/gladflow/pipelines/internal/testtable"
	"github.com/gladflow/gladflow/pipelines/job"
	"github.com/gladflow/gladflow/pipelines/progress"
)

func TestTimeLimitKeepsTheBestIterate(t *testing.T) {
	out := t.TempDir()
	j := job.Job{Input: testtable.CSV(t, 30, 20), IDColumn: "id", Penalty: "0.01", Solvers: []string{"admm"}, Gap: 1e-15, TimeLimit: 1, Out: out}
	result, err := Run(context.Background(), j, Host{})
	if err != nil {
		t.Fatal(err)
	}
	s := result.Solvers[0]
	if s.Status != "interrupted" || !s.TimeLimitReached || s.StatusText() != "interrupted (time limit)" || len(s.Files) != 2 || result.Partial || s.Note == "" {
		t.Errorf("%+v", s)
	}
	edges, err := arrowio.ReadEdges(context.Background(), filepath.Join(out, "admm.edges.parquet"), arrowio.ListOptions{})
	if err != nil || edges.Metadata["gladflow.status"] != "interrupted (time limit)" {
		t.Errorf("metadata %v, %v", edges.Metadata, err)
	}
	j.Penalty = ebic
	if _, err = Run(context.Background(), j, Host{}); err == nil || !strings.Contains(err.Error(), "time limit") {
		t.Errorf("no penalty can be chosen in a nanosecond: %v", err)
	}
}

// Interrupted while the second solver is at work: the files of the first are
// whole, of the second there are none.
func TestInterruption(t *testing.T) {
	// Kernels that a context has cut short go on to their end in the
	// background; see dense.Await.
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	out := t.TempDir()
	j := job.Job{
		Input: testtable.CSV(t, 30, 20), IDColumn: "id", Penalty: "0.01", Solvers: []string{"bcd", "admm", "am"},
		Gap: 1e-3, Reference: testtable.File(t, "known.tsv", testtable.Star), Out: out,
	}
	host := Host{Progress: func(p progress.Update) {
		if p.Solver == "admm" {
			cancel()
		}
	}}
	result, err := Run(ctx, j, host)
	if !errors.Is(err, context.Canceled) || result == nil || !result.Partial {
		t.Fatalf("result %+v, error %v", result, err)
	}
	if len(result.Solvers) != 2 || len(result.Solvers[0].Files) != 2 || result.Solvers[1].Files != nil || result.Solvers[1].Status != "interrupted" {
		t.Errorf("solvers %+v", result.Solvers)
	}
	if got, want := testtable.List(t, out), []string{"bcd.edges.parquet", "bcd.precision.parquet", "metrics.parquet", "report.html", "run.json"}; !slices.Equal(got, want) {
		t.Errorf("files %v, want %v", got, want)
	}
	var back job.Result
	data, err := os.ReadFile(filepath.Join(out, "run.json"))
	if err == nil {
		err = json.Unmarshal(data, &back)
	}
	if err != nil || !back.Partial || back.Error != "the run was interrupted" || back.Solvers[1].Error != "" {
		t.Errorf("run.json: partial %v, error %q, %v", back.Partial, back.Error, err)
	}
}

func TestInterruptionBeforeTheEndOfTheInput(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	out := filepath.Join(t.TempDir(), "out")
	j := job.Job{Input: testtable.CSV(t, 4, 30), IDColumn: "id", Out: out}
	result, err := Run(ctx, j, Host{})
	if result != nil || !errors.Is(err, context.Canceled) {
		t.Errorf("result %v, error %v", result, err)
	}
	if _, err := os.Stat(out); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the folder of a run that did nothing: %v", err)
	}
}

// A model whose start (S + tI)⁻¹ is not positive definite cannot be run; the
// other solvers can.
func TestAFailingSolverDoesNotStopTheOthers(t *testing.T) {
	model := testtable.File(t, "model.json", `{"format": "gladflow.model", "version": 1, "name": "impossible", "kind": "glad",
		"iterations": 2, "theta0_offset": -10, "lambda0": 1,
		"rho": {"inputs": ["theta"], "layers": [{"weights": [[0]], "bias": [0], "activation": "sigmoid"}]},
		"lambda": {"inputs": ["lambda"], "layers": [{"weights": [[0]], "bias": [0], "activation": "sigmoid"}]},
		"scaling": {"mode": "none"}, "card": {"trained": false}}`)
	out := t.TempDir()
	j := job.Job{Input: testtable.CSV(t, 4, 30), IDColumn: "id", Model: model, Penalty: "0.1", Out: out}
	result, err := Run(context.Background(), j, Host{})
	var wrong *job.Error
	if err == nil || errors.As(err, &wrong) || !strings.Contains(err.Error(), "solver glad failed") {
		t.Errorf("error %v", err)
	}
	if result == nil || !result.Partial || len(result.Solvers) != 2 || result.Solvers[0].Error == "" || result.Solvers[1].Status != "converged" {
		t.Fatalf("result %+v", result)
	}
	if got, want := testtable.List(t, out), []string{"bcd.edges.parquet", "bcd.precision.parquet", "report.html", "run.json"}; !slices.Equal(got, want) {
		t.Errorf("files %v, want %v", got, want)
	}
}
