package arrowio

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/parquet"
	"github.com/apache/arrow/go/v15/parquet/compress"
	"github.com/apache/arrow/go/v15/parquet/pqarrow"
)

// graphML is a format for edge lists alone, as a file of its own would have it.
func graphML() Format[[]Edge] {
	return Format[[]Edge]{Name: "graphml", Title: "GraphML", Write: func(path string, edges []Edge, metadata map[string]string) error {
		return ReplaceFile(path, func(w io.Writer) error {
			fmt.Fprintf(w, "<graphml><desc>%s</desc><graph edgedefault=\"undirected\">", metadata["gladflow.solver"])
			for _, e := range edges {
				fmt.Fprintf(w, "<edge source=%q target=%q/>", e.Source, e.Target)
			}
			_, err := fmt.Fprint(w, "</graph></graphml>\n")
			return err
		})
	}}
}

// A format for edge lists alone is one line in their list: it is found, named in
// the error of others and written, and what is written beside the edges has its
// default.
func TestFormatForEdgesAlone(t *testing.T) {
	formats := append(EdgeFormats(), graphML())
	if names := formats.Names(); !slices.Equal(names, []string{"parquet", "arrow", "csv", "graphml"}) {
		t.Errorf("formats %v", names)
	}
	format, err := formats.Find("graphml")
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "bcd.edges."+format.Name)
	if err := format.Write(path, []Edge{{"a", "b", 0.5, -1, 0.5}}, map[string]string{"gladflow.solver": "bcd"}); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(path)
	if want := `<graphml><desc>bcd</desc><graph edgedefault="undirected"><edge source="a" target="b"/></graph></graphml>` + "\n"; err != nil || string(text) != want {
		t.Errorf("%s, %v", text, err)
	}
	_, err = formats.Find("dot")
	wantInputError(t, err, `the format "dot" is unknown; use parquet, arrow, csv or graphml`)
	if f := PrecisionFormats().For("graphml"); f.Name != Parquet {
		t.Errorf("the matrix is written as %s", f.Name)
	}
	if f := TableFormats().For("graphml"); f.Name != Parquet {
		t.Errorf("the metrics are written as %s", f.Name)
	}
	if len(EdgeFormats()) != 3 {
		t.Error("a caller's format is everybody's")
	}
}

// Every kind of output has the formats of tables, under their names.
func TestFormatsOfEveryKind(t *testing.T) {
	names := TableFormats().Names()
	if !slices.Equal(EdgeFormats().Names(), names) || !slices.Equal(PrecisionFormats().Names(), names) {
		t.Errorf("edges %v, matrices %v, tables %v", EdgeFormats().Names(), PrecisionFormats().Names(), names)
	}
	for _, name := range names {
		if f := PrecisionFormats().For(name); f.Name != name || f.Title == "" {
			t.Errorf("%s: %+v", name, f)
		}
	}
	_, err := TableFormats().Find("xml")
	wantInputError(t, err, `output: the format "xml" is unknown; use parquet, arrow or csv`)
}

// Parquet files are to the byte what Arrow's own writer makes.
func TestParquetAsArrowWritesIt(t *testing.T) {
	floats := func(n int) []float64 {
		v := make([]float64, n)
		for i := range v {
			v[i] = math.Sqrt(float64(i * 7919 % 1009))
		}
		return v
	}
	words := make([]string, 5000)
	flags, bytesOf := make([]bool, 5000), make([]int8, 5000)
	for i := range words {
		words[i], flags[i], bytesOf[i] = strings.Repeat("g", i%7)+fmt.Sprint(i%301), i%3 == 0, int8(i%3)-1
	}
	wide := make([]Column, 300)
	for j := range wide {
		wide[j] = Column{fmt.Sprintf("v%d", j), floats(50)}
	}
	for name, test := range map[string]struct {
		columns  []Column
		rowGroup int64
	}{
		"every type":   {everyType(), 0},
		"no rows":      {EdgeColumns(nil), 0},
		"long":         {[]Column{{"w", words}, {"x", floats(5000)}, {"f", flags}, {"s", bytesOf}}, 0},
		"three groups": {[]Column{{"w", words}, {"x", floats(5000)}, {"f", flags}, {"s", bytesOf}}, 2000},
		"wide":         {wide, 0},
		"dense":        {DensePrecisionColumns([]string{"a", "b"}, square{2, []float64{1, 2, 2, 3}}), 0},
	} {
		o, err := newOutput(test.columns, map[string]string{"gladflow.b": "2", "gladflow.a": `{"é":"1"}`})
		if err != nil {
			t.Fatal(err)
		}
		o.rowGroup = test.rowGroup
		var ours, theirs bytes.Buffer
		if err := parquetEncoding().to(&ours, o); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		writeAsArrow(t, &theirs, o)
		if !bytes.Equal(ours.Bytes(), theirs.Bytes()) {
			t.Errorf("%s: %d bytes, and Arrow writes %d others", name, ours.Len(), theirs.Len())
		}
		o.record.Release()
	}
}

// writeAsArrow writes a table with pqarrow's writer and the properties that
// encodeParquet has.
func writeAsArrow(t *testing.T, w io.Writer, o *output) {
	t.Helper()
	options := []parquet.WriterProperty{parquet.WithAllocator(o.mem), parquet.WithCompression(compress.Codecs.Snappy), parquet.WithDictionaryDefault(false)}
	for _, f := range o.record.Schema().Fields() {
		if f.Type.ID() == arrow.STRING {
			options = append(options, parquet.WithDictionaryFor(f.Name, true))
		}
	}
	if o.rowGroup > 0 {
		options = append(options, parquet.WithMaxRowGroupLength(o.rowGroup))
	}
	p, err := pqarrow.NewFileWriter(o.record.Schema(), struct{ io.Writer }{w}, parquet.NewWriterProperties(options...),
		pqarrow.NewArrowWriterProperties(pqarrow.WithStoreSchema(), pqarrow.WithAllocator(o.mem)))
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Write(o.record); err != nil {
		t.Fatal(err)
	}
	if err := p.Close(); err != nil {
		t.Fatal(err)
	}
}
