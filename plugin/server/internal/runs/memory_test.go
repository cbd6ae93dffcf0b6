package runs

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/hashicorp/go-hclog"
	"google.golang.org/grpc/codes"

	"github.com/gladflow/gladflow/arrowio"
	"github.com/gladflow/gladflow/arrowio/batch"
	"github.com/gladflow/gladflow/pipelines/job"
	"github.com/gladflow/gladflow/pipelines/memory"
	"github.com/gladflow/gladflow/pipelines/output"
	"github.com/gladflow/gladflow/pipelines/progress"
	"github.com/gladflow/gladflow/pipelines/recovery"
	"github.com/gladflow/gladflow/plugin/protocol"
)

// boundedLimits are of many slots, and of memory for one message and so many bytes.
func boundedLimits(bytes int64) protocol.Limits {
	l := protocol.Limits{ConcurrentRuns: 100, MessageBytes: 1 << 20, ResultBytes: 1 << 30, ResultSeconds: 60}
	l.MemoryBytes = memory.Process + LargestMessage(l) + bytes
	return l
}

// bounded is a registry of many slots whose runs share so many bytes.
func bounded(t *testing.T, bytes int64, work workFunc) *Registry {
	t.Helper()
	g := New(Config{
		Limits: boundedLimits(bytes),
		Logger: hclog.NewNullLogger(), Work: work,
	})
	t.Cleanup(func() {
		g.Close()
		taken(t, g, 0, "all runs have ended and none is kept", func() {
			for _, r := range g.List("") {
				g.Forget(r)
			}
		})
	})
	return g
}

// taken fails the test unless so many bytes are taken after f, soon.
func taken(t *testing.T, g *Registry, want int64, when string, f func()) {
	t.Helper()
	f()
	for start := time.Now(); g.memory.Taken() != want; time.Sleep(time.Millisecond) {
		if time.Since(start) > 10*time.Second {
			t.Errorf("when %s, %d bytes are taken, not %d", when, g.memory.Taken(), want)
			return
		}
	}
}

// needing is work that needs so many bytes, has reserved some for a table of n edges,
// and ends as end says.
func needing(bytes, forTable int64, n int, end func(context.Context) error) workFunc {
	return func(ctx context.Context, _ job.Job, h recovery.Host) (*job.Result, error) {
		if err := h.Memory.Reserve(bytes); err != nil {
			return nil, err
		}
		defer h.Memory.Release(bytes)
		for h.Records != nil && h.Records.Next() {
		}
		h.Progress(progress.Update{Stage: progress.Reading, Done: true})
		if err := end(ctx); err != nil {
			return nil, err
		}
		if err := h.Memory.Reserve(forTable); err != nil {
			return nil, err
		}
		edges := output.Table{Columns: arrowio.EdgeColumns(make([]arrowio.Edge, n))}
		return &job.Result{}, h.Solved(recovery.Network{
			Result: job.SolverResult{Name: "bcd"}, Tables: map[string]output.Table{recovery.TableEdges: edges}, Reserved: forTable,
		})
	}
}

func untilCancelled(ctx context.Context) error {
	<-ctx.Done()
	return ctx.Err()
}

// Of many runs as many are admitted as there is memory for; the others are told why.
func TestMemoryIsShared(t *testing.T) {
	const needs = 10 << 20
	g := bounded(t, 3*needs+needs/2, needing(needs, 0, 0, untilCancelled))
	var admitted []*Run
	for range 32 {
		r := start(t, g)
		err := r.WaitRead()
		if err == nil {
			admitted = append(admitted, r)
			continue
		}
		f := protocol.FaultOf(err)
		if f.StatusCode() != codes.ResourceExhausted || f.Reason != protocol.ReasonLimit || f.Run != r.ID() {
			t.Fatalf("%+v", f)
		}
		for _, words := range []string{"needs 10 MiB", "others have 30 MiB", "try again when a run has ended", "serve --max-memory"} {
			if !strings.Contains(f.Message, words) {
				t.Errorf("%q lacks %q", f.Message, words)
			}
		}
	}
	if len(admitted) != 3 {
		t.Fatalf("%d runs are at work", len(admitted))
	}
	taken(t, g, 2*needs, "one of three is cancelled", func() { admitted[0].Cancel(context.Canceled) })
	if err := start(t, g).WaitRead(); err != nil {
		t.Errorf("there is room again: %v", err)
	}
}

// A run that can never fit is not told to try again.
func TestMemoryOfOneRun(t *testing.T) {
	g := bounded(t, 1<<20, needing(1<<20+1, 0, 0, untilCancelled))
	f := protocol.FaultOf(start(t, g).WaitRead())
	if f.StatusCode() != codes.ResourceExhausted || strings.Contains(f.Message, "try again") || !strings.Contains(f.Message, "can never be taken") {
		t.Errorf("%+v", f)
	}
}

// Memory is free after every end of a run.
func TestMemoryAfterTheEnd(t *testing.T) {
	failure := errors.New("a full disk")
	for name, end := range map[string]func(context.Context) error{
		"done":     func(context.Context) error { return nil },
		"failed":   func(context.Context) error { return failure },
		"panicked": func(context.Context) error { panic("a defect") },
		"expired": func(ctx context.Context) error {
			time.Sleep(3 * graceTime) // the run is abandoned
			return ctx.Err()
		},
	} {
		t.Run(name, func(t *testing.T) {
			g := bounded(t, 10<<20, needing(1<<20, 0, 0, end))
			r := start(t, g)
			if name == "expired" {
				r.Cancel(context.Canceled)
			}
			if err := r.WaitEnd(); (err == nil) != (name == "done") {
				t.Fatal(err)
			}
			kept := r.Info().Bytes
			taken(t, g, kept, "the run has ended", func() {})
		})
	}
}

// Results that are kept are part of the sum, once, and the oldest make room for runs.
func TestMemoryOfResults(t *testing.T) {
	const needs, edges = 1 << 20, 10_000
	for _, forTable := range []int64{0, 1000, 10 << 20} { // what the run has reserved of it
		g := bounded(t, 11<<20, needing(needs, forTable, edges, func(context.Context) error { return nil }))
		first := start(t, g)
		if err := first.WaitEnd(); err != nil {
			t.Fatal(err)
		}
		size := first.Info().Bytes
		if size < 33*edges {
			t.Fatalf("%d edges take %d bytes", edges, size)
		}
		taken(t, g, size, "the results of a run are kept", func() {})
		for range 3 {
			if err := start(t, g).WaitEnd(); err != nil {
				t.Fatal(err)
			}
		}
		taken(t, g, int64(len(g.List("")))*size, "more are kept", func() {})
		for i := range 40 { // more than there is memory for
			if err := start(t, g).WaitEnd(); err != nil {
				t.Fatalf("run %d: %v", i, err)
			}
		}
		if _, err := g.Find("", first.ID()); protocol.FaultOf(err).Reason != protocol.ReasonNotFound {
			t.Errorf("the oldest run is still kept: %v", err)
		}
	}
}

// A run that would not fit even then takes nobody's results.
func TestMemoryOfResultsStays(t *testing.T) {
	bytes := int64(1 << 20)
	g := bounded(t, 2<<20, func(ctx context.Context, j job.Job, h recovery.Host) (*job.Result, error) {
		return needing(bytes, 0, 1000, func(context.Context) error { return nil })(ctx, j, h)
	})
	r := start(t, g)
	if err := r.WaitEnd(); err != nil {
		t.Fatal(err)
	}
	bytes = 3 << 20
	if err := start(t, g).WaitEnd(); protocol.FaultOf(err).Reason != protocol.ReasonLimit {
		t.Error(err)
	}
	if _, err := g.Find("", r.ID()); err != nil {
		t.Error(err)
	}
}

// The message that is on its way counts while samples come, from the beginning of the
// call.
func TestMemoryOfUploads(t *testing.T) {
	const more = 1 << 19
	largest := LargestMessage(boundedLimits(0))
	g := bounded(t, largest+more, needing(0, 0, 0, untilCancelled))
	refused, err := g.BeginUpload("alice")
	if err != nil {
		t.Fatal(err)
	}
	taken(t, g, largest, "a call begins", func() {})
	refused.End() // its job is not valid
	taken(t, g, 0, "it has ended", func() {})

	first, err := g.BeginUpload("alice")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := g.BeginUpload("bob"); protocol.FaultOf(err).StatusCode() != codes.ResourceExhausted || !strings.Contains(err.Error(), "max-message-size") {
		t.Errorf("a second upload: %v", err)
	}
	proceed := make(chan struct{})
	open := func(ctx context.Context, l batch.Limits) (array.RecordReader, error) {
		if l.Reserve == nil || l.Table != g.Limits.UploadBytes {
			t.Errorf("%+v", l)
		}
		<-proceed
		if err := l.Reserve(more); err != nil {
			return nil, err
		}
		if err := l.Reserve(1); err == nil {
			t.Error("there was more memory than there is")
		}
		record := arrowio.SampleRecord(arrowio.SampleSchema([]string{"a"}), []float64{1, 2}, 2)
		return array.NewRecordReader(record.Schema(), nil)
	}
	r, err := g.Start(t.Context(), Request{Caller: "alice", Open: open, Upload: first, Detached: true})
	if err != nil {
		t.Fatal(err)
	}
	taken(t, g, largest, "the call has ended and the samples are still read", first.End)
	close(proceed)
	if err := r.WaitRead(); err != nil {
		t.Fatal(err)
	}
	taken(t, g, 0, "the samples have come", func() {})
}
