package plugintest

import (
	"testing"

	"github.com/apache/arrow/go/v15/arrow/flight"
	"google.golang.org/grpc/codes"

	"github.com/gladflow/gladflow/plugin/protocol"
)

// notFound is the error of what is not there.
func notFound() refusal {
	return refusal{codes: []codes.Code{codes.NotFound}, reason: protocol.ReasonNotFound}
}

// A run that was forgotten is not there, for any call.
func forgotten(t *testing.T, k *kit) {
	s := k.start(t)
	ctx := soon(t)
	run, err := s.put(ctx, quick().command(), chain(23, 5, 50).lists())
	fatal(t, "DoPut", err)
	_, err = s.get(ctx, protocol.Ticket{Run: run.Run})
	fatal(t, "DoGet", err)
	_, err = s.act(ctx, protocol.ActionForget, run)
	fatal(t, "the action forget", err)
	if runs, err := s.runs(ctx); err != nil || len(runs) > 0 {
		t.Errorf("a run that was forgotten must not be listed; ListFlights tells of %+v, %v", runs, err)
	}
	for _, name := range []string{run.Run, "nobody", ""} {
		what := " of a run that was forgotten"
		if name != run.Run {
			what = " of the run \"" + name + "\", which never was,"
		}
		one := protocol.Run{Run: name}
		for _, action := range []string{protocol.ActionWatch, protocol.ActionResult, protocol.ActionCancel, protocol.ActionForget} {
			_, err := s.act(ctx, action, one)
			notFound().check(t, "the action "+action+what, err)
		}
		_, err := s.get(ctx, protocol.Ticket{Run: name})
		notFound().check(t, "DoGet"+what, err)
		path := &flight.FlightDescriptor{Type: flight.DescriptorPATH, Path: []string{name}}
		_, err = s.flights.GetFlightInfo(ctx, path)
		notFound().check(t, "GetFlightInfo"+what, err)
		_, err = s.flights.GetSchema(ctx, path)
		notFound().check(t, "GetSchema"+what, err)
		stream, err := s.flights.ListFlights(ctx, &flight.Criteria{Expression: text(one)})
		if err == nil {
			_, err = stream.Recv()
		}
		notFound().check(t, "ListFlights"+what, err)
	}
}

// Calls that are wrong are refused with a reason.
func wrongCalls(t *testing.T, k *kit) {
	s := k.start(t)
	ctx := soon(t)
	table := chain(24, 5, 50).lists()
	run, err := s.put(ctx, quick().command(), table)
	fatal(t, "DoPut", err)
	call := invalid(protocol.ReasonInvalidCall)
	unknown := refusal{codes: []codes.Code{codes.Unimplemented, codes.InvalidArgument}, reason: protocol.ReasonInvalidCall}

	_, err = s.act(ctx, "frobnicate", nil)
	unknown.check(t, "an unknown action", err)
	_, err = s.act(ctx, protocol.ActionResult, nil)
	call.check(t, "the action result without a run", err)
	_, err = s.act(ctx, protocol.ActionResult, "{")
	call.check(t, "the action result of half a message", err)

	for what, ticket := range map[string]protocol.Ticket{
		"a solver that the job has not":    {Run: run.Run, Solver: "glad"},
		"a table that there is not":        {Run: run.Run, Table: "wishes"},
		"metrics without a reference":      {Run: run.Run, Table: protocol.TableMetrics},
		"a run that there is not":          {Run: "nobody"},
		"a table of a run that is not":     {Run: "nobody", Table: protocol.TablePrecision},
		"an unknown table and solver both": {Run: run.Run, Table: "wishes", Solver: "none"},
	} {
		_, err := s.get(ctx, ticket)
		notFound().check(t, "DoGet of "+what, err)
	}
	for _, ticket := range []string{"", "edges", `{"run": 3}`, `{"run": "x"} {}`} {
		stream, err := s.flights.DoGet(ctx, &flight.Ticket{Ticket: []byte(ticket)})
		if err == nil {
			_, err = stream.Recv()
		}
		call.check(t, "DoGet of the ticket "+ticket, err)
	}
	for what, d := range map[string]*flight.FlightDescriptor{
		"an empty path":       {Type: flight.DescriptorPATH},
		"a path of four":      {Type: flight.DescriptorPATH, Path: []string{run.Run, "edges", "bcd", "x"}},
		"a command, not path": quick().command(),
	} {
		_, err := s.flights.GetFlightInfo(ctx, d)
		call.check(t, "GetFlightInfo of "+what, err)
	}

	path := &flight.FlightDescriptor{Type: flight.DescriptorPATH, Path: []string{"frobnicate"}}
	_, err = s.exchange(ctx, path, table)
	call.check(t, "an exchange with an unknown path", err)
	_, err = s.put(ctx, path, table)
	call.check(t, "DoPut to a path", err)
	_, err = s.exchange(ctx, fields{"solvers": []string{"glad", "bcd"}}.command(), table)
	field("solvers").check(t, "an exchange with two solvers", err)
	for _, send := range []struct {
		name string
		call func(fields) error
	}{
		{"DoPut", func(j fields) error { _, err := s.put(ctx, j.command(), table); return err }},
		{"DoExchange", func(j fields) error { _, err := s.exchange(ctx, j.command(), table); return err }},
	} {
		field("input").check(t, send.name+" of a job that names a table", send.call(quick().with("input", "/nothing.csv")))
		field("penalty").check(t, send.name+" of a job with a bad field", send.call(quick().with("penalty", "much")))
		for key, value := range map[string]any{"input_format": "csv", "sheet": "x", "no_header": true, "decimal": ",", "thousands": ",", "na": []string{"x"}} {
			field(key).check(t, send.name+" of a job with "+key+", which is for files,", send.call(quick().with(key, value)))
		}
		field("reference").check(t, send.name+" of a job whose reference is standard input", send.call(quick().with("reference", "-")))
	}
	s.lives(t, "wrong calls")
}
