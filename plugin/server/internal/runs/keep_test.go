package runs

import (
	"context"
	"strings"
	"testing"

	"google.golang.org/grpc/codes"

	"github.com/hashicorp/go-hclog"

	"github.com/gladflow/gladflow/arrowio"
	"github.com/gladflow/gladflow/pipelines/job"
	"github.com/gladflow/gladflow/pipelines/output"
	"github.com/gladflow/gladflow/pipelines/recovery"
	"github.com/gladflow/gladflow/plugin/protocol"
)

// one is the matrix of order 1.
type one struct{}

func (one) Len() int          { return 1 }
func (one) Row(int) []float64 { return []float64{1} }

// Names of variables and what a table's schema says count with the results.
func TestNamesCount(t *testing.T) {
	const size = 100_000
	name := strings.Repeat("n", size)
	for what, work := range map[string]workFunc{
		"the document": func(context.Context, job.Job, recovery.Host) (*job.Result, error) {
			return &job.Result{Variables: []string{name}, StandardDeviations: []float64{1}}, nil
		},
		"a table": func(_ context.Context, _ job.Job, h recovery.Host) (*job.Result, error) {
			table := output.Table{Columns: arrowio.Precision{Names: []string{name}, Values: one{}}.Columns()}
			return &job.Result{}, h.Solved(recovery.Network{Result: job.SolverResult{Name: "bcd"}, Tables: map[string]output.Table{recovery.TablePrecision: table}})
		},
		"what a table says besides": func(_ context.Context, _ job.Job, h recovery.Host) (*job.Result, error) {
			table := output.Table{Columns: arrowio.EdgeColumns(nil), Metadata: map[string]string{"names": name}}
			return &job.Result{}, h.Solved(recovery.Network{Result: job.SolverResult{Name: "bcd"}, Tables: map[string]output.Table{recovery.TableEdges: table}})
		},
	} {
		t.Run(what, func(t *testing.T) {
			g := bounded(t, 1<<20, work)
			for range 30 { // more than there is memory for
				if err := start(t, g).WaitEnd(); err != nil {
					t.Fatal(err)
				}
			}
			_, ended, bytes := g.Stats()
			if bytes < int64(ended)*size || g.Reserved() != bytes || ended < 2 || ended > 10 {
				t.Errorf("%d runs are kept, and take %d bytes; %d are reserved", ended, bytes, g.Reserved())
			}
		})
	}
}

// A document for which there is no memory fails its run, and none is kept.
func TestDocumentNeedsMemory(t *testing.T) {
	g := bounded(t, 1<<20, func(context.Context, job.Job, recovery.Host) (*job.Result, error) {
		return &job.Result{Variables: []string{strings.Repeat("n", 2<<20)}}, nil
	})
	r := start(t, g)
	if f := protocol.FaultOf(r.WaitEnd()); f == nil || f.StatusCode() != codes.ResourceExhausted {
		t.Errorf("%+v", f)
	}
	if result, _ := r.WaitResult(t.Context()); result != nil {
		t.Error("the document is kept")
	}
}

// Results for which there is no memory push out nobody's.
func TestRefusedResultsForgetNothing(t *testing.T) {
	n, bytes := unitBytes(t)
	limits := boundedLimits(3 * bytes)
	limits.ResultBytesPerCaller = 2 * bytes
	g := New(Config{Limits: limits, Logger: hclog.NewNullLogger(), Work: finding})
	t.Cleanup(g.Close)
	kept := []*Run{mustDone(t, g, "bob", n), mustDone(t, g, "alice", n)}
	if err := g.memory.Reserve(bytes); err != nil { // somebody's run takes all the rest
		t.Fatal(err)
	}
	defer g.memory.Release(bytes)
	// There is room for these when alice's first are forgotten, and no memory even then.
	if _, err := done(t, g, "alice", 3*n/2); protocol.FaultOf(err).StatusCode() != codes.ResourceExhausted {
		t.Errorf("results without memory: %v", err)
	}
	for _, r := range kept {
		if _, err := g.Find(r.caller, r.ID()); err != nil {
			t.Error(err)
		}
	}
}
