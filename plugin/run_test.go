package plugin

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/apache/arrow/go/v15/arrow/flight"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/gladflow/gladflow/pipelines/job"
	"github.com/gladflow/gladflow/plugin/protocol"
)

// Answers are read whatever a later version of the service adds to them, and
// refused with a sentence where they cannot be.
func TestActions(t *testing.T) {
	var asked flight.Action
	var body string
	c := attach(t, &fake{action: func(a *flight.Action, s flight.FlightService_DoActionServer) error {
		asked = flight.Action{Type: a.Type, Body: a.Body}
		if body == "" {
			return nil
		}
		return s.Send(&flight.Result{Body: []byte(body)})
	}})
	body = `{"version":"9","protocol":1,"limits":{"variables":7,"moons":2},"files":"none","new":{}}`
	d, err := c.Describe(t.Context())
	if err != nil || d.Version != "9" || d.Protocol != 1 || d.Limits.Variables != 7 || d.Files != "none" {
		t.Errorf("Describe: %+v, %v", d, err)
	}
	body = `{"input":"-","penalty":0.5,"time_limit":"90s","new":1}`
	j, err := c.Validate(t.Context(), job.Job{Solvers: []string{"bcd"}})
	if err != nil || j.Penalty != "0.5" || time.Duration(j.TimeLimit) != 90*time.Second {
		t.Errorf("Validate: %+v, %v", j, err)
	}
	if asked.Type != "validate" || !strings.Contains(string(asked.Body), `"solvers":["bcd"]`) {
		t.Errorf("asked %s %s", asked.Type, asked.Body)
	}
	body = `{"type":"object"}`
	if schema, err := c.Schema(t.Context()); err != nil || string(schema) != body {
		t.Errorf("Schema: %s, %v", schema, err)
	}
	body = `[{"name":"glad"},{"name":"bcd"}]`
	if solvers, err := c.Solvers(t.Context()); err != nil || len(solvers) != 2 || solvers[1].Name != "bcd" {
		t.Errorf("Solvers: %+v, %v", solvers, err)
	}
	if models, err := c.Models(t.Context()); err != nil || len(models) != 2 || models[0].Name != "glad" {
		t.Errorf("Models: %+v, %v", models, err)
	}
	for _, body = range []string{"", "[]", "no JSON"} {
		if d, err := c.Describe(t.Context()); err == nil {
			t.Errorf("the answer %q was read as %+v", body, d)
		}
	}
}

// A run of one service is the life of one fake: what it is asked is noted.
func asking(t *testing.T) (*Client, chan string) {
	asked := make(chan string, 10)
	return attach(t, &fake{action: func(a *flight.Action, s flight.FlightService_DoActionServer) error {
		var run protocol.Run
		if a.Type != protocol.ActionRecover {
			json.Unmarshal(a.Body, &run)
		}
		asked <- a.Type + " " + run.Run
		switch a.Type {
		case protocol.ActionRecover:
			return reply(s, protocol.Run{Run: "r1"})
		case protocol.ActionResult:
			return reply(s, job.Result{Version: "9"})
		case protocol.ActionCancel:
			return reply(s, protocol.RunInfo{Run: run.Run})
		}
		return nil
	}}), asked
}

func next(t *testing.T, asked <-chan string, want string) {
	t.Helper()
	select {
	case got := <-asked:
		if got != want {
			t.Errorf("asked for %q, want %q", got, want)
		}
	case <-time.After(5 * time.Second):
		t.Errorf("nothing was asked for, want %q", want)
	}
}

func none(t *testing.T, asked <-chan string) {
	t.Helper()
	select {
	case got := <-asked:
		t.Errorf("asked for %q, want nothing", got)
	case <-time.After(50 * time.Millisecond):
	}
}

// The context of Recover is that of the run, until the run is over.
func TestRunContext(t *testing.T) {
	start := func(t *testing.T) (*Client, chan string, *Run, context.CancelFunc) {
		c, asked := asking(t)
		ctx, cancel := context.WithCancel(context.Background())
		run, err := c.Recover(ctx, job.Job{Input: "table.parquet"}, nil)
		if err != nil || run.ID() != "r1" {
			t.Fatalf("run %v, error %v", run, err)
		}
		next(t, asked, "recover ")
		return c, asked, run, cancel
	}
	t.Run("ends", func(t *testing.T) {
		_, asked, _, cancel := start(t)
		none(t, asked)
		cancel()
		next(t, asked, "cancel r1")
	})
	t.Run("after Forget", func(t *testing.T) {
		_, asked, run, cancel := start(t)
		if err := run.Forget(t.Context()); err != nil {
			t.Fatal(err)
		}
		next(t, asked, "forget r1")
		cancel()
		none(t, asked)
	})
	t.Run("after Result", func(t *testing.T) {
		_, asked, run, cancel := start(t)
		if r, err := run.Result(t.Context()); err != nil || r.Version != "9" {
			t.Fatalf("%+v, %v", r, err)
		}
		next(t, asked, "result r1")
		cancel()
		none(t, asked)
	})
	t.Run("after Close", func(t *testing.T) {
		c, asked, _, cancel := start(t)
		c.Close()
		cancel()
		none(t, asked)
	})
}

func TestProgress(t *testing.T) {
	var failure error
	var events []protocol.Event
	over := make(chan struct{}, 1)
	c := attach(t, &fake{action: func(a *flight.Action, s flight.FlightService_DoActionServer) error {
		if failure == nil {
			// Its end may be noticed by a reply already.
			defer func() { over <- struct{}{} }()
		}
		for _, e := range events {
			if err := reply(s, e); err != nil {
				return err
			}
		}
		if failure == nil {
			<-s.Context().Done()
			return s.Context().Err()
		}
		if failure == errSource {
			return nil
		}
		return failure
	}})
	run := newRun(context.Background(), c, protocol.Run{Run: "r1"})
	events = []protocol.Event{
		{Run: "r1", State: protocol.StateReceiving, Stage: "reading"},
		{Run: "r1", State: protocol.StateRunning, Stage: "solving", Solver: "bcd"},
		{Run: "r1", State: protocol.StateFailed, Error: fault},
	}
	// Breaking out ends the call.
	for e, err := range run.Progress(t.Context()) {
		if err != nil || e.Stage != "reading" {
			t.Errorf("%+v, %v", e, err)
		}
		break
	}
	<-over
	// The service's end is the loop's.
	failure = errSource
	var states []protocol.State
	for e, err := range run.Progress(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		states = append(states, e.State)
	}
	if !slices.Equal(states, []protocol.State{protocol.StateReceiving, protocol.StateRunning, protocol.StateFailed}) {
		t.Errorf("states %v", states)
	}
	// An error is the last that is yielded.
	failure = fault
	var last error
	n := 0
	for _, last = range run.Progress(t.Context()) {
		n++
	}
	if wantFault(t, last); n != 4 {
		t.Errorf("%d events, want 3 and an error", n)
	}
	// Nobody's context but the loop's ends it.
	failure = nil
	short, cancelShort := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancelShort()
	for _, last = range run.Progress(short) {
	}
	if !errors.Is(last, context.DeadlineExceeded) {
		t.Errorf("error %v", last)
	}
	<-over
}

// Tables are had with tickets, a run has a flight for each.
func TestTicketsAndRuns(t *testing.T) {
	answer := samples(t, 0, nil)
	var tickets []string
	c := attach(t, &fake{
		get: func(ticket *flight.Ticket, s flight.FlightService_DoGetServer) error {
			tickets = append(tickets, string(ticket.Ticket))
			return send(s, answer.batch, 1)
		},
		list: func(_ *flight.Criteria, s flight.FlightService_ListFlightsServer) error {
			for _, m := range []string{`{"run":"a","state":"done"}`, `{"run":"a","state":"done"}`, `{"run":"b","state":"running"}`} {
				s.Send(&flight.FlightInfo{AppMetadata: []byte(m)})
			}
			return nil
		},
	})
	run := newRun(t.Context(), c, protocol.Run{Run: "r1"})
	for _, table := range []func() error{
		func() error { return rows1000(run.Edges(t.Context(), "bcd")) },
		func() error { return rows1000(run.Precision(t.Context(), "")) },
		func() error { return rows1000(run.Metrics(t.Context(), "glad")) },
	} {
		if err := table(); err != nil {
			t.Error(err)
		}
	}
	want := []string{`{"run":"r1","table":"edges","solver":"bcd"}`, `{"run":"r1","table":"precision"}`, `{"run":"r1","table":"metrics","solver":"glad"}`}
	if !slices.Equal(tickets, want) {
		t.Errorf("tickets %q, want %q", tickets, want)
	}
	runs, err := c.Runs(t.Context())
	if err != nil || len(runs) != 2 || runs[0].Run != "a" || runs[1].State != protocol.StateRunning {
		t.Errorf("%+v, %v", runs, err)
	}
}

func rows1000(r interface {
	Next() bool
	Release()
	Err() error
}, err error) error {
	if err != nil {
		return err
	}
	defer r.Release()
	if !r.Next() {
		return errors.Join(errors.New("no rows"), r.Err())
	}
	return nil
}

// One table is meant, and it is clear which.
func TestInputAndSamples(t *testing.T) {
	c := attach(t, &fake{})
	in := samples(t, 1, nil)
	if _, err := c.Recover(t.Context(), job.Job{Input: "table.csv"}, in); err == nil || !strings.Contains(err.Error(), "table.csv") {
		t.Errorf("Recover: error %v", err)
	}
	if _, err := c.Exchange(t.Context(), job.Job{Input: "table.csv"}, in); err == nil {
		t.Error("Exchange has taken two tables")
	}
	if _, err := c.Exchange(t.Context(), job.Job{}, nil); err == nil {
		t.Error("Exchange has taken no table")
	}
}

// A plain status, as of a proxy, stays what it is.
func TestPlainStatus(t *testing.T) {
	c := attach(t, &fake{action: func(*flight.Action, flight.FlightService_DoActionServer) error {
		return status.Error(codes.ResourceExhausted, "slow down")
	}})
	_, err := c.Describe(t.Context())
	var f *protocol.Fault
	if status.Code(err) != codes.ResourceExhausted || errors.As(err, &f) {
		t.Errorf("error %#v", err)
	}
}
