package recovery

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"

	"github.com/gladflow/gladflow/arrowio"
	"github.com/gladflow/gladflow/pipelines/internal/testtable"
	"github.com/gladflow/gladflow/pipelines/job"
	"github.com/gladflow/gladflow/pipelines/output"
	"github.com/gladflow/gladflow/pipelines/progress"
	"github.com/gladflow/gladflow/pipelines/table"
	"github.com/gladflow/gladflow/solver"
)

// inMemory is m samples of d variables as batches of ten.
func inMemory(t *testing.T, d, m int) array.RecordReader {
	t.Helper()
	names := make([]string, d)
	for j := range names {
		names[j] = "v" + string(rune('0'+j))
	}
	whole := arrowio.SampleRecord(arrowio.SampleSchema(names), testtable.Samples(t, d, m), m)
	var batches []arrow.Record
	for at := int64(0); at < int64(m); at += 10 {
		batches = append(batches, whole.NewSlice(at, min(at+10, int64(m))))
	}
	r, err := array.NewRecordReader(whole.Schema(), batches)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// A host that gives its table from memory and takes the tables from there gets
// what the files hold.
func TestHostInMemory(t *testing.T) {
	out := t.TempDir()
	var got []Network
	result, err := Run(context.Background(), job.Job{Input: "-", Solvers: []string{"bcd", "glad"}, Penalty: "0.2", Out: out,
		Reference: testtable.File(t, "r.tsv", testtable.Star)}, Host{
		Files:  table.Files{Records: inMemory(t, 6, 55)},
		Solved: func(n Network) error { got = append(got, n); return nil },
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(got) != 2 || result.Input.Samples != 55 || result.Input.SHA256 == "" {
		t.Fatalf("%d networks, %+v", len(got), result.Input)
	}
	for i, n := range got {
		list, err := arrowio.ReadEdges(context.Background(), out+"/"+n.Result.Name+".edges.parquet", arrowio.ListOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(list.Score, n.Tables[TableEdges].Columns[2].Values.([]float64)) || !slices.Equal(list.Source, n.Tables[TableEdges].Columns[0].Values.([]string)) {
			t.Errorf("%s: the edges are not those of the file", n.Result.Name)
		}
		if n.Tables[TableEdges].Metadata["gladflow.solver"] != n.Result.Name || len(n.Tables[TablePrecision].Columns) != 3 {
			t.Errorf("%s: %v", n.Result.Name, n.Tables[TableEdges].Metadata)
		}
		if a := n.Tables[TableMetrics].Columns[9].Values.([]float64); len(a) != 1 || a[0] != float64(result.Solvers[i].Metrics.Get("auroc")) {
			t.Errorf("%s: AUROC %v", n.Result.Name, a)
		}
	}
}

func TestSolvedStopsTheRun(t *testing.T) {
	full := errors.New("no room")
	calls := 0
	result, err := Run(context.Background(), job.Job{Input: "-", Solvers: []string{"bcd", "am"}, Penalty: "0.2"}, Host{
		Files:  table.Files{Records: inMemory(t, 4, 30)},
		Solved: func(Network) error { calls++; return full },
	})
	if !errors.Is(err, full) || calls != 1 || !result.Partial || len(result.Solvers) != 1 {
		t.Errorf("%v after %d calls, %+v", err, calls, result)
	}
}

func TestMostVariables(t *testing.T) {
	_, err := Run(context.Background(), job.Job{Input: "-"}, Host{Files: table.Files{Records: inMemory(t, 4, 30), MostVariables: 3}})
	var j *job.Error
	if !errors.Is(err, arrowio.ErrTooManyVariables) || !errors.As(err, &j) || j.Field != "input" {
		t.Error(err)
	}
}

type panicking struct{}

func (panicking) Solve(context.Context, solver.Problem) (*solver.Estimate, error) { panic("oops") }

func TestPanicIsAnError(t *testing.T) {
	est, stack, err := attempt(context.Background(), panicking{}, solver.Problem{})
	if est != nil || err == nil || strings.Contains(err.Error(), "oops") || !strings.Contains(string(stack), "oops") || !strings.Contains(string(stack), "panicking") {
		t.Errorf("%v, %v\n%s", est, err, stack)
	}
}

// An interrupted run says which solver it was in, and how far.
func TestInterruptedSolverIsNamed(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	_, err := Run(ctx, job.Job{Input: "-", Solvers: []string{"am"}, Penalty: "0.001", Gap: 1e-300, IterationLimit: 1 << 40}, Host{
		Files: table.Files{Records: inMemory(t, 8, 30)},
		Progress: func(p progress.Update) {
			if p.Stage == progress.Solving && p.Detail != "" {
				cancel()
			}
		},
	})
	var s *job.SolverError
	if !errors.As(err, &s) || s.Solver != "am" || s.Iteration == 0 || !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	if text := err.Error(); !strings.Contains(text, "solver am was interrupted at iteration") {
		t.Error(text)
	}
}

// Secrets in URLs are not recorded.
func TestURLsAreRedacted(t *testing.T) {
	j := job.Job{Input: "https://u:p@example.org/x.csv?token=secret", Reference: "s3://b/r.tsv?region=x", Model: "m", PenaltyMatrix: "p.csv"}
	r := newRun(j, Host{}).result.Job
	if strings.Contains(output.JSON(r), "secret") || strings.Contains(output.JSON(r), "u:p") || r.Model != "m" || r.PenaltyMatrix != "p.csv" {
		t.Errorf("%+v", r)
	}
	if !strings.Contains(j.Input, "secret") {
		t.Error("the job itself has changed")
	}
}
