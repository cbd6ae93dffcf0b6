package plugin

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/apache/arrow/go/v15/arrow/flight"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/gladflow/gladflow/pipelines/job"
	"github.com/gladflow/gladflow/plugin/protocol"
)

// The result of a run that has failed is its error, with the document where there is
// one, whatever version of the service sends it.
func TestResultOfAFailedRun(t *testing.T) {
	partial := job.Result{Version: "9", Partial: true, Error: fault.Message}
	// Version 0.1.0 gave the names of files only, and did not call a run partial of
	// which run.json alone could not be written.
	names := job.Result{Version: "9", Solvers: []job.SolverResult{{Files: []job.WrittenFile{{Name: "bcd.edges.parquet"}}}}}
	sums := job.Result{Version: "9", Solvers: []job.SolverResult{{Files: []job.WrittenFile{{Name: "bcd.edges.parquet", SHA256: "ab"}}}}}
	broken := status.Error(codes.Unavailable, "the wire is cut")
	for name, c := range map[string]struct {
		document *job.Result
		failure  error           // that the action ends with
		listed   *protocol.Fault // by ListFlights
		want     error           // a fault like it
	}{
		"done":                           {&job.Result{Version: "9"}, nil, nil, nil},
		"failed with a document":         {&partial, fault, nil, fault},
		"failed without":                 {nil, fault, nil, fault},
		"failed in version 0.1.0":        {&partial, nil, fault, fault},
		"run.json failed in 0.1.0":       {&names, nil, fault, fault},
		"files of 0.1.0":                 {&names, nil, nil, nil},
		"files":                          {&sums, nil, fault, nil}, // nothing is listed for it
		"partial, and nothing is listed": {&partial, nil, nil, nil},
		"a broken call":                  {nil, broken, nil, broken},
		"a call that breaks at the end":  {&partial, broken, nil, broken},
	} {
		t.Run(name, func(t *testing.T) {
			client := attach(t, &fake{
				action: func(a *flight.Action, s flight.FlightService_DoActionServer) error {
					if a.Type != protocol.ActionResult {
						return nil
					}
					if c.document != nil {
						if err := reply(s, c.document); err != nil {
							return err
						}
					}
					return c.failure
				},
				list: func(criteria *flight.Criteria, s flight.FlightService_ListFlightsServer) error {
					if string(criteria.Expression) != `{"run":"r1"}` {
						t.Errorf("the runs %s are asked for", criteria.Expression)
					}
					text, err := json.Marshal(protocol.RunInfo{Run: "r1", State: protocol.StateFailed, Error: c.listed})
					if err != nil {
						return err
					}
					return s.Send(&flight.FlightInfo{AppMetadata: text})
				},
			})
			result, err := newRun(t.Context(), client, protocol.Run{Run: "r1"}).Result(t.Context())
			if (result == nil) != (c.document == nil) || result != nil && result.Version != "9" {
				t.Errorf("document %+v", result)
			}
			switch c.want {
			case nil:
				if err != nil {
					t.Errorf("error %v", err)
				}
			case fault:
				wantFault(t, err)
			default:
				if status.Code(err) != status.Code(c.want) || errors.As(err, new(*protocol.Fault)) {
					t.Errorf("error %#v", err)
				}
			}
		})
	}
}

// Result has seen the end of a run that has failed without a document: its context
// has nothing to cancel any more. A call that fails says nothing of the run.
func TestResultDetaches(t *testing.T) {
	ended := &protocol.Fault{Code: "InvalidArgument", Reason: protocol.ReasonInvalidTable, Message: "there is no such file", Run: "r1"}
	late := &protocol.Fault{Code: "DeadlineExceeded", Reason: protocol.ReasonDeadline, Message: "too late"}
	for name, c := range map[string]struct {
		failure error
		want    bool
	}{
		"the run has failed": {ended, true},
		"the call has":       {late, false},
		"the connection has": {status.Error(codes.Unavailable, "the wire is cut"), false},
	} {
		t.Run(name, func(t *testing.T) {
			client := attach(t, &fake{action: func(*flight.Action, flight.FlightService_DoActionServer) error { return c.failure }})
			run := newRun(t.Context(), client, protocol.Run{Run: "r1"})
			detach, detached := run.detach, false
			run.detach = func() { detached = true; detach() }
			if _, err := run.Result(t.Context()); err == nil || detached != c.want {
				t.Errorf("detached: %v; error %v", detached, err)
			}
		})
	}
}

// A document of another version that cannot be read does not hide why the run has
// failed.
func TestUnreadableResultOfAFailedRun(t *testing.T) {
	client := attach(t, &fake{action: func(a *flight.Action, s flight.FlightService_DoActionServer) error {
		if a.Type != protocol.ActionResult {
			return nil
		}
		if err := s.Send(&flight.Result{Body: []byte(`{"version": 9}`)}); err != nil {
			return err
		}
		return fault
	}})
	result, err := newRun(t.Context(), client, protocol.Run{Run: "r1"}).Result(t.Context())
	if result != nil {
		t.Errorf("document %+v", result)
	}
	wantFault(t, err)
}

// A run of a service that cannot write the files of one solver: the error, the
// document, and the tables of both.
func TestRunThatCannotWrite(t *testing.T) {
	clients(t, func(t *testing.T, c *Client) {
		out := t.TempDir()
		for _, name := range []string{"bcd.edges.parquet", "bcd.precision.parquet"} {
			if err := os.MkdirAll(filepath.Join(out, name, "in the way"), 0o700); err != nil {
				t.Fatal(err)
			}
		}
		j := bcd
		j.Solvers, j.Out = []string{"bcd", "admm"}, out
		run, err := c.Recover(t.Context(), j, tableOf(t, 60, 5))
		if err != nil {
			t.Fatal(err)
		}
		result, err := run.Result(t.Context())
		var f *protocol.Fault
		if !errors.As(err, &f) || f.StatusCode() != codes.Internal || f.Reason != protocol.ReasonFailed || f.Run != run.ID() {
			t.Fatalf("error %#v", err)
		}
		if result == nil || !result.Partial || result.Error != f.Message || len(result.Solvers) != 2 ||
			result.Solvers[0].Error == "" || result.Solvers[0].Files != nil || len(result.Solvers[1].Files) != 2 {
			t.Errorf("document %+v", result)
		}
		for _, solver := range j.Solvers {
			if list, err := edges(run.Edges(t.Context(), solver)); err != nil || len(list) != 10 {
				t.Errorf("%s: edges %v, %v", solver, list, err)
			}
		}
		if _, err := edges(c.Exchange(t.Context(), job.Job{Solvers: []string{"bcd"}, Penalty: "0.2", Out: out}, tableOf(t, 60, 5))); !errors.As(err, &f) || f.Reason != protocol.ReasonFailed {
			t.Errorf("Exchange: error %#v", err)
		}
	})
}
