package arrowio

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"testing/iotest"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"
	"github.com/apache/arrow/go/v15/parquet"
	"github.com/apache/arrow/go/v15/parquet/compress"
	"github.com/apache/arrow/go/v15/parquet/pqarrow"
	"pgregory.net/rapid"
)

// throughArrow is a table of Parquet as Arrow reads it.
func throughArrow(t interface{ Fatal(...any) }, data []byte) (values []float64, d int) {
	s, err := openSamples(context.Background(), "-", SampleOptions{Format: Parquet, Stdin: bytes.NewReader(data), KeepMissing: true})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	s.blocks.(*matrix).floats = nil
	for {
		rows, _, err := s.Next()
		if err == io.EOF {
			return values, len(s.Names())
		}
		if err != nil {
			t.Fatal(err)
		}
		values = append(values, rows...)
	}
}

// Columns that are read without Arrow have the same bits as with it, whatever their
// pages, codec, encoding, nulls and size.
func TestFloatColumnsAsArrow(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
		rows, nulls := rapid.IntRange(2, 700).Draw(t, "rows"), rapid.SampledFrom([]float64{0, 0.02, 0.5, 1}).Draw(t, "nulls")
		distinct := rapid.SampledFrom([]int{1, 2, 5, 300, 1 << 30}).Draw(t, "distinct")
		value := func() float64 {
			if distinct < 1<<30 {
				return float64(rng.IntN(distinct)) / 7
			}
			return math.Float64frombits(rng.Uint64()&^(1<<62) | 1)
		}
		optional := nulls > 0 || rapid.Bool().Draw(t, "optional")
		doubles, singles := array.NewFloat64Builder(memory.DefaultAllocator), array.NewFloat32Builder(memory.DefaultAllocator)
		for range rows {
			if rng.Float64() < nulls {
				doubles.AppendNull()
				singles.AppendNull()
				continue
			}
			doubles.Append(value())
			singles.Append(float32(rng.IntN(min(distinct, 1<<20))))
		}
		schema := arrow.NewSchema([]arrow.Field{{Name: "a", Type: arrow.PrimitiveTypes.Float64, Nullable: optional}, {Name: "b", Type: arrow.PrimitiveTypes.Float32, Nullable: optional}}, nil)
		record := array.NewRecord(schema, []arrow.Array{doubles.NewArray(), singles.NewArray()}, int64(rows))
		var b bytes.Buffer
		version := rapid.SampledFrom([]parquet.DataPageVersion{parquet.DataPageV1, parquet.DataPageV2}).Draw(t, "version")
		w, err := pqarrow.NewFileWriter(schema, &b, parquet.NewWriterProperties(
			parquet.WithCompression(rapid.SampledFrom([]compress.Compression{compress.Codecs.Uncompressed, compress.Codecs.Snappy, compress.Codecs.Zstd, compress.Codecs.Gzip}).Draw(t, "codec")),
			parquet.WithDictionaryDefault(rapid.Bool().Draw(t, "dictionary")), parquet.WithDataPageVersion(version),
			parquet.WithDataPageSize(int64(rapid.IntRange(64, 4096).Draw(t, "page"))), parquet.WithDictionaryPageSizeLimit(int64(rapid.IntRange(64, 4096).Draw(t, "dictionary page"))),
			parquet.WithBatchSize(int64(rapid.IntRange(1, 100).Draw(t, "batch"))),
			parquet.WithMaxRowGroupLength(int64(rapid.IntRange(10, 1000).Draw(t, "group")))), pqarrow.DefaultWriterProps())
		if err == nil {
			err = w.Write(record)
		}
		if err == nil {
			err = w.Close()
		}
		if err != nil {
			t.Fatal(err)
		}
		want, d := throughArrow(t, b.Bytes())
		s, err := OpenSamples(context.Background(), "-", SampleOptions{Format: Parquet, Stdin: bytes.NewReader(b.Bytes()), KeepMissing: true})
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		if s.blocks.(*matrix).floats == nil {
			t.Fatal("Arrow reads it")
		}
		var got []float64
		for {
			rows, _, err := s.Next()
			if err == io.EOF {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, rows...)
		}
		if len(got) != len(want) || d != 2 {
			t.Fatalf("%d values of %d", len(got), len(want))
		}
		for i, v := range want {
			if math.Float64bits(got[i]) != math.Float64bits(v) && !(v != v && got[i] != got[i]) {
				t.Fatalf("value %d is %v, want %v", i, got[i], v)
			}
		}
		missing, _ := s.Missing()
		if n := countNaN(want); missing != n {
			t.Errorf("%d missing, want %d", missing, n)
		}
	})
}

func countNaN(values []float64) (n int) {
	for _, v := range values {
		if v != v {
			n++
		}
	}
	return n
}

// Bit-packed numbers of every width are what was packed.
func TestHybrid(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		width := rapid.IntRange(0, 32).Draw(t, "width")
		var b []byte
		var want []uint32
		for range rapid.IntRange(1, 5).Draw(t, "runs") {
			if rapid.Bool().Draw(t, "packed") {
				groups := rapid.IntRange(1, 4).Draw(t, "groups")
				b = append(b, byte(groups<<1|1))
				bits := make([]byte, groups*width)
				for i := range 8 * groups {
					v := uint32(rapid.Uint64().Draw(t, "v") & (1<<width - 1))
					want = append(want, v)
					for k := range width {
						if at := i*width + k; v>>k&1 == 1 {
							bits[at/8] |= 1 << (at % 8)
						}
					}
				}
				b = append(b, bits...)
				continue
			}
			n := rapid.IntRange(1, 60).Draw(t, "n")
			v := uint32(rapid.Uint64().Draw(t, "v") & (1<<width - 1))
			b = append(b, byte(n<<1))
			for k := range (width + 7) / 8 {
				b = append(b, byte(v>>(8*k)))
			}
			want = append(want, slices.Repeat([]uint32{v}, n)...)
		}
		h := hybrid{b: b, width: width, mask: 1<<width - 1}
		var got []uint32
		for len(got) < len(want) {
			some := make([]uint32, min(len(want)-len(got), rapid.IntRange(1, 20).Draw(t, "some")))
			if err := h.decode(some); err != nil {
				t.Fatal(err)
			}
			got = append(got, some...)
		}
		if !slices.Equal(got, want) {
			t.Fatalf("%v, want %v", got, want)
		}
		if err := h.decode(make([]uint32, 1)); err == nil {
			t.Error("more numbers than there are")
		}
	})
}

// A value that is not finite is where it is, with its kind.
func TestFloatColumnFaults(t *testing.T) {
	for name, c := range map[string]struct {
		at   float64
		want string
	}{"infinite": {math.Inf(-1), "infinite"}, "NaN": {math.NaN(), "NaN"}} {
		values := []float64{1, 2, 3, 4}
		values[2] = c.at
		_, err := readAll(t.Context(), "-", SampleOptions{Format: Parquet, Stdin: bytes.NewReader(encoded(t, Parquet, []Column{{"a", []float64{1, 2, 3, 5}}, {"b", values}}))})
		wantInputError(t, err, fmt.Sprintf(`column "b", row 3: %s`, map[bool]string{true: "the value is infinite", false: "NaN"}[name == "infinite"]))
	}
}

// What is read ahead is what there is, with its error at the end of it, and a reader that
// is left early ends.
func TestReadAhead(t *testing.T) {
	want := bytes.Repeat([]byte("0123456789"), 1<<18)
	broken := errors.New("broken")
	r, stop := readAheadOf(io.MultiReader(bytes.NewReader(want), iotest.ErrReader(broken)))
	got, err := io.ReadAll(r)
	if !bytes.Equal(got, want) || !errors.Is(err, broken) {
		t.Errorf("%d bytes of %d, %v", len(got), len(want), err)
	}
	stop()
	r, stop = readAheadOf(bytes.NewReader(want))
	if _, err := io.ReadFull(r, make([]byte, 100)); err != nil {
		t.Error(err)
	}
	stop()
	<-r.(*ahead).done
}
