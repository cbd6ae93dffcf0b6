// Command arrow18 is a host on another version of Arrow than gladflow: it
// launches the gladflow binary named by its argument with package protocol and
// a Flight client of its own, recovers a network from tables made in memory,
// and prints its edges, once for each way to get them, as JSON lines.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/flight"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/go-plugin"

	"github.com/gladflow/gladflow/plugin/protocol"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "arrow18:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) != 1 {
		return errors.New("usage: arrow18 GLADFLOW")
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()

	config := protocol.ClientConfig(exec.Command(args[0]))
	config.Logger = hclog.NewNullLogger()
	client := plugin.NewClient(config)
	defer client.Kill()
	conn, err := protocol.Dispense(client)
	if err != nil {
		return err
	}
	flights := flight.NewClientFromConn(conn, nil)

	if err := describe(ctx, flights); err != nil {
		return fmt.Errorf("describe: %w", err)
	}
	for name, call := range map[string]func(context.Context, flight.Client, arrow.RecordBatch) error{"put": put, "exchange": exchange} {
		for kind, table := range map[string]arrow.RecordBatch{"columns": columns(), "rows": rows()} {
			if err := call(ctx, flights, table); err != nil {
				return fmt.Errorf("%s of %s: %w", name, kind, err)
			}
		}
	}
	return nil
}

func describe(ctx context.Context, flights flight.Client) error {
	stream, err := flights.DoAction(ctx, &flight.Action{Type: protocol.ActionDescribe})
	if err != nil {
		return err
	}
	result, err := stream.Recv()
	if err != nil {
		return err
	}
	var service protocol.Service
	if err := json.Unmarshal(result.Body, &service); err != nil {
		return err
	}
	if service.Protocol != protocol.Version {
		return fmt.Errorf("protocol %d", service.Protocol)
	}
	if _, err := stream.Recv(); err != io.EOF {
		return fmt.Errorf("more than one answer: %v", err)
	}
	return nil
}

// job is the command of DoPut and DoExchange.
var job = &flight.FlightDescriptor{
	Type: flight.DescriptorCMD,
	Cmd:  []byte(`{"solvers":["bcd"],"penalty":0.1,"gap":1e-9,"edges":"all"}`),
}

// put streams samples to a run, and gets its edges with a ticket.
func put(ctx context.Context, flights flight.Client, table arrow.RecordBatch) error {
	defer table.Release()
	stream, err := flights.DoPut(ctx)
	if err != nil {
		return err
	}
	if err := write(stream, table); err != nil {
		return err
	}
	var accepted protocol.Run
	for {
		answer, err := stream.Recv()
		if err == io.EOF {
			break
		}
		if err != nil {
			return err
		}
		if err := json.Unmarshal(answer.AppMetadata, &accepted); err != nil {
			return err
		}
	}
	ticket, err := json.Marshal(protocol.Ticket{Run: accepted.Run, Table: protocol.TableEdges, Solver: "bcd"})
	if err != nil {
		return err
	}
	edges, err := flights.DoGet(ctx, &flight.Ticket{Ticket: ticket})
	if err != nil {
		return err
	}
	return show(edges)
}

// exchange does it in one call. The table is small: it is written before
// anything is read, which a large one must not be.
func exchange(ctx context.Context, flights flight.Client, table arrow.RecordBatch) error {
	defer table.Release()
	stream, err := flights.DoExchange(ctx)
	if err != nil {
		return err
	}
	if err := write(stream, table); err != nil {
		return err
	}
	return show(stream)
}

func write(stream interface {
	flight.DataStreamWriter
	CloseSend() error
}, table arrow.RecordBatch) error {
	w := flight.NewRecordWriter(stream, ipc.WithSchema(table.Schema()))
	w.SetFlightDescriptor(job)
	err := errors.Join(w.Write(table), w.Close(), stream.CloseSend())
	if errors.Is(err, io.EOF) {
		return nil // the reader is told why
	}
	return err
}

// show prints the edges of a stream as an array of a line.
func show(stream flight.DataStreamReader) error {
	r, err := flight.NewRecordReader(stream)
	if err != nil {
		return err
	}
	defer r.Release()
	type edge struct {
		Source string  `json:"source"`
		Target string  `json:"target"`
		Score  float64 `json:"score"`
	}
	var edges []edge
	for r.Next() {
		source := r.RecordBatch().Column(0).(*array.String)
		target := r.RecordBatch().Column(1).(*array.String)
		score := r.RecordBatch().Column(2).(*array.Float64)
		for i := range int(r.RecordBatch().NumRows()) {
			edges = append(edges, edge{source.Value(i), target.Value(i), score.Value(i)})
		}
	}
	if err := r.Err(); err != nil {
		return err
	}
	return json.NewEncoder(os.Stdout).Encode(edges)
}

// The samples: variables x0, x1, ... of which each follows the one before. The
// test that runs this has the same.
const samples, variables = 60, 5

func value(i, j int) float64 {
	v, state := 0.0, uint32(i)*2654435761+12345
	for range j + 1 {
		state = state*1664525 + 1013904223
		v = 0.7*v + float64(state>>8)/(1<<24) - 0.5
	}
	return v
}

// columns has a column for each variable.
func columns() arrow.RecordBatch {
	var fields []arrow.Field
	for j := range variables {
		fields = append(fields, arrow.Field{Name: fmt.Sprintf("x%d", j), Type: arrow.PrimitiveTypes.Float64})
	}
	b := array.NewRecordBuilder(memory.DefaultAllocator, arrow.NewSchema(fields, nil))
	defer b.Release()
	for i := range samples {
		for j := range variables {
			b.Field(j).(*array.Float64Builder).Append(value(i, j))
		}
	}
	return b.NewRecordBatch()
}

// rows has one column, whose values are samples, and the names in its metadata.
func rows() arrow.RecordBatch {
	names := arrow.NewMetadata([]string{"gladflow.names"}, []string{`["x0","x1","x2","x3","x4"]`})
	list := arrow.FixedSizeListOf(variables, arrow.PrimitiveTypes.Float64)
	b := array.NewRecordBuilder(memory.DefaultAllocator,
		arrow.NewSchema([]arrow.Field{{Name: "x", Type: list, Nullable: true, Metadata: names}}, nil))
	defer b.Release()
	column := b.Field(0).(*array.FixedSizeListBuilder)
	for i := range samples {
		column.Append(true)
		for j := range variables {
			column.ValueBuilder().(*array.Float64Builder).Append(value(i, j))
		}
	}
	return b.NewRecordBatch()
}
