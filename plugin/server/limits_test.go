package server

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/apache/arrow/go/v15/arrow/flight"
	"github.com/apache/arrow/go/v15/arrow/ipc"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/gladflow/gladflow/arrowio"
	"github.com/gladflow/gladflow/pipelines/job"
	"github.com/gladflow/gladflow/pipelines/output"
	"github.com/gladflow/gladflow/pipelines/progress"
	"github.com/gladflow/gladflow/pipelines/recovery"
	"github.com/gladflow/gladflow/plugin/protocol"
	"github.com/gladflow/gladflow/solver/glad"
)

// until is a stand-in for a run that ends with its context or with release.
func until(release <-chan struct{}) workFunc {
	return func(ctx context.Context, _ job.Job, h recovery.Host) (*job.Result, error) {
		for h.Records != nil && h.Records.Next() {
		}
		h.Progress(progress.Update{Stage: progress.Reading, Done: true})
		select {
		case <-release:
			return &job.Result{}, nil
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

func TestConcurrentRunsAreBounded(t *testing.T) {
	release := make(chan struct{})
	s, c := servedWith(t, Config{Limits: protocol.Limits{ConcurrentRuns: 2}}, until(release))
	ctx, table := bg(t), sampled(t, 3, 10)
	for range 2 {
		if _, err := put(ctx, t, c, `{}`, table); err != nil {
			t.Fatal(err)
		}
	}
	_, err := put(ctx, t, c, `{}`, table)
	wantFault(t, err, codes.ResourceExhausted, protocol.ReasonLimit, "")
	close(release)
	if err := s.Drain(ctx); err != nil {
		t.Fatal(err)
	}
	_, err = put(ctx, t, c, `{}`, table)
	wantFault(t, err, codes.Unavailable, protocol.ReasonDraining, "")
}

// Who comes for the results of a run that ended under a drain finds them.
func TestDrainWaitsForResultsToBeTaken(t *testing.T) {
	release := make(chan struct{})
	s, c := servedWith(t, Config{Limits: protocol.Limits{ConcurrentRuns: 1}}, func(_ context.Context, _ job.Job, h recovery.Host) (*job.Result, error) {
		for h.Records.Next() {
		}
		h.Progress(progress.Update{Stage: progress.Reading, Done: true})
		<-release
		edges := output.Table{Columns: arrowio.EdgeColumns([]arrowio.Edge{{Source: "a", Target: "b"}})}
		return &job.Result{}, h.Solved(recovery.Network{Result: job.SolverResult{Name: "bcd"}, Tables: map[string]output.Table{recovery.TableEdges: edges}})
	})
	ctx := bg(t)
	id, err := put(ctx, t, c, `{"solvers":["bcd"]}`, sampled(t, 3, 10))
	if err != nil {
		t.Fatal(err)
	}
	drained := make(chan error, 1)
	go func() { drained <- s.Drain(ctx) }()
	eventually(t, "a new run is not refused for the drain", func() bool {
		_, err := put(ctx, t, c, `{}`, sampled(t, 3, 10)) // there is no slot for it either
		return protocol.FaultOf(err).Reason == protocol.ReasonDraining
	})
	close(release)
	if _, err := act(ctx, c, protocol.ActionResult, `{"run":"`+id+`"}`); err != nil {
		t.Fatal(err)
	}
	select {
	case err := <-drained:
		t.Fatalf("the drain is over before the results were taken: %v", err)
	case <-time.After(100 * time.Millisecond):
	}
	if _, err := get(ctx, c, protocol.Ticket{Run: id}); err != nil {
		t.Fatal(err)
	}
	within(t, time.Second, "the rest of the drain", func() {
		if err := <-drained; err != nil {
			t.Error(err)
		}
	})
}

// A caller that has seen the end of a run can have its slot.
func TestSlotIsFreeAtTheEndOfARun(t *testing.T) {
	_, c := served(t, Config{Limits: protocol.Limits{ConcurrentRuns: 1}})
	ctx, table := bg(t), sampled(t, 4, 20)
	for i := range 100 {
		id, err := put(ctx, t, c, `{"solvers":["bcd"],"penalty":0.1}`, table)
		if err == nil {
			_, err = act(ctx, c, protocol.ActionResult, `{"run":"`+id+`"}`)
		}
		if err != nil {
			t.Fatalf("run %d: %v", i, err)
		}
	}
}

func TestDrainEndsWithItsContext(t *testing.T) {
	s, c := servedWith(t, Config{}, until(nil))
	if _, err := put(bg(t), t, c, `{}`, sampled(t, 3, 10)); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Millisecond)
	defer cancel()
	if err := s.Drain(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Error(err)
	}
}

func TestUploadIsBounded(t *testing.T) {
	_, c := served(t, Config{Limits: protocol.Limits{UploadBytes: 10_000, Variables: 50, MessageBytes: 100_000}})
	_, err := put(bg(t), t, c, `{}`, sampled(t, 20, 100))
	wantFault(t, err, codes.ResourceExhausted, protocol.ReasonLimit, "")
	_, err = put(bg(t), t, c, `{}`, sampled(t, 51, 4))
	wantFault(t, err, codes.ResourceExhausted, protocol.ReasonLimit, "")
	_, err = put(bg(t), t, c, `{}`, sampled(t, 20, 2000))
	if status.Code(err) != codes.ResourceExhausted {
		t.Errorf("a message of 160 kB: %v", err)
	}
}

func TestResultsAreBounded(t *testing.T) {
	table := sampled(t, 20, 100)
	j := `{"solvers":["bcd"],"penalty":0.1,"edges":"all"}` // some 20 kB of results
	s, c := served(t, Config{Limits: protocol.Limits{ResultBytes: 60_000}})
	ctx := bg(t)
	var ids []string
	for range 6 {
		id, err := put(ctx, t, c, j, table)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := get(ctx, c, protocol.Ticket{Run: id}); err != nil {
			t.Fatal(err)
		}
		ids = append(ids, id)
	}
	_, err := get(ctx, c, protocol.Ticket{Run: ids[0]})
	if f := wantFault(t, err, codes.NotFound, protocol.ReasonNotFound, ""); f.Run != ids[0] {
		t.Errorf("%+v", f)
	}
	if st := s.Stats(); st.ResultBytes > 60_000 || st.ResultBytes == 0 {
		t.Errorf("%+v", st)
	}
	_, small := served(t, Config{Limits: protocol.Limits{ResultBytes: 1000}})
	id, err := put(ctx, t, small, j, table)
	if err != nil {
		t.Fatal(err)
	}
	_, err = get(ctx, small, protocol.Ticket{Run: id})
	wantFault(t, err, codes.ResourceExhausted, protocol.ReasonLimit, "")
}

func TestResultsAgeAndAreForgotten(t *testing.T) {
	s, c := served(t, Config{Limits: protocol.Limits{ResultSeconds: 0.2}})
	ctx := bg(t)
	id, err := put(ctx, t, c, `{"solvers":["bcd"],"penalty":0.1}`, sampled(t, 5, 50))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := get(ctx, c, protocol.Ticket{Run: id}); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the results are kept", func() bool {
		_, err = get(ctx, c, protocol.Ticket{Run: id})
		return err != nil
	})
	wantFault(t, err, codes.NotFound, protocol.ReasonNotFound, "")
	if st := s.Stats(); st != (Stats{}) {
		t.Errorf("%+v", st)
	}
}

func TestForget(t *testing.T) {
	s, c := servedWith(t, Config{}, until(nil))
	ctx := bg(t)
	id, err := put(ctx, t, c, `{}`, sampled(t, 3, 10))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := act(ctx, c, protocol.ActionForget, `{"run":"`+id+`"}`); err != nil {
		t.Fatal(err)
	}
	if st := s.Stats(); st != (Stats{}) {
		t.Errorf("%+v", st)
	}
}

// A caller that stops sending is not waited for without end.
func TestIdleUpload(t *testing.T) {
	s, c := served(t, Config{Limits: protocol.Limits{IdleSeconds: 0.1}})
	stream, err := c.DoPut(bg(t))
	if err != nil {
		t.Fatal(err)
	}
	table := sampled(t, 3, 10)
	w := flight.NewRecordWriter(stream, ipc.WithSchema(table.Schema()))
	w.SetFlightDescriptor(command(`{}`))
	if err := w.Write(table); err != nil {
		t.Fatal(err)
	}
	for err == nil {
		_, err = stream.Recv()
	}
	if err == io.EOF {
		t.Fatal("the call ended well")
	}
	wantFault(t, err, codes.DeadlineExceeded, protocol.ReasonIdle, "")
	if err := s.Drain(bg(t)); err != nil {
		t.Error(err)
	}
}

// A caller that does not take its results neither.
func TestIdleDownload(t *testing.T) {
	returned := make(chan struct{})
	_, c := served(t, Config{Limits: protocol.Limits{IdleSeconds: 0.2}}, grpc.ChainStreamInterceptor(
		func(service any, stream grpc.ServerStream, _ *grpc.StreamServerInfo, next grpc.StreamHandler) error {
			defer close(returned)
			return next(service, stream)
		}))
	ctx := bg(t)
	stream, err := c.DoExchange(ctx)
	if err != nil {
		t.Fatal(err)
	}
	table := wide(2000, 2000) // 32 MB, more than the windows hold
	w := flight.NewRecordWriter(stream, ipc.WithSchema(table.Schema()))
	w.SetFlightDescriptor(&flight.FlightDescriptor{Type: flight.DescriptorPATH, Path: []string{protocol.PathEcho}})
	written := make(chan struct{})
	go func() {
		defer close(written)
		for at := int64(0); at < 2000; at += 100 {
			piece := table.NewSlice(at, at+100)
			err := w.Write(piece)
			piece.Release()
			if err != nil {
				return // the service has had enough
			}
		}
	}()
	<-returned
	for err == nil {
		_, err = stream.Recv()
	}
	<-written
	if err == io.EOF {
		t.Fatal("the call ended well")
	}
	wantFault(t, err, codes.DeadlineExceeded, protocol.ReasonIdle, "")
}

func TestFiles(t *testing.T) {
	folder := t.TempDir()
	outside := filepath.Join(t.TempDir(), "samples.csv")
	inside := filepath.Join(folder, "samples.csv")
	for _, path := range []string{outside, inside} {
		if err := os.WriteFile(path, []byte("a,b\n1,2\n2,1\n3,5\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	link := filepath.Join(folder, "link.csv")
	if err := os.Symlink(outside, link); err != nil {
		t.Fatal(err)
	}
	escape := filepath.Join(folder, "sub", "..", "..", "x.csv")
	for files, allowed := range map[string][]string{
		"":        {inside, outside, link},
		FilesNone: nil,
		folder:    {inside},
	} {
		_, c := served(t, Config{Files: files})
		ctx := bg(t)
		for _, path := range []string{inside, outside, link, escape, "s3://bucket/samples.csv", "file://" + outside} {
			_, err := act(ctx, c, protocol.ActionValidate, `{"input":"`+path+`"}`)
			if files == "" || len(allowed) == 1 && path == inside {
				if err != nil {
					t.Errorf("files %q: %s: %v", files, path, err)
				}
				continue
			}
			wantFault(t, err, codes.PermissionDenied, protocol.ReasonForbidden, "input")
		}
		confined := 0
		for _, f := range job.Fields(&job.Job{}, job.Facts{}) {
			if f.File == job.NoFile {
				continue
			}
			confined++
			_, err := act(ctx, c, protocol.ActionValidate, `{"`+f.Key+`":"`+filepath.Join(filepath.Dir(outside), "x.html")+`"}`)
			if files == "" {
				if err != nil {
					t.Errorf("%s: %v", f.Key, err)
				}
				continue
			}
			wantFault(t, err, codes.PermissionDenied, protocol.ReasonForbidden, f.Key)
		}
		for field, reason := range map[string]string{ // "-" is no file but where files are read
			"input": "", "reference": protocol.ReasonInvalidJob, "penalty_matrix": protocol.ReasonInvalidJob,
			"out": protocol.ReasonForbidden, "model": protocol.ReasonForbidden,
		} {
			_, err := act(ctx, c, protocol.ActionValidate, `{"`+field+`":"-"}`)
			switch {
			case reason == "" || reason == protocol.ReasonForbidden && files != FilesNone:
				if err != nil {
					t.Errorf("files %q: %s is -: %v", files, field, err)
				}
			case reason == protocol.ReasonForbidden:
				wantFault(t, err, codes.PermissionDenied, reason, field)
			default:
				wantFault(t, err, codes.InvalidArgument, reason, field)
			}
		}
		if confined < 5 {
			t.Errorf("%d fields of a job name files", confined)
		}
		if _, err := act(ctx, c, protocol.ActionValidate, `{"model":"`+glad.DefaultModelName+`"}`); err != nil {
			t.Errorf("files %q: a built-in model is refused: %v", files, err)
		}
	}
	if _, err := New(Config{Files: filepath.Join(folder, "nothing")}); err == nil || !strings.Contains(err.Error(), "make it") {
		t.Error(err)
	}
}
