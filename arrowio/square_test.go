package arrowio

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"pgregory.net/rapid"

	"github.com/gladflow/gladflow/arrowio/internal/arrowtest"
)

func TestReadSquare(t *testing.T) {
	want := []float64{2, 0.5, 0, 0.5, 3, -1, 0, -1, 4}
	for name, c := range map[string]struct{ text, id string }{
		"plain":          {"a,b,c\n2,0.5,0\n0.5,3,-1\n0,-1,4\n", ""},
		"labelled":       {"gene,a,b,c\na,2,0.5,0\nb,0.5,3,-1\nc,0,-1,4\n", ""},
		"named labels":   {"gene,a,b,c\na,2,0.5,0\nb,0.5,3,-1\nc,0,-1,4\n", "gene"},
		"pandas":         {",a,b,c\na,2,0.5,0\nb,0.5,3,-1\nc,0,-1,4\n", ""},
		"R":              {"\"a\" \"b\" \"c\"\n\"a\" 2 0.5 0\n\"b\" 0.5 3 -1\n\"c\" 0 -1 4\n", ""},
		"upper triangle": {"row,column,value\na,a,2\na,b,0.5\nb,b,3\nb,c,-1\nc,c,4\n", ""},
		"lower triangle": {"row,column,value\na,a,2\nb,a,0.5\nb,b,3\nc,b,-1\nc,c,4\n", ""},
		"both triangles": {"row,column,value\na,a,2\na,b,0.5\nb,a,0.5\nb,b,3\nc,b,-1\nb,c,-1\nc,c,4\n", ""},
		"columns first":  {"row,column,value\na,c,0\na,a,2\na,b,0.5\nb,b,3\nb,c,-1\nc,c,4\n", ""},
		"twice the same": {"row,column,value\na,a,2\na,b,0.5\na,b,0.5\nb,b,3\nb,c,-1\nc,c,4\n", ""},
		"rounded":        {"a,b,c\n2,0.5,1e-9\n0.500000001,3,-1\n0,-0.999999999,4\n", ""},
	} {
		t.Run(name, func(t *testing.T) {
			names, values, sum, err := ReadSquare(context.Background(), "-", SampleOptions{IDColumn: c.id, Stdin: strings.NewReader(c.text), Memory: arrowtest.Checked(t)})
			if err != nil {
				t.Fatal(err)
			}
			if strings.Join(names, "") != "abc" || len(sum) != 64 {
				t.Errorf("%v %s", names, sum)
			}
			for i, v := range values {
				// "rounded" is off by 1e-9, the others not at all.
				if math.Abs(v-want[i]) > 1e-9 || name != "rounded" && v != want[i] || v != values[i%3*3+i/3] {
					t.Errorf("%v", values)
					break
				}
			}
		})
	}
}

func TestSquareRefused(t *testing.T) {
	for name, c := range map[string]struct {
		text  string
		words []string
	}{
		"not square":     {"a,b\n1,0\n", []string{"1 rows and 2 columns"}},
		"not symmetric":  {"a,b\n1,0.5\n0.6,1\n", []string{`("a", "b") is 0.5`, `("b", "a") is 0.6`}},
		"barely not":     {"a,b\n1,0.5\n0.50000002,1\n", []string{"symmetric"}},
		"other labels":   {"id,a,b\nb,1,0\na,0,1\n", []string{"line 2", "labelled b", "same order"}},
		"missing":        {"a,b\n1,NA\n0.6,1\n", []string{`column "b", line 2`, "missing"}},
		"infinite":       {"a,b\n1,inf\n0.6,1\n", []string{`column "b", line 2`, "infinite"}},
		"no names":       {"a,\n1,0\n0,1\n", []string{"no name"}},
		"two names":      {"a,a\n1,0\n0,1\n", []string{"same name"}},
		"no diagonal":    {"row,column,value\na,a,1\na,b,0.5\n", []string{`"b"`, "diagonal"}},
		"no entries":     {"row,column,value\n", []string{"no entries"}},
		"contradiction":  {"row,column,value\na,a,1\na,a,2\n", []string{"line 3", "keep one"}},
		"two triangles":  {"row,column,value\na,a,1\nb,b,1\na,b,0.5\nb,a,0.6\n", []string{"symmetric"}},
		"not a number":   {"row,column,value\na,a,1\na,b,x\n", []string{"line 3", `"x"`}},
		"text in a cell": {"a,b\n1,x\n0,1\n", []string{`column "b", line 2`, "not a number"}},
	} {
		t.Run(name, func(t *testing.T) {
			_, _, _, err := ReadSquare(context.Background(), "-", SampleOptions{Stdin: strings.NewReader(c.text), Memory: arrowtest.Checked(t)})
			wantInputError(t, err, c.words...)
		})
	}
	packed := fields("variable", arrow.BinaryTypes.String, "values", &arrow.FixedSizeBinaryType{ByteWidth: 8})
	for rows, word := range map[string]string{
		`[{"variable":"a","values":"AAAAAAAA8H8="}]`:                                          "finite",
		`[{"variable":"a","values":null}]`:                                                    "null",
		`[{"variable":"a","values":"AAAAAAAA8D8="},{"variable":"b","values":"AAAAAAAA8D8="}]`: "2 rows of 8 bytes",
	} {
		data := fileOf(t, "arrow", record(t, packed, rows))
		_, _, _, err := ReadSquare(context.Background(), "-", SampleOptions{Stdin: bytes.NewReader(data), Memory: arrowtest.Checked(t)})
		wantInputError(t, err, word)
	}
}

// Both precision files, in all formats, read back to the last bit.
func TestPrecisionRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := rapid.IntRange(1, 6).Draw(t, "d")
		names := make([]string, d)
		for i := range names {
			names[i] = fmt.Sprintf("%s%d", rapid.SampledFrom([]string{"g", "row ", "", "é,"}).Draw(t, "name"), i)
		}
		a := square{d, make([]float64, d*d)}
		for i := range d {
			for j := i; j < d; j++ {
				v := 0.0
				if i == j || rapid.Bool().Draw(t, "edge") {
					v = rapid.Float64().Draw(t, "v")
				}
				a.a[i*d+j], a.a[j*d+i] = v, v
			}
		}
		format := rapid.SampledFrom([]string{Parquet, Arrow, CSV}).Draw(t, "format")
		for _, dense := range []bool{false, true} {
			p := Precision{Names: names, Values: a, Dense: dense}
			columns := p.Columns()
			if format == CSV {
				columns = p.textColumns()
			}
			got, values, _, err := ReadSquare(context.Background(), "-", SampleOptions{Format: format, Stdin: bytes.NewReader(encoded(t, format, columns))})
			if err != nil {
				t.Fatalf("%s, dense %v: %v", format, dense, err)
			}
			if !slices.Equal(got, names) || !slices.Equal(values, a.a) {
				t.Fatalf("%s, dense %v: %q %v, want %q %v", format, dense, got, values, names, a.a)
			}
		}
	})
}

func TestWritePrecision(t *testing.T) {
	folder := t.TempDir()
	names, a := []string{"x", "y"}, square{2, []float64{2, -0.5, -0.5, 3}}
	for _, format := range PrecisionFormats().Names() {
		for kind, write := range map[string]func(string, string, []string, Matrix, map[string]string) error{
			"sparse": WritePrecision, "dense": WriteDensePrecision} {
			path := filepath.Join(folder, kind+"."+format)
			if err := write(path, format, names, a, nil); err != nil {
				t.Fatal(err)
			}
			got, values, _, err := ReadSquare(context.Background(), path, SampleOptions{})
			if err != nil || !slices.Equal(got, names) || !slices.Equal(values, a.a) {
				t.Errorf("%s %s: %q %v, %v", kind, format, got, values, err)
			}
		}
	}
	defer func() {
		if recover() == nil {
			t.Error("one name for two variables is written")
		}
	}()
	WritePrecision(filepath.Join(folder, "y.csv"), CSV, []string{"a"}, square{2, make([]float64, 4)}, nil)
}

// A correlation matrix as the QUIC package gives its examples: 692×692, named
// V1, V2, … in a header, rows without labels, fifteen digits, a diagonal that
// is 1 but for rounding.
func TestSquareOfFifteenDigits(t *testing.T) {
	const d = 692
	cells, want := make([]string, d*d), make([]float64, d*d)
	var names []string
	for i := range d {
		names = append(names, fmt.Sprintf("V%d", i+1))
		for j := range i + 1 {
			v := math.Cos(float64(i*d+j)) / 2
			if i == j {
				v = 1 - float64(i%9)*1e-12
			}
			text := strconv.FormatFloat(v, 'f', 15, 64)
			v, err := strconv.ParseFloat(text, 64)
			if err != nil {
				t.Fatal(err)
			}
			cells[i*d+j], cells[j*d+i] = text, text
			want[i*d+j], want[j*d+i] = v, v
		}
	}
	lines := []string{strings.Join(names, "\t")}
	for row := range slices.Chunk(cells, d) {
		lines = append(lines, strings.Join(row, "\t"))
	}
	path := put(t, "s.tsv.gz", zipped(strings.Join(lines, "\n")+"\n"))
	got, values, _, err := ReadSquare(context.Background(), path, SampleOptions{Memory: arrowtest.Checked(t)})
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(got, names) || !slices.Equal(values, want) {
		t.Errorf("%d names, %v", len(got), values[:2])
	}
}
