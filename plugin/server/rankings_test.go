package server

import (
	"testing"

	"github.com/apache/arrow/go/v15/arrow/flight"
	"github.com/apache/arrow/go/v15/arrow/memory"
	"google.golang.org/grpc/codes"

	"github.com/gladflow/gladflow/plugin/protocol"
)

// A solver that ranks pairs has a list of edges with columns of its own, and no precision
// matrix: a table without a solver is of those that are alike.
func TestTablesOfRankings(t *testing.T) {
	_, c := served(t, Config{})
	ctx := bg(t)
	id, err := put(ctx, t, c, `{"solvers":["spectral","bcd","clr"],"penalty":0.2}`, sampled(t, 8, 100))
	if err != nil {
		t.Fatal(err)
	}
	for solver, columns := range map[string]int{"spectral": 4, "clr": 4, "bcd": 6} {
		edges, err := get(ctx, c, protocol.Ticket{Run: id, Solver: solver})
		if err != nil || int(edges[0].NumCols()) != columns || solver != "bcd" && edges[0].NumRows() != 28 {
			t.Errorf("%s: %v, %v", solver, edges, err)
		}
	}
	_, err = get(ctx, c, protocol.Ticket{Run: id, Solver: "spectral", Table: protocol.TablePrecision})
	wantFault(t, err, codes.NotFound, protocol.ReasonNotFound, "")
	precision, err := get(ctx, c, protocol.Ticket{Run: id, Table: protocol.TablePrecision})
	if err != nil || precision[0].NumRows() < 8 {
		t.Errorf("%v, %v", precision, err)
	}
	for table, want := range map[string]int{protocol.TableEdges: 2, protocol.TablePrecision: 1} {
		info, err := c.GetFlightInfo(ctx, &flight.FlightDescriptor{Type: flight.DescriptorPATH, Path: []string{id, table}})
		if err != nil || len(info.Endpoint) != want || info.TotalRecords <= 0 {
			t.Fatalf("%s: %v, %v", table, info, err)
		}
		for _, e := range info.Endpoint {
			stream, err := c.DoGet(ctx, e.Ticket)
			if err != nil {
				t.Fatal(err)
			}
			records, err := readAll(stream)
			if err != nil {
				t.Fatal(err)
			}
			schema, err := flight.DeserializeSchema(info.Schema, memory.DefaultAllocator)
			if err != nil || !schema.Equal(records[0].Schema()) {
				t.Errorf("%s: schema %v, promised %v, %v", table, records[0].Schema(), schema, err)
			}
		}
	}
}
