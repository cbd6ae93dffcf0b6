package arrowio

import (
	"io"

	"github.com/apache/arrow/go/v15/arrow/csv"
)

// csvEncoding writes comma-separated text, with its description beside it.
func csvEncoding() encoding {
	return encoding{name: CSV, title: "comma-separated text", encode: (*output).encodeCSV, commit: commitWithSidecar}
}

func (t *output) encodeCSV(w io.Writer) error {
	c := csv.NewWriter(w, t.record.Schema(), csv.WithHeader(true))
	if err := t.slices(t.batch/32, c.Write); err != nil {
		return err
	}
	return c.Flush()
}
