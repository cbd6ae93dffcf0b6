package batch

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/apache/arrow/go/v15/arrow/ipc"
	"github.com/apache/arrow/go/v15/arrow/memory"
	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"
)

// Codecs of a BodyCompression (format/Message.fbs of Arrow).
const (
	codecLZ4  = 0
	codecZstd = 1
)

const (
	// prefix is the length that a compressed buffer begins with; storedMark in
	// its place says that the rest is not compressed.
	prefix     = 8
	storedMark = -1
	// step is how much is unpacked between two looks at the context: a few
	// milliseconds.
	step = 1 << 20
	// largestWindow is the largest zstd window that zstd's own command takes
	// without being told to.
	largestWindow = 128 << 20
)

var errBuffers = errors.New("the lengths of its buffers are wrong")

// An Unpacker makes messages for an ipc.Reader of metadata and bodies that it
// does not trust: it verifies the metadata, counts what the body unpacks to, and
// unpacks it. Arrow would unpack whatever a buffer states.
type Unpacker struct {
	ctx     context.Context
	mem     memory.Allocator
	counter Counter
	lz4     *lz4.Reader
	// A zstd decoder is for whole buffers or for streams: it deadlocks on the one
	// while the other is under way.
	whole, stream *zstd.Decoder
}

// NewUnpacker makes an Unpacker whose buffers come from mem. The end of ctx ends
// its work.
func NewUnpacker(ctx context.Context, mem memory.Allocator, l Limits) *Unpacker {
	return &Unpacker{ctx: ctx, mem: mem, counter: Counter{Limits: l}}
}

// Expect refuses a message of so many bytes, before they are read, that the table
// has no room for: the error is a *LimitError.
func (u *Unpacker) Expect(bytes int64) error { return u.counter.Expect(bytes) }

// Hold reserves memory for a body of so many bytes, before it is read.
func (u *Unpacker) Hold(body int64) error { return u.counter.Hold(body) }

// Message makes a message, which the caller releases. Errors are a *LimitError,
// that of Limits.Reserve,
// that of the context, or say how the message is corrupt.
func (u *Unpacker) Message(metadata, body *memory.Buffer) (*ipc.Message, error) {
	if err := u.ctx.Err(); err != nil {
		return nil, err
	}
	layout, err := verifyMessage(metadata.Bytes())
	if err != nil {
		return nil, err
	}
	unpacked, err := layout.unpackedBytes(metadata.Bytes(), body.Bytes())
	if err != nil {
		return nil, err
	}
	what := "a batch"
	if layout.kind == dictionaryHeader {
		what = "a dictionary"
	}
	if err := u.counter.Batch(what, int64(body.Len()), unpacked); err != nil {
		return nil, err
	}
	if err := u.counter.Table(int64(metadata.Len())); err != nil {
		return nil, err
	}
	if !layout.compressed || layout.buffers == 0 {
		if err := u.counter.Hold(int64(body.Len())); err != nil {
			return nil, err
		}
		return ipc.NewMessage(metadata, body), nil
	}
	if err := u.counter.Hold(int64(body.Len()) + unpacked); err != nil {
		return nil, err
	}
	return u.unpack(layout, metadata.Bytes(), body.Bytes(), unpacked)
}

// unpack makes a message whose buffers are all stored as they are.
func (u *Unpacker) unpack(layout bodyLayout, metadata, body []byte, unpacked int64) (*ipc.Message, error) {
	metadata = bytes.Clone(metadata)
	const padding = prefix - 1
	out := memory.NewResizableBuffer(u.mem)
	defer out.Release()
	out.Resize(int(unpacked) + layout.buffers*(prefix+padding))
	to := out.Bytes()
	at := 0
	for i := range layout.buffers {
		packed, stated := layout.buffer(metadata, body, i)
		if len(packed) == 0 {
			continue
		}
		minusOne := int64(storedMark)
		binary.LittleEndian.PutUint64(to[at:], uint64(minusOne))
		length := prefix + int(stated)
		data := to[at+prefix : at+length : at+length]
		if int64(binary.LittleEndian.Uint64(packed)) == storedMark {
			if err := u.copy(data, packed[prefix:]); err != nil {
				return nil, err
			}
		} else if err := u.decode(layout.codec, data, packed[prefix:]); err != nil {
			return nil, err
		}
		layout.setBuffer(metadata, i, at, length)
		at = (at + length + padding) &^ padding
	}
	meta := memory.NewBufferBytes(metadata)
	defer meta.Release()
	return ipc.NewMessage(meta, out), nil
}

// copy takes a buffer as it is, a few milliseconds at a time.
func (u *Unpacker) copy(to, from []byte) error {
	for len(to) > 0 {
		if err := u.ctx.Err(); err != nil {
			return err
		}
		n := copy(to[:min(len(to), step)], from)
		to, from = to[n:], from[n:]
	}
	return nil
}

// decode unpacks a buffer, a few milliseconds at a time.
func (u *Unpacker) decode(codec byte, to, packed []byte) error {
	var from io.Reader
	switch codec {
	case codecLZ4:
		if u.lz4 == nil {
			u.lz4 = lz4.NewReader(nil)
		}
		u.lz4.Reset(bytes.NewReader(packed))
		from = u.lz4
	case codecZstd:
		if len(to) <= step {
			return u.decodeWhole(to, packed)
		}
		if u.stream == nil {
			var err error
			if u.stream, err = newZstd(); err != nil {
				return err
			}
		}
		if err := u.stream.Reset(bytes.NewReader(packed)); err != nil {
			return err
		}
		from = u.stream
	}
	for len(to) > 0 {
		if err := u.ctx.Err(); err != nil {
			return err
		}
		n := min(len(to), step)
		if _, err := io.ReadFull(from, to[:n]); err != nil {
			return err
		}
		to = to[n:]
	}
	return nil
}

// decodeWhole unpacks a small buffer of zstd at once.
func (u *Unpacker) decodeWhole(to, packed []byte) error {
	if err := u.ctx.Err(); err != nil {
		return err
	}
	if u.whole == nil {
		var err error
		if u.whole, err = newZstd(); err != nil {
			return err
		}
	}
	got, err := u.whole.DecodeAll(packed, to[:0])
	if err == nil && len(got) != len(to) {
		err = io.ErrUnexpectedEOF
	}
	return err
}

// newZstd makes a decoder that works in the goroutine of its caller, so that
// there is nothing to close, and writes no more than it has room for.
func newZstd() (*zstd.Decoder, error) {
	return zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true),
		zstd.WithDecoderMaxWindow(largestWindow), zstd.WithDecodeAllCapLimit(true))
}

// A bodyLayout is what the metadata of a batch or dictionary say of its body.
type bodyLayout struct {
	kind       byte
	at         int // of the buffers in the metadata: 16 bytes each, offset and length
	buffers    int
	compressed bool
	codec      byte
}

// unpackedBytes is the sum of what the buffers unpack to. It checks that each
// lies in the body and that what it states can come of it.
func (l bodyLayout) unpackedBytes(metadata, body []byte) (int64, error) {
	var sum int64
	for i := range l.buffers {
		at := l.at + 16*i
		offset := int64(binary.LittleEndian.Uint64(metadata[at:]))
		length := int64(binary.LittleEndian.Uint64(metadata[at+8:]))
		if offset < 0 || length < 0 || length > 0 && (offset > int64(len(body)) || length > int64(len(body))-offset) {
			return 0, errBuffers
		}
		if l.compressed && length > 0 {
			if length < prefix {
				return 0, errBuffers
			}
			stated := int64(binary.LittleEndian.Uint64(body[offset:]))
			length -= prefix
			if stated != storedMark {
				if stated < 0 || stated > mostUnpacked(l.codec, length) {
					return 0, fmt.Errorf("a buffer of %d bytes states that it unpacks to %d", length, stated)
				}
				length = stated
			}
		}
		if length > largestBuffer {
			return 0, tooLong(length)
		}
		if sum += length; sum < 0 {
			return 0, errBuffers
		}
	}
	return sum, nil
}

// mostUnpacked is the most bytes that n bytes can unpack to.
func mostUnpacked(codec byte, n int64) int64 {
	if codec == codecZstd {
		// A block is of four bytes at least and unpacks to 128 KiB at most
		// (RFC 8878, section 3.1.1.2).
		return (n/4 + 1) << 17
	}
	return 255 * n // each byte of LZ4 adds 255 to a length at most
}

// buffer is buffer i of the body and the number of bytes that it unpacks to.
func (l bodyLayout) buffer(metadata, body []byte, i int) (packed []byte, unpacked int64) {
	at := l.at + 16*i
	offset := binary.LittleEndian.Uint64(metadata[at:])
	length := binary.LittleEndian.Uint64(metadata[at+8:])
	if length == 0 {
		return nil, 0
	}
	packed = body[offset : offset+length]
	unpacked = int64(binary.LittleEndian.Uint64(packed))
	if unpacked == storedMark {
		unpacked = int64(length) - prefix
	}
	return packed, unpacked
}

func (l bodyLayout) setBuffer(metadata []byte, i, offset, length int) {
	at := l.at + 16*i
	binary.LittleEndian.PutUint64(metadata[at:], uint64(offset))
	binary.LittleEndian.PutUint64(metadata[at+8:], uint64(length))
}
