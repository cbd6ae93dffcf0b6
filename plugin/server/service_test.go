package server

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"testing"
	"time"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/flight"
	"github.com/apache/arrow/go/v15/arrow/ipc"
	"go.uber.org/goleak"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"

	"github.com/gladflow/gladflow/arrowio"
	"github.com/gladflow/gladflow/pipelines/job"
	"github.com/gladflow/gladflow/pipelines/recovery"
	"github.com/gladflow/gladflow/pipelines/simulate"
	"github.com/gladflow/gladflow/plugin/protocol"
)

// served is a service on a loopback listener, with a client of Arrow's own.
func served(t testing.TB, c Config, options ...grpc.ServerOption) (*Service, flight.Client) {
	t.Helper()
	return servedWith(t, c, recovery.Run, options...)
}

// servedWith is served with a stand-in for recovery.Run.
func servedWith(t testing.TB, c Config, work workFunc, options ...grpc.ServerOption) (*Service, flight.Client) {
	t.Helper()
	s, err := newService(c, work)
	if err != nil {
		t.Fatal(err)
	}
	g := grpc.NewServer(append(s.ServerOptions(), options...)...)
	if err := s.Register(g); err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- g.Serve(l) }()
	conn, err := grpc.NewClient(l.Addr().String(), grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(64<<20)), grpc.WithInitialWindowSize(8<<20), grpc.WithInitialConnWindowSize(16<<20))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		conn.Close()
		g.Stop()
		s.Close()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		if st := s.Stats(); st.Running != 0 {
			t.Errorf("%d runs are at work after Close", st.Running)
		}
		goleak.VerifyNone(t, goleak.IgnoreCurrent())
	})
	return s, flight.NewClientFromConn(conn, nil)
}

// sampled is n samples of a network of d variables as one batch of lists.
func sampled(t testing.TB, d, n int) arrow.Record {
	t.Helper()
	rng := rand.New(rand.NewPCG(3, uint64(d)))
	theta, err := simulate.Precision(simulate.ScaleFree(rng, d, 1).Weights(rng, simulate.SignedUniform(0.5, 0.9)), 0.3)
	if err != nil {
		t.Fatal(err)
	}
	rows, err := simulate.Samples(context.Background(), rng, theta, n)
	if err != nil {
		t.Fatal(err)
	}
	names := make([]string, d)
	for i := range names {
		names[i] = fmt.Sprintf("gene%d", i)
	}
	return arrowio.SampleRecord(arrowio.SampleSchema(names), rows, n)
}

// wide is a table of any numbers, as lists.
func wide(d, n int) arrow.Record {
	names := make([]string, d)
	for i := range names {
		names[i] = fmt.Sprintf("v%d", i)
	}
	rows := make([]float64, d*n)
	for i := range rows {
		rows[i] = float64(i%1009) / 7
	}
	return arrowio.SampleRecord(arrowio.SampleSchema(names), rows, n)
}

func command(j string) *flight.FlightDescriptor {
	return &flight.FlightDescriptor{Type: flight.DescriptorCMD, Cmd: []byte(j)}
}

// put streams a table in pieces and returns the run's name and the status.
func put(ctx context.Context, t testing.TB, c flight.Client, j string, table arrow.Record) (string, error) {
	t.Helper()
	stream, err := c.DoPut(ctx)
	if err != nil {
		t.Fatal(err)
	}
	w := flight.NewRecordWriter(stream, ipc.WithSchema(table.Schema()))
	w.SetFlightDescriptor(command(j))
	half := (table.NumRows() + 1) / 2
	for at := int64(0); at < table.NumRows(); at += half {
		piece := table.NewSlice(at, min(at+half, table.NumRows()))
		err := w.Write(piece)
		piece.Release()
		if err != nil {
			break // the status says why
		}
	}
	w.Close()
	stream.CloseSend()
	var r protocol.Run
	for {
		result, err := stream.Recv()
		if err == io.EOF {
			return r.Run, nil
		}
		if err != nil {
			return r.Run, err
		}
		if err := json.Unmarshal(result.AppMetadata, &r); err != nil {
			t.Fatal(err)
		}
	}
}

// get reads a table whole.
func get(ctx context.Context, c flight.Client, ticket protocol.Ticket) ([]arrow.Record, error) {
	stream, err := c.DoGet(ctx, &flight.Ticket{Ticket: encode(ticket)})
	if err != nil {
		return nil, err
	}
	return readAll(stream)
}

func readAll(stream flight.DataStreamReader) ([]arrow.Record, error) {
	r, err := flight.NewRecordReader(stream)
	if err != nil {
		return nil, err
	}
	defer r.Release()
	var list []arrow.Record
	for r.Next() {
		r.Record().Retain()
		list = append(list, r.Record())
	}
	if err := r.Err(); err != nil && err != io.EOF {
		return list, err
	}
	return list, nil
}

// act does an action and returns its results.
func act(ctx context.Context, c flight.Client, name, body string) ([][]byte, error) {
	stream, err := c.DoAction(ctx, &flight.Action{Type: name, Body: []byte(body)})
	if err != nil {
		return nil, err
	}
	var list [][]byte
	for {
		r, err := stream.Recv()
		if err == io.EOF {
			return list, nil
		}
		if err != nil {
			return list, err
		}
		list = append(list, r.Body)
	}
}

// wantFault checks the details of an error.
func wantFault(t testing.TB, err error, code codes.Code, reason, field string) *protocol.Fault {
	t.Helper()
	f := protocol.FaultOf(err)
	if f == nil || f.StatusCode() != code || f.Reason != reason || f.Field != field || f.Message == "" {
		t.Fatalf("got %+v (%v), want %v, %s, field %q", f, err, code, reason, field)
	}
	return f
}

func within(t testing.TB, limit time.Duration, what string, f func()) {
	t.Helper()
	began := time.Now()
	f()
	if took := time.Since(began); took > limit {
		t.Errorf("%s took %v, want at most %v", what, took, limit)
	}
}

func bg(t testing.TB) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	t.Cleanup(cancel)
	return ctx
}

// A workFunc does the work of a run.
type workFunc = func(context.Context, job.Job, recovery.Host) (*job.Result, error)
