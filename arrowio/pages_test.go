package arrowio

import (
	"bytes"
	"encoding/binary"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"
	"github.com/apache/arrow/go/v15/parquet"
	"github.com/apache/arrow/go/v15/parquet/compress"
	"github.com/apache/arrow/go/v15/parquet/pqarrow"
	"github.com/klauspost/compress/zstd"

	"github.com/gladflow/gladflow/arrowio/arrowiotest"
	"github.com/gladflow/gladflow/arrowio/batch"
	"github.com/gladflow/gladflow/arrowio/internal/arrowtest"
)

// packedParquet is a table as a Parquet file of one row group.
func packedParquet(t testing.TB, table arrow.Record, codec compress.Compression, dictionary bool) []byte {
	t.Helper()
	var b bytes.Buffer
	w, err := pqarrow.NewFileWriter(table.Schema(), &b, parquet.NewWriterProperties(parquet.WithCompression(codec),
		parquet.WithDictionaryDefault(dictionary), parquet.WithDataPageSize(1<<30), parquet.WithMaxRowGroupLength(1<<30)), pqarrow.DefaultWriterProps())
	if err == nil {
		err = w.Write(table)
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// A small Parquet file that becomes a large table counts as the large table, be
// it compressed or a run of one value.
func TestParquetBomb(t *testing.T) {
	const rows = 1 << 20
	table := arrowiotest.Constant(rows, 4) // 32 MiB
	for _, c := range []struct {
		name   string
		data   []byte
		limits batch.Limits
	}{
		{"run", packedParquet(t, table, compress.Codecs.Uncompressed, true), batch.Limits{Table: 4 << 20}},
		{"zstd, in all", packedParquet(t, table, compress.Codecs.Zstd, false), batch.Limits{Table: 4 << 20}},
		{"zstd, a page", packedParquet(t, table, compress.Codecs.Zstd, false), batch.Limits{Batch: 4 << 20}},
		{"snappy, a page", packedParquet(t, table, compress.Codecs.Snappy, false), batch.Limits{Batch: 4 << 20}},
		{"gzip, a page", packedParquet(t, table, compress.Codecs.Gzip, false), batch.Limits{Batch: 4 << 20}},
		{"brotli, a page", packedParquet(t, table, compress.Codecs.Brotli, false), batch.Limits{Batch: 4 << 20}},
	} {
		var err error
		took := arrowtest.Allocated(func() {
			_, err = readAll(t.Context(), "-", SampleOptions{Format: Parquet, Stdin: bytes.NewReader(c.data), Limits: c.limits})
		})
		wantTooLarge(t, c.name, err)
		if took > 8<<20 {
			t.Errorf("%s: %d bytes of a file of %d took %d", c.name, 32*rows, len(c.data), took)
		}
		if r, err := readAll(t.Context(), "-", SampleOptions{Format: Parquet, Stdin: bytes.NewReader(c.data)}); err != nil || r.rows != rows {
			t.Errorf("%s, without limits: %d rows, %v", c.name, r.rows, err)
		}
	}
}

// Long labels that stand in the file once count once for every row.
func TestBombOfLabels(t *testing.T) {
	const rows = 1000
	words, numbers := array.NewStringBuilder(memory.DefaultAllocator), array.NewFloat64Builder(memory.DefaultAllocator)
	long := string(bytes.Repeat([]byte{'a'}, 1<<16))
	for i := range rows {
		words.Append(long)
		numbers.Append(float64(i))
	}
	schema := arrow.NewSchema([]arrow.Field{{Name: "id", Type: arrow.BinaryTypes.String}, {Name: "a", Type: arrow.PrimitiveTypes.Float64}}, nil)
	data := packedParquet(t, array.NewRecord(schema, []arrow.Array{words.NewArray(), numbers.NewArray()}, rows), compress.Codecs.Uncompressed, true)
	options := SampleOptions{Format: Parquet, IDColumn: "id", Stdin: bytes.NewReader(data), Limits: batch.Limits{Batch: 4 << 20}}
	var err error
	took := arrowtest.Allocated(func() { _, err = readAll(t.Context(), "-", options) })
	wantTooLarge(t, "Parquet", err)
	if took > 32<<20 {
		t.Errorf("it took %d bytes", took)
	}

	list := arrowtest.Packed(t, arrowiotest.ConstantDictionary(1<<20), arrowtest.Codecs()[0].Option)
	for range 100 {
		list = append(list, list[2]) // three rows more
	}
	records, err := batch.NewReader(arrowtest.Replay(list, nil), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer records.Release()
	_, err = readAll(t.Context(), "-", SampleOptions{Records: records, IDColumn: "id", Limits: batch.Limits{Batch: 10 << 20}})
	wantTooLarge(t, "dictionary", err)
}

// Pages that state what cannot come of them are refused.
func TestLiesOfPages(t *testing.T) {
	encoder, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	zeros := encoder.EncodeAll(make([]byte, 1<<20), nil)
	for name, c := range map[string]struct {
		h     pageHeader
		codec compress.Compression
		data  []byte
		fits  bool
	}{
		"good zstd":           {pageHeader{unpacked: 1 << 20}, compress.Codecs.Zstd, zeros, true},
		"zstd that is larger": {pageHeader{unpacked: 100}, compress.Codecs.Zstd, zeros, false},
		"no zstd":             {pageHeader{unpacked: 100}, compress.Codecs.Zstd, make([]byte, 50), false},
		"zstd, too much":      {pageHeader{unpacked: 1 << 30}, compress.Codecs.Zstd, zeros[:20], false},
		"good snappy":         {pageHeader{unpacked: 1 << 10}, compress.Codecs.Snappy, append(binary.AppendUvarint(nil, 1<<10), make([]byte, 100)...), true},
		"large snappy":        {pageHeader{unpacked: 1 << 10}, compress.Codecs.Snappy, append(binary.AppendUvarint(nil, 1<<31), make([]byte, 100)...), false},
		"stored":              {pageHeader{unpacked: 101}, compress.Codecs.Uncompressed, make([]byte, 100), false},
		"gzip":                {pageHeader{unpacked: 1 << 20}, compress.Codecs.Gzip, make([]byte, 100), false},
		"dictionary":          {pageHeader{unpacked: 100, kind: dictionaryPage, pageContents: pageContents{values: 1 << 30}}, compress.Codecs.Uncompressed, make([]byte, 100), false},
	} {
		c.h.packed = int64(len(c.data))
		p := &pageChecker{in: bytes.NewReader(c.data), size: c.h.packed, ended: t.Context().Err}
		if n, err := p.page(c.h, 0, c.codec); (err == nil) != c.fits || c.fits && n != c.h.unpacked {
			t.Errorf("%s: %d bytes, %v", name, n, err)
		}
	}
}

// FuzzPageHeader reads headers of any bytes, and those of a good file as they are.
func FuzzPageHeader(f *testing.F) {
	f.Add(encoded(f, Parquet, wide(3, 2))[4:])
	f.Add([]byte{0x15, 0x04, 0x15, 0x10, 0x15, 0x14, 0x4C, 0x15, 0x02, 0x15, 0x00, 0x12, 0x00, 0x00})
	f.Fuzz(func(t *testing.T, b []byte) {
		h, size, err := readPageHeader(b)
		if err != nil {
			return
		}
		if size < 1 || size > len(b) || min(h.packed, h.unpacked, h.values, h.levels) < 0 {
			t.Errorf("%+v of %d bytes", h, size)
		}
		if again, _, err := readPageHeader(b[:size]); err != nil || again != h {
			t.Errorf("%+v, then %+v, %v", h, again, err)
		}
	})
}

// FuzzZstdFrames holds what is said of frames to what comes of them.
func FuzzZstdFrames(f *testing.F) {
	encoder, err := zstd.NewWriter(nil)
	if err != nil {
		f.Fatal(err)
	}
	decoder, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(64<<20))
	if err != nil {
		f.Fatal(err)
	}
	for _, text := range []string{"", "a", "abcabcabcabcabcabcabc", string(make([]byte, 300<<10))} {
		f.Add(encoder.EncodeAll([]byte(text), nil))
		var b bytes.Buffer
		w, err := zstd.NewWriter(&b, zstd.WithEncoderConcurrency(1))
		if err != nil {
			f.Fatal(err)
		}
		for range 3 {
			w.Write([]byte(text))
			w.Flush()
		}
		w.Close()
		f.Add(b.Bytes())
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		z := zstdFrames{in: bytes.NewReader(b), end: int64(len(b))}
		var refused error
		for z.at < z.end && refused == nil {
			refused = z.frame()
		}
		got, err := decoder.DecodeAll(b, nil)
		if err == nil && (refused != nil || int64(len(got)) > z.most) {
			t.Errorf("%d bytes come of what may make %d, %v", len(got), z.most, refused)
		}
	})
}
