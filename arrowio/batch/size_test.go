package batch

import (
	"io"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/ipc"
	"github.com/apache/arrow/go/v15/arrow/memory"

	"github.com/gladflow/gladflow/arrowio/internal/arrowtest"
)

// lists is a record of one FixedSizeList column.
func lists(mem memory.Allocator, rows, size int) arrow.Record {
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

// wide is a record of plain columns v0, v1, ...
func wide(mem memory.Allocator, rows, columns int) arrow.Record {
	fields := make([]arrow.Field, columns)
	for j := range fields {
		fields[j] = arrow.Field{Name: "v" + string(rune('a'+j%26)) + string(rune('a'+j/26%26)) + string(rune('a'+j/676)), Type: arrow.PrimitiveTypes.Float64}
	}
	b := array.NewRecordBuilder(mem, arrow.NewSchema(fields, nil))
	defer b.Release()
	for j := range fields {
		column := b.Field(j).(*array.Float64Builder)
		column.Reserve(rows)
		for i := range rows {
			column.UnsafeAppend(float64((i*7+j*13)%101) - 50)
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
func TestSplit(t *testing.T) {
	mem := memory.NewCheckedAllocator(memory.NewGoAllocator())
	defer mem.AssertSize(t, 0)
	const size = 64 << 10
	for name, test := range map[string]struct {
		record         arrow.Record
		fewest, most   int
		overhead, tiny int // of the metadata, and the least size
	}{
		"plain":           {wide(mem, 20000, 8), 20, 21, 4 << 10, 50 << 10},
		"5000 columns":    {wide(mem, 8, 5000), 4, 8, 900 << 10, 40000},
		"FixedSizeList":   {lists(mem, 2000, 100), 25, 26, 4 << 10, 50 << 10},
		"one huge row":    {lists(mem, 1, 100000), 1, 1, 800 << 10, 800000},
		"huge rows":       {lists(mem, 3, 100000), 3, 3, 800 << 10, 800000},
		"mixed":           {mixed(mem, 5000), 13, 18, 8 << 10, 30 << 10},
		"no rows":         {wide(mem, 0, 8), 1, 1, 0, 0},
		"no columns":      {array.NewRecord(arrow.NewSchema(nil, nil), nil, 5), 1, 1, 0, 0},
		"less than batch": {wide(mem, 10, 8), 1, 1, 0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			defer test.record.Release()
			var sent arrowtest.Recorder
			w := ipc.NewWriterWithPayloadWriter(&sent, ipc.WithSchema(test.record.Schema()))
			err := Split(test.record, size, w.Write)
			w.Close()
			if err != nil {
				t.Fatal(err)
			}
			again, batches := assemble(t, sent)
			defer again.Release()
			if batches < test.fewest || batches > test.most {
				t.Errorf("%d batches, want %d to %d", batches, test.fewest, test.most)
			}
			for i, m := range sent[len(sent)-batches:] {
				if n := len(m.Body); n > size+size/4+test.overhead || n < test.tiny && i < batches-1 {
					t.Errorf("batch %d of %d bytes", i, n)
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
func TestSplitOfASlice(t *testing.T) {
	mem := memory.NewCheckedAllocator(memory.NewGoAllocator())
	defer mem.AssertSize(t, 0)
	for name, record := range map[string]arrow.Record{"plain": wide(mem, 20000, 8), "FixedSizeList": lists(mem, 20000, 8), "mixed": mixed(mem, 20000)} {
		slice := record.NewSlice(5000, 5100)
		if rows := rowsOf(slice, 64<<10); rows != 100 {
			t.Errorf("%s: batches of %d rows of a slice of 100", name, rows)
		}
		if rows := rowsOf(slice, 4000); rows < 20 || rows > 70 {
			t.Errorf("%s: batches of %d rows for 4000 bytes", name, rows)
		}
		slice.Release()
		record.Release()
	}
}

// What is read has the size of what is sent, as far as a schema tells it.
func TestWidth(t *testing.T) {
	mem := memory.NewCheckedAllocator(memory.NewGoAllocator())
	defer mem.AssertSize(t, 0)
	for name, record := range map[string]arrow.Record{"plain": wide(mem, 20000, 800), "FixedSizeList": lists(mem, 20000, 800)} {
		read, sent := Rows(Bytes, Width(record.Schema())), rowsOf(record, Bytes)
		if read < sent*95/100 || read > sent*105/100 {
			t.Errorf("%s: %d rows are read at a time and %d sent", name, read, sent)
		}
		record.Release()
	}
	if n := Rows(Bytes, 1<<40); n != 1 {
		t.Errorf("%d rows of a row that is larger than a batch", n)
	}
}

// assemble reads messages as Arrow does, and counts the batches.
func assemble(t *testing.T, sent []arrowtest.Message) (arrow.Table, int) {
	t.Helper()
	r, err := NewReader(arrowtest.Replay(sent, io.EOF), nil)
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
