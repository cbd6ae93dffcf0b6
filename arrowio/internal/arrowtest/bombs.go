package arrowtest

import (
	"bytes"
	"compress/gzip"
	"io"
	"runtime"
	"strconv"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/ipc"
	"github.com/apache/arrow/go/v15/arrow/memory"
)

// Codec compresses the bodies of an ipc.Writer.
type Codec struct {
	Name   string
	Option ipc.Option
}

// Codecs are those of Arrow IPC.
func Codecs() []Codec { return []Codec{{"zstd", ipc.WithZstd()}, {"lz4", ipc.WithLZ4()}} }

// Constant is a record of columns of zeros that share their memory.
func Constant(rows, columns int) arrow.Record {
	zeros := memory.NewBufferBytes(make([]byte, 8*rows))
	fields, arrays := make([]arrow.Field, columns), make([]arrow.Array, columns)
	for j := range columns {
		fields[j] = arrow.Field{Name: "v" + strconv.Itoa(j), Type: arrow.PrimitiveTypes.Float64}
		arrays[j] = array.NewFloat64Data(array.NewData(fields[j].Type, rows, []*memory.Buffer{nil, zeros}, nil, 0, 0))
	}
	return array.NewRecord(arrow.NewSchema(fields, nil), arrays, int64(rows))
}

// ConstantLists is a record of one column of whole samples that are zeros.
func ConstantLists(rows, size int) arrow.Record {
	zeros := memory.NewBufferBytes(make([]byte, 8*rows*size))
	item := array.NewData(arrow.PrimitiveTypes.Float64, rows*size, []*memory.Buffer{nil, zeros}, nil, 0, 0)
	t := arrow.FixedSizeListOf(int32(size), arrow.PrimitiveTypes.Float64)
	list := array.NewFixedSizeListData(array.NewData(t, rows, []*memory.Buffer{nil}, []arrow.ArrayData{item}, 0, 0))
	return array.NewRecord(arrow.NewSchema([]arrow.Field{{Name: "sample", Type: t, Nullable: true}}, nil), []arrow.Array{list}, int64(rows))
}

// ConstantDictionary is a record of three rows with a label from a dictionary of
// one long text, and a number.
func ConstantDictionary(text int) arrow.Record {
	t := &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int8, ValueType: arrow.BinaryTypes.String}
	words := array.NewStringBuilder(memory.DefaultAllocator)
	words.Append(string(bytes.Repeat([]byte{'a'}, text)))
	index := array.NewInt8Builder(memory.DefaultAllocator)
	index.AppendValues(make([]int8, 3), nil)
	number := array.NewFloat64Builder(memory.DefaultAllocator)
	number.AppendValues([]float64{1, 2, 3}, nil)
	schema := arrow.NewSchema([]arrow.Field{{Name: "id", Type: t}, {Name: "a", Type: arrow.PrimitiveTypes.Float64}}, nil)
	return array.NewRecord(schema, []arrow.Array{array.NewDictionaryArray(t, index.NewArray(), words.NewArray()), number.NewArray()}, 3)
}

// Packed are the messages of a table in one batch, compressed.
func Packed(t testing.TB, table arrow.Record, codec ipc.Option) []Message {
	t.Helper()
	var m Recorder
	w := ipc.NewWriterWithPayloadWriter(&m, ipc.WithSchema(table.Schema()), codec)
	if err := w.Write(table); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return m
}

// Allocated is how many bytes f allocates in all, on Go's heap.
func Allocated(f func()) int64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return int64(after.TotalAlloc - before.TotalAlloc)
}

// ZippedRepeat is head and then so many times text, under gzip.
func ZippedRepeat(head, text string, times int) []byte {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	io.WriteString(z, head)
	many := bytes.Repeat([]byte(text), 1000)
	for range times / 1000 {
		z.Write(many)
	}
	z.Write(many[:times%1000*len(text)])
	z.Close()
	return b.Bytes()
}
