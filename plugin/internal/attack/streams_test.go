package attack

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/flight"
	"github.com/apache/arrow/go/v15/arrow/ipc"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"

	"github.com/gladflow/gladflow/plugin/protocol"
)

// A call is what a client sends, as bytes.
type call struct {
	method   string
	messages [][]byte
}

const flightService = "/arrow.flight.protocol.FlightService/"

// raw sends and takes the bytes of messages as they are.
type raw struct{}

// Marshal implements encoding.Codec.
func (raw) Marshal(v any) ([]byte, error) { return *v.(*[]byte), nil }

// Unmarshal implements encoding.Codec.
func (raw) Unmarshal(b []byte, v any) error {
	*v.(*[]byte) = b
	return nil
}

// Name implements encoding.Codec.
func (raw) Name() string { return "proto" }

// do makes the call and returns its status.
func (c call) do(ctx context.Context, conn *grpc.ClientConn) error {
	desc := &grpc.StreamDesc{ClientStreams: true, ServerStreams: true}
	stream, err := conn.NewStream(ctx, desc, flightService+c.method, grpc.ForceCodec(raw{}))
	if err != nil {
		return err
	}
	for _, m := range c.messages {
		if stream.SendMsg(&m) != nil {
			break // the status says why
		}
	}
	if err := stream.CloseSend(); err != nil {
		return err
	}
	for {
		var reply []byte
		if err := stream.RecvMsg(&reply); err == io.EOF {
			return nil
		} else if err != nil {
			return err
		}
	}
}

func callOf(t *testing.T, method string, messages ...proto.Message) call {
	t.Helper()
	c := call{method: method}
	for _, m := range messages {
		b, err := proto.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		c.messages = append(c.messages, b)
	}
	return c
}

// recordings are good calls of every kind, on a run that has ended.
func recordings(t *testing.T, s *service) []call {
	t.Helper()
	streamed := func(method string, d *flight.FlightDescriptor, table arrow.Record, rows int64, options ...ipc.Option) call {
		var messages []proto.Message
		for _, m := range record(t, d, table, rows, options...) {
			messages = append(messages, m)
		}
		return callOf(t, method, messages...)
	}
	job := map[string]any{"solvers": []string{"bcd"}, "penalty": 0.3}
	labelled := map[string]any{"solvers": []string{"bcd", "glad"}, "penalty": 0.3, "id_column": "id", "edges": "all", "precision": "dense"}
	echo := &flight.FlightDescriptor{Type: flight.DescriptorPATH, Path: []string{protocol.PathEcho}}
	run := s.put(t)
	path := &flight.FlightDescriptor{Type: flight.DescriptorPATH, Path: []string{run, protocol.TableEdges, "bcd"}}
	calls := []call{
		streamed("DoExchange", command(job), goodTable(), 20),
		streamed("DoExchange", command(job), goodTable(), 40, ipc.WithZstd()),
		streamed("DoExchange", command(job), goodTable(), 40, ipc.WithLZ4()),
		streamed("DoPut", command(labelled), plainTable(), 10),
		streamed("DoPut", command(labelled), plainTable(), 30, ipc.WithZstd()),
		streamed("DoPut", command(map[string]any{"input": "-", "correlation": "spearman", "penalty": "ebic"}), goodTable(), 15),
		streamed("DoExchange", echo, goodTable(), 15),
		callOf(t, "DoGet", &flight.Ticket{Ticket: asJSON(protocol.Ticket{Run: run, Solver: "bcd"})}),
		callOf(t, "DoGet", &flight.Ticket{Ticket: asJSON(protocol.Ticket{Run: run, Table: protocol.TablePrecision})}),
		callOf(t, "GetFlightInfo", path),
		callOf(t, "GetSchema", path),
		callOf(t, "ListFlights", &flight.Criteria{Expression: asJSON(protocol.Run{Run: run})}),
		callOf(t, "Handshake", &flight.HandshakeRequest{Payload: []byte("x")}),
	}
	for action, body := range map[string]any{
		protocol.ActionDescribe: nil, protocol.ActionSchema: nil, protocol.ActionValidate: labelled, protocol.ActionSolvers: nil, protocol.ActionModels: nil,
		protocol.ActionRecover: map[string]any{"input": "x.csv"}, protocol.ActionWatch: protocol.Run{Run: run}, protocol.ActionResult: protocol.Run{Run: run},
		protocol.ActionCancel: protocol.Run{Run: run},
	} {
		calls = append(calls, callOf(t, "DoAction", &flight.Action{Type: action, Body: asJSON(body)}))
	}
	return calls
}

// put makes a run, waits for its end and returns its name.
func (s *service) put(t *testing.T) string {
	t.Helper()
	stream, err := s.flights.DoPut(soon(t))
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range record(t, command(map[string]any{"solvers": []string{"bcd", "glad"}, "penalty": 0.3}), goodTable(), 40) {
		if err := stream.Send(m); err != nil {
			t.Fatal(err)
		}
	}
	stream.CloseSend()
	reply, err := stream.Recv()
	if err != nil {
		t.Fatal(err)
	}
	var run protocol.Run
	if err := json.Unmarshal(reply.AppMetadata, &run); err != nil {
		t.Fatal(err)
	}
	if _, err := s.action(t, protocol.ActionResult, run); err != nil {
		t.Fatal(err)
	}
	return run.Run
}

// The service answers whatever a client sends, by its words, and goes on.
func TestMutatedStreams(t *testing.T) {
	onLinux(t)
	const batch, atOnce, most = 250, 4, 1 << 30
	rng := random(t)
	s := serve(t, "--files", "none", "--max-message-size", "8MiB", "--max-upload-size", "32MiB", "--idle-timeout", "5s", "--result-age", "1m")
	s.lives(t, "its start", most)
	tally := make(map[string]int)
	slow := make(map[string]int)
	sent := 0
	for range times(4, 60) {
		calls := recordings(t, s)
		for _, c := range calls {
			if err := c.do(soon(t), s.conn); err != nil && c.method != "Handshake" && !strings.Contains(err.Error(), "opens no files") {
				t.Fatalf("a recorded %s fails: %v", c.method, err)
			}
		}
		var others [][]byte
		for _, c := range calls {
			others = append(others, c.messages...)
		}
		var wait sync.WaitGroup
		var mu sync.Mutex
		for i := range atOnce {
			own := rand.New(rand.NewPCG(rng.Uint64(), uint64(i)))
			wait.Go(func() {
				for range batch / atOnce {
					c := calls[own.IntN(len(calls))]
					c.messages = mutate(own, c.messages, others)
					ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
					err := c.do(ctx, s.conn)
					ended := ctx.Err() != nil
					cancel()
					mu.Lock()
					sent++
					if problem := answered(err, ended); problem != "" {
						t.Errorf("%s: %s: %v\n%.4000x", c.method, problem, err, c.messages)
					}
					f := protocol.FaultOf(err)
					switch {
					case ended:
						f = &protocol.Fault{Code: "too late"}
						slow[c.method]++
					case f == nil:
						f = &protocol.Fault{Code: "OK"}
					}
					tally[strings.TrimSpace(f.Code+" "+f.Reason)]++
					mu.Unlock()
				}
			})
		}
		wait.Wait()
		if t.Failed() {
			t.Fatalf("the log ends with\n%s", tail(s.log.String()))
		}
		s.forgetAll(t)
		s.lives(t, fmt.Sprintf("%d mutated calls", sent), most)
	}
	if strings.Contains(s.log.String(), "goroutine ") {
		t.Errorf("there was a panic\n%s", tail(s.log.String()))
	}
	t.Logf("%d calls: %v, too late %v; at most %d MiB", sent, tally, slow, peak(s.cmd.Process.Pid)>>20)
}

// answered is what is wrong with the status of a call; ended says that the client's
// own deadline has passed.
func answered(err error, ended bool) string {
	if err == nil || ended {
		return ""
	}
	f := protocol.FaultOf(err)
	switch {
	case f.Reason == "" && f.Code == codes.Unimplemented.String():
		return ""
	case f.Reason == "" && f.Code == codes.Unavailable.String():
		return "the connection has ended"
	}
	return unsaid(f)
}
