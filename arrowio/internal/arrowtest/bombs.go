package arrowtest

import (
	"bytes"
	"compress/gzip"
	"io"
	"runtime"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/ipc"
)

// Codec compresses the bodies of an ipc.Writer.
type Codec struct {
	Name   string
	Option ipc.Option
}

// Codecs are those of Arrow IPC.
func Codecs() []Codec { return []Codec{{"zstd", ipc.WithZstd()}, {"lz4", ipc.WithLZ4()}} }

// Packed are the messages of a table in one batch, compressed.
func Packed(t testing.TB, table arrow.Record, codec ipc.Option) []Message {
	t.Helper()
	var m Recorder
	w := ipc.NewWriterWithPayloadWriter(&m, ipc.WithSchema(table.Schema()), codec)
	if err := w.Write(table); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return m
}

// Allocated is how many bytes f allocates in all, on Go's heap.
func Allocated(f func()) int64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return int64(after.TotalAlloc - before.TotalAlloc)
}

// ZippedRepeat is head and then so many times text, under gzip.
func ZippedRepeat(head, text string, times int) []byte {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	io.WriteString(z, head)
	many := bytes.Repeat([]byte(text), 1000)
	for range times / 1000 {
		z.Write(many)
	}
	z.Write(many[:times%1000*len(text)])
	z.Close()
	return b.Bytes()
}
