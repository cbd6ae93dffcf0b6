package arrowio

import (
	"io"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/parquet"
	"github.com/apache/arrow/go/v15/parquet/compress"
	"github.com/apache/arrow/go/v15/parquet/pqarrow"
)

// parquetEncoding writes Parquet files.
func parquetEncoding() encoding {
	return encoding{name: Parquet, title: "Parquet file", encode: (*output).encodeParquet}
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
