package arrowio

import (
	"bytes"
	"encoding/binary"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"
	"github.com/apache/arrow/go/v15/parquet"
	"github.com/apache/arrow/go/v15/parquet/compress"
	"github.com/apache/arrow/go/v15/parquet/pqarrow"
	"github.com/klauspost/compress/zstd"

	"github.com/gladflow/gladflow/arrowio/batch"
	"github.com/gladflow/gladflow/arrowio/internal/arrowtest"
)

// deltaHead is the head of numbers in DELTA_BINARY_PACKED.
func deltaHead(block, minis, values uint64, first int64) []byte {
	b := binary.AppendUvarint(nil, block)
	b = binary.AppendUvarint(b, minis)
	b = binary.AppendUvarint(b, values)
	return binary.AppendVarint(b, first)
}

// constantDeltas are so many numbers, at most 129, all the same.
func constantDeltas(values uint64, v int64) []byte {
	b := deltaHead(128, 4, values, v)
	if values > 1 {
		b = append(b, make([]byte, 5)...) // the least delta, and four widths
	}
	return b
}

// A page of a few bytes in a delta encoding that states millions of values, or
// blocks of millions, is refused, and takes nothing.
func TestLiesOfDeltas(t *testing.T) {
	const many = 1 << 31
	for name, c := range map[string]struct {
		kind, encoding int64
		body           []byte
	}{
		"values of numbers":   {parquetInt64, deltaNumbers, deltaHead(128, 4, many, 0)},
		"a block of numbers":  {parquetInt64, deltaNumbers, append(deltaHead(many, 1, 3, 0), make([]byte, 100)...)},
		"miniblocks":          {parquetInt64, deltaNumbers, append(deltaHead(many, many/32, 3, 0), make([]byte, 100)...)},
		"no miniblocks":       {parquetInt64, deltaNumbers, deltaHead(128, 0, 3, 0)},
		"no block":            {parquetInt64, deltaNumbers, deltaHead(0, 1, 3, 0)},
		"values of lengths":   {parquetText, deltaLengths, deltaHead(128, 4, many, 0)},
		"values of prefixes":  {parquetText, deltaByteArrays, deltaHead(128, 4, many, 0)},
		"values of suffixes":  {parquetText, deltaByteArrays, append(constantDeltas(3, 0), deltaHead(128, 4, many, 0)...)},
		"prefix of the first": {parquetText, deltaByteArrays, append(constantDeltas(3, 7), constantDeltas(3, 0)...)},
		"nothing":             {parquetInt64, deltaNumbers, nil},
	} {
		page := dataPageOf(c.encoding, 3, int64(len(c.body)), c.body)
		data := crafted{kind: c.kind, values: 3, pages: page}.file()
		label := ""
		if c.kind == parquetText {
			label = "a"
		}
		var err error
		took := arrowtest.Allocated(func() {
			_, err = readAll(t.Context(), "-", SampleOptions{Format: Parquet, Stdin: bytes.NewReader(data), IDColumn: label})
		})
		var input *InputError
		if !errors.As(err, &input) || took > 256<<20 || !strings.Contains(input.Reason, errDeltas.Error()) {
			t.Errorf("%s: %d bytes, %v", name, took, err)
		}
	}
}

// Labels that share a long prefix count as what they are, packed or not.
func TestBombOfPrefixes(t *testing.T) {
	const rows, long = 129, 1 << 20
	prefixes := deltaHead(128, 4, rows, 0) // 0, then long each time
	prefixes = binary.AppendVarint(prefixes, 0)
	prefixes = append(prefixes, 32, 0, 0, 0) // the first of 32 bits, the others of none
	prefixes = binary.LittleEndian.AppendUint32(prefixes, long)
	prefixes = append(prefixes, make([]byte, 31*4)...)
	suffixes := deltaHead(128, 4, rows, long)
	suffixes = binary.AppendVarint(suffixes, 0) // long, then 1 each time
	suffixes = append(suffixes, 64, 0, 0, 0)
	suffixes = binary.LittleEndian.AppendUint64(suffixes, ^uint64(long-2)) // 1−long
	suffixes = append(suffixes, make([]byte, 31*8)...)
	body := slices.Concat(prefixes, suffixes, make([]byte, long+rows-1))
	encoder, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	packed := encoder.EncodeAll(body, nil)
	for name, c := range map[string]crafted{
		"plain": {kind: parquetText, values: rows, pages: dataPageOf(deltaByteArrays, rows, int64(len(body)), body)},
		"zstd":  {kind: parquetText, codec: 6, values: rows, pages: dataPageOf(deltaByteArrays, rows, int64(len(body)), packed)},
	} {
		read := func(l batch.Limits) error {
			_, err := readAll(t.Context(), "-", SampleOptions{Format: Parquet, Stdin: bytes.NewReader(c.file()), IDColumn: "a", Limits: l})
			return err
		}
		var err error
		took := arrowtest.Allocated(func() { err = read(batch.Limits{Batch: 16 << 20}) })
		wantTooLarge(t, name, err)
		if took > 96<<20 {
			t.Errorf("%s: it took %d bytes", name, took)
		}
		// Without the limit Arrow agrees on what they are.
		if err := read(batch.Limits{}); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// What Arrow writes in delta encodings is read, with nulls and without, packed or not.
func TestDeltasAreRead(t *testing.T) {
	for _, codec := range []compress.Compression{compress.Codecs.Uncompressed, compress.Codecs.Zstd, compress.Codecs.Snappy} {
		for _, version := range []parquet.DataPageVersion{parquet.DataPageV1, parquet.DataPageV2} {
			for _, labels := range []parquet.Encoding{parquet.Encodings.DeltaByteArray, parquet.Encodings.DeltaLengthByteArray} {
				const rows = 5000
				words, numbers := array.NewStringBuilder(memory.DefaultAllocator), array.NewInt64Builder(memory.DefaultAllocator)
				for i := range rows {
					words.Append("sample " + strings.Repeat("x", i%7) + string(rune('a'+i%26)))
					numbers.Append(int64(i*i%1009) - 500)
				}
				schema := arrow.NewSchema([]arrow.Field{{Name: "id", Type: arrow.BinaryTypes.String}, {Name: "a", Type: arrow.PrimitiveTypes.Int64, Nullable: true}}, nil)
				table := array.NewRecord(schema, []arrow.Array{words.NewArray(), numbers.NewArray()}, rows)
				var b bytes.Buffer
				w, err := pqarrow.NewFileWriter(schema, &b, parquet.NewWriterProperties(parquet.WithCompression(codec), parquet.WithDataPageVersion(version),
					parquet.WithDictionaryDefault(false), parquet.WithEncodingFor("id", labels), parquet.WithEncodingFor("a", parquet.Encodings.DeltaBinaryPacked)), pqarrow.DefaultWriterProps())
				if err == nil {
					err = w.Write(table)
				}
				if err == nil {
					err = w.Close()
				}
				if err != nil {
					t.Fatal(err)
				}
				got, err := readAll(t.Context(), "-", SampleOptions{Format: Parquet, Stdin: bytes.NewReader(b.Bytes()), IDColumn: "id"})
				if err != nil || got.rows != rows || got.values[1234] != float64(1234*1234%1009-500) {
					t.Errorf("%s, %v, %s: %d rows, %v", codec, version, labels, got.rows, err)
				}
			}
		}
	}
}

// FuzzDeltas reads any bytes as a page of a delta encoding: what is accepted is read
// with the memory that was counted, or refused by Arrow.
func FuzzDeltas(f *testing.F) {
	f.Add(constantDeltas(3, 5), uint8(0))
	f.Add(append(constantDeltas(3, 0), "abc"...), uint8(1))
	f.Add(append(append(constantDeltas(3, 0), constantDeltas(3, 1)...), "abc"...), uint8(2))
	f.Fuzz(func(t *testing.T, body []byte, which uint8) {
		const values = 129
		encoding := int64(deltaNumbers + which%3)
		kind, label := int64(parquetText), "a"
		if encoding == deltaNumbers {
			kind, label = parquetInt64, ""
		}
		takes, err := deltasTake(body, encoding, values)
		if err != nil {
			return
		}
		data := crafted{kind: kind, values: values, pages: dataPageOf(encoding, values, int64(len(body)), body)}.file()
		took := arrowtest.Allocated(func() {
			_, err = readAll(t.Context(), "-", SampleOptions{Format: Parquet, Stdin: bytes.NewReader(data), IDColumn: label})
		})
		mustBeInput(t, err)
		if took > 256<<20+8*(takes+int64(len(body))) {
			t.Errorf("%d bytes that take %d have taken %d", len(body), takes, took)
		}
	})
}
