package server

import (
	"testing"

	"github.com/apache/arrow/go/v15/arrow/flight"
	"github.com/apache/arrow/go/v15/arrow/ipc"
	"google.golang.org/grpc"

	"github.com/gladflow/gladflow/plugin/protocol"
)

// Results that are being sent count until they have been: their caller cannot have
// more of them at a time by forgetting the run, or by an exchange.
func TestResultsThatAreSentCount(t *testing.T) {
	const job = `{"solvers":["bcd"],"penalty":0.9,"edges":"all"}` // 6 MB
	for name, begin := range map[string]func(*testing.T, flight.Client){
		"a run that is forgotten": func(t *testing.T, c flight.Client) {
			ctx := bg(t)
			id, err := put(ctx, t, c, job, sampled(t, 600, 50))
			if err != nil {
				t.Fatal(err)
			}
			stream, err := c.DoGet(ctx, &flight.Ticket{Ticket: []byte(`{"run":"` + id + `"}`)})
			if err == nil {
				_, err = stream.Recv()
			}
			if err == nil {
				_, err = act(ctx, c, protocol.ActionForget, `{"run":"`+id+`"}`)
			}
			if err != nil {
				t.Fatal(err)
			}
		},
		"an exchange": func(t *testing.T, c flight.Client) {
			stream, err := c.DoExchange(bg(t))
			if err != nil {
				t.Fatal(err)
			}
			table := sampled(t, 600, 50)
			w := flight.NewRecordWriter(stream, ipc.WithSchema(table.Schema()))
			w.SetFlightDescriptor(command(job))
			if err := w.Write(table); err != nil {
				t.Fatal(err)
			}
			if err := stream.CloseSend(); err != nil {
				t.Fatal(err)
			}
			if _, err := stream.Recv(); err != nil {
				t.Fatal(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			l := listening(t, ListenConfig{Insecure: true})
			conn := dial(t, l.target, grpc.WithInitialWindowSize(65535), grpc.WithInitialConnWindowSize(65535))
			begin(t, flight.NewClientFromConn(conn, nil))
			if s := l.service.Stats(); s.Running != 0 || s.ResultBytes < 4_000_000 || s.MemoryBytes != s.ResultBytes {
				t.Errorf("while the results are sent: %+v", s)
			}
			conn.Close()
			eventually(t, "the results count after the end of the call", func() bool { return l.service.Stats() == Stats{} })
		})
	}
}
