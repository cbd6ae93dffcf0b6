package recovery

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gladflow/gladflow/pipelines/internal/testtable"
	"github.com/gladflow/gladflow/pipelines/job"
	"github.com/gladflow/gladflow/pipelines/progress"
)

// The value of a solver's panic is in its stack, and neither in the error of the run
// nor in run.json; nor does the stack get lost where another solver has failed before.
func TestValueOfAPanicIsNotTold(t *testing.T) {
	out := t.TempDir()
	if err := os.Mkdir(filepath.Join(out, "bcd.edges.parquet"), 0o777); err != nil {
		t.Fatal(err)
	}
	panicked := make(map[string]bool)
	result, err := Run(t.Context(), job.Job{Input: testtable.CSV(t, 6, 30), Solvers: []string{"bcd", "gista", "am"}, Penalty: "0.05", IDColumn: "id", Out: out}, Host{
		Progress: func(p progress.Update) {
			if p.Stage == progress.Solving && p.Detail != "" && p.Solver != "bcd" && !panicked[p.Solver] {
				panicked[p.Solver] = true
				_ = []context.Context{}[len(p.Solver)]
			}
		},
	})
	if len(panicked) != 2 || err == nil || result == nil {
		t.Fatalf("%v: %v, %v", panicked, result, err)
	}
	document, reading := os.ReadFile(filepath.Join(out, job.RunFile))
	if reading != nil {
		t.Fatal(reading)
	}
	const advice = "it panicked, which is a defect of gladflow; please report it with the stack"
	for where, text := range map[string]string{"the error": err.Error(), "run.json": string(document)} {
		if strings.Contains(text, "runtime error") || strings.Contains(text, "index out of range") || strings.Contains(text, "goroutine") {
			t.Errorf("%s tells what Go says: %s", where, text)
		}
		if !strings.Contains(text, advice) {
			t.Errorf("%s does not say what to do: %s", where, text)
		}
	}
	var failed *job.SolverError
	if !errors.As(err, &failed) {
		t.Errorf("%v is of no solver", err)
	}
	if stack := string(job.Stack(err)); strings.Count(stack, "index out of range [5]") != 1 || strings.Count(stack, "index out of range [2]") != 1 || !strings.Contains(stack, "panic_test.go") {
		t.Errorf("the stacks are %s", stack)
	}
}

// Nor is the stack lost where the run is interrupted after the panic.
func TestStackOfAnInterruptedRun(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	panicked := false
	result, err := Run(ctx, job.Job{Input: testtable.CSV(t, 6, 30), Solvers: []string{"gista", "am"}, Penalty: "0.05", IDColumn: "id"}, Host{
		Progress: func(p progress.Update) {
			switch {
			case p.Stage != progress.Solving || p.Detail == "" || p.Done:
			case !panicked:
				panicked = true
				panic("oops")
			case p.Solver == "am":
				cancel()
			}
		},
	})
	if !errors.Is(err, context.Canceled) || !strings.Contains(string(job.Stack(err)), "oops") || strings.Contains(err.Error(), "oops") {
		t.Errorf("%v\n%s", err, job.Stack(err))
	}
	if result == nil || result.Error != "the run was interrupted" {
		t.Errorf("%+v", result)
	}
}
