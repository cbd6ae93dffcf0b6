package arrowio

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"

	"github.com/gladflow/gladflow/arrowio/batch"
)

// A Column is a column to be written. It has no nulls.
type Column struct {
	Name string
	// Values is a []string, []float64, []int64, []int32, []int8, []bool or
	// FixedBinary. NaN is written as NaN.
	Values any
}

// FixedBinary is a column of byte strings of one length.
type FixedBinary struct {
	// Width is the length of a value.
	Width int
	// Data holds the values one after the other.
	Data []byte
}

// WriteTable writes columns of equal length to path, in one of TableFormats: as
// Parquet (snappy, one row group a million rows, dictionaries for strings only),
// as an Arrow IPC file, or as CSV with a header, whose floats read back to the
// same bits. path has its extension already, usually "."+format. A format that
// there is not is an InputError.
//
// metadata goes into the schema of Parquet and IPC; for CSV into the
// companion path-metadata.json, as CSV on the Web (W3C, 2015) calls it, under
// notes. Keys usually begin with "gladflow.".
//
// The file appears under its name when it is whole and on disk, and not at
// all when an error is returned; a file that was there before is replaced.
func WriteTable(path, format string, columns []Column, metadata map[string]string) error {
	return TableFormats().write(path, format, columns, metadata)
}

// NewRecord makes one Arrow batch of columns of equal length, with metadata in
// its schema: what WriteTable writes. Numbers are not copied. The caller
// releases it.
func NewRecord(columns []Column, metadata map[string]string) (arrow.Record, error) {
	t, err := newOutput(columns, metadata)
	if err != nil {
		return nil, fmt.Errorf("%w", err)
	}
	return t.record, nil
}

// ColumnsOf are the columns of a batch without nulls, of text, float64 and int8, and its
// schema's metadata: what NewRecord has made it of. The columns lie in the batch's memory
// and are good for as long as it is not released.
func ColumnsOf(r arrow.Record) ([]Column, map[string]string, error) {
	var columns []Column
	for i, a := range r.Columns() {
		c := Column{Name: r.ColumnName(i)}
		switch a := a.(type) {
		case *array.String:
			values := make([]string, a.Len())
			for k := range values {
				values[k] = a.Value(k)
			}
			c.Values = values
		case *array.Float64:
			c.Values = a.Float64Values()
		case *array.Int8:
			c.Values = a.Int8Values()
		default:
			return nil, nil, fmt.Errorf("column %q: values of type %s cannot be read as a column to be written", c.Name, a.DataType())
		}
		columns = append(columns, c)
	}
	metadata := make(map[string]string)
	m := r.Schema().Metadata()
	for i, key := range m.Keys() {
		metadata[key] = m.Values()[i]
	}
	return columns, metadata, nil
}

// An output is a table about to be written.
type output struct {
	record arrow.Record
	mem    memory.Allocator
	// batch is the size in bytes of a batch of IPC: far below the 256 MiB
	// that readers of other languages refuse. Batches of CSV are smaller,
	// because Arrow's writer makes a string of every cell.
	batch int64
}

const outputBatch = 32 << 20

// newOutput wraps the columns without copying numbers.
//
// No field is nullable, because nothing is null. (Lists would have to be:
// pqarrow writes a FixedSizeList that is not nullable as nulls only.)
func newOutput(columns []Column, metadata map[string]string) (*output, error) {
	mem := memory.DefaultAllocator
	if len(columns) == 0 {
		return nil, errors.New("the table has no columns")
	}
	keys := make([]string, 0, len(metadata))
	for k := range metadata {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	values := make([]string, len(keys))
	for i, k := range keys {
		values[i] = metadata[k]
	}
	fields := make([]arrow.Field, len(columns))
	arrays := make([]arrow.Array, len(columns))
	defer func() {
		for _, a := range arrays {
			if a != nil {
				a.Release()
			}
		}
	}()
	for i, c := range columns {
		a, err := newArray(c, mem)
		if err != nil {
			return nil, err
		}
		arrays[i] = a
		fields[i] = arrow.Field{Name: c.Name, Type: a.DataType()}
		if a.Len() != arrays[0].Len() {
			return nil, fmt.Errorf("column %q has %d values and column %q has %d", c.Name, a.Len(), columns[0].Name, arrays[0].Len())
		}
	}
	m := arrow.NewMetadata(keys, values)
	record := array.NewRecord(arrow.NewSchema(fields, &m), arrays, int64(arrays[0].Len()))
	return &output{record, mem, outputBatch}, nil
}

func newArray(c Column, mem memory.Allocator) (arrow.Array, error) {
	switch v := c.Values.(type) {
	case []string:
		b := array.NewStringBuilder(mem)
		defer b.Release()
		b.Reserve(len(v))
		for _, s := range v {
			if strings.ToValidUTF8(s, "") != s {
				return nil, fmt.Errorf("column %q: %q is not UTF-8", c.Name, s)
			}
		}
		b.AppendValues(v, nil)
		return b.NewArray(), nil
	case []bool:
		b := array.NewBooleanBuilder(mem)
		defer b.Release()
		b.AppendValues(v, nil)
		return b.NewArray(), nil
	case []float64:
		return over(arrow.PrimitiveTypes.Float64, len(v), arrow.Float64Traits.CastToBytes(v)), nil
	case []int64:
		return over(arrow.PrimitiveTypes.Int64, len(v), arrow.Int64Traits.CastToBytes(v)), nil
	case []int32:
		return over(arrow.PrimitiveTypes.Int32, len(v), arrow.Int32Traits.CastToBytes(v)), nil
	case []int8:
		return over(arrow.PrimitiveTypes.Int8, len(v), arrow.Int8Traits.CastToBytes(v)), nil
	case FixedBinary:
		if v.Width <= 0 || len(v.Data)%v.Width != 0 {
			return nil, fmt.Errorf("column %q has %d bytes, which is no multiple of its width %d", c.Name, len(v.Data), v.Width)
		}
		return over(&arrow.FixedSizeBinaryType{ByteWidth: v.Width}, len(v.Data)/v.Width, v.Data), nil
	}
	return nil, fmt.Errorf("column %q: values of type %T cannot be written", c.Name, c.Values)
}

// over makes an array of bytes that stay where they are.
func over(t arrow.DataType, n int, b []byte) arrow.Array {
	data := array.NewData(t, n, []*memory.Buffer{nil, memory.NewBufferBytes(b)}, nil, 0, 0)
	defer data.Release()
	return array.MakeFromData(data)
}

// slices calls f with pieces of the table of about size bytes, at least once.
func (t *output) slices(size int64, f func(arrow.Record) error) error {
	return batch.Slice(t.record, batch.Rows(size, batch.Width(t.record.Schema())), f)
}
