package server

import (
	"context"
	"encoding/json"
	"errors"
	"testing"

	"github.com/apache/arrow/go/v15/arrow/flight"
	"github.com/apache/arrow/go/v15/arrow/ipc"
	"google.golang.org/grpc/codes"

	"github.com/gladflow/gladflow/arrowio"
	"github.com/gladflow/gladflow/pipelines/job"
	"github.com/gladflow/gladflow/pipelines/output"
	"github.com/gladflow/gladflow/pipelines/progress"
	"github.com/gladflow/gladflow/pipelines/recovery"
	"github.com/gladflow/gladflow/plugin/protocol"
)

// failing is a stand-in for a run that has found the edges of bcd and cannot write
// them.
func failing(failure error) workFunc {
	return func(_ context.Context, _ job.Job, h recovery.Host) (*job.Result, error) {
		for h.Records.Next() {
		}
		h.Progress(progress.Update{Stage: progress.Reading, Done: true})
		edges := output.Table{Columns: arrowio.EdgeColumns([]arrowio.Edge{{Source: "a", Target: "b"}})}
		n := recovery.Network{Result: job.SolverResult{Name: "bcd"}, Tables: map[string]output.Table{recovery.TableEdges: edges}}
		if err := h.Solved(n); err != nil {
			return nil, err
		}
		return &job.Result{Version: "9", Solvers: []job.SolverResult{{Name: "bcd", Error: failure.Error()}}}, failure
	}
}

// Whoever asks for a run that has failed is told the same error, after the document
// if that is asked for; the tables that there are can be taken.
func TestFailedRun(t *testing.T) {
	_, c := servedWith(t, Config{}, failing(errors.New("writing out/bcd.edges.parquet: the disk is full")))
	ctx, samples := bg(t), sampled(t, 3, 10)
	id, err := put(ctx, t, c, `{"solvers":["bcd"]}`, samples)
	if err != nil {
		t.Fatal(err)
	}
	body := `{"run":"` + id + `"}`
	for range 2 {
		documents, err := act(ctx, c, protocol.ActionResult, body)
		f := wantFault(t, err, codes.Internal, protocol.ReasonFailed, "")
		if f.Run != id || f.Message != "writing out/bcd.edges.parquet: the disk is full" {
			t.Errorf("%+v", f)
		}
		var result job.Result
		if len(documents) != 1 || json.Unmarshal(documents[0], &result) != nil ||
			result.Version != "9" || !result.Partial || result.Error != f.Message || result.Solvers[0].Error != f.Message {
			t.Errorf("documents %s", documents)
		}
		events, err := act(ctx, c, protocol.ActionWatch, body)
		var last protocol.Event
		if err != nil || json.Unmarshal(events[len(events)-1], &last) != nil || last.State != protocol.StateFailed || *last.Error != *f {
			t.Errorf("%s, %v", events, err)
		}
		listed, err := c.ListFlights(ctx, &flight.Criteria{})
		if err != nil {
			t.Fatal(err)
		}
		info, err := listed.Recv()
		var told protocol.RunInfo
		if err != nil || json.Unmarshal(info.AppMetadata, &told) != nil || told.State != protocol.StateFailed || *told.Error != *f {
			t.Errorf("%+v, %v", info, err)
		}
		if tables, err := get(ctx, c, protocol.Ticket{Run: id}); err != nil || tables[0].NumRows() != 1 {
			t.Errorf("the edges: %v, %v", tables, err)
		}
	}
	stream, err := c.DoExchange(ctx)
	if err != nil {
		t.Fatal(err)
	}
	w := flight.NewRecordWriter(stream, ipc.WithSchema(samples.Schema()))
	w.SetFlightDescriptor(command(`{"solvers":["bcd"]}`))
	if err := w.Write(samples); err != nil {
		t.Fatal(err)
	}
	w.Close()
	stream.CloseSend()
	_, err = readAll(stream)
	wantFault(t, err, codes.Internal, protocol.ReasonFailed, "")
}

// The result of a run that has none is why.
func TestFailedRunWithoutDocument(t *testing.T) {
	_, c := servedWith(t, Config{}, func(_ context.Context, _ job.Job, h recovery.Host) (*job.Result, error) {
		for h.Records.Next() {
		}
		h.Progress(progress.Update{Stage: progress.Reading, Done: true})
		return nil, errors.New("the disk is full")
	})
	ctx := bg(t)
	id, err := put(ctx, t, c, `{"solvers":["bcd"]}`, sampled(t, 3, 10))
	if err != nil {
		t.Fatal(err)
	}
	documents, err := act(ctx, c, protocol.ActionResult, `{"run":"`+id+`"}`)
	wantFault(t, err, codes.Internal, protocol.ReasonFailed, "")
	if len(documents) > 0 {
		t.Errorf("documents %s", documents)
	}
}
