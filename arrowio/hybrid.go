package arrowio

import "encoding/binary"

// A hybrid decodes Parquet's hybrid of run lengths and bit-packed numbers ("Encodings",
// RLE = 3) of so many bits, at most 32.
type hybrid struct {
	b     []byte // what is left
	width int
	mask  uint64

	value  uint32 // of a run
	repeat int    // left of it
	packed int    // numbers left of a bit-packed run
	bits   []byte // theirs
	at     int    // the next of their bits
}

// head reads the next head of a run, when the one before has ended.
func (h *hybrid) head() error {
	v, n := binary.Uvarint(h.b)
	if n <= 0 || v>>1 == 0 || v>>1 > 1<<31 {
		return errFloats
	}
	h.b = h.b[n:]
	if v&1 == 1 {
		// The last group may be cut short.
		size := min(int(v>>1)*h.width, len(h.b))
		h.bits, h.at, h.packed = h.b[:size], 0, 8*int(v>>1)
		h.b = h.b[size:]
		return nil
	}
	size := (h.width + 7) / 8
	if len(h.b) < size {
		return errFloats
	}
	h.value = 0
	for i, c := range h.b[:size] {
		h.value |= uint32(c) << (8 * i)
	}
	h.b = h.b[size:]
	h.repeat = int(v >> 1)
	return nil
}

// decode fills dst with the next numbers.
func (h *hybrid) decode(dst []uint32) error {
	for len(dst) > 0 {
		switch {
		case h.repeat > 0:
			n := min(h.repeat, len(dst))
			for i := range dst[:n] {
				dst[i] = h.value
			}
			h.repeat -= n
			dst = dst[n:]
		case h.packed > 0:
			n := min(h.packed, len(dst))
			if h.at+n*h.width > 8*len(h.bits) {
				return errFloats
			}
			h.unpack(dst[:n])
			h.packed -= n
			dst = dst[n:]
		default:
			if err := h.head(); err != nil {
				return err
			}
		}
	}
	return nil
}

// unpack fills dst with bit-packed numbers, all of which are there.
func (h *hybrid) unpack(dst []uint32) {
	at, width, bits := h.at, h.width, h.bits
	i := 0
	for ; i < len(dst) && at>>3+8 <= len(bits); i++ {
		dst[i] = uint32(binary.LittleEndian.Uint64(bits[at>>3:]) >> (at & 7) & h.mask)
		at += width
	}
	for ; i < len(dst); i++ {
		var v uint64
		for k, c := range bits[min(at>>3, len(bits)):] {
			v |= uint64(c) << (8 * k)
		}
		dst[i] = uint32(v >> (at & 7) & h.mask)
		at += width
	}
	h.at = at
}

// run is the next number and how often it comes, at most so many times.
func (h *hybrid) run(most int) (v uint32, n int, err error) {
	for h.repeat == 0 && h.packed == 0 {
		if err := h.head(); err != nil {
			return 0, 0, err
		}
	}
	if h.repeat > 0 {
		n = min(h.repeat, most)
		h.repeat -= n
		return h.value, n, nil
	}
	var one [1]uint32
	if err := h.decode(one[:]); err != nil {
		return 0, 0, err
	}
	v, n = one[0], 1
	for n < most && h.packed > 0 {
		before := *h
		if err := h.decode(one[:]); err != nil {
			return 0, 0, err
		}
		if one[0] != v {
			*h = before
			break
		}
		n++
	}
	return v, n, nil
}
