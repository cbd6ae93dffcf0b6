package arrowio

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/ipc"
	"github.com/apache/arrow/go/v15/arrow/memory"

	"github.com/gladflow/gladflow/arrowio/batch"
)

// An ipcReader reads Arrow IPC, a batch of the file at a time. The file
// format is a stream between two magic words and before a footer, and is read
// as one: so it too comes from a pipe, and is hashed on its way.
type ipcReader struct {
	src      *input
	format   format
	messages *messageReader
	arrow    *ipc.Reader
}

func openIPC(s *input, f format, mem memory.Allocator) (recordReader, error) {
	r := &ipcReader{src: s, format: f}
	if err := batch.Guard(func() error { return r.open(mem) }); err != nil {
		return nil, s.explain(err, f.String())
	}
	return r, nil
}

func (r *ipcReader) open(mem memory.Allocator) error {
	head, err := r.src.Peek(len(arrowMagic))
	if err != nil && err != io.EOF {
		return err
	}
	switch {
	case len(head) == 0:
		return fault(r.src.name, "the file is empty")
	case bytes.HasPrefix(head, featherMagic):
		return fault(r.src.name, "this is a Feather file of version 1; write it as version 2 (Arrow IPC)")
	case r.format == streamFormat && bytes.Equal(head, arrowMagic):
		r.format = arrowFormat // a file under a stream's name loses nothing
	case r.format == arrowFormat && bytes.HasPrefix(head, streamMagic):
		r.format = streamFormat
	case r.format == arrowFormat && !bytes.Equal(head, arrowMagic),
		r.format == streamFormat && !bytes.HasPrefix(head, streamMagic):
		return fault(r.src.name, "this is not Arrow IPC (it does not begin with ARROW1 or a stream's mark)").advise(isAnother())
	}
	if r.format == arrowFormat {
		// The magic word is padded to 8 bytes.
		if _, err := r.src.Discard(8); err != nil {
			return err
		}
	}
	r.messages = &messageReader{r: r.src, mem: mem, footed: r.format == arrowFormat,
		unpacker: batch.NewUnpacker(r.src.ctx, mem, r.src.limits)}
	r.arrow, err = ipc.NewReaderFromMessageReader(r.messages, ipc.WithAllocator(batch.Bounded(mem)))
	if err != nil {
		r.messages.Release()
		return err
	}
	if r.arrow.Schema().NumFields() == 0 {
		r.close()
		return fault(r.src.name, "the file has no columns")
	}
	return nil
}

func (r *ipcReader) schema() *arrow.Schema { return r.arrow.Schema() }

func (r *ipcReader) line(int) int { return 0 }

func (r *ipcReader) close() { r.arrow.Release() }

func (r *ipcReader) read() (arrow.Record, error) {
	var record arrow.Record
	err := batch.Guard(func() (err error) {
		record, err = r.arrow.Read()
		return err
	})
	switch {
	case err == io.EOF || err == nil && record == nil:
		if err := r.finish(); err != nil {
			return nil, r.src.explain(err, r.format.String())
		}
		return nil, io.EOF
	case err != nil:
		return nil, r.src.explain(err, r.format.String())
	}
	return record, nil
}

// finish checks that what ended was the whole file: after the last message a
// stream has nothing, and a file its footer, the footer's length and the magic
// word. Anything more is a message whose head is damaged.
func (r *ipcReader) finish() error {
	rest, err := r.src.copyTo(io.Discard)
	if err != nil {
		return err
	}
	if r.format == streamFormat {
		if rest > 0 {
			return fault(r.src.name, "%d bytes follow the end of the stream; pass one stream only", rest)
		}
		return nil
	}
	const padding = 63 // more than writers put before a footer, less than a message
	footer, ok := bytes.CutSuffix(r.src.tail, arrowMagic)
	if !ok || len(footer) < 4 {
		return io.ErrUnexpectedEOF
	}
	// The word that showed the messages to be over has been read already.
	length := int64(binary.LittleEndian.Uint32(footer[len(footer)-4:]))
	expected := length + 4 + int64(len(arrowMagic)) - int64(r.messages.over)
	if rest < expected || rest > expected+padding {
		return errors.New("there is something other than a footer between the last batch and the end")
	}
	return nil
}

// A messageReader reads the messages of an IPC stream without believing the
// lengths that corrupt ones state: memory grows with the bytes that really
// come.
type messageReader struct {
	r        io.Reader
	mem      memory.Allocator
	unpacker *batch.Unpacker
	cur      *ipc.Message
	// footed says that a footer follows the messages. Some writers, Arrow 15
	// for Go among them, put nothing in between: then over counts the bytes
	// of the footer that had to be read to see it.
	footed bool
	over   int
	read   int // messages
}

const (
	continuation     = 0xFFFFFFFF
	largestMetadata  = 256 << 20
	firstMessageStep = 16 << 20
)

// Retain does nothing: the reader has one owner, the ipc.Reader.
func (m *messageReader) Retain() {}

// Release gives back the last message.
func (m *messageReader) Release() {
	if m.cur != nil {
		m.cur.Release()
		m.cur = nil
	}
}

// Message returns the next message, valid until the next call, and io.EOF
// after the last.
func (m *messageReader) Message() (*ipc.Message, error) {
	m.Release()
	length, err := m.word()
	switch {
	case err != nil:
		return nil, err
	case length == continuation:
		if length, err = m.word(); err == io.EOF {
			err = io.ErrUnexpectedEOF
		}
	case m.footed && m.read == 0:
		return nil, errors.New("it was written by an Arrow older than 0.15")
	case m.footed:
		m.over = 4
		return nil, io.EOF
	}
	switch {
	case err != nil:
		return nil, err
	case length == 0:
		return nil, io.EOF
	case length > largestMetadata:
		return nil, fmt.Errorf("a message states %d bytes of metadata", length)
	}
	meta, err := m.bytes(int64(length))
	if err != nil {
		return nil, err
	}
	defer meta.Release()
	if err := batch.VerifyMessage(meta.Bytes()); err != nil {
		return nil, err
	}
	empty := memory.NewBufferBytes(nil)
	probe := ipc.NewMessage(meta, empty)
	size := probe.BodyLen()
	probe.Release()
	if size < 0 {
		return nil, errors.New("a message states a negative length")
	}
	if err := m.unpacker.Expect(size); err != nil {
		return nil, err
	}
	body, err := m.bytes(size)
	if err != nil {
		return nil, err
	}
	defer body.Release()
	m.cur, err = m.unpacker.Message(meta, body)
	m.read++
	return m.cur, err
}

func (m *messageReader) word() (uint32, error) {
	var b [4]byte
	_, err := io.ReadFull(m.r, b[:])
	return binary.LittleEndian.Uint32(b[:]), err
}

// bytes reads n bytes.
func (m *messageReader) bytes(n int64) (*memory.Buffer, error) {
	buf := memory.NewResizableBuffer(m.mem)
	for have := int64(0); have < n; {
		step := min(n-have, max(firstMessageStep, have))
		if err := m.unpacker.Hold(have + step); err != nil {
			buf.Release()
			return nil, err
		}
		buf.Resize(int(have + step))
		if _, err := io.ReadFull(m.r, buf.Bytes()[have:]); err != nil {
			buf.Release()
			if err == io.EOF {
				err = io.ErrUnexpectedEOF
			}
			return nil, err
		}
		have += step
	}
	return buf, nil
}
