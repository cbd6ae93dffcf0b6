package server

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"slices"
	"strings"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/flight"
	"github.com/apache/arrow/go/v15/arrow/memory"
	arrowutil "github.com/apache/arrow/go/v15/arrow/util"
	"google.golang.org/grpc/codes"

	"github.com/gladflow/gladflow/arrowio"
	"github.com/gladflow/gladflow/pipelines/job"
	"github.com/gladflow/gladflow/plugin/protocol"
)

// DoGet waits for a solver and streams one of its tables.
func (s *Service) DoGet(t *flight.Ticket, stream flight.FlightService_DoGetServer) error {
	var ticket protocol.Ticket
	if err := decode(t.GetTicket(), &ticket, `{"run": …, "table": …, "solver": …}`); err != nil {
		return err
	}
	r, err := s.find(ticket.Run)
	if err != nil {
		return err
	}
	if ticket, err = r.resolve(ticket); err != nil {
		return err
	}
	found, err := r.wait(stream.Context(), ticket.Solver)
	if err != nil {
		return err
	}
	record, ok := found[ticket.Table]
	if !ok {
		return fault(codes.NotFound, protocol.ReasonNotFound,
			"the job has no reference to score with, so solver %s has no %s; its status and certificate are in the action %s", ticket.Solver, ticket.Table, protocol.ActionResult)
	}
	r.taken.Store(true)
	return s.send(stream, record)
}

// resolve fills in what a ticket leaves out and refuses what the job has not.
func (r *run) resolve(t protocol.Ticket) (protocol.Ticket, error) {
	known := []string{protocol.TableEdges, protocol.TablePrecision, protocol.TableMetrics}
	if t.Table == "" {
		t.Table = protocol.TableEdges
	}
	if t.Solver == "" {
		t.Solver = r.job.Solvers[0]
	}
	switch {
	case !slices.Contains(known, t.Table):
		return t, fault(codes.NotFound, protocol.ReasonNotFound, "there is no table %q; ask for %s", t.Table, strings.Join(known, ", "))
	case !slices.Contains(r.job.Solvers, t.Solver):
		return t, fault(codes.NotFound, protocol.ReasonNotFound, "solver %q is not one of the job's; ask for %s", t.Solver, strings.Join(r.job.Solvers, ", "))
	}
	return t, nil
}

// GetFlightInfo describes a table of a run.
func (s *Service) GetFlightInfo(_ context.Context, d *flight.FlightDescriptor) (*flight.FlightInfo, error) {
	r, t, err := s.described(d)
	if err != nil {
		return nil, err
	}
	return r.flightInfo(t.Table, t.Solver), nil
}

// GetSchema returns the schema of a table of a run.
func (s *Service) GetSchema(ctx context.Context, d *flight.FlightDescriptor) (*flight.SchemaResult, error) {
	r, t, err := s.described(d)
	if err != nil {
		return nil, err
	}
	if t, err = r.resolve(t); err != nil {
		return nil, err
	}
	return &flight.SchemaResult{Schema: r.schema(t.Table, t.Solver)}, nil
}

// described is the run and, as far as it is there, the table of a descriptor
// [run, table, solver].
func (s *Service) described(d *flight.FlightDescriptor) (*run, protocol.Ticket, error) {
	var t protocol.Ticket
	if n := len(d.GetPath()); d.GetType() != flight.DescriptorPATH || n < 1 || n > 3 {
		return nil, t, badCall("the descriptor is not a path of one to three; send [run, table, solver], or less from the right")
	}
	t.Table = protocol.TableEdges
	for i, part := range d.Path {
		*[]*string{&t.Run, &t.Table, &t.Solver}[i] = part
	}
	r, err := s.find(t.Run)
	if err != nil {
		return nil, t, err
	}
	_, err = r.resolve(t)
	return r, t, err
}

// ListFlights lists the tables of a run, or of all.
func (s *Service) ListFlights(c *flight.Criteria, stream flight.FlightService_ListFlightsServer) error {
	runs := s.all()
	if len(c.GetExpression()) > 0 {
		var one protocol.Run
		if err := decode(c.Expression, &one, `{"run": …}, or nothing`); err != nil {
			return err
		}
		r, err := s.find(one.Run)
		if err != nil {
			return err
		}
		runs = []*run{r}
	}
	for _, r := range runs {
		names := []string{protocol.TableEdges, protocol.TablePrecision}
		if r.job.Reference != "" {
			names = append(names, protocol.TableMetrics)
		}
		for _, name := range names {
			if err := stream.Send(r.flightInfo(name, "")); err != nil {
				return err
			}
		}
	}
	return nil
}

// flightInfo describes a table, with an endpoint for the solver, or for each
// of the job's. It is there before the table is: its size is then unknown.
func (r *run) flightInfo(table, solver string) *flight.FlightInfo {
	solvers := r.job.Solvers
	path := []string{r.id, table}
	if solver != "" {
		solvers = []string{solver}
		path = append(path, solver)
	}
	info := &flight.FlightInfo{
		Schema:           r.schema(table, solvers[0]),
		FlightDescriptor: &flight.FlightDescriptor{Type: flight.DescriptorPATH, Path: path},
		Ordered:          true,
		AppMetadata:      encode(r.info()),
	}
	for _, name := range solvers {
		ticket := protocol.Ticket{Run: r.id, Table: table, Solver: name}
		info.Endpoint = append(info.Endpoint, &flight.FlightEndpoint{Ticket: &flight.Ticket{Ticket: encode(ticket)}})
		if record := r.finished(table, name); record == nil || info.TotalRecords < 0 {
			info.TotalRecords, info.TotalBytes = -1, -1
		} else {
			info.TotalRecords += record.NumRows()
			info.TotalBytes += arrowutil.TotalRecordSize(record)
		}
	}
	return info
}

// finished is a table, nil if it is not there yet.
func (r *run) finished(table, solver string) arrow.Record {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.solved[solver][table]
}

// schema is that of a table. Of one that is not there yet the metadata are
// still missing; of a dense matrix, whose width is still unknown, all.
func (r *run) schema(table, solver string) []byte {
	if record := r.finished(table, solver); record != nil {
		return flight.SerializeSchema(record.Schema(), memory.DefaultAllocator)
	}
	var columns []arrowio.Column
	switch {
	case table == protocol.TableEdges:
		columns = arrowio.EdgeColumns(nil)
	case table == protocol.TablePrecision && r.job.Precision != job.PrecisionDense:
		columns = []arrowio.Column{{Name: "row", Values: []string{}}, {Name: "column", Values: []string{}}, {Name: "value", Values: []float64{}}}
	default:
		return nil
	}
	record, err := arrowio.NewRecord(columns, nil)
	if err != nil {
		panic(err) // columns without rows
	}
	defer record.Release()
	return flight.SerializeSchema(record.Schema(), memory.DefaultAllocator)
}

// decode reads a message; shape is what it should have been.
func decode(data []byte, into any, shape string) error {
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil {
		return badCall("the message cannot be read (%v); send %s as JSON", err, shape)
	}
	if _, err := d.Token(); err != io.EOF {
		return badCall("something follows the message; send %s as JSON and nothing else", shape)
	}
	return nil
}
