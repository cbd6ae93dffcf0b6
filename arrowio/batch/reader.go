package batch

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync/atomic"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/ipc"
	"github.com/apache/arrow/go/v15/arrow/memory"
)

// NewReader reads the batches of an Arrow IPC stream that comes as separate
// messages, as those of Arrow Flight: next returns the metadata (a FlatBuffer)
// and the body of the next, which it does not touch again, and io.EOF after
// the last. The first holds the schema and has been read when NewReader
// returns. mem is nil for Go's heap.
//
// Errors of next are returned, by NewReader and by Err, as they are; messages
// that are corrupt are a *CorruptError, whatever the bytes, and those that are too
// large one that wraps a *LimitError. A batch is valid until the reader's next
// call unless it is retained.
//
// It is NewLimitedReader with the zero Limits and without a context.
func NewReader(next func() (metadata, body []byte, err error), mem memory.Allocator) (array.RecordReader, error) {
	return NewLimitedReader(context.Background(), next, mem, Limits{})
}

// NewLimitedReader is NewReader for a table that may not unpack to more than l
// allows. The end of ctx ends the unpacking of a batch; it is next that ends the
// waiting for one.
func NewLimitedReader(ctx context.Context, next func() (metadata, body []byte, err error), mem memory.Allocator, l Limits) (array.RecordReader, error) {
	if mem == nil {
		mem = memory.DefaultAllocator
	}
	r := &reader{messages: &messages{next: next, unpacker: NewUnpacker(ctx, mem, l)}}
	r.count.Store(1)
	err := Guard(func() (err error) {
		r.arrow, err = ipc.NewReaderFromMessageReader(r.messages, ipc.WithAllocator(Bounded(mem)))
		return err
	})
	if err != nil {
		r.messages.Release()
		return nil, r.explain(err)
	}
	return r, nil
}

// A reader is an ipc.Reader whose errors are explained and which does not panic.
type reader struct {
	count    atomic.Int64
	arrow    *ipc.Reader
	messages *messages
	current  arrow.Record
	err      error
}

// Retain implements array.RecordReader.
func (r *reader) Retain() { r.count.Add(1) }

// Release implements array.RecordReader.
func (r *reader) Release() {
	if r.count.Add(-1) == 0 {
		r.current = nil
		r.arrow.Release()
	}
}

// Schema implements array.RecordReader.
func (r *reader) Schema() *arrow.Schema { return r.arrow.Schema() }

// Record implements array.RecordReader.
func (r *reader) Record() arrow.Record { return r.current }

// Err implements array.RecordReader.
func (r *reader) Err() error { return r.err }

// Next implements array.RecordReader.
func (r *reader) Next() bool {
	r.current = nil
	if r.err != nil || r.messages.ended {
		return false
	}
	err := Guard(func() (err error) {
		r.current, err = r.arrow.Read()
		return err
	})
	if err == nil && r.current != nil {
		return true
	}
	r.current = nil
	if err != nil && err != io.EOF {
		r.err = r.explain(err)
	}
	return false
}

func (r *reader) explain(err error) error {
	var limit *LimitError
	var reserve *ReserveError
	switch {
	case errors.As(err, &reserve):
		return reserve.Err
	case r.messages.failure != nil:
		return r.messages.failure
	case errors.As(err, &limit):
		return &CorruptError{Reason: limit.Error(), Err: limit}
	case errors.Is(err, io.EOF):
		return &CorruptError{Reason: "it ends before its schema; send the table"}
	}
	detail := ""
	if text := err.Error(); !strings.Contains(text, "runtime error") { // which says nothing to a sender
		detail = " (" + text + ")"
	}
	return &CorruptError{Reason: fmt.Sprintf("a message is corrupt%s; send it again", detail), Err: err}
}

// messages are verified and unpacked before Arrow sees them.
type messages struct {
	next     func() (metadata, body []byte, err error)
	unpacker *Unpacker
	current  *ipc.Message
	ended    bool
	failure  error // of next or of the context
}

// Retain does nothing: the reader has one owner, the ipc.Reader.
func (m *messages) Retain() {}

// Release gives back the last message.
func (m *messages) Release() {
	if m.current != nil {
		m.current.Release()
		m.current = nil
	}
}

// Message implements ipc.MessageReader.
func (m *messages) Message() (*ipc.Message, error) {
	m.Release()
	metadata, body, err := m.next()
	switch {
	case err == io.EOF:
		m.ended = true
		return nil, io.EOF
	case err != nil:
		m.failure = err
		return nil, err
	}
	meta, data := memory.NewBufferBytes(metadata), memory.NewBufferBytes(body)
	defer meta.Release()
	defer data.Release()
	m.current, err = m.unpacker.Message(meta, data)
	if ended := m.unpacker.ctx.Err(); err != nil && ended != nil {
		m.failure = ended
	}
	return m.current, err
}
