package arrowio

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gladflow/gladflow/arrowio/batch"
)

// put writes text to a file of that name in a fresh folder.
func put(t testing.TB, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// rootOf opens a folder.
func rootOf(folder string) *os.Root {
	root, err := os.OpenRoot(folder)
	if err != nil {
		panic(err)
	}
	return root
}

// zipped is text, compressed by gzip.
func zipped(text string) string {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	io.WriteString(z, text)
	z.Close()
	return b.String()
}

// A read is all that Samples says of a file.
type read struct {
	names, ids []string
	values     []float64 // row-major
	rows       int
	blocks     int
	sha        string
}

// readAll reads a whole table of samples.
func readAll(ctx context.Context, path string, o SampleOptions) (r read, err error) {
	s, err := OpenSamples(ctx, path, o)
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
		if len(rows) != n*len(s.Names()) || n < 1 || n > 1 && 8*len(rows) > batch.Bytes {
			return r, errors.New("a block of the wrong size")
		}
		r.values = append(r.values, rows...)
		r.blocks++
	}
	r.names, r.ids, r.rows, r.sha = s.Names(), s.IDs(), s.Rows(), s.SHA256()
	if _, _, err := s.Next(); err != io.EOF {
		return r, errors.New("Next after the end is not io.EOF")
	}
	return r, nil
}

// wantInputError checks that err is an InputError whose message holds all of
// the words.
func wantInputError(t testing.TB, err error, words ...string) {
	t.Helper()
	var input *InputError
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

// square is a Matrix.
type square struct {
	d int
	a []float64
}

func (s square) Len() int            { return s.d }
func (s square) Row(i int) []float64 { return s.a[i*s.d : (i+1)*s.d] }

// encoded is what WriteTable puts into a file.
func encoded(t interface{ Fatal(...any) }, format string, columns []Column) []byte {
	o, err := newOutput(columns, map[string]string{"gladflow.version": "test"})
	if err != nil {
		t.Fatal(err)
	}
	defer o.record.Release()
	var b bytes.Buffer
	if err := encodingOf(format).to(&b, o); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// encodingOf is how tables are stored in a format.
func encodingOf(format string) encoding {
	for _, e := range []encoding{parquetEncoding(), arrowEncoding(), csvEncoding()} {
		if e.name == format {
			return e
		}
	}
	panic(format)
}
