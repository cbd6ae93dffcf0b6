package recovery

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/gladflow/gladflow/pipelines/internal/testtable"
	"github.com/gladflow/gladflow/pipelines/job"
	"github.com/gladflow/gladflow/solver/dense"
)

// A run says how many threads it computed on, and uses no others.
func TestThreadsOfARun(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(4))
	for _, engine := range []string{"auto", "gonum"} {
		all, err := dense.Open(engine)
		if err != nil {
			t.Fatal(err)
		}
		for given, want := range map[int]int{0: dense.Threads(all), 1: 1, 3: min(3, dense.Threads(all)), 99: dense.Threads(all)} {
			out := t.TempDir()
			j := job.Job{Input: testtable.CSV(t, 8, 60), IDColumn: "id", Penalty: "0.2", Engine: engine, Threads: given, Out: out}
			result, err := Run(context.Background(), j, Host{})
			if err != nil {
				t.Fatal(err)
			}
			data, err := os.ReadFile(filepath.Join(out, "run.json"))
			if err != nil {
				t.Fatal(err)
			}
			var back job.Result
			if err := json.Unmarshal(data, &back); err != nil {
				t.Fatal(err)
			}
			if result.Threads != want || back.Threads != want || back.Job.Threads != given {
				t.Errorf("%s, %d threads: the result says %d, run.json %d of a job with %d; want %d",
					engine, given, result.Threads, back.Threads, back.Job.Threads, want)
			}
		}
	}
	r := newRun(job.Job{Threads: 1}, Host{})
	if err := r.openEngine(context.Background()); err != nil || dense.Threads(r.engine) != 1 {
		t.Errorf("the solvers have an engine of %d threads, %v", dense.Threads(r.engine), err)
	}
}
