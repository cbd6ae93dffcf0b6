package arrowio

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/apache/arrow/go/v15/arrow/ipc"

	"github.com/gladflow/gladflow/arrowio/arrowiotest"
	"github.com/gladflow/gladflow/arrowio/batch"
	"github.com/gladflow/gladflow/arrowio/internal/arrowtest"
)

// wantTooLarge checks that err is an InputError about limits.
func wantTooLarge(t testing.TB, what string, err error) {
	t.Helper()
	var input *InputError
	if !errors.As(err, &input) || !errors.Is(err, batch.ErrTooLarge) {
		t.Errorf("%s: got %v, want an InputError that wraps ErrTooLarge", what, err)
	}
}

// A few kilobytes of gzip that become a gigabyte count as the gigabyte.
func TestGzipBomb(t *testing.T) {
	for name, data := range map[string][]byte{
		"rows":        arrowtest.ZippedRepeat("a,b\n", "1,2\n", 32<<20/4),
		"blank lines": arrowtest.ZippedRepeat("", "\n", 32<<20),
		"header":      arrowtest.ZippedRepeat("", "a", 32<<20),
		"quotes":      arrowtest.ZippedRepeat("a,b\n1,\"", "\n", 32<<20),
	} {
		var err error
		took := arrowtest.Allocated(func() {
			_, err = readAll(t.Context(), "-", SampleOptions{Format: CSV, Stdin: bytes.NewReader(data), Limits: batch.Limits{Table: 1 << 20}})
		})
		wantTooLarge(t, name, err)
		if took > 48<<20 {
			t.Errorf("%s: it took %d bytes to read one megabyte", name, took)
		}
	}
}

// A line of very many cells is refused before it is split.
func TestBombOfCells(t *testing.T) {
	for name, data := range map[string][]byte{
		"header": arrowtest.ZippedRepeat("a,", "b,", 8<<20),
		"row":    arrowtest.ZippedRepeat("a,b\n1,2\n3,4\n1", ",1", 8<<20),
	} {
		var err error
		took := arrowtest.Allocated(func() {
			_, err = readAll(t.Context(), "-", SampleOptions{Format: CSV, Stdin: bytes.NewReader(data), Limits: batch.Limits{Batch: 8 << 20}})
		})
		var input *InputError
		if !errors.As(err, &input) || took > 256<<20 {
			t.Errorf("%s: %d bytes, %v", name, took, err)
		}
	}
}

// A quoted cell that never ends takes time in proportion to its bytes, as far as
// the longest record, and no longer than its context.
func TestQuotesThatNeverEnd(t *testing.T) {
	for name, head := range map[string]string{"header": "a,\"", "first row": "a,b\n1,\"", "later row": "a,b\n1,2\n3,4\n5,\"", "blank": ""} {
		data := arrowtest.ZippedRepeat(head, "\n", 4<<20) // 4 kB
		began := time.Now()
		_, err := readAll(t.Context(), "-", SampleOptions{Format: CSV, Stdin: bytes.NewReader(data)})
		wantInputError(t, err)
		if took := time.Since(began); took > 10*time.Second { // it was minutes
			t.Errorf("%s: it took %v", name, took)
		}
		if name != "later row" {
			continue
		}
		data = arrowtest.ZippedRepeat(head, "x\n", 33<<20)
		_, err = readAll(t.Context(), "-", SampleOptions{Format: CSV, Stdin: bytes.NewReader(data)})
		wantInputError(t, err, "the line does not end within 64 MiB; check its quotes")
	}
}

// The end of the context ends every reading, also that of an input which says
// nothing.
func TestReadingEndsWithItsContext(t *testing.T) {
	endless := func(head, text string) io.Reader {
		return io.MultiReader(strings.NewReader(head), &endlessReader{text: text})
	}
	silent, writer := io.Pipe()
	defer writer.Close()
	for name, o := range map[string]SampleOptions{
		"silent":           {Format: CSV, Stdin: silent},
		"silent, Parquet":  {Format: Parquet, Stdin: silent},
		"silent, Arrow":    {Format: Arrow, Stdin: silent},
		"quotes":           {Format: CSV, Stdin: endless("a,b\n1,\"", "\n")},
		"blank lines":      {Format: CSV, Stdin: endless("a,b\n1,2\n", "\n")},
		"rows":             {Format: CSV, Stdin: endless("a,b\n", "1,2\n")},
		"columns":          {Format: CSV, Orientation: Columns, Stdin: endless("a,b\n", "x,2\n")},
		"Parquet by copy":  {Format: Parquet, Stdin: endless("PAR1", "0123456789")},
		"Arrow, then more": {Format: "arrows", Stdin: io.MultiReader(strings.NewReader("\xFF\xFF\xFF\xFF\x00\x00\x00\x10"), &endlessReader{text: "x"})},
	} {
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan time.Time, 1)
		time.AfterFunc(100*time.Millisecond, func() { ended <- time.Now(); cancel() })
		_, err := readAll(ctx, "-", o)
		var at time.Time
		select {
		case at = <-ended:
		default:
			// It has ended by itself: at the longest record or a damaged length.
			var input *InputError
			if !errors.As(err, &input) {
				t.Errorf("%s: %v", name, err)
			}
			cancel()
			continue
		}
		if took := time.Since(at); !errors.Is(err, context.Canceled) || took > 500*time.Millisecond {
			t.Errorf("%s: %v after the end of the context: %v", name, took, err)
		}
	}
}

// An endlessReader repeats a text.
type endlessReader struct {
	text string
	at   int
}

// Read implements io.Reader.
func (e *endlessReader) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = e.text[e.at]
		e.at = (e.at + 1) % len(e.text)
	}
	return len(p), nil
}

// What is read by position is copied first, and no further than a table may be large:
// a server could send without an end.
func TestEndlessCopy(t *testing.T) {
	const most = 1 << 20
	endless := &readSoFar{Reader: io.MultiReader(strings.NewReader("PAR1"), io.LimitReader(zeros{}, 256*most))}
	_, err := readAll(t.Context(), "-", SampleOptions{Format: Parquet, Stdin: endless, Limits: batch.Limits{Table: most}})
	wantTooLarge(t, "Parquet", err)
	if endless.n > 4*most {
		t.Errorf("%d bytes were read", endless.n)
	}
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }

type readSoFar struct {
	io.Reader
	n int64
}

func (c *readSoFar) Read(p []byte) (int, error) {
	n, err := c.Reader.Read(p)
	c.n += int64(n)
	return n, err
}

// What follows a table, and a batch that states very much and sends it, are read no
// further either.
func TestEndlessStream(t *testing.T) {
	const most = 1 << 20
	var table bytes.Buffer
	record := arrowiotest.Constant(3, 2)
	w := ipc.NewWriter(&table, ipc.WithSchema(record.Schema()))
	if err := errors.Join(w.Write(record), w.Close()); err != nil {
		t.Fatal(err)
	}
	long := bytes.Clone(table.Bytes())
	size := binary.LittleEndian.AppendUint64(nil, uint64(len(arrowtest.Messages(t, record, 3)[1].Body)))
	at := bytes.LastIndex(long, size)
	binary.LittleEndian.PutUint64(long[at:], 1<<40)
	for name, begin := range map[string][]byte{"after the end": table.Bytes(), "in a batch": long} {
		endless := &readSoFar{Reader: io.MultiReader(bytes.NewReader(begin), io.LimitReader(zeros{}, 256*most))}
		var err error
		took := arrowtest.Allocated(func() {
			_, err = readAll(t.Context(), "-", SampleOptions{Format: "arrows", Stdin: endless, Limits: batch.Limits{Table: most}})
		})
		wantTooLarge(t, name, err)
		if endless.n > 4*most || took > 128*most {
			t.Errorf("%s: %d bytes were read, and %d taken", name, endless.n, took)
		}
	}
}
