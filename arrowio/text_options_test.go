package arrowio

import (
	"context"
	"errors"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// Numbers in other ways of writing, chosen columns and missing values.
func TestTextOptions(t *testing.T) {
	nan := math.NaN()
	for name, c := range map[string]struct {
		text   string
		o      SampleOptions
		names  string
		values []float64
	}{
		"decimal commas":      {"a;b\n1,5;2\n-3;4,25\n", SampleOptions{Text: TextOptions{Decimal: ','}}, "a|b", []float64{1.5, 2, -3, 4.25}},
		"and thousands":       {"a;b\n1.500,5;2\n-3;4.000.000\n", SampleOptions{Text: TextOptions{Decimal: ',', Thousands: '.'}}, "a|b", []float64{1500.5, 2, -3, 4e6}},
		"thousands in quotes": {"a,b\n\"1,500.5\",2\n-3,\"4,000,000\"\n", SampleOptions{Text: TextOptions{Thousands: ','}}, "a|b", []float64{1500.5, 2, -3, 4e6}},
		"no header":           {"1,2\n3,4\n5,6\n", SampleOptions{Text: TextOptions{NoHeader: true}}, "v1|v2", []float64{1, 2, 3, 4, 5, 6}},
		"no header, labels":   {"x,1,2\ny,3,4\n", SampleOptions{IDColumn: "#1", Text: TextOptions{NoHeader: true}}, "v2|v3", []float64{1, 2, 3, 4}},
		"missing":             {"a,b\n1,NA\n,4\nbad,-\n", SampleOptions{KeepMissing: true, Text: TextOptions{Missing: []string{"bad"}}}, "a|b", []float64{1, nan, nan, 4, nan, nan}},
		"missing, by columns": {"id,s,t\na,1,\nb,NA,4\n", SampleOptions{KeepMissing: true, Orientation: Columns}, "a|b", []float64{1, nan, nan, 4}},
		"columns":             {"a,b,c,ab\n1,2,x,3\n4,5,y,6\n", SampleOptions{Columns: []string{"a*", "b"}, Exclude: []string{"a?"}}, "a|b", []float64{1, 2, 4, 5}},
		"a name as it is":     {"a*,b\n1,x\n4,y\n", SampleOptions{Columns: []string{"a*"}}, "a*", []float64{1, 4}},
		"rows are variables":  {"id,s,t\na,1,2\nb,3,4\nc,5,6\n", SampleOptions{Orientation: Columns, Exclude: []string{"b"}}, "a|c", []float64{1, 5, 2, 6}},
		"exclude text":        {"a,word\n1,x\n4,y\n", SampleOptions{Exclude: []string{"word"}}, "a", []float64{1, 4}},
	} {
		t.Run(name, func(t *testing.T) {
			c.o.Stdin = strings.NewReader(c.text)
			r, err := readAll(context.Background(), "-", c.o)
			if err != nil {
				t.Fatal(err)
			}
			same := slices.EqualFunc(r.values, c.values, func(a, b float64) bool { return a == b || a != a && b != b })
			if strings.Join(r.names, "|") != c.names || !same {
				t.Errorf("%q %v, want %s %v", r.names, r.values, c.names, c.values)
			}
		})
	}
}

func TestTextOptionsRefused(t *testing.T) {
	for name, c := range map[string]struct {
		text  string
		o     SampleOptions
		words []string
	}{
		"a decimal comma":        {"a;b\n1,5;2\n3;4\n", SampleOptions{}, []string{`"1,5" is not a number`, `decimal = ","`}},
		"thousands":              {"a;b\n1,500,000;2\n3;4\n", SampleOptions{}, []string{`thousands = ","`}},
		"marks out of place":     {"a;b\n1,5;2\n3;4\n", SampleOptions{Text: TextOptions{Thousands: ','}}, []string{`"1,5" is not a number`}},
		"a point among commas":   {"a;b\n1.5;2\n3;4\n", SampleOptions{Text: TextOptions{Decimal: ','}}, []string{`"1.5" is not a number`}},
		"commas between cells":   {"a,b\n1,5\n3,4\n", SampleOptions{Text: TextOptions{Decimal: ','}}, []string{"separated by commas"}},
		"the same marks":         {"a;b\n1;5\n3;4\n", SampleOptions{Text: TextOptions{Decimal: ',', Thousands: ','}}, []string{"both"}},
		"an unknown mark":        {"a;b\n1;5\n3;4\n", SampleOptions{Text: TextOptions{Decimal: 'x'}}, []string{"no decimal mark"}},
		"another unknown mark":   {"a;b\n1;5\n3;4\n", SampleOptions{Text: TextOptions{Thousands: 'x'}}, []string{"no mark between thousands"}},
		"a word below":           {"a;b\n1;5\n3;bad\n", SampleOptions{}, []string{`column "b", line 3`, `na = "bad"`}},
		"the user's own word":    {"a;b\n1;5\n3;bad\n", SampleOptions{Text: TextOptions{Missing: []string{"bad"}}}, []string{`column "b", line 3`, "missing"}},
		"no header":              {"1.5,2\n2,3\n4,5\n", SampleOptions{}, []string{"no header", "no_header"}},
		"no header, whole":       {"0,1,0\n1,0,1\n", SampleOptions{}, []string{"no header"}},
		"no such column":         {"a,b\n1,5\n3,4\n", SampleOptions{Columns: []string{"x*"}}, []string{`no variable "x*"`, `"a", "b"`}},
		"nothing left":           {"a,b\n1,5\n3,4\n", SampleOptions{Exclude: []string{"*"}}, []string{"no variable is left"}},
		"infinite all the same":  {"a,b\n1,5\n3,-Inf\n", SampleOptions{KeepMissing: true}, []string{`column "b", line 3`, "infinite"}},
		"infinite, NA before it": {"a,b\nNA,5\n3,Inf\n", SampleOptions{KeepMissing: true}, []string{`column "b", line 3`, "infinite"}},
	} {
		t.Run(name, func(t *testing.T) {
			c.o.Stdin = strings.NewReader(c.text)
			_, err := readAll(context.Background(), "-", c.o)
			wantInputError(t, err, c.words...)
		})
	}
	// Whoever does not offer an option is not told of it.
	_, err := readAll(context.Background(), "-", SampleOptions{Stdin: strings.NewReader("1.5,2\n2,3\n"), Fixed: TextKeys()})
	wantInputError(t, err, "write the names of the columns above it")
	if strings.Contains(err.Error(), "no_header") {
		t.Error(err)
	}
}

// Years are good names of columns.
func TestNumbersAsNames(t *testing.T) {
	r, err := readAll(context.Background(), "-", SampleOptions{Stdin: strings.NewReader("2001,2002\n1,2\n2,1\n")})
	if err != nil || strings.Join(r.names, "|") != "2001|2002" {
		t.Errorf("%q, %v", r.names, err)
	}
}

// Null, NaN and a null sample of Arrow are missing values, wherever they are.
func TestMissingOfArrow(t *testing.T) {
	nan := math.NaN()
	for _, format := range []string{Parquet, Arrow} {
		data := encoded(t, format, []Column{{"a", []float64{1, nan, 3}}, {"b", []float64{4, 5, nan}}})
		s, err := OpenSamples(t.Context(), "-", SampleOptions{Format: format, Stdin: strings.NewReader(string(data)), KeepMissing: true})
		if err != nil {
			t.Fatal(err)
		}
		rows, n, err := s.Next()
		if err != nil || n != 3 || !math.IsNaN(rows[2]) || !math.IsNaN(rows[5]) || rows[3] != 5 {
			t.Errorf("%s: %v, %v", format, rows, err)
		}
		count, first := s.Missing()
		if count != 2 || first.Column != "a" || first.Row != 2 {
			t.Errorf("%s: %d, %v", format, count, first)
		}
		s.Close()
	}
}

// What says how text is written, or which sheet is meant, is not passed over where a file
// has neither.
func TestOptionsOfAnotherFormat(t *testing.T) {
	folder := t.TempDir()
	for _, f := range []string{Parquet, Arrow, CSV} {
		writeSamples(t, filepath.Join(folder, "x."+f), []Column{{"a", []float64{1, 2}}, {"b", []float64{3, -9}}})
	}
	for option, o := range map[string]SampleOptions{
		noHeaderOption:  {Text: TextOptions{NoHeader: true}},
		decimalOption:   {Text: TextOptions{Decimal: '.'}},
		thousandsOption: {Text: TextOptions{Thousands: ' '}},
		wordsOption:     {Text: TextOptions{Missing: []string{"-9"}}},
		sheetOption:     {Sheet: "a"},
	} {
		for _, f := range []string{Parquet, Arrow, CSV} {
			_, err := readAll(t.Context(), filepath.Join(folder, "x."+f), o)
			var wrong *InputError
			refused := errors.As(err, &wrong) && wrong.Advice.Option == option
			if refused != (f != CSV || option == sheetOption) {
				t.Errorf("%s of %s: %v", option, f, err)
			}
		}
	}
}
