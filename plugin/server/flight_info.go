package server

import (
	"context"
	"slices"
	"strings"

	"github.com/apache/arrow/go/v15/arrow/flight"
	"github.com/apache/arrow/go/v15/arrow/memory"
	arrowutil "github.com/apache/arrow/go/v15/arrow/util"
	"google.golang.org/grpc/codes"

	"github.com/gladflow/gladflow/arrowio"
	"github.com/gladflow/gladflow/pipelines/job"
	"github.com/gladflow/gladflow/pipelines/recovery"
	"github.com/gladflow/gladflow/plugin/protocol"
	"github.com/gladflow/gladflow/plugin/server/internal/fault"
	"github.com/gladflow/gladflow/plugin/server/internal/runs"
	"github.com/gladflow/gladflow/solver/dense"
)

// DoGet waits for a solver and streams one of its tables.
func (s *Service) DoGet(t *flight.Ticket, stream flight.FlightService_DoGetServer) error {
	var ticket protocol.Ticket
	if err := decode(t.GetTicket(), &ticket, `{"run": …, "table": …, "solver": …}`); err != nil {
		return err
	}
	r, err := s.find(stream.Context(), ticket.Run)
	if err != nil {
		return err
	}
	if ticket, err = resolve(r, ticket); err != nil {
		return err
	}
	defer s.runs.Hold(r)()
	found, err := r.WaitTables(stream.Context(), ticket.Solver)
	if err != nil {
		return err
	}
	record, ok := found[ticket.Table]
	if !ok {
		return fault.New(codes.NotFound, protocol.ReasonNotFound,
			"the job has no reference to score with, so solver %s has no %s; its status and certificate are in the action %s", ticket.Solver, ticket.Table, protocol.ActionResult)
	}
	r.MarkTaken()
	return s.send(stream, record)
}

// resolve fills in what a ticket leaves out and refuses what the job has not.
func resolve(r *runs.Run, t protocol.Ticket) (protocol.Ticket, error) {
	solvers := r.Job().Solvers
	if len(solvers) == 0 {
		return t, fault.New(codes.NotFound, protocol.ReasonNotFound, "the run has no solvers, so it has no tables")
	}
	known := []string{protocol.TableEdges, protocol.TablePrecision, protocol.TableMetrics}
	if t.Table == "" {
		t.Table = protocol.TableEdges
	}
	if t.Solver == "" {
		t.Solver = solvers[0]
		if having := alike(r.Job(), t.Table); len(having) > 0 {
			t.Solver = having[0]
		}
	}
	switch {
	case !slices.Contains(known, t.Table):
		return t, fault.New(codes.NotFound, protocol.ReasonNotFound, "there is no table %q; ask for %s", t.Table, strings.Join(known, ", "))
	case !slices.Contains(solvers, t.Solver):
		return t, fault.New(codes.NotFound, protocol.ReasonNotFound, "solver %q is not one of the job's; ask for %s", t.Solver, strings.Join(solvers, ", "))
	case t.Table == protocol.TablePrecision && !recovery.HasPrecision(t.Solver):
		return t, fault.New(codes.NotFound, protocol.ReasonNotFound, "solver %q ranks pairs and has no precision matrix; ask for its %s", t.Solver, protocol.TableEdges)
	}
	return t, nil
}

// GetFlightInfo describes a table of a run.
func (s *Service) GetFlightInfo(ctx context.Context, d *flight.FlightDescriptor) (*flight.FlightInfo, error) {
	r, t, err := s.described(ctx, d)
	if err != nil {
		return nil, err
	}
	return flightInfo(r, t.Table, t.Solver), nil
}

// GetSchema returns the schema of a table of a run.
func (s *Service) GetSchema(ctx context.Context, d *flight.FlightDescriptor) (*flight.SchemaResult, error) {
	r, t, err := s.described(ctx, d)
	if err != nil {
		return nil, err
	}
	if t, err = resolve(r, t); err != nil {
		return nil, err
	}
	return &flight.SchemaResult{Schema: tableSchema(r, t.Table, t.Solver)}, nil
}

// described is the run and, as far as it is there, the table of a descriptor
// [run, table, solver].
func (s *Service) described(ctx context.Context, d *flight.FlightDescriptor) (*runs.Run, protocol.Ticket, error) {
	var t protocol.Ticket
	if n := len(d.GetPath()); d.GetType() != flight.DescriptorPATH || n < 1 || n > 3 {
		return nil, t, fault.Call("the descriptor is not a path of one to three; send [run, table, solver], or less from the right")
	}
	t.Table = protocol.TableEdges
	for i, part := range d.Path {
		*[]*string{&t.Run, &t.Table, &t.Solver}[i] = part
	}
	r, err := s.find(ctx, t.Run)
	if err != nil {
		return nil, t, err
	}
	_, err = resolve(r, t)
	return r, t, err
}

// ListFlights lists the tables of the caller's runs, or of those that the criteria
// ask for.
func (s *Service) ListFlights(c *flight.Criteria, stream flight.FlightService_ListFlightsServer) error {
	type criteria struct { // protocol.Criteria, which cannot tell an empty name from none
		Run    *string           `json:"run"`
		Labels map[string]string `json:"labels"`
	}
	wanted := &criteria{}
	if len(c.GetExpression()) > 0 {
		const shape = `{"run": …}, {"labels": {…}}, or nothing`
		if err := decode(c.Expression, &wanted, shape); err != nil {
			return err
		}
		if wanted == nil {
			return fault.Call("the message is null; send %s as JSON", shape)
		}
	}
	list := s.list(stream.Context())
	if wanted.Run != nil {
		r, err := s.find(stream.Context(), *wanted.Run)
		if err != nil {
			return err
		}
		list = []*runs.Run{r}
	}
	list = slices.DeleteFunc(list, func(r *runs.Run) bool { return !carries(r, wanted.Labels) })
	for _, r := range list {
		if len(r.Job().Solvers) == 0 {
			if err := stream.Send(withoutTables(r)); err != nil {
				return err
			}
			continue
		}
		names := []string{protocol.TableEdges}
		if len(alike(r.Job(), protocol.TablePrecision)) > 0 {
			names = append(names, protocol.TablePrecision)
		}
		if r.Job().Reference != "" {
			names = append(names, protocol.TableMetrics)
		}
		for _, name := range names {
			if err := stream.Send(flightInfo(r, name, "")); err != nil {
				return err
			}
		}
	}
	return nil
}

// carries says whether the job of a run has all of some labels.
func carries(r *runs.Run, labels map[string]string) bool {
	for key, value := range labels {
		if has, ok := r.Job().Labels[key]; !ok || has != value {
			return false
		}
	}
	return true
}

// alike are the solvers that have a table, and whose table has the columns of the
// first's: a list of edges of a precision matrix has others than one of ranked pairs.
func alike(j job.Job, table string) []string {
	solvers := j.Solvers
	switch table {
	case protocol.TablePrecision:
		return slices.DeleteFunc(slices.Clone(solvers), func(s string) bool { return !recovery.HasPrecision(s) })
	case protocol.TableEdges:
		first := columnNames(recovery.EdgeColumns(j, solvers[0]))
		return slices.DeleteFunc(slices.Clone(solvers), func(s string) bool { return !slices.Equal(columnNames(recovery.EdgeColumns(j, s)), first) })
	}
	return solvers
}

func columnNames(columns []arrowio.Column) []string {
	names := make([]string, len(columns))
	for i, c := range columns {
		names[i] = c.Name
	}
	return names
}

// flightInfo describes a table, with an endpoint for the solver, or for each
// of the job's that is alike. It is there before the table is: its size is then unknown.
func flightInfo(r *runs.Run, table, solver string) *flight.FlightInfo {
	solvers := alike(r.Job(), table)
	path := []string{r.ID(), table}
	if solver != "" {
		solvers = []string{solver}
		path = append(path, solver)
	}
	info := &flight.FlightInfo{
		Schema:           tableSchema(r, table, solvers[0]),
		FlightDescriptor: &flight.FlightDescriptor{Type: flight.DescriptorPATH, Path: path},
		Ordered:          true,
		AppMetadata:      encode(r.Info()),
	}
	for _, name := range solvers {
		ticket := protocol.Ticket{Run: r.ID(), Table: table, Solver: name}
		info.Endpoint = append(info.Endpoint, &flight.FlightEndpoint{Ticket: &flight.Ticket{Ticket: encode(ticket)}})
		if record := r.Table(table, name); record == nil || info.TotalRecords < 0 {
			info.TotalRecords, info.TotalBytes = -1, -1
		} else {
			info.TotalRecords += record.NumRows()
			info.TotalBytes += arrowutil.TotalRecordSize(record)
		}
	}
	return info
}

// withoutTables tells of a run that has none.
func withoutTables(r *runs.Run) *flight.FlightInfo {
	return &flight.FlightInfo{
		FlightDescriptor: &flight.FlightDescriptor{Type: flight.DescriptorPATH, Path: []string{r.ID()}},
		Ordered:          true, AppMetadata: encode(r.Info()),
	}
}

// tableSchema is the schema of a table. Of one that is not there yet the metadata are
// still missing; of a dense matrix, whose width is still unknown, all.
func tableSchema(r *runs.Run, table, solver string) []byte {
	if record := r.Table(table, solver); record != nil {
		return flight.SerializeSchema(record.Schema(), memory.DefaultAllocator)
	}
	var columns []arrowio.Column
	switch {
	case table == protocol.TableEdges:
		columns = recovery.EdgeColumns(r.Job(), solver)
	case table == protocol.TablePrecision && r.Job().Precision != job.PrecisionDense:
		columns = arrowio.PrecisionColumns(nil, dense.NewSym(0, nil))
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
