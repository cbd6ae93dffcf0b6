package arrowio

import (
	"fmt"
	"io"
	"os"
	"slices"
	"testing"
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
