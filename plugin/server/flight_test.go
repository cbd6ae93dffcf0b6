package server

import (
	"context"
	"encoding/json"
	"testing"
	"time"

	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/flight"
	"github.com/apache/arrow/go/v15/arrow/ipc"
	"google.golang.org/grpc/codes"

	"github.com/gladflow/gladflow/pipelines/job"
	"github.com/gladflow/gladflow/pipelines/progress"
	"github.com/gladflow/gladflow/pipelines/recovery"
	"github.com/gladflow/gladflow/plugin/protocol"
)

func TestPutAndGet(t *testing.T) {
	_, c := served(t, Config{})
	ctx := bg(t)
	table := sampled(t, 12, 200)
	id, err := put(ctx, t, c, `{"solvers":["bcd","glad"],"penalty":0.2,"edges":"all"}`, table)
	if err != nil || id == "" {
		t.Fatal(id, err)
	}
	for _, solver := range []string{"bcd", "glad"} {
		edges, err := get(ctx, c, protocol.Ticket{Run: id, Solver: solver})
		if err != nil || len(edges) != 1 || edges[0].NumRows() != 66 {
			t.Fatal(edges, err)
		}
		scores := edges[0].Column(2).(*array.Float64).Float64Values()
		for i := range scores[1:] {
			if scores[i] < scores[i+1] {
				t.Fatalf("edge %d has a lower score than the next", i)
			}
		}
		m := edges[0].Schema().Metadata()
		if v, ok := m.GetValue("gladflow.solver"); !ok || v != solver {
			t.Errorf("metadata %v", m)
		}
		precision, err := get(ctx, c, protocol.Ticket{Run: id, Solver: solver, Table: protocol.TablePrecision})
		if err != nil || precision[0].NumRows() < 12 {
			t.Fatal(precision, err)
		}
	}
	_, err = get(ctx, c, protocol.Ticket{Run: id, Table: protocol.TableMetrics})
	wantFault(t, err, codes.NotFound, protocol.ReasonNotFound, "")
	results, err := act(ctx, c, protocol.ActionResult, `{"run":"`+id+`"}`)
	if err != nil {
		t.Fatal(err)
	}
	var result job.Result
	if err := json.Unmarshal(results[0], &result); err != nil || result.Solvers[0].Status != "converged" || len(result.Input.SHA256) != 64 {
		t.Errorf("%v %+v", err, result)
	}
}

func TestExchange(t *testing.T) {
	_, c := served(t, Config{})
	ctx := bg(t)
	stream, err := c.DoExchange(ctx)
	if err != nil {
		t.Fatal(err)
	}
	table := sampled(t, 9, 100)
	w := flight.NewRecordWriter(stream, ipc.WithSchema(table.Schema()))
	w.SetFlightDescriptor(command(`{"solvers":["bcd"],"penalty":0.1}`))
	if err := w.Write(table); err != nil {
		t.Fatal(err)
	}
	w.Close()
	stream.CloseSend()
	edges, err := readAll(stream)
	if err != nil || len(edges) != 1 || edges[0].NumRows() == 0 {
		t.Fatal(edges, err)
	}
}

func TestRunsOfAnExchangeAreNotHeld(t *testing.T) {
	s, _ := served(t, Config{})
	TestExchange(t)
	if st := s.Stats(); st.Held != 0 || st.ResultBytes != 0 {
		t.Errorf("%+v", st)
	}
}

func TestPanicEndsTheRun(t *testing.T) {
	s, c := servedWith(t, Config{}, func(context.Context, job.Job, recovery.Host) (*job.Result, error) {
		panic("stand-in")
	})
	_, err := put(bg(t), t, c, `{}`, sampled(t, 3, 10))
	f := wantFault(t, err, codes.Internal, protocol.ReasonPanic, "")
	if f.Run == "" {
		t.Error("the fault does not name its run")
	}
	if st := s.Stats(); st.Running != 0 {
		t.Errorf("%+v", st)
	}
}

// Work that cannot be interrupted does not hold up those who cancel it, nor
// does what it says later count; Close waits for it.
func TestCancelDoesNotWaitForKernels(t *testing.T) {
	release := make(chan struct{})
	var late error
	s, c := servedWith(t, Config{}, func(_ context.Context, _ job.Job, h recovery.Host) (*job.Result, error) {
		for h.Records.Next() {
		}
		h.Progress(progress.Update{Stage: progress.Reading, Done: true})
		h.Progress(progress.Update{Stage: progress.Solving, Solver: "bcd"})
		<-release
		h.Progress(progress.Update{Stage: progress.Solving, Solver: "bcd", Done: true})
		late = h.Solved(recovery.Network{})
		return &job.Result{}, nil
	})
	ctx := bg(t)
	id, err := put(ctx, t, c, `{"solvers":["bcd"]}`, sampled(t, 3, 10))
	if err != nil {
		t.Fatal(err)
	}
	within(t, 200*time.Millisecond, "cancelling", func() {
		if _, err := act(ctx, c, protocol.ActionCancel, `{"run":"`+id+`"}`); err != nil {
			t.Error(err)
		}
	})
	if st := s.Stats(); st.Running != 1 || st.Held != 1 {
		t.Errorf("%+v: the work goes on, and its run can be asked for", st)
	}
	_, err = get(ctx, c, protocol.Ticket{Run: id})
	if f := wantFault(t, err, codes.Canceled, protocol.ReasonCancelled, ""); f.Solver != "bcd" {
		t.Errorf("%+v", f)
	}
	closed := make(chan struct{})
	go func() { defer close(closed); s.Close() }()
	select {
	case <-closed:
		t.Error("Close did not wait for the work")
	case <-time.After(50 * time.Millisecond):
	}
	close(release)
	<-closed
	if late == nil {
		t.Error("tables were taken after the end of the run")
	}
	events, err := act(ctx, c, protocol.ActionWatch, `{"run":"`+id+`"}`)
	var last protocol.Event
	for _, text := range events {
		last = protocol.Event{}
		if err := json.Unmarshal(text, &last); err != nil || last.Solver != "" && last.Done {
			t.Errorf("%v, %s", err, text)
		}
	}
	if err != nil || last.State != protocol.StateCancelled {
		t.Errorf("%v, %s", err, events)
	}
}

func TestCancel(t *testing.T) {
	_, c := served(t, Config{})
	ctx := bg(t)
	id, err := put(ctx, t, c, `{"solvers":["am"],"penalty":0.001,"gap":1e-300,"iteration_limit":1000000000}`, sampled(t, 60, 100))
	if err != nil {
		t.Fatal(err)
	}
	awaitSolving(t, c, protocol.Run{Run: id})
	within(t, 200*time.Millisecond, "cancelling", func() {
		results, err := act(ctx, c, protocol.ActionCancel, `{"run":"`+id+`"}`)
		var info protocol.RunInfo
		if err != nil || json.Unmarshal(results[0], &info) != nil || info.State != protocol.StateCancelled || info.Error == nil || info.Error.Solver != "am" || info.Error.Iteration == 0 {
			t.Errorf("%v %s", err, results)
		}
	})
	_, err = get(ctx, c, protocol.Ticket{Run: id})
	wantFault(t, err, codes.Canceled, protocol.ReasonCancelled, "")
}
