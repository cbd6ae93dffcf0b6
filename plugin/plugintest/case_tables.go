package plugintest

import (
	"math"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"
	"google.golang.org/grpc/codes"

	"github.com/gladflow/gladflow/plugin/protocol"
)

// A table that cannot be used is refused with what is wrong and where, by both
// calls that take one, and nothing else suffers from it.
func badTables(t *testing.T, k *kit) {
	s := k.start(t)
	ctx := soon(t)
	for _, c := range badTableCases() {
		_, err := s.put(ctx, quick().command(), c.batches...)
		c.want.check(t, "DoPut of "+c.name, err)
		_, err = s.exchange(ctx, quick().command(), c.batches...)
		c.want.check(t, "DoExchange of "+c.name, err)
	}
	s.lives(t, "bad tables")
	runs, err := s.atWork(ctx)
	if err != nil || len(runs) > 0 {
		t.Errorf("a run of a bad table has ended; ListFlights tells of %+v, %v", runs, err)
	}
}

type badTable struct {
	name    string
	batches []arrow.Record
	want    refusal
}

func badTableCases() []badTable {
	const row, column = 37, 2
	good := chain(9, 5, 60)
	damaged := func(v float64) table {
		bad := good
		bad.rows = append([]float64(nil), good.rows...)
		bad.rows[(row-1)*len(good.names)+column] = v
		return bad
	}
	constant := good
	constant.rows = append([]float64(nil), good.rows...)
	for i := range constant.samples() {
		constant.rows[i*len(good.names)+column] = 4.25
	}
	double := good
	double.names = append([]string(nil), good.names...)
	double.names[4] = double.names[column]

	at := invalid(protocol.ReasonInvalidTable)
	whole := at
	whole.column = good.names[column]
	there := whole
	there.row = row
	label := at
	label.column = "label"
	return []badTable{
		{"an empty table, a schema without batches", []arrow.Record{schemaOnly{good.plain()}}, at},
		{"an empty table, a batch without rows", []arrow.Record{good.plain().NewSlice(0, 0)}, at},
		{"one sample", []arrow.Record{good.lists().NewSlice(0, 1)}, at},
		{"NaN in a plain column", batches(damaged(math.NaN()).plain(), 10), there},
		{"NaN in a list", batches(damaged(math.NaN()).lists(), 10), there},
		{"infinity in a plain column", batches(damaged(math.Inf(1)).plain(), 10), there},
		{"infinity in a list", batches(damaged(math.Inf(-1)).lists(), 10), there},
		{"a null", []arrow.Record{withNull(good, row, column)}, there},
		{"a constant variable", []arrow.Record{constant.lists()}, refusal{codes: []codes.Code{codes.InvalidArgument}, column: good.names[column]}},
		{"two columns of the same name", []arrow.Record{double.plain()}, at},
		{"two list elements of the same name", []arrow.Record{double.lists()}, whole},
		{"a column of text", []arrow.Record{withText(good)}, label},
	}
}

// withNull is the table with a null in row (from 1) of a column.
func withNull(of table, row, column int) arrow.Record {
	r := of.plain()
	columns := append([]arrow.Array(nil), r.Columns()...)
	b := array.NewFloat64Builder(memory.DefaultAllocator)
	valid := make([]bool, r.NumRows())
	for i := range valid {
		valid[i] = i != row-1
	}
	b.AppendValues(columns[column].(*array.Float64).Float64Values(), valid)
	columns[column] = b.NewArray()
	fields := append([]arrow.Field(nil), r.Schema().Fields()...)
	fields[column].Nullable = true
	return array.NewRecord(arrow.NewSchema(fields, nil), columns, r.NumRows())
}

// withText is the table with a column of text before the others.
func withText(of table) arrow.Record {
	r := of.plain()
	b := array.NewStringBuilder(memory.DefaultAllocator)
	for range r.NumRows() {
		b.Append("word")
	}
	fields := append([]arrow.Field{{Name: "label", Type: arrow.BinaryTypes.String}}, r.Schema().Fields()...)
	return array.NewRecord(arrow.NewSchema(fields, nil), append([]arrow.Array{b.NewArray()}, r.Columns()...), r.NumRows())
}
