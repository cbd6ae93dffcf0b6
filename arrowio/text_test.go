package arrowio

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/apache/arrow/go/v15/arrow/memory"
	"pgregory.net/rapid"

	"github.com/gladflow/gladflow/arrowio/batch"
	"github.com/gladflow/gladflow/arrowio/internal/arrowtest"
)

// Whatever spaces, carriage returns and blank lines lie around the cells, a
// trimmer hands on the cells alone and knows their lines.
func TestTrimmer(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		comma := rapid.SampledFrom([]byte{',', '\t', ';'}).Draw(t, "comma")
		space := func(name string) string { return rapid.SampledFrom([]string{"", "", " ", "  "}).Draw(t, name) }
		cell := rapid.StringMatching(`[a-z0-9](["\n, ;\t\r]?[a-z0-9])*`)
		var text strings.Builder
		var want [][]string
		var lines []int
		line := 1
		width := rapid.IntRange(1, 4).Draw(t, "width")
		for range rapid.IntRange(0, 8).Draw(t, "records") {
			for rapid.IntRange(0, 3).Draw(t, "blank") == 0 {
				text.WriteString(space("before") + rapid.SampledFrom([]string{"\n", "\r\n", "\r\r\n"}).Draw(t, "end"))
				line++
			}
			lines = append(lines, line)
			record := make([]string, width)
			for i := range record {
				record[i] = cell.Draw(t, "cell")
				written := record[i]
				if strings.ContainsAny(written, "\"\n\r\t,;") {
					written = `"` + strings.ReplaceAll(written, `"`, `""`) + `"`
				}
				line += strings.Count(written, "\n")
				if i > 0 {
					text.WriteByte(comma)
				}
				text.WriteString(space("left") + written + space("right"))
			}
			text.WriteString(rapid.SampledFrom([]string{"\n", "\r\n", "\r\r\n"}).Draw(t, "end"))
			line++
			want = append(want, record)
		}
		var in io.Reader = strings.NewReader(text.String())
		if rapid.Bool().Draw(t, "byte by byte") {
			in = iotest.OneByteReader(in)
		}
		trim := newTrimmer("text", in, comma)
		r := csv.NewReader(trim)
		r.Comma = rune(comma)
		got, err := r.ReadAll()
		if err != nil {
			t.Fatalf("%v in %q", err, text.String())
		}
		if !slices.EqualFunc(got, want, slices.Equal[[]string]) {
			t.Fatalf("%q of %q, want %q", got, text.String(), want)
		}
		for i, l := range lines {
			if trim.lineOf(i) != l {
				t.Fatalf("record %d is on line %d, want %d, of %q", i, trim.lineOf(i), l, text.String())
			}
		}
	})
}

func TestDelimiterOf(t *testing.T) {
	for _, c := range []struct {
		line            string
		preferred, want byte
	}{
		{"a,b", 0, ','}, {"a\tb,c\td", 0, '\t'}, {"a;b", 0, ';'}, {"a;b", ',', ';'}, {"a b", 0, ' '}, {"a b,c", 0, ','},
		{"a,b;c;d", ',', ','}, {"a,b", '\t', ','}, {"alone", 0, ','}, {"alone", '\t', '\t'}, {`"a,b,c"` + "\td", 0, '\t'}, {`"a b"`, 0, ','},
		{" a,b ", 0, ','},
	} {
		if got := delimiterOf([]byte(c.line), c.preferred); got != c.want {
			t.Errorf("%q: %q, want %q", c.line, got, c.want)
		}
	}
}

func TestFormatOf(t *testing.T) {
	for _, c := range []struct {
		path, named, head string
		want              format
	}{
		{"x.parquet", "", "", parquetFormat}, {"x.arrow", "", "", arrowFormat}, {"x.feather", "", "", arrowFormat},
		{"x.arrows", "", "", streamFormat}, {"x.CSV", "", "", csvFormat}, {"x.tsv.gz", "", "", tsvFormat}, {"x.csv.GZ", "", "", csvFormat},
		{"x.csv", "parquet", "", parquetFormat}, {"-", "TSV", "", tsvFormat},
		{"-", "", "PAR1\x15\x04", parquetFormat}, {"-", "", "ARROW1\x00\x00", arrowFormat}, {"-", "", "\xFF\xFF\xFF\xFF\x10", streamFormat},
		{"-", "", "\x1f\x8b\x08", textFormat}, {"-", "", "a,b\n", textFormat}, {"-", "", "", textFormat},
		// Genes that are called like formats.
		{"-", "", "PAR1,PAR2\n", textFormat}, {"-", "", "PAR1\tPAR2\n", textFormat}, {"-", "", "PAR1", textFormat}, {"x", "", "ARROW1\r\n1", textFormat},
		{"x.parquet.gz", "", "\x1f\x8b\x08", textFormat}, {"x.dat", "", "PAR1\x15", parquetFormat},
	} {
		s, err := open(t.Context(), "-", strings.NewReader(c.head), nil, nil, batch.Limits{})
		if err != nil {
			t.Fatal(err)
		}
		if got, err := formatOf(s, c.path, c.named); got != c.want || err != nil {
			t.Errorf("%s, %q, %q: %v, want %v (%v)", c.path, c.named, c.head, got, c.want, err)
		}
	}
}

// Schemas that pyarrow and Arrow for Go have written pass the verification
// that guards Arrow from damaged ones.
func TestVerifyMessage(t *testing.T) {
	data := binarySeeds(t, Arrow)[1]
	m := &messageReader{r: bytes.NewReader(data[8:]), mem: arrowtest.Checked(t), footed: true,
		unpacker: batch.NewUnpacker(t.Context(), memory.DefaultAllocator, batch.Limits{})}
	defer m.Release()
	n := 0
	for {
		_, err := m.Message()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		n++
	}
	if n != 2 {
		t.Errorf("%d messages", n)
	}
}

func TestInputErrorText(t *testing.T) {
	for want, e := range map[string]*InputError{
		`x.csv: why`:                              {Path: "x.csv", Reason: "why"},
		`x.csv: column "a", line 3: why`:          {Path: "x.csv", Column: "a", Line: 3, Row: 2, Reason: "why"},
		`x.parquet: column "a", row 2: why`:       {Path: "x.parquet", Column: "a", Row: 2, Reason: "why"},
		fmt.Sprintf("%s: line 1: why", "a b.csv"): {Path: "a b.csv", Line: 1, Reason: "why"},
	} {
		if e.Error() != want {
			t.Errorf("%s, want %s", e.Error(), want)
		}
	}
	if clip(strings.Repeat("é", 50)) != strings.Repeat("é", 40)+"…" {
		t.Error("clip cuts letters")
	}
}
