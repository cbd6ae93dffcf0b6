package arrowio

import (
	"encoding/base64"
	"fmt"
	"io"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/flight"
	"github.com/apache/arrow/go/v15/parquet"
	"github.com/apache/arrow/go/v15/parquet/compress"
	"github.com/apache/arrow/go/v15/parquet/file"
	"github.com/apache/arrow/go/v15/parquet/metadata"
	"github.com/apache/arrow/go/v15/parquet/pqarrow"

	"github.com/gladflow/gladflow/arrowio/batch"
)

// parquetEncoding writes Parquet files.
//
// It writes the columns itself, to the same bytes as pqarrow.FileWriter: that
// one links every kernel of arrow/compute, 12 MB, to cast dictionaries, which no
// output has.
func parquetEncoding() encoding {
	return encoding{name: Parquet, title: "Parquet file", encode: (*output).encodeParquet}
}

func (t *output) encodeParquet(w io.Writer) error {
	schema := t.record.Schema()
	options := []parquet.WriterProperty{
		parquet.WithAllocator(t.mem),
		parquet.WithCompression(compress.Codecs.Snappy),
		// Dictionaries of floats cost four times what they save.
		parquet.WithDictionaryDefault(false),
	}
	for _, f := range schema.Fields() {
		if f.Type.ID() == arrow.STRING {
			options = append(options, parquet.WithDictionaryFor(f.Name, true))
		}
	}
	if t.rowGroup > 0 {
		options = append(options, parquet.WithMaxRowGroupLength(t.rowGroup))
	}
	properties := parquet.NewWriterProperties(options...)
	columns, err := pqarrow.ToParquet(schema, properties, pqarrow.DefaultWriterProps())
	if err != nil {
		return err
	}
	meta := metadata.NewKeyValueMetadata()
	for i, key := range schema.Metadata().Keys() {
		if err := meta.Append(key, schema.Metadata().Values()[i]); err != nil {
			return err
		}
	}
	if err := meta.Append(schemaKey, base64.StdEncoding.EncodeToString(flight.SerializeSchema(schema, t.mem))); err != nil {
		return err
	}
	// As a plain writer, which file.Writer does not close.
	p := file.NewParquetWriter(struct{ io.Writer }{w}, columns.Root(), file.WithWriterProps(properties), file.WithWriteMetadata(meta))
	err = batch.Slice(t.record, properties.MaxRowGroupLength(), func(record arrow.Record) error {
		return writeRowGroup(p.AppendRowGroup(), record)
	})
	if err != nil {
		return err
	}
	return p.Close()
}

// writeRowGroup writes a record as one row group.
func writeRowGroup(group file.SerialRowGroupWriter, record arrow.Record) error {
	for _, column := range record.Columns() {
		to, err := group.NextColumn()
		if err != nil {
			return err
		}
		if column.Len() == 0 {
			continue
		}
		if err := writeColumn(to, column); err != nil {
			return err
		}
	}
	return group.Close()
}

// writeColumn writes a column of one of newArray's types, none of which has
// nulls.
func writeColumn(to file.ColumnChunkWriter, column arrow.Array) (err error) {
	switch to := to.(type) {
	case *file.ByteArrayColumnChunkWriter:
		a := column.(*array.String)
		values := make([]parquet.ByteArray, a.Len())
		for i := range values {
			values[i] = parquet.ByteArray(a.Value(i))
		}
		_, err = to.WriteBatch(values, nil, nil)
	case *file.FixedLenByteArrayColumnChunkWriter:
		a := column.(*array.FixedSizeBinary)
		values := make([]parquet.FixedLenByteArray, a.Len())
		for i := range values {
			values[i] = a.Value(i)
		}
		_, err = to.WriteBatch(values, nil, nil)
	case *file.Float64ColumnChunkWriter:
		_, err = to.WriteBatch(column.(*array.Float64).Float64Values(), nil, nil)
	case *file.Int64ColumnChunkWriter:
		_, err = to.WriteBatch(column.(*array.Int64).Int64Values(), nil, nil)
	case *file.Int32ColumnChunkWriter:
		var values []int32
		switch a := column.(type) {
		case *array.Int32:
			values = a.Int32Values()
		case *array.Int8:
			values = make([]int32, a.Len())
			for i, v := range a.Int8Values() {
				values[i] = int32(v)
			}
		}
		_, err = to.WriteBatch(values, nil, nil)
	case *file.BooleanColumnChunkWriter:
		a := column.(*array.Boolean)
		values := make([]bool, a.Len())
		for i := range values {
			values[i] = a.Value(i)
		}
		_, err = to.WriteBatch(values, nil, nil)
	default:
		err = fmt.Errorf("columns of type %s are not written", column.DataType())
	}
	return err
}
