package arrowio

import (
	"errors"
	"testing"
)

// What a library says of a corrupt file is told if it means something to a reader.
func TestCorruptFilesInWords(t *testing.T) {
	for text, want := range map[string]string{
		"page 3 has no values": "x.parquet: the Parquet file is corrupt (page 3 has no values); fetch or write it again",
		"parquet: could not read footer: *parquet.ColumnOrder error reading struct: *parquet.ColumnOrder field 0 read error: EOF": "x.parquet: the Parquet file is corrupt; fetch or write it again",
		"runtime error: index out of range [7] with length 3":                                                                     "x.parquet: the Parquet file is corrupt; fetch or write it again",
	} {
		in := &input{ctx: t.Context(), name: "x.parquet"}
		if got := in.explain(errors.New(text), "Parquet file").Error(); got != want {
			t.Errorf("%q becomes %q, want %q", text, got, want)
		}
	}
}
