package arrowio

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"testing"
)

// read reads a table of samples to its end and forgets it.
func drain(b *testing.B, path string, o SampleOptions) {
	b.Helper()
	s, err := OpenSamples(context.Background(), path, o)
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	for {
		if _, _, err := s.Next(); err == io.EOF {
			return
		} else if err != nil {
			b.Fatal(err)
		}
	}
}

// Reading by bytes of the file: tables of many rows, and of many columns. Parquet is
// counted by its numbers, 8 bytes each.
func BenchmarkReading(b *testing.B) {
	for _, shape := range []struct {
		name string
		m, d int
	}{{"long", 20000, 200}, {"wide", 300, 20000}} {
		columns := wide(shape.m, shape.d)
		for _, format := range []string{Parquet, Arrow, CSV, "csv.gz"} {
			b.Run(shape.name+"/"+format, func(b *testing.B) {
				of := format
				if format == "csv.gz" {
					of = CSV
				}
				data := encoded(b, of, columns)
				size := int64(len(data))
				if format == Parquet {
					size = 8 * int64(shape.m) * int64(shape.d)
				}
				if format == "csv.gz" {
					data = []byte(zipped(string(data)))
				}
				path := filepath.Join(b.TempDir(), "x."+format)
				if err := os.WriteFile(path, data, 0o600); err != nil {
					b.Fatal(err)
				}
				b.SetBytes(size)
				for b.Loop() {
					drain(b, path, SampleOptions{})
				}
			})
		}
	}
}
