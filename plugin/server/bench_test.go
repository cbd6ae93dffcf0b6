package server

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"
	"time"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/flight"
	"github.com/apache/arrow/go/v15/arrow/ipc"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	"github.com/gladflow/gladflow/plugin/protocol"
)

// bareEcho is Arrow Flight and nothing else: what comes is read as records and
// sent back.
type bareEcho struct{ flight.BaseFlightServer }

func (*bareEcho) DoExchange(stream flight.FlightService_DoExchangeServer) error {
	r, err := flight.NewRecordReader(stream)
	if err != nil {
		return err
	}
	defer r.Release()
	w := flight.NewRecordWriter(stream, ipc.WithSchema(r.Schema()))
	defer w.Close()
	for r.Next() {
		if err := w.Write(r.Record()); err != nil {
			return err
		}
	}
	return nil
}

// bare serves it with the same options of gRPC as the service.
func bare(b *testing.B, options []grpc.ServerOption) flight.Client {
	g := grpc.NewServer(options...)
	flight.RegisterFlightServiceServer(g, &bareEcho{})
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	go g.Serve(l)
	conn, err := grpc.NewClient(l.Addr().String(), grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(64<<20)), grpc.WithInitialWindowSize(8<<20), grpc.WithInitialConnWindowSize(16<<20))
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { conn.Close(); g.Stop() })
	return flight.NewClientFromConn(conn, nil)
}

// BenchmarkEcho40MB sends 1000 samples of 5000 variables, 40 MB as fixed-size
// lists in batches of 2 MB, and takes them back, in turns through a bare Flight
// echo and through the service, which reads, checks and hashes every sample.
// MB/s counts both ways.
func BenchmarkEcho40MB(b *testing.B) {
	const d, n, step = 5000, 1000, 50
	table := wide(d, n)
	s, ours := served(b, Config{})
	plain := bare(b, s.transport())
	var took [2]time.Duration
	echo := func(which int, c flight.Client) {
		began := time.Now()
		roundTrip(b, c, table, step)
		took[which] += time.Since(began)
	}
	echo(0, plain)
	echo(1, ours)
	took = [2]time.Duration{}
	b.ResetTimer()
	rounds := 0
	for b.Loop() {
		echo(0, plain)
		echo(1, ours)
		rounds++
	}
	rate := func(t time.Duration) float64 { return 2 * 8 * d * n / 1e6 * float64(rounds) / t.Seconds() }
	b.ReportMetric(rate(took[0]), "bare-MB/s")
	b.ReportMetric(rate(took[1]), "gladflow-MB/s")
	b.ReportMetric(took[0].Seconds()/took[1].Seconds(), "ratio")
	b.ReportMetric(0, "ns/op")
}

// roundTrip writes and reads at once.
func roundTrip(b *testing.B, c flight.Client, table arrow.Record, step int64) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	stream, err := c.DoExchange(ctx)
	if err != nil {
		b.Fatal(err)
	}
	written := make(chan error, 1)
	go func() {
		w := flight.NewRecordWriter(stream, ipc.WithSchema(table.Schema()))
		w.SetFlightDescriptor(&flight.FlightDescriptor{Type: flight.DescriptorPATH, Path: []string{protocol.PathEcho}})
		for at := int64(0); at < table.NumRows(); at += step {
			piece := table.NewSlice(at, min(at+step, table.NumRows()))
			err := w.Write(piece)
			piece.Release()
			if err != nil {
				written <- err
				return
			}
		}
		w.Close()
		written <- stream.CloseSend()
	}()
	r, err := flight.NewRecordReader(stream)
	if err != nil {
		b.Fatal(err)
	}
	defer r.Release()
	rows := int64(0)
	for r.Next() {
		rows += r.Record().NumRows()
	}
	if err := r.Err(); err != nil && err != io.EOF || rows != table.NumRows() {
		b.Fatal(rows, err)
	}
	if err := <-written; err != nil {
		b.Fatal(err)
	}
}

// BenchmarkThousandRuns does 1,000 runs on one process, each streamed, fetched
// and forgotten, and reports the resident memory after the first hundred and
// after all of them.
func BenchmarkThousandRuns(b *testing.B) {
	const runs = 1000
	table := sampled(b, 40, 100)
	_, c := served(b, Config{})
	ctx := context.Background()
	var early, late float64
	for b.Loop() {
		for i := range runs {
			id, err := put(ctx, b, c, `{"solvers":["bcd","glad"],"penalty":0.2}`, table)
			if err != nil {
				b.Fatal(err)
			}
			for _, solver := range []string{"bcd", "glad"} {
				if _, err := get(ctx, c, protocol.Ticket{Run: id, Solver: solver}); err != nil {
					b.Fatal(err)
				}
			}
			body, _ := json.Marshal(protocol.Run{Run: id})
			if _, err := act(ctx, c, protocol.ActionForget, string(body)); err != nil {
				b.Fatal(err)
			}
			if i == runs/10 {
				early = residentMB(b)
			}
		}
		late = residentMB(b)
	}
	b.ReportMetric(early, "MB-after-100")
	b.ReportMetric(late, "MB-after-1000")
}

// residentMB is the resident memory of this process, after a collection.
func residentMB(b *testing.B) float64 {
	runtime.GC()
	debug.FreeOSMemory()
	text, err := os.ReadFile("/proc/self/status")
	if err != nil {
		b.Skip("there is no /proc/self/status here to read the memory from")
	}
	for line := range strings.Lines(string(text)) {
		var kb float64
		if _, err := fmt.Sscanf(line, "VmRSS: %f kB", &kb); err == nil {
			return kb / 1000
		}
	}
	b.Fatal("no VmRSS")
	return 0
}
