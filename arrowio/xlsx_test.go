package arrowio

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/xuri/excelize/v2"

	"github.com/gladflow/gladflow/arrowio/batch"
)

// workbook is an .xlsx file whose sheets have these rows.
func workbook(t testing.TB, sheets map[string][][]any) []byte {
	t.Helper()
	f := excelize.NewFile()
	defer f.Close()
	for _, name := range slices.Sorted(func(yield func(string) bool) {
		for name := range sheets {
			if !yield(name) {
				return
			}
		}
	}) {
		if _, err := f.NewSheet(name); err != nil {
			t.Fatal(err)
		}
		for i, row := range sheets[name] {
			at, _ := excelize.CoordinatesToCellName(1, i+1)
			if err := f.SetSheetRow(name, at, &row); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := f.DeleteSheet("Sheet1"); err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := f.Write(&b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// A sheet reads as the table that it is: with the values that are stored, not those that
// are shown, blank rows and cells at the end of a row that are not stored.
func TestWorkbook(t *testing.T) {
	data := workbook(t, map[string][][]any{"data": {
		{"id", "a", "b", "note"}, {"x", 1.0 / 3, 2}, {"y", -2.5, 4e-300, "late"}, {}, {"z", 5, 6},
	}})
	path := filepath.Join(t.TempDir(), "t.xlsx")
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	o := SampleOptions{IDColumn: "id", Exclude: []string{"note"}}
	r, err := readAll(context.Background(), path, o)
	if err != nil {
		t.Fatal(err)
	}
	want := []float64{1.0 / 3, 2, -2.5, 4e-300, 5, 6}
	if strings.Join(r.names, "|") != "a|b" || !slices.Equal(r.values, want) || strings.Join(r.ids, "") != "xyz" || len(r.sha) != 64 {
		t.Errorf("%q %v %q %s", r.names, r.values, r.ids, r.sha)
	}
	o.Stdin = bytes.NewReader(data) // known by its first bytes
	stdin, err := readAll(context.Background(), "-", o)
	if err != nil || !slices.Equal(stdin.values, want) || stdin.sha != r.sha {
		t.Errorf("%v, %v", stdin.values, err)
	}
	o.Sheet = "data"
	o.Stdin = bytes.NewReader(data)
	if named, err := readAll(context.Background(), "-", o); err != nil || !slices.Equal(named.values, want) {
		t.Errorf("%v, %v", named.values, err)
	}
}

func TestWorkbookRefused(t *testing.T) {
	one := [][]any{{"a", "b"}, {1, 2}, {3, 4}}
	two := workbook(t, map[string][][]any{"first": one, "second": one})
	for name, c := range map[string]struct {
		data  []byte
		o     SampleOptions
		words []string
	}{
		"two sheets":    {two, SampleOptions{}, []string{"2 sheets", `"first", "second"`, "sheet"}},
		"no such sheet": {two, SampleOptions{Sheet: "third"}, []string{`no sheet "third"`, `"first"`}},
		"text":          {workbook(t, map[string][][]any{"s": {{"a", "b"}, {1, 2}, {}, {3, "x"}}}), SampleOptions{}, []string{`column "b", line 4`, `"x" is not a number`}},
		"missing":       {workbook(t, map[string][][]any{"s": {{"a", "b"}, {1, 2}, {3}}}), SampleOptions{}, []string{`column "b", line 3`, "missing"}},
		"an error":      {workbook(t, map[string][][]any{"s": {{"a", "b"}, {1, 2}, {3, "#DIV/0!"}}}), SampleOptions{}, []string{`column "b", line 3`, "missing"}},
		"long row":      {workbook(t, map[string][][]any{"s": {{"a", "b"}, {1, 2}, {3, 4, 5}}}), SampleOptions{}, []string{"line 3", "as many cells"}},
		"empty":         {workbook(t, map[string][][]any{"s": {}}), SampleOptions{}, []string{"empty"}},
		"truncated":     {two[:len(two)/2], SampleOptions{}, []string{"standard input"}},
		"not one":       {[]byte("a,b\n1,2\n3,4\n"), SampleOptions{Format: "xlsx"}, []string{"standard input"}},
		"too large":     {two, SampleOptions{Limits: batch.Limits{Batch: 500}}, []string{"the workbook takes more than 500 bytes"}},
	} {
		t.Run(name, func(t *testing.T) {
			c.o.Stdin = bytes.NewReader(c.data)
			_, err := readAll(context.Background(), "-", c.o)
			wantInputError(t, err, c.words...)
		})
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := readAll(ctx, "-", SampleOptions{Stdin: bytes.NewReader(two), Sheet: "first"}); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// Whatever the bytes, a workbook neither panics nor is a failure of the machine.
func FuzzWorkbook(f *testing.F) {
	f.Add(workbook(f, map[string][][]any{"s": {{"a", "b"}, {1, 2}, {3, 4}}}))
	f.Add([]byte("PK\x03\x04"))
	f.Fuzz(func(t *testing.T, data []byte) {
		_, err := readAll(context.Background(), "-", SampleOptions{Format: "xlsx", Stdin: bytes.NewReader(data), Limits: batch.Limits{Batch: 1 << 20}})
		mustBeInput(t, err)
	})
}
