package server

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v15/arrow/flight"
	"google.golang.org/protobuf/proto"

	"github.com/gladflow/gladflow/pipelines/job"
	"github.com/gladflow/gladflow/pipelines/recovery"
	"github.com/gladflow/gladflow/plugin/protocol"
)

// wellSaid fails unless an error of a call is a fault with a reason, in words.
func wellSaid(t testing.TB, err error) {
	t.Helper()
	if err == nil {
		return
	}
	f := protocol.FaultOf(err)
	if f.Reason == "" || f.Message == "" || f.Reason == protocol.ReasonPanic ||
		strings.Contains(f.Message, "runtime error") || strings.Contains(f.Message, "goroutine ") {
		t.Fatalf("%+v", f)
	}
}

// FuzzCalls sends any bytes as the descriptor of a call, its ticket, the body of an
// action and a job.
func FuzzCalls(f *testing.F) {
	s, err := newService(Config{Files: FilesNone}, func(context.Context, job.Job, recovery.Host) (*job.Result, error) {
		return nil, errors.New("a stand-in")
	})
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(s.Close)
	for _, d := range []*flight.FlightDescriptor{
		command(`{"solvers":["bcd"],"penalty":0.2}`), command(`{"input":"x.csv"}`), command(`{`), command(`[]`), command(`{"input":"-","input_format":"csv"}`),
		{Type: flight.DescriptorPATH, Path: []string{"run", "edges", "bcd"}}, {Type: flight.DescriptorPATH, Path: []string{"echo"}}, {Type: 7},
	} {
		b, err := proto.Marshal(d)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	for _, text := range []string{`{"run":"x","table":"edges","solver":"bcd"}`, `{"run":"x"} `, `{"run":3}`, `{"run":"x"}{}`, `{"penalty":1e999}`, `{"solvers":[["a"]]}`, "\xff"} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		if j, err := s.parseJob(b); err != nil {
			wellSaid(t, err)
		} else if _, err := s.parseJob(encode(recovery.Resolved(j))); err != nil {
			t.Fatalf("%s is accepted, and with its defaults not: %v", b, err)
		}
		_, err := s.runOf(t.Context(), b)
		wellSaid(t, err)
		var ticket protocol.Ticket
		wellSaid(t, decode(b, &ticket, "a ticket"))
		var d flight.FlightDescriptor
		if proto.Unmarshal(b, &d) != nil {
			return
		}
		if _, err := s.streamedJob(&d); err != nil {
			wellSaid(t, err)
		}
		_, err = s.GetFlightInfo(t.Context(), &d)
		wellSaid(t, err)
		_, err = s.GetSchema(t.Context(), &d)
		wellSaid(t, err)
	})
}
