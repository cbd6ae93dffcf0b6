package arrowio

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/parquet/compress"
	"github.com/apache/arrow/go/v15/parquet/file"

	"github.com/gladflow/gladflow/arrowio/internal/arrowtest"
)

// awkward are floats that a careless format changes.
var awkward = []float64{0.1, 1.0 / 3, math.MaxFloat64, math.SmallestNonzeroFloat64, -1e-300, math.Pi * 1e17, math.NaN(), 0}

func everyType() []Column {
	n := len(awkward)
	c := []Column{
		{"s", []string{"a", "b,c", "d\"e", "é", "", "NULL", "x\ny", "a"}}, {"f", awkward},
		{"i64", make([]int64, n)}, {"i32", make([]int32, n)}, {"i8", make([]int8, n)}, {"b", make([]bool, n)},
		{"x", FixedBinary{3, []byte(strings.Repeat("abc", n))}},
	}
	for i := range n {
		c[2].Values.([]int64)[i] = math.MinInt64 + int64(i)
		c[3].Values.([]int32)[i] = math.MaxInt32 - int32(i)
		c[4].Values.([]int8)[i] = int8(-i)
		c[5].Values.([]bool)[i] = i%2 == 0
	}
	return c
}

// Every type in every binary format: nothing is null, nothing is changed, and
// the metadata are there.
func TestWriteTableTypes(t *testing.T) {
	for _, format := range []string{Parquet, Arrow} {
		for _, size := range []int64{outputBatch, 200} { // one batch, and three
			o, err := newOutput(everyType(), map[string]string{"gladflow.b": "2", "gladflow.a": `{"é":"1"}`})
			if err != nil {
				t.Fatal(err)
			}
			o.batch = size
			var b bytes.Buffer
			if err := encodingOf(format).to(&b, o); err != nil {
				t.Fatal(err)
			}
			o.record.Release()
			r, err := openTable(context.Background(), "-", SampleOptions{Format: format, Stdin: &b, Memory: arrowtest.Checked(t)})
			if err != nil {
				t.Fatal(err)
			}
			if m := r.metadata(); len(m) != 2 || m["gladflow.a"] != `{"é":"1"}` || m["gladflow.b"] != "2" {
				t.Errorf("%s: metadata %v", format, m)
			}
			at := 0
			for {
				rec, err := r.records.read()
				if err == io.EOF {
					break
				}
				if err != nil {
					t.Fatal(err)
				}
				for j, want := range everyType() {
					c := rec.Column(j)
					if c.NullN() != 0 || rec.ColumnName(j) != want.Name {
						t.Errorf("%s: column %s has %d nulls", format, want.Name, c.NullN())
					}
					for i := range c.Len() {
						compareCell(t, c, i, want.Values, at+i)
					}
				}
				at += int(rec.NumRows())
			}
			if at != len(awkward) {
				t.Errorf("%s: %d rows", format, at)
			}
			r.close()
		}
	}
}

func compareCell(t *testing.T, c arrow.Array, i int, want any, row int) {
	t.Helper()
	same := false
	switch w := want.(type) {
	case []string:
		same = c.(*array.String).Value(i) == w[row]
	case []float64:
		same = math.Float64bits(c.(*array.Float64).Value(i)) == math.Float64bits(w[row])
	case []int64:
		same = c.(*array.Int64).Value(i) == w[row]
	case []int32:
		same = c.(*array.Int32).Value(i) == w[row]
	case []int8:
		same = c.(*array.Int8).Value(i) == w[row]
	case []bool:
		same = c.(*array.Boolean).Value(i) == w[row]
	case FixedBinary:
		same = bytes.Equal(c.(*array.FixedSizeBinary).Value(i), w.Data[row*w.Width:(row+1)*w.Width])
	}
	if !same {
		t.Errorf("row %d of %T is %s", row, want, c.ValueStr(i))
	}
}

// CSV holds every float to the last bit, and its companion the rest.
func TestWriteTableCSV(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.csv")
	if err := WriteTable(path, CSV, everyType(), map[string]string{"gladflow.version": "test"}); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	want := `s,f,i64,i32,i8,b,x
a,0.1,-9223372036854775808,2147483647,0,true,YWJj
"b,c",0.3333333333333333,-9223372036854775807,2147483646,-1,false,YWJj
"d""e",1.7976931348623157e+308,-9223372036854775806,2147483645,-2,true,YWJj
é,5e-324,-9223372036854775805,2147483644,-3,false,YWJj
,-1e-300,-9223372036854775804,2147483643,-4,true,YWJj
NULL,3.141592653589793e+17,-9223372036854775803,2147483642,-5,false,YWJj
"x
y",NaN,-9223372036854775802,2147483641,-6,true,YWJj
a,0,-9223372036854775801,2147483640,-7,false,YWJj
`
	if string(text) != want {
		t.Errorf("got\n%s", text)
	}
	var described map[string]any
	beside, _ := os.ReadFile(path + "-metadata.json")
	if err := json.Unmarshal(beside, &described); err != nil {
		t.Fatal(err)
	}
	if described["@context"] != "http://www.w3.org/ns/csvw" || described["url"] != "x.csv" || !bytes.Contains(beside, []byte(`"datatype": "double"`)) {
		t.Errorf("%s", beside)
	}
	notes, err := readSidecar(context.Background(), path, nil, nil)
	if err != nil || notes["gladflow.version"] != "test" {
		t.Errorf("%v, %v", notes, err)
	}
	os.WriteFile(path+"-metadata.json", []byte("{"), 0o600)
	_, err = readSidecar(context.Background(), path, nil, nil)
	wantInputError(t, err, "x.csv-metadata.json", "truncated")
}

// Edges come back in rank order, ties by name, with their metadata.
func TestWriteEdges(t *testing.T) {
	edges := []Edge{
		{"c", "d", 0.25, 1, -0.25}, {"b", "d", 0.5, -1, 0.5}, {"a", "e", 0.25, 0, 0}, {"a", "b", 0.25, 2, -0.25},
	}
	given := slices.Clone(edges)
	for _, format := range []string{Parquet, Arrow, CSV} {
		path := filepath.Join(t.TempDir(), "bcd.edges."+format)
		if err := WriteEdges(path, format, edges, map[string]string{"gladflow.solver": "bcd"}); err != nil {
			t.Fatal(err)
		}
		e, err := ReadEdges(context.Background(), path, ListOptions{Memory: arrowtest.Checked(t)})
		if err != nil {
			t.Fatal(err)
		}
		if strings.Join(e.Source, "") != "baac" || strings.Join(e.Target, "") != "dbed" ||
			!slices.Equal(e.Score, []float64{0.5, 0.25, 0.25, 0.25}) || e.Metadata["gladflow.solver"] != "bcd" {
			t.Errorf("%s: %+v", format, e)
		}
	}
	if !slices.Equal(edges, given) {
		t.Error("the caller's edges were moved")
	}
	path := filepath.Join(t.TempDir(), "x.csv")
	if err := WriteEdges(path, CSV, edges, nil); err != nil {
		t.Fatal(err)
	}
	text, _ := os.ReadFile(path)
	if want := "source,target,score,precision,partial_correlation,sign\nb,d,0.5,-1,0.5,1\na,b,0.25,2,-0.25,-1\na,e,0.25,0,0,0\nc,d,0.25,1,-0.25,-1\n"; string(text) != want {
		t.Errorf("%s", text)
	}
	for _, format := range []string{Parquet, Arrow, CSV} { // a network without edges
		path := filepath.Join(t.TempDir(), "x."+format)
		if err := WriteEdges(path, format, nil, nil); err != nil {
			t.Fatal(err)
		}
		if e, err := ReadEdges(context.Background(), path, ListOptions{Memory: arrowtest.Checked(t)}); err != nil || e.Len() != 0 {
			t.Errorf("%s: %+v, %v", format, e, err)
		}
	}
}

// Parquet files are laid out as the package says: one row group, dictionaries
// for strings alone, snappy.
func TestParquetLayout(t *testing.T) {
	names := []string{"a", "b"}
	path := filepath.Join(t.TempDir(), "x.parquet")
	if err := WritePrecision(path, Parquet, names, square{2, []float64{1, 2, 2, 3}}, nil); err != nil {
		t.Fatal(err)
	}
	f, err := file.OpenParquetFile(path, false)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if f.NumRowGroups() != 1 {
		t.Errorf("%d row groups", f.NumRowGroups())
	}
	for i, dictionary := range []bool{true, true, false} {
		c, err := f.MetaData().RowGroup(0).ColumnChunk(i)
		if err != nil || c.HasDictionaryPage() != dictionary || c.Compression() != compress.Codecs.Snappy {
			t.Errorf("column %d: %v, %v, %v", i, c.HasDictionaryPage(), c.Compression(), err)
		}
	}
	if f.MetaData().KeyValueMetadata().FindValue(schemaKey) == nil {
		t.Error("the Arrow schema is not stored")
	}
}

// A write that fails, wherever it fails, leaves the folder as it was.
func TestWritesAreWhole(t *testing.T) {
	o, err := newOutput(everyType(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer o.record.Release()
	for _, format := range []string{Parquet, Arrow, CSV} {
		var whole bytes.Buffer
		if err := encodingOf(format).to(&whole, o); err != nil {
			t.Fatal(err)
		}
		folder := t.TempDir()
		root := rootOf(folder)
		defer root.Close()
		path := filepath.Join(folder, "x."+format)
		if err := os.WriteFile(path, []byte("before"), 0o600); err != nil {
			t.Fatal(err)
		}
		for n := 0; n < whole.Len(); n += 7 {
			_, err := stage(root, "x."+format, func(w io.Writer) error { return encodingOf(format).to(&faulty{w, n}, o) })
			if err == nil {
				t.Fatalf("%s: a disk full after %d bytes goes unnoticed", format, n)
			}
		}
		func() {
			defer func() { recover() }()
			stage(root, "x."+format, func(io.Writer) error { panic("halfway") })
		}()
		onlyFile(t, folder, "x."+format, "before")
	}

	// The folder is missing; the target cannot be replaced; the table is wrong.
	if err := WriteTable(filepath.Join(t.TempDir(), "no", "x.csv"), CSV, everyType(), nil); err == nil {
		t.Error("a missing folder goes unnoticed")
	}
	folder := t.TempDir()
	if err := os.MkdirAll(filepath.Join(folder, "x.csv", "full"), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, format := range []string{CSV, Parquet} {
		if err := WriteTable(filepath.Join(folder, "x.csv"), format, everyType(), nil); err == nil {
			t.Error("a folder is replaced")
		}
	}
	if left, _ := os.ReadDir(folder); len(left) != 1 {
		t.Errorf("%v are left", left)
	}
	for name, columns := range map[string][]Column{
		"none": nil, "lengths": {{"a", []float64{1}}, {"b", []float64{1, 2}}}, "type": {{"a", []float32{1}}},
		"width": {{"a", FixedBinary{3, []byte{1}}}}, "no width": {{"a", FixedBinary{}}}, "UTF-8": {{"a", []string{"\xFF"}}},
	} {
		if err := WriteTable(filepath.Join(folder, "y.csv"), CSV, columns, nil); err == nil {
			t.Errorf("%s: written", name)
		}
	}
	wantInputError(t, WriteTable(filepath.Join(folder, "y.xls"), "xls", everyType(), nil), `"xls"`, "parquet")
}

// A file that is replaced is replaced whole, and its permissions are those
// that the umask leaves.
func TestWriteReplaces(t *testing.T) {
	folder := t.TempDir()
	path := filepath.Join(folder, "x.parquet")
	for _, v := range []float64{1, 2} {
		if err := WriteTable(path, Parquet, []Column{{"a", []float64{v, v}}}, nil); err != nil {
			t.Fatal(err)
		}
		r, err := readAll(context.Background(), path, SampleOptions{Memory: arrowtest.Checked(t)})
		if err != nil || r.values[0] != v {
			t.Errorf("%v, %v", r.values, err)
		}
	}
	plain, err := os.OpenFile(filepath.Join(folder, "plain"), os.O_CREATE, 0o666)
	if err != nil {
		t.Fatal(err)
	}
	defer plain.Close()
	want, _ := plain.Stat()
	if got, err := os.Stat(path); err != nil || got.Mode() != want.Mode() {
		t.Errorf("permissions are %v, want %v", got.Mode(), want.Mode())
	}
	if left, _ := os.ReadDir(folder); len(left) != 2 {
		t.Errorf("%v are left", left)
	}
}

// faulty is a disk that is full after left bytes.
type faulty struct {
	w    io.Writer
	left int
}

func (f *faulty) Write(p []byte) (int, error) {
	if len(p) > f.left {
		n, _ := f.w.Write(p[:f.left])
		f.left = 0
		return n, errDisk
	}
	f.left -= len(p)
	return f.w.Write(p)
}

func onlyFile(t *testing.T, folder, name, text string) {
	t.Helper()
	entries, err := os.ReadDir(folder)
	if err != nil || len(entries) != 1 || entries[0].Name() != name {
		t.Fatalf("the folder holds %v", entries)
	}
	if got, _ := os.ReadFile(filepath.Join(folder, name)); string(got) != text {
		t.Errorf("%s holds %q", name, got)
	}
}
