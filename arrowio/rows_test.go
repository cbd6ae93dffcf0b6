package arrowio

import (
	"context"
	"io"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/gladflow/gladflow/arrowio/internal/arrowtest"
)

// besideText has a label, words, numbers and what is no number in a row that is left out.
const besideText = "id,batch,a,age,b\nr1,x,1,30,2\n\"r,2\",\"y \"\"z\"\"\",3,NA,4\ntotal,-,junk,99,inf\nr4,x,5,40.5,6\nr5,,7,50,8\n"

// readBeside reads a table with the columns beside it.
func readBeside(t *testing.T, path string, o SampleOptions) (read, []Beside, int, error) {
	t.Helper()
	var r read
	s, err := OpenSamples(context.Background(), path, o)
	if err != nil {
		return r, nil, 0, err
	}
	defer s.Close()
	for {
		rows, _, err := s.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			return r, nil, 0, err
		}
		r.values = append(r.values, rows...)
	}
	r.names, r.ids, r.rows = s.Names(), s.IDs(), s.Rows()
	return r, s.Beside(), s.LeftOut(), nil
}

// Samples are chosen by label, pattern and number, and what one that is left out holds
// does not matter.
func TestRows(t *testing.T) {
	path := put(t, "x.csv", besideText)
	for name, c := range map[string]struct {
		rows, exclude []string
		ids           string
	}{
		"a label":           {nil, []string{"total"}, "r1|r,2|r4|r5"},
		"a pattern":         {[]string{"r?"}, nil, "r1|r4|r5"},
		"a number":          {nil, []string{"#3"}, "r1|r,2|r4|r5"},
		"a range":           {[]string{"#4-5"}, nil, "r4|r5"},
		"to the end":        {[]string{"#2-"}, []string{"#3"}, "r,2|r4|r5"},
		"both":              {[]string{"r*"}, []string{"#1", "r5"}, "r,2|r4"},
		"a quoted label":    {nil, []string{"total", "r,2"}, "r1|r4|r5"},
		"more than one way": {[]string{"r1", "#1", "r4"}, nil, "r1|r4"},
	} {
		got, _, out, err := readBeside(t, path, SampleOptions{IDColumn: "id", Exclude: []string{"batch", "age"}, Rows: c.rows, ExcludeRows: c.exclude})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if ids := strings.Join(got.ids, "|"); ids != c.ids || out != 5-len(got.ids) || got.rows != len(got.ids) || len(got.values) != 2*got.rows {
			t.Errorf("%s: %q with %d left out and values %v, want %q", name, ids, out, got.values, c.ids)
		}
	}
}

// Columns beside the variables keep their words, and numbers where all are.
func TestBesideOfText(t *testing.T) {
	path := put(t, "x.csv", besideText)
	got, beside, _, err := readBeside(t, path, SampleOptions{IDColumn: "id", ExcludeRows: []string{"total"}, Beside: []string{"age", "#2"}})
	if err != nil {
		t.Fatal(err)
	}
	if strings.Join(got.names, "") != "ab" || !slices.Equal(got.values, []float64{1, 2, 3, 4, 5, 6, 7, 8}) {
		t.Errorf("%q %v", got.names, got.values)
	}
	if len(beside) != 2 || beside[0].Name != "age" || beside[1].Name != "batch" {
		t.Fatalf("%+v", beside)
	}
	age, batch := beside[0], beside[1]
	if age.Words != nil || age.Len() != 4 || age.Numbers[0] != 30 || !math.IsNaN(age.Numbers[1]) || !age.Missing(1) || age.Numbers[2] != 40.5 {
		t.Errorf("%+v", age)
	}
	if batch.Numbers != nil || !slices.Equal(batch.Words, []string{"x", `y "z"`, "x", ""}) || !batch.Missing(3) || batch.Missing(1) {
		t.Errorf("%+v", batch)
	}
}

// The same from columns of Arrow, and where samples are columns.
func TestRowsAndBesideOfOtherForms(t *testing.T) {
	columns := []Column{{"id", []string{"r", "s", "t", "u"}}, {"a", []float64{1, 2, 3, 4}}, {"batch", []string{"x", "y", "x", "z"}}, {"age", []float64{9, 8, 7, 6}}, {"b", []float64{5, 6, 7, 8}}}
	for _, format := range []string{Parquet, Arrow} {
		path := put(t, "x."+format, string(encoded(t, format, columns)))
		got, beside, out, err := readBeside(t, path, SampleOptions{IDColumn: "id", ExcludeRows: []string{"s"}, Beside: []string{"batch", "age"}, Memory: arrowtest.Checked(t)})
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(got.values, []float64{1, 5, 3, 7, 4, 8}) || strings.Join(got.ids, "") != "rtu" || out != 1 {
			t.Errorf("%s: %v %q, %d left out", format, got.values, got.ids, out)
		}
		if !slices.Equal(beside[0].Words, []string{"x", "x", "z"}) || !slices.Equal(beside[1].Numbers, []float64{9, 7, 6}) {
			t.Errorf("%s: %+v", format, beside)
		}
	}
	path := put(t, "x.csv", "v,r1,bad,r3\na,1,word,2\nage,30,,40\nb,3,inf,4\n")
	got, beside, out, err := readBeside(t, path, SampleOptions{Orientation: Columns, ExcludeRows: []string{"bad"}, Beside: []string{"age"}})
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(got.values, []float64{1, 3, 2, 4}) || strings.Join(got.ids, "|") != "r1|r3" || out != 1 || !slices.Equal(beside[0].Numbers, []float64{30, 40}) {
		t.Errorf("%+v, %+v, %d left out", got, beside, out)
	}
}

// A fault in a sample after one that was left out is where it is in the file.
func TestFaultAfterLeftOut(t *testing.T) {
	text := "id,a\nr,1\nout,2\ns,inf\nt,4\n"
	_, _, _, err := readBeside(t, put(t, "x.csv", text), SampleOptions{IDColumn: "id", ExcludeRows: []string{"out"}})
	wantInputError(t, err, `column "a", line 4`, "infinite")
	columns := []Column{{"id", []string{"r", "out", "s"}}, {"a", []float64{1, 2, math.Inf(1)}}}
	_, _, _, err = readBeside(t, put(t, "x.parquet", string(encoded(t, Parquet, columns))), SampleOptions{IDColumn: "id", ExcludeRows: []string{"out"}})
	wantInputError(t, err, `column "a", row 3`, "infinite")
}

func TestRowsRefused(t *testing.T) {
	path := put(t, "x.csv", besideText)
	columns := put(t, "y.csv", "v,r1,r2,r3\na,1,2,3\nb,2,1,4\n")
	for name, c := range map[string]struct {
		path string
		o    SampleOptions
		want []string
	}{
		"no such label":  {path, SampleOptions{IDColumn: "id", Exclude: []string{"batch", "age"}, ExcludeRows: []string{"total", "r9", "q*"}}, []string{`no sample of 5 is "r9", "q*"`}},
		"beyond":         {path, SampleOptions{IDColumn: "id", Exclude: []string{"batch", "age"}, ExcludeRows: []string{"total", "#6"}}, []string{`"#6"`}},
		"no labels":      {path, SampleOptions{Exclude: []string{"id", "batch", "age"}, Rows: []string{"r1"}}, []string{"no column labels them", "IDColumn", "#10-20"}},
		"none left":      {path, SampleOptions{IDColumn: "id", Exclude: []string{"batch", "age"}, ExcludeRows: []string{"*"}}, []string{"no sample is left of 5"}},
		"one left":       {path, SampleOptions{IDColumn: "id", Exclude: []string{"batch", "age"}, Rows: []string{"#1"}}, []string{"1 sample is left of 5"}},
		"no such column": {path, SampleOptions{IDColumn: "id", Beside: []string{"sex"}}, []string{`no column "sex"`}},
		"twice":          {path, SampleOptions{IDColumn: "id", Beside: []string{"age", "#4"}}, []string{"named twice"}},
		"the labels":     {path, SampleOptions{IDColumn: "id", Beside: []string{"id"}}, []string{"labels the rows"}},
		"in columns":     {columns, SampleOptions{Orientation: Columns, Rows: []string{"r1", "r4"}}, []string{`no sample of 3 is "r4"`}},
		"an infinite":    {put(t, "z.csv", "a,age\n1,2\n2,inf\n3,4\n"), SampleOptions{Beside: []string{"age"}}, []string{`column "age"`, "infinite"}},
	} {
		_, _, _, err := readBeside(t, c.path, c.o)
		if err == nil {
			t.Errorf("%s: no error", name)
			continue
		}
		wantInputError(t, err, c.want...)
	}
}

// Rows of batches are chosen as those of text, wherever a batch begins: also where the
// first of one, or all, are left out.
func TestRowsOfBatches(t *testing.T) {
	for name, c := range map[string]struct {
		rows, exclude []string
		left          []float64
	}{
		"the first ones": {nil, []string{"#1-2"}, []float64{5, 6, 7, 8, 9, 10}},
		"the last":       {nil, []string{"#5"}, []float64{1, 2, 3, 4, 5, 6, 7, 8}},
		"some":           {[]string{"#2", "#5"}, nil, []float64{3, 4, 9, 10}},
		"two in a row":   {nil, []string{"#2", "#3"}, []float64{1, 2, 7, 8, 9, 10}},
	} {
		for _, lists := range []bool{true, false} {
			for size := range int64(5) {
				columns := []Column{{"a", []float64{1, 3, 5, 7, 9}}, {"b", []float64{2, 4, 6, 8, 10}}}
				table, err := NewRecord(columns, nil)
				if err != nil {
					t.Fatal(err)
				}
				if lists {
					table = SampleRecord(SampleSchema([]string{"a", "b"}), []float64{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}, 5)
				}
				got, err := streamOf(t, arrowtest.Messages(t, table, size+1), SampleOptions{Rows: c.rows, ExcludeRows: c.exclude})
				table.Release()
				if err != nil || !slices.Equal(got.values, c.left) {
					t.Errorf("%s, lists %v, batches of %d: %v, %v", name, lists, size+1, got.values, err)
				}
			}
		}
	}
}
