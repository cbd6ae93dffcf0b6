package plugin

import (
	"bytes"
	"io"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/flight"
	"github.com/apache/arrow/go/v15/arrow/ipc"
	"github.com/apache/arrow/go/v15/arrow/memory"

	"github.com/gladflow/gladflow/arrowio"
)

// rowsOf is a record of one FixedSizeList column.
func rowsOf(mem memory.Allocator, rows, size int) arrow.Record {
	t := arrow.FixedSizeListOf(int32(size), arrow.PrimitiveTypes.Float64)
	b := array.NewRecordBuilder(mem, arrow.NewSchema([]arrow.Field{{Name: "sample", Type: t, Nullable: true}}, nil))
	defer b.Release()
	list := b.Field(0).(*array.FixedSizeListBuilder)
	values := list.ValueBuilder().(*array.Float64Builder)
	for i := range rows {
		list.Append(true)
		for j := range size {
			values.Append(float64(i) + float64(j)/1e4)
		}
	}
	return b.NewRecord()
}

// mixed is a record of columns whose rows differ in size.
func mixed(mem memory.Allocator, rows int) arrow.Record {
	schema := arrow.NewSchema([]arrow.Field{
		{Name: "id", Type: arrow.BinaryTypes.String, Nullable: true},
		{Name: "large", Type: arrow.BinaryTypes.LargeString, Nullable: true},
		{Name: "flag", Type: arrow.FixedWidthTypes.Boolean, Nullable: true},
		{Name: "list", Type: arrow.ListOf(arrow.PrimitiveTypes.Float32), Nullable: true},
		{Name: "struct", Type: arrow.StructOf(arrow.Field{Name: "x", Type: arrow.PrimitiveTypes.Int64, Nullable: true}), Nullable: true},
		{Name: "word", Type: &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int16, ValueType: arrow.BinaryTypes.String}, Nullable: true},
		{Name: "none", Type: arrow.Null, Nullable: true},
	}, nil)
	b := array.NewRecordBuilder(mem, schema)
	defer b.Release()
	for i := range rows {
		b.Field(0).(*array.StringBuilder).Append(strings.Repeat("x", i%100))
		b.Field(1).(*array.LargeStringBuilder).Append(strings.Repeat("y", i%10))
		b.Field(2).(*array.BooleanBuilder).Append(i%2 == 0)
		list := b.Field(3).(*array.ListBuilder)
		list.Append(true)
		for range i % 50 {
			list.ValueBuilder().(*array.Float32Builder).Append(float32(i))
		}
		group := b.Field(4).(*array.StructBuilder)
		group.Append(true)
		group.FieldBuilder(0).(*array.Int64Builder).Append(int64(i))
		if err := b.Field(5).(*array.BinaryDictionaryBuilder).AppendString("w"); err != nil {
			panic(err)
		}
		b.Field(6).(*array.NullBuilder).AppendNull()
	}
	return b.NewRecord()
}

// Whatever the table: batches of about the size that was asked for, and the
// same table put together again.
func TestBatches(t *testing.T) {
	mem := memory.NewCheckedAllocator(memory.NewGoAllocator())
	defer mem.AssertSize(t, 0)
	const batchBytes = 64 << 10
	for name, test := range map[string]struct {
		record         arrow.Record
		fewest, most   int
		overhead, tiny int // of the metadata, and the least size
	}{
		"plain":           {wide(mem, 20000, 8), 20, 21, 4 << 10, 50 << 10},
		"5000 columns":    {wide(mem, 8, 5000), 4, 8, 900 << 10, 40000},
		"FixedSizeList":   {rowsOf(mem, 2000, 100), 25, 26, 4 << 10, 50 << 10},
		"one huge row":    {rowsOf(mem, 1, 100000), 1, 1, 800 << 10, 800000},
		"huge rows":       {rowsOf(mem, 3, 100000), 3, 3, 800 << 10, 800000},
		"mixed":           {mixed(mem, 5000), 13, 18, 8 << 10, 30 << 10},
		"no rows":         {wide(mem, 0, 8), 1, 1, 0, 0},
		"no columns":      {array.NewRecord(arrow.NewSchema(nil, nil), nil, 5), 1, 1, 0, 0},
		"less than batch": {wide(mem, 10, 8), 1, 1, 0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			defer test.record.Release()
			var messages []*flight.FlightData
			c := &Client{batchBytes: batchBytes, mem: mem}
			w := flight.NewRecordWriter(recorder{&messages}, ipc.WithSchema(test.record.Schema()))
			err := c.sendRecord(w, test.record)
			w.Close()
			if err != nil {
				t.Fatal(err)
			}
			again, batches := assemble(t, messages)
			defer again.Release()
			if batches < test.fewest || batches > test.most {
				t.Errorf("%d batches, want %d to %d", batches, test.fewest, test.most)
			}
			for i, m := range messages[len(messages)-batches:] {
				if size := len(m.DataBody); size > batchBytes+batchBytes/4+test.overhead || size < test.tiny && i < batches-1 {
					t.Errorf("batch %d of %d bytes", i, size)
				}
			}
			whole := array.NewTableFromRecords(test.record.Schema(), []arrow.Record{test.record})
			defer whole.Release()
			if again.NumRows() != whole.NumRows() || whole.NumCols() > 0 && !array.TableEqual(again, whole) {
				t.Error("the batches are not the record")
			}
		})
	}
}

// The bytes of a slice are its own, not those of the buffers that it is from.
func TestSliceOfLargeBuffers(t *testing.T) {
	mem := memory.NewCheckedAllocator(memory.NewGoAllocator())
	defer mem.AssertSize(t, 0)
	for name, record := range map[string]arrow.Record{"plain": wide(mem, 20000, 8), "FixedSizeList": rowsOf(mem, 20000, 8), "mixed": mixed(mem, 20000)} {
		slice := record.NewSlice(5000, 5100)
		if rows := batchRows(slice, 64<<10); rows != 100 {
			t.Errorf("%s: batches of %d rows of a slice of 100", name, rows)
		}
		if rows := batchRows(slice, 4000); rows < 20 || rows > 70 {
			t.Errorf("%s: batches of %d rows for 4000 bytes", name, rows)
		}
		slice.Release()
		record.Release()
	}
}

// assemble reads messages as Arrow does, and counts the batches.
func assemble(t *testing.T, messages []*flight.FlightData) (arrow.Table, int) {
	t.Helper()
	next := func() (metadata, body []byte, err error) {
		if len(messages) == 0 {
			return nil, nil, io.EOF
		}
		m := messages[0]
		messages = messages[1:]
		return bytes.Clone(m.DataHeader), bytes.Clone(m.DataBody), nil
	}
	r, err := arrowio.NewRecords(next, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Release()
	var records []arrow.Record
	for r.Next() {
		r.Record().Retain()
		records = append(records, r.Record())
	}
	if err := r.Err(); err != nil {
		t.Fatal(err)
	}
	table := array.NewTableFromRecords(r.Schema(), records)
	for _, record := range records {
		record.Release()
	}
	return table, len(records)
}
