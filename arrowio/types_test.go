package arrowio

import (
	"bytes"
	"context"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/ipc"
	"github.com/apache/arrow/go/v15/arrow/memory"
	"github.com/apache/arrow/go/v15/parquet"
	"github.com/apache/arrow/go/v15/parquet/pqarrow"

	"github.com/gladflow/gladflow/arrowio/batch"
	"github.com/gladflow/gladflow/arrowio/internal/arrowtest"
)

// record makes a record of JSON rows.
func record(t testing.TB, sch *arrow.Schema, rows string) arrow.Record {
	t.Helper()
	r, _, err := array.RecordFromJSON(memory.DefaultAllocator, sch, strings.NewReader(rows))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// fileOf encodes a record the way other programs do, not through this package.
func fileOf(t testing.TB, format string, r arrow.Record) []byte {
	t.Helper()
	var b bytes.Buffer
	var err error
	switch format {
	case "parquet":
		var w *pqarrow.FileWriter
		if w, err = pqarrow.NewFileWriter(r.Schema(), struct{ *bytes.Buffer }{&b}, parquet.NewWriterProperties(), pqarrow.NewArrowWriterProperties(pqarrow.WithStoreSchema())); err == nil {
			err = w.Write(r)
		}
		if err == nil {
			err = w.Close()
		}
	case "arrow":
		var w *ipc.FileWriter
		if w, err = ipc.NewFileWriter(&positioned{w: &b}, ipc.WithSchema(r.Schema())); err == nil {
			err = w.Write(r)
		}
		if err == nil {
			err = w.Close()
		}
	case "arrows":
		w := ipc.NewWriter(&b, ipc.WithSchema(r.Schema()))
		err = w.Write(r)
		if err == nil {
			err = w.Close()
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func fields(pairs ...any) *arrow.Schema {
	var f []arrow.Field
	for i := 0; i < len(pairs); i += 2 {
		f = append(f, arrow.Field{Name: pairs[i].(string), Type: pairs[i+1].(arrow.DataType), Nullable: true})
	}
	return arrow.NewSchema(f, nil)
}

// Every numeric type becomes float64, labels may be of any type.
func TestSampleTypes(t *testing.T) {
	for _, typ := range []arrow.DataType{
		arrow.PrimitiveTypes.Float64, arrow.PrimitiveTypes.Float32,
		arrow.PrimitiveTypes.Int8, arrow.PrimitiveTypes.Int16, arrow.PrimitiveTypes.Int32, arrow.PrimitiveTypes.Int64,
		arrow.PrimitiveTypes.Uint8, arrow.PrimitiveTypes.Uint16, arrow.PrimitiveTypes.Uint32, arrow.PrimitiveTypes.Uint64,
	} {
		for _, format := range []string{"parquet", "arrow", "arrows"} {
			r := record(t, fields("x", typ, "y", typ), `[{"x":1,"y":2},{"x":3,"y":4},{"x":127,"y":0}]`)
			got, err := readAll(context.Background(), "-", SampleOptions{Stdin: bytes.NewReader(fileOf(t, format, r)), Memory: arrowtest.Checked(t)})
			if err != nil || !slices.Equal(got.values, []float64{1, 2, 3, 4, 127, 0}) {
				t.Errorf("%s, %s: %v, %v", typ, format, got.values, err)
			}
		}
	}
	for typ, rows := range map[arrow.DataType]string{
		arrow.BinaryTypes.LargeString:     `[{"id":"7","y":2},{"id":"8","y":4}]`,
		arrow.PrimitiveTypes.Int32:        `[{"id":7,"y":2},{"id":8,"y":4}]`,
		arrow.FixedWidthTypes.Timestamp_s: `[{"id":"1970-01-01 00:00:07","y":2},{"id":"1970-01-01 00:00:08","y":4}]`,
		arrow.FixedWidthTypes.Date32:      `[{"id":"2020-01-07","y":2},{"id":"2020-01-08","y":4}]`,
		arrow.FixedWidthTypes.Boolean:     `[{"id":true,"y":2},{"id":false,"y":4}]`,
		&arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int16, ValueType: arrow.BinaryTypes.String}: `[{"id":"7","y":2},{"id":"8","y":4}]`,
	} {
		r := record(t, fields("id", typ, "y", arrow.PrimitiveTypes.Float64), rows)
		got, err := readAll(context.Background(), "-", SampleOptions{IDColumn: "id", Stdin: bytes.NewReader(fileOf(t, "arrow", r)), Memory: arrowtest.Checked(t)})
		if err != nil || len(got.ids) != 2 || got.ids[0] == "" || got.ids[0] == got.ids[1] || !slices.Equal(got.values, []float64{2, 4}) {
			t.Errorf("%s: %q, %v", typ, got.ids, err)
		}
	}
}

func TestSampleTypesRefused(t *testing.T) {
	list := arrow.FixedSizeListOf(2, arrow.PrimitiveTypes.Float64)
	named := func(names string) *arrow.Schema {
		return arrow.NewSchema([]arrow.Field{{Name: "x", Type: list, Nullable: true,
			Metadata: arrow.NewMetadata([]string{namesKey}, []string{names})}}, nil)
	}
	for name, c := range map[string]struct {
		sch   *arrow.Schema
		rows  string
		words []string
	}{
		"text":            {fields("x", arrow.BinaryTypes.String, "y", arrow.PrimitiveTypes.Float64), `[{"x":"a","y":1},{"x":"b","y":2}]`, []string{"holds text", `SampleOptions.IDColumn = "x"`}},
		"boolean":         {fields("x", arrow.FixedWidthTypes.Boolean, "y", arrow.PrimitiveTypes.Float64), `[{"x":true,"y":1},{"x":true,"y":2}]`, []string{"holds booleans", `SampleOptions.IDColumn = "x"`}},
		"time":            {fields("x", arrow.FixedWidthTypes.Date32), `[{"x":"2020-01-01"},{"x":"2020-01-01"}]`, []string{"date32", "float64"}},
		"decimal":         {fields("x", &arrow.Decimal128Type{Precision: 9, Scale: 2}), `[{"x":"1.5"},{"x":"2.5"}]`, []string{"decimal", "float64"}},
		"list":            {fields("x", arrow.ListOf(arrow.PrimitiveTypes.Float64)), `[{"x":[1,2]},{"x":[1]}]`, []string{"list", "float64"}},
		"null":            {fields("x", arrow.PrimitiveTypes.Int32), `[{"x":1},{"x":null}]`, []string{"row 2", "null", "missing", "impute"}},
		"pandas index":    {fields("__index_level_0__", arrow.PrimitiveTypes.Int64), `[{"__index_level_0__":1},{"__index_level_0__":2}]`, []string{"pandas", `SampleOptions.IDColumn = "__index_level_0__"`}},
		"null list":       {fields("x", list), `[{"x":[1,2]},{"x":null}]`, []string{"row 2", "whole sample is null"}},
		"null in list":    {fields("x", list), `[{"x":[1,2]},{"x":[1,null]}]`, []string{`column "v1", row 2`, "missing"}},
		"list and more":   {fields("x", list, "y", arrow.PrimitiveTypes.Float64), `[{"x":[1,2],"y":1},{"x":[1,2],"y":1}]`, []string{`column "y"`, `beside "x"`}},
		"two lists":       {fields("x", list, "y", list), `[{"x":[1,2],"y":[1,2]},{"x":[1,2],"y":[1,2]}]`, []string{`column "y"`, "second"}},
		"names, not JSON": {named("a,b"), `[{"x":[1,2]},{"x":[1,2]}]`, []string{namesKey, "JSON"}},
		"names, too few":  {named(`["a"]`), `[{"x":[1,2]},{"x":[1,2]}]`, []string{namesKey, "1 names"}},
		"names, equal":    {named(`["a","a"]`), `[{"x":[1,2]},{"x":[1,2]}]`, []string{`column "a"`, "same name"}},
	} {
		t.Run(name, func(t *testing.T) {
			for _, format := range []string{"parquet", "arrow"} {
				data := fileOf(t, format, record(t, c.sch, c.rows))
				_, err := readAll(context.Background(), "-", SampleOptions{Stdin: bytes.NewReader(data), Memory: arrowtest.Checked(t)})
				wantInputError(t, err, c.words...)
			}
		})
	}
	data := fileOf(t, "arrow", record(t, fields("x", list), `[{"x":[1,2]},{"x":[1,2]}]`))
	_, err := readAll(context.Background(), "-", SampleOptions{Orientation: Columns, IDColumn: "#1", Stdin: bytes.NewReader(data), Memory: arrowtest.Checked(t)})
	wantInputError(t, err, "no columns of numbers")
}

// A list column holds whole samples, named by its metadata or by number.
func TestSampleLists(t *testing.T) {
	for _, elem := range []arrow.DataType{arrow.PrimitiveTypes.Float64, arrow.PrimitiveTypes.Float32} {
		for _, format := range []string{"parquet", "arrow", "arrows"} {
			sch := arrow.NewSchema([]arrow.Field{
				{Name: "id", Type: arrow.BinaryTypes.String, Nullable: true},
				{Name: "x", Type: arrow.FixedSizeListOf(3, elem), Nullable: true,
					Metadata: arrow.NewMetadata([]string{namesKey}, []string{`["a","b","c"]`})}}, nil)
			rows := `[{"id":"r","x":[1,2,3]},{"id":"s","x":[4,5,6]},{"id":"t","x":[7,8,9]}]`
			whole := record(t, sch, rows)
			pieces := []arrow.Record{whole}
			if format != "parquet" { // whose writer takes a slice of lists from the wrong row
				pieces = append(pieces, whole.NewSlice(1, 3))
			}
			for _, r := range pieces {
				got, err := readAll(context.Background(), "-", SampleOptions{IDColumn: "id", Stdin: bytes.NewReader(fileOf(t, format, r)), Memory: arrowtest.Checked(t)})
				want := []float64{1, 2, 3, 4, 5, 6, 7, 8, 9}[9-3*r.NumRows():]
				if err != nil || !slices.Equal(got.values, want) || strings.Join(got.names, "") != "abc" {
					t.Errorf("%s, %s: %v %v, %v", elem, format, got.names, got.values, err)
				}
			}
		}
	}
	r := record(t, fields("x", arrow.FixedSizeListOf(2, arrow.PrimitiveTypes.Float64)), `[{"x":[1,2]},{"x":[3,4]}]`)
	got, err := readAll(context.Background(), "-", SampleOptions{Stdin: bytes.NewReader(fileOf(t, "arrow", r)), Memory: arrowtest.Checked(t)})
	if err != nil || strings.Join(got.names, " ") != "v0 v1" {
		t.Errorf("%v, %v", got.names, err)
	}
}

// pqarrow 15 writes a FixedSizeList whose field is not nullable as nulls.
// Whoever did that is told, instead of being given zeros.
func TestListsThatLostTheirValues(t *testing.T) {
	sch := arrow.NewSchema([]arrow.Field{{Name: "x", Type: arrow.FixedSizeListOf(2, arrow.PrimitiveTypes.Float64)}}, nil)
	data := fileOf(t, "parquet", record(t, sch, `[{"x":[1,2]},{"x":[3,4]}]`))
	got, err := readAll(context.Background(), "-", SampleOptions{Stdin: bytes.NewReader(data), Memory: arrowtest.Checked(t)})
	if err == nil {
		if !slices.Equal(got.values, []float64{1, 2, 3, 4}) {
			t.Errorf("values were lost silently: %v", got.values)
		}
		return
	}
	wantInputError(t, err, "row 1", "null")
}

// A huge row group is not held in memory: batches are a few megabytes.
func TestParquetInBatches(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.parquet")
	const m = 1 << 20
	var columns []Column
	for _, n := range []string{"a", "b", "c", "d"} {
		columns = append(columns, Column{n, make([]float64, m)})
	}
	writeSamples(t, path, columns)
	mem := &peak{Allocator: memory.NewGoAllocator()}
	r, err := readAll(context.Background(), path, SampleOptions{Memory: mem})
	if err != nil || r.rows != m {
		t.Fatalf("%d rows, %v", r.rows, err)
	}
	// Four columns of 64 Ki rows are 2 MiB; Arrow keeps a second set while it
	// hands the first over.
	if mem.most > 3*batch.Bytes {
		t.Errorf("%d bytes at a time, of %d in all", mem.most, 8*4*m)
	}
}

// peak remembers the most memory in use.
type peak struct {
	memory.Allocator
	now, most int
}

func (p *peak) add(n int) {
	p.now += n
	p.most = max(p.most, p.now)
}
func (p *peak) Allocate(n int) []byte { p.add(n); return p.Allocator.Allocate(n) }
func (p *peak) Reallocate(n int, b []byte) []byte {
	p.add(n - len(b))
	return p.Allocator.Reallocate(n, b)
}
func (p *peak) Free(b []byte) { p.add(-len(b)); p.Allocator.Free(b) }
