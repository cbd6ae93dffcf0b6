package arrowio

import (
	"encoding/binary"
	"errors"
	"io"
	"math/bits"

	"github.com/apache/arrow/go/v15/parquet/compress"
)

// Pages in one of Parquet's delta encodings (Encodings.md of the format) begin with
// lengths that Arrow makes room for, and prefixes that it repeats without a bound.

var errDeltas = errors.New("the lengths in a page of delta encoding are wrong")

// isDelta tells the delta encodings.
func isDelta(encoding int64) bool {
	return encoding == deltaNumbers || encoding == deltaLengths || encoding == deltaByteArrays
}

// deltas is what the values of a page in a delta encoding take, besides the page
// itself. levels says which levels a data page of version 1 begins with.
func (p *pageChecker) deltas(h pageHeader, at int64, codec compress.Compression, levels int) (int64, error) {
	if err := p.counter.Part("a page", max(h.packed, h.unpacked)); err != nil {
		return 0, err
	}
	b := make([]byte, h.packed)
	if _, err := p.in.ReadAt(b, at); err != nil && err != io.EOF {
		return 0, err
	}
	if h.kind == dataPageV2 {
		if h.levels > int64(len(b)) {
			return 0, errHeader
		}
		b = b[h.levels:]
		h.unpacked -= h.levels
	}
	if h.unpacked < 0 {
		return 0, errHeader
	}
	if codec != compress.Codecs.Uncompressed && !(h.kind == dataPageV2 && h.stored) && len(b) > 0 {
		decoder, err := compress.GetCodec(codec)
		if err != nil {
			return 0, err
		}
		b = decoder.Decode(make([]byte, h.unpacked), b) // which panics over what it cannot read
	}
	if h.kind == dataPage {
		for range levels {
			n := uint64(0)
			if len(b) >= 4 {
				n = uint64(binary.LittleEndian.Uint32(b))
			}
			if len(b) < 4 || n > uint64(len(b)-4) {
				return 0, errDeltas
			}
			b = b[4+n:]
		}
		if levels > 0 && h.levelsPacked {
			return 0, errors.New("its levels are bit-packed, beside a delta encoding; write the file with another encoding")
		}
	}
	return deltasTake(b, h.encoding, h.values)
}

// deltasTake is what so many values of delta encoding take, beside their bytes b.
func deltasTake(b []byte, encoding, values int64) (int64, error) {
	if values == 0 {
		return 0, nil
	}
	switch encoding {
	case deltaNumbers:
		_, err := newDeltas(b, values)
		return 0, err
	case deltaLengths:
		_, err := newDeltas(b, values)
		return 4 * values, err
	}
	prefixes, err := newDeltas(b, values)
	if err != nil {
		return 0, err
	}
	var prefix []int32
	if err := prefixes.each(func(v int32) { prefix = append(prefix, v) }); err != nil {
		return 0, err
	}
	suffixes, err := newDeltas(prefixes.b, values)
	if err != nil {
		return 0, err
	}
	if suffixes.values != int64(len(prefix)) {
		return 0, errDeltas
	}
	takes, last, i, wrong := 8*values, int64(0), 0, false
	err = suffixes.each(func(suffix int32) {
		before := int64(prefix[i])
		i++
		wrong = wrong || suffix < 0 || before < 0 || before > last
		last = before + int64(suffix)
		takes += last
	})
	if err != nil || wrong {
		return 0, errDeltas
	}
	return takes, nil
}

// deltas are numbers of DELTA_BINARY_PACKED.
type deltas struct {
	b       []byte // what follows
	values  int64
	first   int64
	minis   int // of a block
	ofAMini int // values
}

// newDeltas reads the head of at most so many numbers.
func newDeltas(b []byte, most int64) (*deltas, error) {
	d := &deltas{b: b}
	var head [4]uint64 // size of a block, miniblocks of it, values, the first
	for i := range head {
		v, ok := d.varint()
		if !ok {
			return nil, errDeltas
		}
		head[i] = v
	}
	const largestBlock = 1 << 16 // writers have 128 to 1024
	block, minis := head[0], head[1]
	if block == 0 || block > largestBlock || minis == 0 || minis > block ||
		block%minis != 0 || block/minis%32 != 0 || head[2] > uint64(most) {
		return nil, errDeltas
	}
	d.values, d.first, d.minis, d.ofAMini = int64(head[2]), zigzag(head[3]), int(minis), int(block/minis)
	return d, nil
}

func (d *deltas) varint() (uint64, bool) {
	v, n := binary.Uvarint(d.b)
	if n <= 0 {
		return 0, false
	}
	d.b = d.b[n:]
	return v, true
}

// each gives visit all numbers, as int32, and leaves in b what follows them.
func (d *deltas) each(visit func(int32)) error {
	left, last := d.values, d.first
	if left == 0 {
		return nil
	}
	visit(int32(last))
	left--
	for left > 0 {
		least, ok := d.varint()
		if !ok || len(d.b) < d.minis {
			return errDeltas
		}
		widths := d.b[:d.minis]
		d.b = d.b[d.minis:]
		for _, width := range widths {
			if left == 0 {
				break
			}
			size := int(width) * d.ofAMini / 8 // whole, as ofAMini is a multiple of 32
			if width > 64 || size > len(d.b) {
				return errDeltas
			}
			for i := range min(left, int64(d.ofAMini)) {
				last += int64(packedAt(d.b, int(i)*int(width), int(width))) + zigzag(least)
				visit(int32(last))
			}
			left -= min(left, int64(d.ofAMini))
			d.b = d.b[size:]
		}
	}
	return nil
}

// packedAt is the number of so many bits at a bit of b, the lowest first.
func packedAt(b []byte, at, width int) uint64 {
	if width == 0 {
		return 0
	}
	var word [16]byte
	copy(word[:], b[at/8:])
	low, high := binary.LittleEndian.Uint64(word[:]), binary.LittleEndian.Uint64(word[8:])
	shift := at % 8
	v := low>>shift | bits.RotateLeft64(high, -shift)&^(^uint64(0)>>shift)
	return v & (^uint64(0) >> (64 - width))
}
