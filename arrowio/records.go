package arrowio

import (
	"errors"
	"fmt"
	"io"
	"sync/atomic"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/ipc"
	"github.com/apache/arrow/go/v15/arrow/memory"
)

// NewRecords reads the batches of an Arrow IPC stream that comes as separate
// messages, as those of Arrow Flight: next returns the metadata (a FlatBuffer)
// and the body of the next, which it does not touch again, and io.EOF after
// the last. The first holds the schema and has been read when NewRecords
// returns. mem is nil for Go's heap.
//
// Errors of next are returned, by NewRecords and by Err, as they are; messages
// that are corrupt are InputErrors, whatever the bytes. The batches do not
// outlive the reader's next call unless they are retained.
func NewRecords(next func() (metadata, body []byte, err error), mem memory.Allocator) (array.RecordReader, error) {
	if mem == nil {
		mem = memory.DefaultAllocator
	}
	r := &records{messages: &separateMessages{next: next}}
	r.count.Store(1)
	err := guard(func() (err error) {
		r.arrow, err = ipc.NewReaderFromMessageReader(r.messages, ipc.WithAllocator(limited{mem}))
		return err
	})
	if err != nil {
		r.messages.Release()
		return nil, r.explain(err)
	}
	return r, nil
}

// records is an ipc.Reader whose errors are explained and which does not panic.
type records struct {
	count    atomic.Int64
	arrow    *ipc.Reader
	messages *separateMessages
	current  arrow.Record
	err      error
}

// Retain implements array.RecordReader.
func (r *records) Retain() { r.count.Add(1) }

// Release implements array.RecordReader.
func (r *records) Release() {
	if r.count.Add(-1) == 0 {
		r.current = nil
		r.arrow.Release()
	}
}

// Schema implements array.RecordReader.
func (r *records) Schema() *arrow.Schema { return r.arrow.Schema() }

// Record implements array.RecordReader.
func (r *records) Record() arrow.Record { return r.current }

// Err implements array.RecordReader.
func (r *records) Err() error { return r.err }

// Next implements array.RecordReader.
func (r *records) Next() bool {
	r.current = nil
	if r.err != nil || r.messages.ended {
		return false
	}
	err := guard(func() (err error) {
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

func (r *records) explain(err error) error {
	switch {
	case r.messages.failure != nil:
		return r.messages.failure
	case errors.Is(err, io.EOF):
		return fault(streamName, "it ends before its schema; send the table")
	}
	return &InputError{Path: streamName, Err: err, Reason: fmt.Sprintf("a message is corrupt (%v); send it again", err)}
}

// separateMessages verifies messages before Arrow sees them, see flatbuffers.go.
type separateMessages struct {
	next    func() (metadata, body []byte, err error)
	current *ipc.Message
	ended   bool
	failure error // of next
}

// Retain does nothing: the reader has one owner, the ipc.Reader.
func (m *separateMessages) Retain() {}

// Release gives back the last message.
func (m *separateMessages) Release() {
	if m.current != nil {
		m.current.Release()
		m.current = nil
	}
}

// Message implements ipc.MessageReader.
func (m *separateMessages) Message() (*ipc.Message, error) {
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
	if err := verifyMessage(metadata); err != nil {
		return nil, err
	}
	meta, data := memory.NewBufferBytes(metadata), memory.NewBufferBytes(body)
	defer meta.Release()
	defer data.Release()
	m.current = ipc.NewMessage(meta, data)
	return m.current, nil
}
