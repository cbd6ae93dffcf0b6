package arrowio

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/gladflow/gladflow/arrowio/batch"
	"github.com/gladflow/gladflow/arrowio/internal/arrowtest"
)

// A text table in all its dress reads as the same numbers.
func TestSamplesOfText(t *testing.T) {
	want := []float64{1, -2.5, 3e-300, 4, 5, 6}
	for name, c := range map[string]struct {
		file, text, id string
	}{
		"csv":              {"x.csv", "a,b\n1,-2.5\n3e-300,4\n5,6\n", ""},
		"no end of line":   {"x.csv", "a,b\n1,-2.5\n3e-300,4\n5,6", ""},
		"tsv":              {"x.tsv", "a\tb\n1\t-2.5\n3e-300\t4\n5\t6\n", ""},
		"gzip":             {"x.tsv.gz", arrowtest.Zipped("a\tb\n1\t-2.5\n3e-300\t4\n5\t6\n"), ""},
		"two gzip members": {"x.csv.gz", arrowtest.Zipped("a,b\n1,-2.5\n3e-3") + arrowtest.Zipped("00,4\n5,6\n"), ""},
		"gzip by contents": {"x.csv", arrowtest.Zipped("a,b\n1,-2.5\n3e-300,4\n5,6\n"), ""},
		"gz by name only":  {"x.csv.gz", "a,b\n1,-2.5\n3e-300,4\n5,6\n", ""},
		"BOM and CRLF":     {"x.csv", "\xEF\xBB\xBFa,b\r\n1,-2.5\r\n3e-300,4\r\n5,6\r\n", ""},
		"doubled CR":       {"x.csv", "a,b\r\r\n1,-2.5\r\r\n3e-300,4\r\r\n5,6\r\r\n", ""},
		"blank lines":      {"x.csv", "\n \na,b\n\n1,-2.5\n  \r\n3e-300,4\n5,6\n\n", ""},
		"spaces":           {"x.csv", "a , b\n 1, -2.5\n3e-300 ,4\n5,6 \n", ""},
		"quotes":           {"x.csv", "\"a\",\"b\"\n\"1\",\"-2.5\"\n3e-300,\"4\"\n5,6\n", ""},
		"semicolons":       {"x.csv", "a;b\n1;-2.5\n3e-300;4\n5;6\n", ""},
		"tabs in .csv":     {"x.csv", "a\tb\n1\t-2.5\n3e-300\t4\n5\t6\n", ""},
		"unknown name":     {"x.dat", "a;b\n1;-2.5\n3e-300;4\n5;6\n", ""},
		"spaces between":   {"x.txt", "a b\n1 -2.5\n3e-300 4\n5 6\n", ""},
		"id first":         {"x.csv", "id,a,b\nr,1,-2.5\ns,3e-300,4\nt,5,6\n", "id"},
		"id last":          {"x.csv", "a,b,id\n1,-2.5,r\n3e-300,4,s\n5,6,t\n", "id"},
		"id by position":   {"x.csv", ",a,b\nr,1,-2.5\ns,3e-300,4\nt,5,6\n", "#1"},
		"R row names":      {"x.csv", "\"a\",\"b\"\n\"r\",1,-2.5\n\"s\",3e-300,4\n\"t\",5,6\n", "#1"},
		"NA is an id":      {"x.csv", "id,a,b\nr,1,-2.5\nNA,3e-300,4\nt,5,6\n", "id"},
	} {
		t.Run(name, func(t *testing.T) {
			path := put(t, c.file, c.text)
			r, err := readAll(context.Background(), path, SampleOptions{IDColumn: c.id, Memory: arrowtest.Checked(t)})
			if err != nil {
				t.Fatal(err)
			}
			if strings.Join(r.names, "|") != "a|b" || !slices.Equal(r.values, want) || r.rows != 3 {
				t.Errorf("%q %v", r.names, r.values)
			}
			if c.id == "" && r.ids != nil || c.id != "" && (len(r.ids) != 3 || r.ids[0] != "r" || r.ids[2] != "t") {
				t.Errorf("ids are %q", r.ids)
			}
			sum := sha256.Sum256([]byte(c.text))
			if r.sha != hex.EncodeToString(sum[:]) {
				t.Errorf("sha256 is %s", r.sha)
			}
			stdin, err := readAll(context.Background(), "-", SampleOptions{IDColumn: c.id, Stdin: strings.NewReader(c.text), Memory: arrowtest.Checked(t)})
			if err != nil || !slices.Equal(stdin.values, want) || stdin.sha != r.sha {
				t.Errorf("from standard input: %v, %v", stdin.values, err)
			}
		})
	}
}

// What cannot be used is refused in a sentence that names the place.
func TestSamplesRefused(t *testing.T) {
	for name, c := range map[string]struct {
		text  string
		o     SampleOptions
		words []string
	}{
		"empty file":        {"", SampleOptions{}, []string{"empty"}},
		"blank file":        {"\n \n", SampleOptions{}, []string{"empty"}},
		"header only":       {"a,b\n", SampleOptions{}, []string{"no samples"}},
		"one sample":        {"a,b\n1,2\n", SampleOptions{}, []string{"one sample", "SampleOptions.Orientation = Columns"}},
		"missing, empty":    {"a,b\n1,2\n3,\n", SampleOptions{}, []string{`column "b", line 3`, "missing", "impute"}},
		"missing, NA":       {"a,b\n1,2\n\n3,4\nNA,4\n", SampleOptions{}, []string{`column "a", line 5`, `"NA"`, "missing"}},
		"missing, nan":      {"a,b\n1,2\n3,nan\n", SampleOptions{}, []string{`column "b", line 3`, "NaN", "missing"}},
		"infinite":          {"a,b\n1,2\n3,-Inf\n", SampleOptions{}, []string{`column "b", line 3`, "infinite"}},
		"too large":         {"a,b\n1,2\n3,1e999\n", SampleOptions{}, []string{`column "b", line 3`, "1e999", "float64"}},
		"text":              {"id,b\nx,2\ny,3\n", SampleOptions{}, []string{`column "id", line 2`, `"x" is not a number`, `SampleOptions.IDColumn = "id"`}},
		"text below":        {"a,b\n1,2\nx,3\n", SampleOptions{}, []string{`column "a", line 3`, `"x" is not a number`}},
		"text, quoted name": {"my id,b\nx,2\ny,3\n", SampleOptions{}, []string{`SampleOptions.IDColumn = "my id"`}},
		"boolean":           {"a,b\ntrue,2\nfalse,3\n", SampleOptions{}, []string{`column "a"`, `"true" is not a number`}},
		"decimal comma":     {"a;b\n1,5;2\n3;4\n", SampleOptions{}, []string{`"1,5" is not a number`}},
		"two names":         {"a,b,a\n1,2,3\n3,4,5\n", SampleOptions{}, []string{`column "a"`, "variables 1 and 3", "same name"}},
		"no name":           {"a,,b\n1,2,3\n3,4,5\n", SampleOptions{}, []string{"variable 2 has no name"}},
		"no name, id":       {",a,b\n1,2,3\n3,4,5\n", SampleOptions{}, []string{"variable 1 has no name", `SampleOptions.IDColumn = "#1"`}},
		"name at the end":   {"a,b,\n1,2,\n3,4,\n", SampleOptions{}, []string{"variable 3 has no name", "take the separator away"}},
		"comment":           {"# made by us\na,b\n1,2\n", SampleOptions{}, []string{"line 2", "begins with #"}},
		"percent":           {"a,b\n1%,2\n3%,4\n", SampleOptions{}, []string{`"1%" is not a number`, "percent signs"}},
		"thousands":         {"a,b\n\"882,115\",2\n3,4\n", SampleOptions{}, []string{`"882,115" is not a number`, "thousands"}},
		"Latin-1":           {"gr\xf6\xdfe,b\n1,2\n3,4\n", SampleOptions{}, []string{"not UTF-8", "save the table as UTF-8"}},
		"long first row":    {"a,b\n1,2,3\n4,5,6\n", SampleOptions{}, []string{"line 2", "3 cells", "header has 2", `"#1"`}},
		"short first row":   {"a,b\n1\n4,5\n", SampleOptions{}, []string{"line 2", "1 cells"}},
		"long row":          {"a,b\n1,2\n\n1,2,3\n", SampleOptions{}, []string{"line 4", "as many cells"}},
		"short row":         {"a,b\n1,2\n3\n", SampleOptions{}, []string{"line 3", "as many cells"}},
		"bare quote":        {"a,b\n1,2\n3,4\"5\n", SampleOptions{}, []string{"line 3", "quotes"}},
		"open quote":        {"a,b\n1,2\n3,\"4\n", SampleOptions{}, []string{"line 3", "quotes"}},
		"open in header":    {"a,\"b\n1,2\n3,4\n", SampleOptions{}, []string{"line 1", "quotes"}},
		"unknown id":        {"a,b\n1,2\n3,4\n", SampleOptions{IDColumn: "c"}, []string{`no column "c"`, `"a", "b"`}},
		"two ids":           {"a,a\n1,2\n3,4\n", SampleOptions{IDColumn: "a"}, []string{"two columns", "#1"}},
		"only ids":          {"a\n1\n3\n", SampleOptions{IDColumn: "a"}, []string{"no columns of numbers"}},
		"unknown format":    {"a\n1\n3\n", SampleOptions{Format: "xls"}, []string{`"xls"`, "parquet"}},
		"not parquet":       {"a\n1\n3\n", SampleOptions{Format: "parquet"}, []string{"not a Parquet file"}},
		"not arrow":         {"a\n1\n3\n", SampleOptions{Format: "arrow"}, []string{"not Arrow IPC"}},
		"not a stream":      {"a\n1\n3\n", SampleOptions{Format: "arrows"}, []string{"not Arrow IPC"}},
		"UTF-16":            {"\xFF\xFEa\x00,\x00", SampleOptions{}, []string{"UTF-16", "UTF-8"}},
		"binary":            {"a\x00b\n1\n", SampleOptions{}, []string{"not a table of text"}},
		"Feather 1":         {"FEA1\x00\x00", SampleOptions{}, []string{"Feather", "version 2"}},
		"truncated gzip":    {arrowtest.Zipped("a,b\n1,2\n3,4\n")[:30], SampleOptions{}, []string{"truncated"}},
		"corrupt gzip":      {strings.Replace(arrowtest.Zipped(strings.Repeat("a,b\n1,2\n3,4\n", 9)), "\x1f\x8b\x08\x00", "\x1f\x8b\x07\x00", 1), SampleOptions{}, []string{"corrupt"}},
		"gzip and more":     {arrowtest.Zipped("a,b\n1,2\n3,4\n") + "a tail of text", SampleOptions{}, []string{"corrupt", "gzip"}},
		"columns, one":      {"id,s\na,1\nb,2\n", SampleOptions{Orientation: Columns}, []string{"one sample"}},
		"columns, names":    {"id,s,t\na,1,2\na,2,3\n", SampleOptions{Orientation: Columns}, []string{`column "a"`, "same name"}},
		"columns, missing":  {"id,s,t\na,1,2\nb,NA,3\n", SampleOptions{Orientation: Columns}, []string{`column "s", line 3`, "missing"}},
		"columns, nothing":  {"id,s,t\n", SampleOptions{Orientation: Columns}, []string{"no variables"}},
	} {
		t.Run(name, func(t *testing.T) {
			c.o.Stdin, c.o.Memory = strings.NewReader(c.text), arrowtest.Checked(t)
			_, err := readAll(context.Background(), "-", c.o)
			wantInputError(t, err, append(c.words, "standard input")...)
		})
	}
}

func TestSamplesFileFaults(t *testing.T) {
	_, err := OpenSamples(context.Background(), filepath.Join(t.TempDir(), "no.csv"), SampleOptions{})
	wantInputError(t, err, "no.csv", "no such file")
	if !errors.Is(err, fs.ErrNotExist) {
		t.Error("the cause is not fs.ErrNotExist")
	}
	_, err = OpenSamples(context.Background(), t.TempDir(), SampleOptions{})
	wantInputError(t, err, "folder")
	_, err = OpenSamples(context.Background(), "", SampleOptions{})
	wantInputError(t, err, "no file")
	_, err = ParseOrientation("diagonal")
	wantInputError(t, err, "diagonal")

	// A failing disk is not the user's fault.
	broken := io.MultiReader(strings.NewReader("a,b\n1,2\n"), failing{})
	_, err = readAll(context.Background(), "-", SampleOptions{Stdin: broken, Memory: arrowtest.Checked(t)})
	var input *InputError
	if !errors.Is(err, errDisk) || errors.As(err, &input) {
		t.Errorf("a failing disk gives %v", err)
	}
	t.Setenv("TMPDIR", filepath.Join(t.TempDir(), "no"))
	_, err = readAll(context.Background(), "-", SampleOptions{Stdin: bytes.NewReader(binarySeeds(t, Parquet)[0])})
	if err == nil || errors.As(err, &input) {
		t.Errorf("no folder for temporary files gives %v", err)
	}
}

var errDisk = errors.New("the disk is on fire")

type failing struct{}

func (failing) Read([]byte) (int, error) { return 0, errDisk }

// writeSamples writes a table in a format that WriteTable knows, or as a
// stream or TSV.
func writeSamples(t testing.TB, path string, columns []Column) {
	t.Helper()
	format := strings.TrimPrefix(filepath.Ext(path), ".")
	if err := WriteTable(path, format, columns, nil); err != nil {
		t.Fatal(err)
	}
}

// Numbers survive every format and both orientations to the last bit.
func TestSamplesRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d, m := rapid.IntRange(1, 5).Draw(t, "d"), rapid.IntRange(2, 20).Draw(t, "m")
		columns := []Column{{"id", make([]string, m)}}
		rows := []Column{{"id", make([]string, d)}} // the transpose
		want := make([]float64, m*d)
		for i := range m {
			columns[0].Values.([]string)[i] = "s" + strconv.Itoa(i)
			rows = append(rows, Column{"s" + strconv.Itoa(i), make([]float64, d)})
		}
		for j := range d {
			name := rapid.StringMatching(`[a-zé,"; ]*[a-z]`).Draw(t, "name") + strconv.Itoa(j)
			name = strings.TrimSpace(name)
			rows[0].Values.([]string)[j] = name
			column := make([]float64, m)
			for i := range m {
				v := rapid.Float64().Draw(t, "v")
				column[i], want[i*d+j] = v, v
				rows[i+1].Values.([]float64)[j] = v
			}
			columns = append(columns, Column{name, column})
		}
		for _, format := range []string{Parquet, Arrow, CSV} {
			for o, table := range map[Orientation][]Column{Rows: columns, Columns: rows} {
				r, err := readAll(context.Background(), "-", SampleOptions{Format: format, IDColumn: "id", Orientation: o,
					Stdin: bytes.NewReader(encoded(t, format, table))})
				if err != nil {
					t.Fatalf("%s by %s: %v", format, o, err)
				}
				if !slices.Equal(r.values, want) || !slices.Equal(r.names, rows[0].Values.([]string)) || !slices.Equal(r.ids, columns[0].Values.([]string)) {
					t.Fatalf("%s by %s: %v, names %q, ids %q", format, o, r.values, r.names, r.ids)
				}
			}
		}
	})
}

// A table of many blocks arrives in order, whatever the format.
func TestSamplesStream(t *testing.T) {
	const d, m = 40, 15000 // 4.8 MB
	columns := make([]Column, d)
	for j := range d {
		v := make([]float64, m)
		for i := range v {
			v[i] = float64(i*d + j)
		}
		columns[j] = Column{fmt.Sprintf("v%d", j), v}
	}
	for _, format := range []string{Parquet, Arrow, CSV} {
		for _, orientation := range []Orientation{Rows, Columns} {
			t.Run(format+" "+orientation.String(), func(t *testing.T) {
				path := filepath.Join(t.TempDir(), "x."+format)
				writeSamples(t, path, columns)
				s, err := OpenSamples(context.Background(), path, SampleOptions{Orientation: orientation, Memory: arrowtest.Checked(t)})
				if err != nil {
					t.Fatal(err)
				}
				defer s.Close()
				next, blocks := 0.0, 0
				for {
					rows, n, err := s.Next()
					if err == io.EOF {
						break
					}
					if err != nil {
						t.Fatal(err)
					}
					blocks++
					if 8*len(rows) > batch.Bytes || len(rows) != n*len(s.Names()) {
						t.Fatalf("a block of %d rows has %d values", n, len(rows))
					}
					if orientation == Columns {
						// The first column names the variables, and the table lies across.
						for i := range n {
							if v := rows[i*m]; v != float64(s.Rows()-n+i+1) {
								t.Fatalf("sample %d begins with %v", s.Rows()-n+i, v)
							}
						}
						continue
					}
					for _, v := range rows {
						if v != next {
							t.Fatalf("%v after %v", v, next-1)
						}
						next++
					}
				}
				if want := m; orientation == Rows && s.Rows() != want || orientation == Columns && s.Rows() != d-1 {
					t.Errorf("%d rows", s.Rows())
				}
				if blocks < 3 {
					t.Errorf("%d blocks", blocks)
				}
			})
		}
	}
}

// Cut short anywhere, a file that can tell is refused; damaged anywhere, it
// is refused or read, and never ends the process.
func TestSamplesDamaged(t *testing.T) {
	good := map[string][]byte{"csv": []byte(arrowtest.Zipped("a,b\n1,2\n3,4\n"))}
	for _, format := range []string{Parquet, Arrow} {
		good[format] = binarySeeds(t, format)[0]
	}
	// A stream may end without its mark, but not inside of a message.
	stream := good[Arrow][8 : bytes.LastIndex(good[Arrow], []byte{0xFF, 0xFF, 0xFF, 0xFF, 0, 0, 0, 0})+8]
	good["arrows"] = stream
	for format, data := range good {
		t.Run(format, func(t *testing.T) {
			read := func(b []byte) error {
				_, err := readAll(context.Background(), "-", SampleOptions{Format: format, Stdin: bytes.NewReader(b)})
				return err
			}
			if err := read(data); err != nil {
				t.Fatal(err)
			}
			for n := range data {
				err := read(data[:n])
				if err == nil && !(format == "arrows" && n == len(data)-8) {
					t.Fatalf("cut to %d of %d bytes, it is read", n, len(data))
				}
				mustBeInput(t, err)
			}
			for i := range data {
				for _, x := range []byte{0x01, 0xFF} {
					b := bytes.Clone(data)
					b[i] ^= x
					mustBeInput(t, read(b))
				}
			}
		})
	}
}

func TestSamplesCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	s, err := OpenSamples(ctx, "-", SampleOptions{Stdin: strings.NewReader("a,b\n1,2\n3,4\n"), Memory: arrowtest.Checked(t)})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	cancel()
	var input *InputError
	if _, _, err := s.Next(); !errors.Is(err, context.Canceled) || errors.As(err, &input) {
		t.Errorf("Next after the context's end: %v", err)
	}
	for _, format := range []string{"parquet", "arrow", "csv"} {
		_, err := OpenSamples(ctx, "-", SampleOptions{Format: format, Stdin: strings.NewReader("PAR1"), Memory: arrowtest.Checked(t)})
		if !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v", format, err)
		}
	}
}

// Closing early returns the memory too.
func TestSamplesClosedEarly(t *testing.T) {
	for _, format := range []string{Parquet, Arrow, CSV} {
		path := filepath.Join(t.TempDir(), "x."+format)
		writeSamples(t, path, []Column{{"a", make([]float64, 1<<20)}, {"b", make([]float64, 1<<20)}})
		s, err := OpenSamples(context.Background(), path, SampleOptions{Memory: arrowtest.Checked(t)})
		if err != nil {
			t.Fatal(err)
		}
		if _, _, err := s.Next(); err != nil {
			t.Fatal(err)
		}
		if s.SHA256() != "" {
			t.Error("a checksum before the end")
		}
		if err := errors.Join(s.Close(), s.Close()); err != nil {
			t.Error(err)
		}
	}
}

// A table of the size of an expression compendium, 301 conditions of 1081 genes
// with numbers of six digits, none of them lost or moved.
func TestSamplesOfExpression(t *testing.T) {
	const conditions, genes = 301, 1081
	var b strings.Builder
	b.WriteString("condition")
	for j := range genes {
		fmt.Fprintf(&b, "\tG%d", j+2)
	}
	var want []float64
	for i := range conditions {
		fmt.Fprintf(&b, "\n%d", i+1)
		for j := range genes {
			v := 4 + float64((i*7919+j*104729)%11000003)/1e6
			want = append(want, v)
			fmt.Fprintf(&b, "\t%g", v)
		}
	}
	text := zipped(b.String() + "\n")
	r, err := readAll(context.Background(), put(t, "expression.tsv.gz", text), SampleOptions{IDColumn: "condition", Memory: arrowtest.Checked(t)})
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256([]byte(text))
	if r.rows != conditions || len(r.names) != genes || r.names[0] != "G2" || r.ids[300] != "301" ||
		!slices.Equal(r.values, want) || r.sha != hex.EncodeToString(sum[:]) {
		t.Errorf("%d×%d, %s", r.rows, len(r.names), r.sha)
	}
}

// The spool of a pipe leaves nothing behind.
func TestSamplesSpool(t *testing.T) {
	folder := t.TempDir()
	t.Setenv("TMPDIR", folder)
	for _, seed := range binarySeeds(t, Parquet)[:1] {
		r, err := readAll(context.Background(), "-", SampleOptions{Stdin: bytes.NewReader(seed), Memory: arrowtest.Checked(t)})
		if err != nil {
			t.Fatal(err)
		}
		sum := sha256.Sum256(seed)
		if !slices.Equal(r.values, []float64{1, 3, 2, 1, 3, 2}) || r.sha != hex.EncodeToString(sum[:]) {
			t.Errorf("%v, %s", r.values, r.sha)
		}
	}
	if left, _ := os.ReadDir(folder); len(left) > 0 {
		t.Errorf("%s is left", left[0].Name())
	}
}
