package arrowio

import (
	"bytes"
	"context"
	"encoding/json"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gladflow/gladflow/arrowio/internal/arrowtest"
)

// python runs a script with pyarrow in a folder and returns what it prints.
func python(t *testing.T, folder, script string) []byte {
	t.Helper()
	if exec.Command("python3", "-c", "import pyarrow").Run() != nil {
		t.Skip("python3 with pyarrow is not installed")
	}
	c := exec.Command("python3", "-c", script)
	c.Dir = folder
	var stderr bytes.Buffer
	c.Stderr = &stderr
	out, err := c.Output()
	if err != nil {
		t.Fatalf("%v: %s", err, stderr.String())
	}
	return out
}

const pyarrowReads = `
import json, struct, pyarrow as pa, pyarrow.parquet as pq, pyarrow.feather as feather
out = {}
for name in ["edges", "precision", "dense", "empty"]:
    for suffix, read in [("parquet", pq.read_table), ("arrow", feather.read_table)]:
        t = read(f"{name}.{suffix}")
        meta = {k.decode(): v.decode() for k, v in (t.schema.metadata or {}).items()}
        out[f"{name}.{suffix}"] = {
            "schema": [f"{f.name}: {f.type}" for f in t.schema],
            "nulls": sum(c.null_count for c in t.columns),
            "rows": t.num_rows, "first": {k: (struct.unpack("<3d", v[0]) if isinstance(v[0], bytes) else v[0]) for k, v in t.to_pydict().items() if v},
            "meta": meta}
print(json.dumps(out))
`

// pyarrow, the reader that users have, sees the columns, types, values and
// metadata of what this package writes.
func TestPyarrowReadsOurs(t *testing.T) {
	folder := t.TempDir()
	names := []string{"a", "b", "ç"}
	a := square{3, []float64{2, 0.5, 0, 0.5, 3, 0, 0, 0, 1}}
	meta := map[string]string{"gladflow.version": "test", "gladflow.job": `{"é":1}`}
	for _, format := range []string{Parquet, Arrow} {
		path := func(name string) string { return filepath.Join(folder, name+"."+format) }
		for _, err := range []error{
			WriteEdges(path("edges"), format, []Edge{{"a", "b", 0.25, -0.5, 0.2}}, meta),
			WritePrecision(path("precision"), format, names, a, meta),
			WriteDensePrecision(path("dense"), format, names, a, meta),
			WriteEdges(path("empty"), format, nil, meta),
		} {
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	var got map[string]struct {
		Schema []string
		Nulls  int
		Rows   int
		First  map[string]any
		Meta   map[string]string
	}
	if err := json.Unmarshal(python(t, folder, pyarrowReads), &got); err != nil {
		t.Fatal(err)
	}
	edges := []string{"source: string", "target: string", "score: double", "precision: double", "partial_correlation: double", "sign: int8"}
	want := map[string]struct {
		schema []string
		rows   int
		first  string
	}{
		"edges":     {edges, 1, `{"partial_correlation":0.2,"precision":-0.5,"score":0.25,"sign":1,"source":"a","target":"b"}`},
		"precision": {[]string{"row: string", "column: string", "value: double"}, 4, `{"column":"a","row":"a","value":2}`},
		"dense":     {[]string{"variable: string", "values: fixed_size_binary[24]"}, 3, `{"values":[2,0.5,0],"variable":"a"}`},
		"empty":     {edges, 0, `{}`},
	}
	for name, w := range want {
		for _, format := range []string{Parquet, Arrow} {
			g := got[name+"."+format]
			first, _ := json.Marshal(g.First)
			if !slices.Equal(g.Schema, w.schema) || g.Rows != w.rows || g.Nulls != 0 || string(first) != w.first {
				t.Errorf("%s.%s: %v, first %s", name, format, g, first)
			}
			for k, v := range meta {
				if g.Meta[k] != v {
					t.Errorf("%s.%s: metadata %s is %q", name, format, k, g.Meta[k])
				}
			}
		}
	}
}

const pyarrowWrites = `
import pyarrow as pa, pyarrow.parquet as pq, pyarrow.feather as feather, json
n = 1000
ids = [f"s{i}" for i in range(n)]
cols = {
    "id": pa.array(ids), "f64": pa.array([i / 7 for i in range(n)]),
    "f32": pa.array([i / 4 for i in range(n)], pa.float32()),
    "i8": pa.array([i % 100 for i in range(n)], pa.int8()),
    "u16": pa.array([i % 999 for i in range(n)], pa.uint16()),
    "i32": pa.array(range(n), pa.int32()), "i64": pa.array(range(n), pa.int64()), "u64": pa.array(range(n), pa.uint64())}
plain = pa.table(cols)
pq.write_table(plain, "groups.parquet", row_group_size=77)
pq.write_table(plain, "v2.parquet", data_page_version="2.0", compression="zstd", use_dictionary=False, data_page_size=512)
pq.write_table(plain, "brotli.parquet", compression="brotli", version="1.0")
pq.write_table(plain, "gzip.parquet", compression="gzip")
pq.write_table(plain, "lz4.parquet", compression="lz4")
pq.write_table(plain, "split.parquet", use_dictionary=False, column_encoding={"f64": "BYTE_STREAM_SPLIT"})
for name, ty in [("large", pa.large_string()), ("dictionary", pa.dictionary(pa.int32(), pa.string()))]:
    t = plain.set_column(0, "id", plain["id"].cast(ty) if name == "large" else plain["id"].dictionary_encode())
    pq.write_table(t, f"{name}.parquet", row_group_size=300)
    feather.write_feather(t, f"{name}.arrow", compression="uncompressed", chunksize=300)
for c in ["uncompressed", "lz4", "zstd"]:
    feather.write_feather(plain, f"{c}.feather", compression=c, chunksize=300)
with pa.ipc.new_stream("stream.arrows", plain.schema) as w:
    for b in plain.to_batches(100): w.write_batch(b)
with pa.ipc.new_stream("dictionary.arrows", t.schema) as w:
    for b in t.to_batches(100): w.write_batch(b)
lists = pa.FixedSizeListArray.from_arrays(pa.array([float(i) for i in range(3 * n)]), 3)
listed = pa.table([pa.array(ids), lists], schema=pa.schema([pa.field("id", pa.string()),
    pa.field("x", lists.type, metadata={"gladflow.names": json.dumps(["a", "b", "c"])})]))
pq.write_table(listed, "list.parquet", row_group_size=300)
feather.write_feather(listed, "list.arrow")
for name, f64 in [("null", [None if i == 500 else i / 7 for i in range(n)]), ("nan", [float("nan") if i == 500 else i / 7 for i in range(n)])]:
    t = plain.set_column(1, "f64", pa.array(f64, pa.float64()))
    pq.write_table(t, f"{name}.parquet", row_group_size=77)
    feather.write_feather(t, f"{name}.arrow")
for name, column in [("decimal", pa.array([1] * n).cast(pa.decimal128(30, 2))), ("time", pa.array([1] * n).cast(pa.timestamp("us"))),
        ("bool", pa.array([True] * n)), ("struct", pa.array([{"a": 1}] * n)), ("ragged", pa.array([[1.0]] * n)),
        ("numbers", pa.array([1.5] * n).dictionary_encode())]:
    t = plain.set_column(1, "f64", column)
    pq.write_table(t, f"{name}.parquet")
    feather.write_feather(t, f"{name}.arrow")
`

// What pyarrow writes by default and by option is read to the last bit.
func TestWeReadPyarrow(t *testing.T) {
	folder := t.TempDir()
	python(t, folder, pyarrowWrites)
	const n = 1000
	want := make([]float64, 0, 7*n)
	for i := range n {
		f := float64(i)
		want = append(want, f/7, f/4, float64(i%100), float64(i%999), f, f, f)
	}
	good := []string{"groups.parquet", "v2.parquet", "brotli.parquet", "gzip.parquet", "large.parquet", "dictionary.parquet",
		"large.arrow", "dictionary.arrow", "uncompressed.feather", "lz4.feather", "zstd.feather", "stream.arrows", "dictionary.arrows"}
	for _, name := range good {
		t.Run(name, func(t *testing.T) {
			r, err := readAll(context.Background(), filepath.Join(folder, name), SampleOptions{IDColumn: "id", Memory: arrowtest.Checked(t)})
			if err != nil {
				t.Fatal(err)
			}
			if r.rows != n || len(r.ids) != n || r.ids[0] != "s0" || r.ids[n-1] != "s999" || !slices.Equal(r.values, want) {
				t.Errorf("%d rows, %d ids, first %v", r.rows, len(r.ids), r.values[:7])
			}
			if strings.Join(r.names, " ") != "f64 f32 i8 u16 i32 i64 u64" {
				t.Errorf("names are %v", r.names)
			}
		})
	}
	for _, name := range []string{"list.parquet", "list.arrow"} {
		t.Run(name, func(t *testing.T) {
			r, err := readAll(context.Background(), filepath.Join(folder, name), SampleOptions{IDColumn: "id", Memory: arrowtest.Checked(t)})
			if err != nil {
				t.Fatal(err)
			}
			if strings.Join(r.names, "") != "abc" || r.rows != n || r.values[3*n-1] != 3*n-1 {
				t.Errorf("names %v, %d rows", r.names, r.rows)
			}
		})
	}
	for name, word := range map[string]string{"split.parquet": "BYTE_STREAM_SPLIT", "lz4.parquet": "compression"} {
		_, err := readAll(context.Background(), filepath.Join(folder, name), SampleOptions{IDColumn: "id", Memory: arrowtest.Checked(t)})
		wantInputError(t, err, word, "write the file with")
	}
	bad := map[string][]string{
		"null":    {"missing", "row 501"},
		"nan":     {"missing", "row 501"},
		"decimal": {"decimal"},
		"time":    {"timestamp"},
		"bool":    {"booleans", `SampleOptions.IDColumn = "f64"`},
		"struct":  {"struct"},
		"ragged":  {"list"},
		"numbers": {},
	}
	for name, words := range bad {
		for _, suffix := range []string{".parquet", ".arrow"} {
			t.Run(name+suffix, func(t *testing.T) {
				_, err := readAll(context.Background(), filepath.Join(folder, name+suffix), SampleOptions{IDColumn: "id", Memory: arrowtest.Checked(t)})
				if err == nil && name == "numbers" && suffix == ".parquet" {
					return // Parquet keeps the numbers; the dictionary was only its encoding
				}
				wantInputError(t, err, append(words, `column "f64"`)...)
			})
		}
	}
}
