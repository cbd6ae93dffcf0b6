package arrowio

import (
	"encoding/binary"
	"errors"
	"io"
)

// zstdFrames walks through frames of zstd (RFC 8878, section 3) by the headers of
// their blocks, without unpacking them.
type zstdFrames struct {
	in      io.ReaderAt
	at, end int64

	stated int64 // the sum of the sizes that frames state
	most   int64 // what the frames can unpack to
}

var errZstd = errors.New("its zstd frames are wrong")

const (
	zstdMagic     = 0xFD2FB528
	zstdSkippable = 0x184D2A50 // to …5F
	zstdMostBlock = 128 << 10
)

// bytes reads the next n bytes, 14 at most.
func (z *zstdFrames) bytes(n int64) ([]byte, error) {
	var b [14]byte
	if n > z.end-z.at {
		return nil, errZstd
	}
	if _, err := z.in.ReadAt(b[:n], z.at); err != nil && err != io.EOF {
		return nil, err
	}
	z.at += n
	return b[:n], nil
}

func (z *zstdFrames) skip(n int64) error {
	if n > z.end-z.at {
		return errZstd
	}
	z.at += n
	return nil
}

// frame passes over a frame.
func (z *zstdFrames) frame() error {
	b, err := z.bytes(4)
	if err != nil {
		return err
	}
	magic := binary.LittleEndian.Uint32(b)
	if magic&^0xF == zstdSkippable {
		if b, err = z.bytes(4); err != nil {
			return err
		}
		return z.skip(int64(binary.LittleEndian.Uint32(b)))
	}
	if magic != zstdMagic {
		return errZstd
	}
	size, checksum, err := z.header()
	if err != nil {
		return err
	}
	var most int64
	for last := false; !last; {
		if b, err = z.bytes(3); err != nil {
			return err
		}
		head := int64(b[0]) | int64(b[1])<<8 | int64(b[2])<<16
		last = head&1 == 1
		n, room := head>>3, head>>3
		switch head >> 1 & 3 {
		case 1: // a byte that is repeated
			n = 1
		case 2: // compressed
			room = zstdMostBlock
		case 3:
			return errZstd
		}
		most += room
		if err := z.skip(n); err != nil {
			return err
		}
	}
	if size >= 0 {
		// A decoder ends with an error where more comes of a frame than it states.
		z.stated += size
		most = min(most, size)
	}
	z.most += most
	if checksum {
		return z.skip(4)
	}
	return nil
}

// header reads the rest of a frame's header: the size that it states, −1 if none.
func (z *zstdFrames) header() (size int64, checksum bool, err error) {
	b, err := z.bytes(1)
	if err != nil {
		return 0, false, err
	}
	descriptor := b[0]
	single := descriptor&(1<<5) != 0
	checksum = descriptor&(1<<2) != 0
	skip := [4]int64{0, 1, 2, 4}[descriptor&3] // the dictionary's id
	if !single {
		skip++ // the window
	}
	if err := z.skip(skip); err != nil {
		return 0, false, err
	}
	width := [4]int64{0, 2, 4, 8}[descriptor>>6]
	if width == 0 {
		if !single {
			return -1, checksum, nil
		}
		width = 1
	}
	if b, err = z.bytes(width); err != nil {
		return 0, false, err
	}
	switch width {
	case 1:
		size = int64(b[0])
	case 2:
		size = int64(binary.LittleEndian.Uint16(b)) + 256
	case 4:
		size = int64(binary.LittleEndian.Uint32(b))
	default:
		size = int64(binary.LittleEndian.Uint64(b))
	}
	if size < 0 {
		return 0, false, errZstd
	}
	return size, checksum, nil
}
