package plugin

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"google.golang.org/grpc/codes"

	"github.com/gladflow/gladflow/pipelines/job"
	"github.com/gladflow/gladflow/pipelines/recovery"
	"github.com/gladflow/gladflow/plugin/protocol"
)

// A table that is sent is looked at as one in a file is.
func TestLook(t *testing.T) {
	clients(t, func(t *testing.T, c *Client) {
		l, err := c.Look(t.Context(), job.Job{Penalty: "0.3"}, tableOf(t, 60, 5))
		if err != nil || l.Input.Samples != 60 || l.Input.Variables != 5 || l.Job.Penalty != "0.3" || !strings.HasPrefix(l.Command, "gladflow recover - ") {
			t.Fatalf("%+v, %v", l, err)
		}
		path := filepath.Join(t.TempDir(), "t.csv")
		if err := os.WriteFile(path, []byte("a,b\n1,2\n2,\n3,5\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		l, err = c.Look(t.Context(), job.Job{Input: path}, nil)
		if err != nil || l.Input.Missing == nil || l.Input.Missing.Values != 1 || l.Job.Missing == "" {
			t.Errorf("%+v, %v", l, err)
		}
	})
}

// Errors of a look are those of its table, of its service and of its context.
func TestLookFails(t *testing.T) {
	c := served(t, protocol.Limits{Variables: 4})
	_, err := c.Look(t.Context(), job.Job{}, tableOf(t, 60, 5))
	if f := new(protocol.Fault); !errors.As(err, &f) || f.StatusCode() != codes.ResourceExhausted {
		t.Error(err)
	}
	_, err = c.Look(t.Context(), job.Job{Missing: "perhaps"}, tableOf(t, 60, 3))
	if f := new(protocol.Fault); !errors.As(err, &f) || f.Field != "missing" {
		t.Error(err)
	}
	if _, err := c.Look(t.Context(), job.Job{Input: "x.csv"}, tableOf(t, 60, 3)); err == nil {
		t.Error("two tables are taken")
	}
	broken := errors.New("the disk is gone")
	if _, err := c.Look(t.Context(), job.Job{}, samples(t, 3, broken)); !errors.Is(err, broken) {
		t.Error(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := c.Look(ctx, job.Job{}, tableOf(t, 60, 3)); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// A failing is a writer that takes nothing.
type failing struct{ err error }

// Write implements io.Writer.
func (f failing) Write([]byte) (int, error) { return 0, f.err }

// The page and the pictures of a run, and pictures of lists that are sent.
func TestFiles(t *testing.T) {
	clients(t, func(t *testing.T, c *Client) {
		run, err := c.Recover(t.Context(), job.Job{Solvers: []string{"bcd"}, Penalty: "0.1"}, tableOf(t, 200, 6))
		if err != nil {
			t.Fatal(err)
		}
		var page, svg, again bytes.Buffer
		if err := run.Report(t.Context(), &page); err != nil || !strings.HasPrefix(page.String(), "<!DOCTYPE html>") || !strings.HasSuffix(strings.TrimSpace(page.String()), "</html>") {
			t.Errorf("%d bytes, %v", page.Len(), err)
		}
		if err := run.File(t.Context(), &svg, protocol.File{File: "bcd.edges.svg"}); err != nil || !strings.Contains(svg.String(), "</svg>") {
			t.Errorf("%d bytes, %v", svg.Len(), err)
		}
		edges, err := run.Edges(t.Context(), "bcd")
		if err != nil {
			t.Fatal(err)
		}
		defer edges.Release()
		if err := c.Draw(t.Context(), &again, protocol.File{File: "x.svg"}, edges); err != nil || again.String() != svg.String() {
			t.Errorf("%d bytes instead of %d, %v", again.Len(), svg.Len(), err)
		}
		full := failing{errors.New("the disk is full")}
		if err := run.Report(t.Context(), full); !errors.Is(err, full.err) {
			t.Error(err)
		}
		err = run.File(t.Context(), &svg, protocol.File{File: "bcd.edges.gif"})
		if f := new(protocol.Fault); !errors.As(err, &f) || f.Reason != protocol.ReasonNotFound {
			t.Error(err)
		}
		if err := c.Draw(t.Context(), &svg, protocol.File{File: "x.svg"}, nil); err == nil {
			t.Error("nothing is drawn")
		}
		err = c.Draw(t.Context(), &svg, protocol.File{File: "x.svg"}, tableOf(t, 10, 1))
		if f := new(protocol.Fault); !errors.As(err, &f) || f.Reason != protocol.ReasonInvalidTable {
			t.Error(err)
		}
	})
}

// Every field of a job that a host sets reaches the service.
func TestFieldsReachTheService(t *testing.T) {
	c := served(t, protocol.Limits{})
	for _, j := range []job.Job{
		{
			Input: "t.csv", InputFormat: "csv", Decimal: ",", Thousands: ".", NA: []string{"n/d"}, NoHeader: true, IDColumn: "#1",
			Columns: []string{"v*"}, Exclude: []string{"v9"}, Rows: []string{"#1-9"}, ExcludeRows: []string{"#3"}, Adjust: []string{"#2"}, Weights: "#3",
			Transform: "log1p", Constant: "drop", TopVariance: 5, Missing: "rows", Correlation: "pearson",
			Solvers: []string{"bcd"}, Select: "stars", SelectThreshold: 0.1, SelectResamples: 7, SelectSeed: 3,
			Stability: 9, FalseEdges: 2, PValues: "desparsified", Confidence: 0.9, Labels: map[string]string{"a": "b"},
		},
		{
			Input: "t.xlsx", Sheet: "two", Missing: "pairwise", Correlation: "auto", Solvers: []string{"glad", "bcd"}, Penalty: "edges:20",
			Adapt: "experts", Score: "probability", FDR: 0.1, Edges: "top:5", Format: "sif",
		},
		{Input: "t.csv", Select: "ebic", SelectGamma: 0.7, Edges: "fdr:0.1", Correlation: "normal-scores", Units: "original"},
	} {
		got, err := c.Validate(t.Context(), j)
		if err != nil {
			t.Errorf("%+v: %v", j, err)
			continue
		}
		if want := recovery.Resolved(j); !reflect.DeepEqual(got, want) {
			t.Errorf("%+v\ninstead of\n%+v", got, want)
		}
	}
}
