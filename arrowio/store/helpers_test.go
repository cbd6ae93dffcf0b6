package store

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gladflow/gladflow/arrowio"
)

// encoded is what WriteTable puts into a file.
func encoded(t testing.TB, format string, columns []arrowio.Column) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "t."+format)
	if err := arrowio.WriteTable(path, format, columns, nil); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// A read is what Samples says of a table.
type read struct {
	names  []string
	values []float64 // row-major
	rows   int
	sha    string
}

// readAll reads a whole table of samples with every store there is.
func readAll(ctx context.Context, path string, o arrowio.SampleOptions) (r read, err error) {
	o.Stores = All()
	s, err := arrowio.OpenSamples(ctx, path, o)
	if err != nil {
		return r, err
	}
	defer s.Close()
	for {
		rows, n, err := s.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			return r, err
		}
		r.values = append(r.values, rows...)
		r.rows += n
	}
	r.names, r.sha = slices.Clone(s.Names()), s.SHA256()
	return r, nil
}

// wantInputError checks that err is an InputError whose message holds all of
// the words.
func wantInputError(t testing.TB, err error, words ...string) {
	t.Helper()
	var input *arrowio.InputError
	if !errors.As(err, &input) {
		t.Fatalf("got %v, want an InputError", err)
	}
	for _, w := range words {
		if !strings.Contains(err.Error(), w) {
			t.Errorf("message lacks %q: %v", w, err)
		}
	}
	if strings.Contains(err.Error(), "\n") || !strings.HasPrefix(err.Error(), input.Path+": ") {
		t.Errorf("not one clear sentence: %v", err)
	}
}
