package runs

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/hashicorp/go-hclog"

	"github.com/gladflow/gladflow/arrowio"
	"github.com/gladflow/gladflow/pipelines/job"
	"github.com/gladflow/gladflow/pipelines/output"
	"github.com/gladflow/gladflow/pipelines/progress"
	"github.com/gladflow/gladflow/pipelines/recovery"
	"github.com/gladflow/gladflow/plugin/protocol"
)

type workFunc = func(context.Context, job.Job, recovery.Host) (*job.Result, error)

// registry has two slots and room for some hundred edges.
func registry(t *testing.T, work workFunc) *Registry {
	t.Helper()
	g := New(Config{
		Limits: protocol.Limits{ConcurrentRuns: 2, ResultBytes: 10_000, ResultSeconds: 60},
		Logger: hclog.NewNullLogger(), Work: work,
	})
	t.Cleanup(g.Close)
	return g
}

func start(t *testing.T, g *Registry) *Run {
	t.Helper()
	r, err := g.Start(t.Context(), Request{Job: job.Job{Solvers: []string{"bcd"}}, Detached: true})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// solved is work that reads, waits and finds n edges.
func solved(proceed <-chan struct{}, n int) workFunc {
	return func(ctx context.Context, _ job.Job, h recovery.Host) (*job.Result, error) {
		h.Progress(progress.Update{Stage: progress.Reading, Done: true})
		select {
		case <-proceed:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
		h.Progress(progress.Update{Stage: progress.Solving, Solver: "bcd", Done: true})
		edges := output.Table{Columns: arrowio.EdgeColumns(make([]arrowio.Edge, n))}
		return &job.Result{}, h.Solved(recovery.Network{Result: job.SolverResult{Name: "bcd"}, Tables: map[string]output.Table{recovery.TableEdges: edges}})
	}
}

// states are those that the events of a run go through.
func states(t *testing.T, r *Run) (list []protocol.State, last protocol.Event) {
	t.Helper()
	err := r.Events(t.Context(), func(e protocol.Event) error {
		list, last = append(list, e.State), e
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return slices.Compact(list), last
}

func TestStates(t *testing.T) {
	failure := errors.New("a full disk")
	proceed := make(chan struct{})
	close(proceed)
	for name, test := range map[string]struct {
		work   workFunc
		cancel bool
		want   []protocol.State
	}{
		"done":      {solved(proceed, 3), false, []protocol.State{protocol.StateRunning, protocol.StateDone}},
		"cancelled": {solved(nil, 3), true, []protocol.State{protocol.StateRunning, protocol.StateCancelled}},
		"failed": {func(context.Context, job.Job, recovery.Host) (*job.Result, error) { return nil, failure },
			false, []protocol.State{protocol.StateFailed}},
	} {
		t.Run(name, func(t *testing.T) {
			r := start(t, registry(t, test.work))
			if test.cancel {
				if err := r.WaitRead(); err != nil {
					t.Fatal(err)
				}
				r.Cancel(context.Canceled)
			}
			got, last := states(t, r)
			if !slices.Equal(got, test.want) {
				t.Errorf("states %v, want %v", got, test.want)
			}
			_, tablesErr := r.WaitTables(t.Context(), "bcd")
			_, resultErr := r.WaitResult(t.Context())
			for what, err := range map[string]error{"the end": r.WaitEnd(), "the tables": tablesErr, "the result": resultErr} {
				if (err == nil) != (name == "done") {
					t.Errorf("%s: error %v", what, err)
				}
			}
			if info := r.Info(); info.State != last.State || (info.Error == nil) != (name == "done") || (len(info.Finished) == 1) != (name == "done") {
				t.Errorf("%+v", info)
			}
			r.progress(progress.Update{Stage: progress.Solving, Solver: "bcd", Done: true})
			if again, _ := states(t, r); !slices.Equal(again, got) || r.addTables("bcd", nil) == nil {
				t.Error("the run goes on after its end")
			}
		})
	}
}

// A slot is taken until the end of its run, and memory until the run is removed.
func TestSlotsAndMemory(t *testing.T) {
	proceed := make(chan struct{})
	g := registry(t, solved(proceed, 100))
	first, second := start(t, g), start(t, g)
	if _, err := g.Start(t.Context(), Request{}); protocol.FaultOf(err).Reason != protocol.ReasonLimit {
		t.Errorf("a third run: %v", err)
	}
	close(proceed)
	for _, r := range []*Run{first, second} {
		if err := r.WaitEnd(); err != nil {
			t.Fatal(err)
		}
	}
	running, ended, bytes := g.Stats()
	if running != 0 || ended != 2 || bytes <= 0 {
		t.Fatalf("%d running, %d ended, %d bytes", running, ended, bytes)
	}
	g.Forget(first)
	if _, _, left := g.Stats(); left != bytes/2 {
		t.Errorf("%d of %d bytes are left", left, bytes)
	}
	for range 10 { // the oldest are removed
		if err := start(t, g).WaitEnd(); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := g.Find("", second.ID()); protocol.FaultOf(err).Reason != protocol.ReasonNotFound {
		t.Errorf("the oldest run: %v", err)
	}
	if _, _, bytes := g.Stats(); bytes > g.Limits.ResultBytes {
		t.Errorf("the results take %d bytes", bytes)
	}
}
