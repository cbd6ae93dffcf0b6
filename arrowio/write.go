package arrowio

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/csv"
	"github.com/apache/arrow/go/v15/arrow/ipc"
	"github.com/apache/arrow/go/v15/arrow/memory"
	"github.com/apache/arrow/go/v15/parquet"
	"github.com/apache/arrow/go/v15/parquet/compress"
	"github.com/apache/arrow/go/v15/parquet/pqarrow"

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

// Formats in which tables are written.
const (
	Parquet = "parquet"
	Arrow   = "arrow"
	CSV     = "csv"
)

// CheckFormat returns an InputError for a format that WriteTable does not
// write.
func CheckFormat(format string) error {
	switch format {
	case Parquet, Arrow, CSV:
		return nil
	}
	return fault("output", "the format %q is unknown; use parquet, arrow or csv", format)
}

// WriteTable writes columns of equal length to path: as Parquet (snappy, one
// row group, dictionaries for strings only), as an Arrow IPC file, or as CSV
// with a header, whose floats read back to the same bits. path has its
// extension already, by custom "."+format.
//
// metadata goes into the schema of Parquet and IPC; for CSV into the
// companion path-metadata.json, as CSV on the Web (W3C, 2015) calls it, under
// notes. Keys are "gladflow." and a word by custom.
//
// The file appears under its name when it is whole and on disk, and not at
// all when an error is returned; a file that was there before is replaced.
func WriteTable(path, format string, columns []Column, metadata map[string]string) error {
	if err := CheckFormat(format); err != nil {
		return err
	}
	t, err := newOutput(columns, metadata)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	defer t.record.Release()
	file, err := stage(path, func(w io.Writer) error { return t.encode(w, format) })
	if err != nil {
		return fmt.Errorf("writing %s: %w", path, err)
	}
	if format == CSV {
		err = commitWithSidecar(file, path, t.record.Schema())
	} else {
		err = file.commit()
	}
	if err != nil {
		return fmt.Errorf("writing %s: %w", path, err)
	}
	return nil
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

func (t *output) encode(w io.Writer, format string) error {
	return batch.Guard(func() error {
		switch format {
		case Parquet:
			return t.encodeParquet(w)
		case Arrow:
			return t.encodeArrow(w)
		}
		return t.encodeCSV(w)
	})
}

// slices calls f with pieces of the table of about size bytes, at least once.
func (t *output) slices(size int64, f func(arrow.Record) error) error {
	return batch.Slice(t.record, batch.Rows(size, batch.Width(t.record.Schema())), f)
}

func (t *output) encodeParquet(w io.Writer) error {
	options := []parquet.WriterProperty{
		parquet.WithAllocator(t.mem),
		parquet.WithCompression(compress.Codecs.Snappy),
		// Dictionaries of floats cost four times what they save.
		parquet.WithDictionaryDefault(false),
	}
	for _, f := range t.record.Schema().Fields() {
		if f.Type.ID() == arrow.STRING {
			options = append(options, parquet.WithDictionaryFor(f.Name, true))
		}
	}
	p, err := pqarrow.NewFileWriter(t.record.Schema(), struct{ io.Writer }{w}, parquet.NewWriterProperties(options...),
		pqarrow.NewArrowWriterProperties(pqarrow.WithStoreSchema(), pqarrow.WithAllocator(t.mem)))
	if err != nil {
		return err
	}
	if err := p.Write(t.record); err != nil {
		return err
	}
	return p.Close()
}

func (t *output) encodeArrow(w io.Writer) error {
	p := &positioned{w: w}
	a, err := ipc.NewFileWriter(p, ipc.WithSchema(t.record.Schema()), ipc.WithAllocator(t.mem))
	if err != nil {
		return err
	}
	if err := t.slices(t.batch, a.Write); err != nil {
		return err
	}
	// Arrow 15 leaves out the mark that ends the stream inside of a file.
	if _, err := p.Write([]byte{0xFF, 0xFF, 0xFF, 0xFF, 0, 0, 0, 0}); err != nil {
		return err
	}
	return a.Close()
}

// positioned tells Arrow where in the file it is, which is all that it seeks.
type positioned struct {
	w  io.Writer
	at int64
}

func (p *positioned) Write(b []byte) (int, error) {
	n, err := p.w.Write(b)
	p.at += int64(n)
	return n, err
}

func (p *positioned) Seek(offset int64, whence int) (int64, error) {
	if offset != 0 || whence != io.SeekCurrent {
		return 0, errors.New("the output cannot be rewound")
	}
	return p.at, nil
}

func (t *output) encodeCSV(w io.Writer) error {
	c := csv.NewWriter(w, t.record.Schema(), csv.WithHeader(true))
	if err := t.slices(t.batch/32, c.Write); err != nil {
		return err
	}
	return c.Flush()
}
