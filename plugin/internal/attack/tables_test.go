package attack

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"net"
	"strconv"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/flight"
	"github.com/apache/arrow/go/v15/arrow/ipc"
	"github.com/apache/arrow/go/v15/arrow/memory"

	"github.com/gladflow/gladflow/arrowio"
	"github.com/gladflow/gladflow/plugin/internal/flighttest"
)

func listen() (net.Listener, error) { return net.Listen("tcp", "127.0.0.1:0") }

// chain is n samples of d variables, each following the one before.
func chain(d, n int) []float64 {
	rng := rand.New(rand.NewPCG(1, uint64(d)))
	rows := make([]float64, 0, n*d)
	for range n {
		x := 0.0
		for range d {
			x = 0.7*x + rng.NormFloat64()
			rows = append(rows, x)
		}
	}
	return rows
}

func variables(d int) []string {
	names := make([]string, d)
	for j := range names {
		names[j] = "g" + strconv.Itoa(j)
	}
	return names
}

// goodTable is a small table as lists, and plainTable the same with a label.
func goodTable() arrow.Record {
	return arrowio.SampleRecord(arrowio.SampleSchema(variables(6)), chain(6, 40), 40)
}

func plainTable() arrow.Record {
	const d, n = 4, 30
	rows := chain(d, n)
	label := array.NewStringBuilder(memory.DefaultAllocator)
	fields, columns := []arrow.Field{{Name: "id", Type: arrow.BinaryTypes.String}}, []arrow.Array(nil)
	for i := range n {
		label.Append("s" + strconv.Itoa(i))
	}
	columns = append(columns, label.NewArray())
	for j, name := range variables(d) {
		b := array.NewFloat64Builder(memory.DefaultAllocator)
		for i := range n {
			b.Append(rows[i*d+j])
		}
		fields, columns = append(fields, arrow.Field{Name: name, Type: arrow.PrimitiveTypes.Float64}), append(columns, b.NewArray())
	}
	return array.NewRecord(arrow.NewSchema(fields, nil), columns, n)
}

func goodSamples() array.RecordReader { return reader(goodTable()) }

func reader(table arrow.Record) array.RecordReader {
	r, err := array.NewRecordReader(table.Schema(), []arrow.Record{table})
	if err != nil {
		panic(err)
	}
	return r
}

// csvTable is a table of samples as text.
func csvTable(d, n int) []byte {
	rows := chain(d, n)
	var b bytes.Buffer
	b.WriteString(strings.Join(variables(d), ",") + "\n")
	for i := range n {
		for j := range d {
			if j > 0 {
				b.WriteByte(',')
			}
			fmt.Fprintf(&b, "%.5f", rows[i*d+j])
		}
		b.WriteByte('\n')
	}
	return b.Bytes()
}

// record is a table as a client sends it, in batches of so many rows.
func record(t testing.TB, d *flight.FlightDescriptor, table arrow.Record, rows int64, options ...ipc.Option) flighttest.Recorded {
	t.Helper()
	var r flighttest.Recorded
	w := flight.NewRecordWriter(&r, append([]ipc.Option{ipc.WithSchema(table.Schema())}, options...)...)
	w.SetFlightDescriptor(d)
	for at := int64(0); at < table.NumRows(); at += rows {
		if err := w.Write(table.NewSlice(at, min(at+rows, table.NumRows()))); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return r
}

func command(job any) *flight.FlightDescriptor {
	return &flight.FlightDescriptor{Type: flight.DescriptorCMD, Cmd: asJSON(job)}
}
