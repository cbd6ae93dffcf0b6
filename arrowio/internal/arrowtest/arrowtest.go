// Package arrowtest holds what the tests of arrowio's packages share.
package arrowtest

import (
	"bytes"
	"compress/gzip"
	"io"
	"os"
	"slices"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/ipc"
	"github.com/apache/arrow/go/v15/arrow/memory"
)

// Checked is an allocator that fails the test when memory is not returned.
func Checked(t testing.TB) memory.Allocator {
	mem := memory.NewCheckedAllocator(memory.NewGoAllocator())
	t.Cleanup(func() { mem.AssertSize(t, 0) })
	return mem
}

// Zipped is text under gzip.
func Zipped(text string) string {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	io.WriteString(z, text)
	z.Close()
	return b.String()
}

// Descriptors counts the open files of the process; 0 where the system does not
// tell.
func Descriptors() int {
	open, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return 0
	}
	return len(open)
}

// A Message is one of an IPC stream.
type Message struct{ Metadata, Body []byte }

// A Recorder keeps messages as Arrow Flight would send them: an
// ipc.PayloadWriter.
type Recorder []Message

// Start implements ipc.PayloadWriter.
func (*Recorder) Start() error { return nil }

// Close implements ipc.PayloadWriter.
func (*Recorder) Close() error { return nil }

// WritePayload implements ipc.PayloadWriter.
func (r *Recorder) WritePayload(p ipc.Payload) error {
	meta := p.Meta()
	defer meta.Release()
	var body bytes.Buffer
	if err := p.SerializeBody(&body); err != nil {
		return err
	}
	*r = append(*r, Message{slices.Clone(meta.Bytes()), body.Bytes()})
	return nil
}

// Messages are a table in batches of so many rows.
func Messages(t testing.TB, table arrow.Record, rows int64) []Message {
	t.Helper()
	var m Recorder
	w := ipc.NewWriterWithPayloadWriter(&m, ipc.WithSchema(table.Schema()))
	for at := int64(0); at < table.NumRows(); at += rows {
		piece := table.NewSlice(at, min(at+rows, table.NumRows()))
		if err := w.Write(piece); err != nil {
			t.Fatal(err)
		}
		piece.Release()
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return m
}

// Replay hands messages out one after the other, and then last: it is the next of
// batch.NewReader.
func Replay(list []Message, last error) func() (metadata, body []byte, err error) {
	return func() (metadata, body []byte, err error) {
		if len(list) == 0 {
			return nil, nil, last
		}
		m := list[0]
		list = list[1:]
		return m.Metadata, m.Body, nil
	}
}
