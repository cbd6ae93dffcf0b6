package arrowio

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"reflect"
	"slices"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
)

// exampleFormat is a format for edge lists alone, as a file of its own would have it.
func exampleFormat() Format[[]Column] {
	return Format[[]Column]{Name: "example", Title: "an example", Write: func(folder *os.Root, name string, edges []Column, metadata map[string]string) ([]Written, error) {
		file, err := ReplaceFileIn(folder, name, func(w io.Writer) error {
			fmt.Fprintf(w, "<graphml><desc>%s</desc><graph edgedefault=\"undirected\">", metadata["gladflow.solver"])
			source, target := edges[0].Values.([]string), edges[1].Values.([]string)
			for i := range source {
				fmt.Fprintf(w, "<edge source=%q target=%q/>", source[i], target[i])
			}
			_, err := fmt.Fprint(w, "</graph></graphml>\n")
			return err
		})
		return []Written{file}, err
	}}
}

// A format for edge lists alone is one line in their list: it is found, named in
// the error of others and written, and what is written beside the edges has its
// default.
func TestFormatForEdgesAlone(t *testing.T) {
	formats := append(EdgeFormats(), exampleFormat())
	if names := formats.Names(); !slices.Equal(names, append(EdgeFormats().Names(), "example")) {
		t.Errorf("formats %v", names)
	}
	format, err := formats.Find("example")
	if err != nil {
		t.Fatal(err)
	}
	folder := rootOf(t.TempDir())
	defer folder.Close()
	name := "bcd.edges." + format.Name
	files, err := format.Write(folder, name, EdgeColumns([]Edge{{"a", "b", 0.5, -1, 0.5}}), map[string]string{"gladflow.solver": "bcd"})
	if err != nil || len(files) != 1 || files[0].Name != name {
		t.Fatalf("%+v, %v", files, err)
	}
	text, err := folder.ReadFile(name)
	if want := `<graphml><desc>bcd</desc><graph edgedefault="undirected"><edge source="a" target="b"/></graph></graphml>` + "\n"; err != nil || string(text) != want {
		t.Errorf("%s, %v", text, err)
	}
	_, err = formats.Find("dot")
	wantInputError(t, err, `the format "dot" is unknown; use parquet, arrow, csv, graphml, cyjs, sif or example`)
	if f := PrecisionFormats().For("example"); f.Name != Parquet {
		t.Errorf("the matrix is written as %s", f.Name)
	}
	if f := TableFormats().For("example"); f.Name != Parquet {
		t.Errorf("the metrics are written as %s", f.Name)
	}
	if slices.Contains(EdgeFormats().Names(), "example") {
		t.Error("a caller's format is everybody's")
	}
}

// Every kind of output has the formats of tables, under their names.
func TestFormatsOfEveryKind(t *testing.T) {
	names := TableFormats().Names()
	if !slices.Equal(EdgeFormats().Names()[:len(names)], names) || !slices.Equal(PrecisionFormats().Names(), names) {
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

// What is encoded is what is written, a batch is made of the columns that it is read as,
// and a list that comes as batches is the list.
func TestEncodedEdges(t *testing.T) {
	columns, metadata := markupList()
	columns = slices.DeleteFunc(columns, func(c Column) bool { return c.Name == "q_value" })
	record, err := NewRecord(columns, metadata)
	if err != nil {
		t.Fatal(err)
	}
	defer record.Release()
	back, keys, err := ColumnsOf(record)
	if err != nil || !reflect.DeepEqual(back, columns) || !maps.Equal(keys, metadata) {
		t.Fatalf("%v, %v, %v", back, keys, err)
	}
	folder := rootOf(t.TempDir())
	defer folder.Close()
	for _, f := range EdgeFormats() {
		if f.Name == SIFText { // which does not hold these names
			if err := f.Encode(io.Discard, columns, metadata); err == nil {
				t.Error("SIF holds a tab")
			}
			continue
		}
		var b bytes.Buffer
		if err := f.Encode(&b, columns, metadata); err != nil {
			t.Fatal(err)
		}
		if _, err := f.Write(folder, "x", columns, metadata); err != nil {
			t.Fatal(err)
		}
		if text, err := folder.ReadFile("x"); err != nil || !bytes.Equal(text, b.Bytes()) {
			t.Errorf("%s: %v, %d bytes are written and %d encoded", f.Name, err, len(text), b.Len())
		}
		if err := f.Encode(&faulty{w: io.Discard, left: 10}, columns, metadata); !errors.Is(err, errDisk) {
			t.Errorf("%s: %v", f.Name, err)
		}
	}
	records, err := array.NewRecordReader(record.Schema(), []arrow.Record{record.NewSlice(0, 2), record.NewSlice(2, record.NumRows())})
	if err != nil {
		t.Fatal(err)
	}
	defer records.Release()
	list, err := ReadEdges(t.Context(), "-", ListOptions{Records: records})
	if err != nil || list.Len() != int(record.NumRows()) || !list.Unordered || list.Sign == nil || list.SHA256 != "" || list.Metadata["gladflow.solver"] != "bcd" {
		t.Errorf("%+v, %v", list, err)
	}
	numbers, err := NewRecord([]Column{{"n", []int64{1}}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := ColumnsOf(numbers); err == nil {
		t.Error("whole numbers are read as a column to be written")
	}
}
