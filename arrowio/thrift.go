package arrowio

import (
	"encoding/binary"
	"errors"
	"math"
)

// A pageHeader is the part of a PageHeader of Parquet (parquet.thrift) that tells
// what a page takes to read.
type pageHeader struct {
	kind             int64
	packed, unpacked int64
	values           int64 // of a data page or a dictionary
	encoding         int64
	levels           int64 // bytes of levels of a data page of version 2, never compressed
	stored           bool  // of a data page of version 2: nothing is compressed
}

// Kinds of pages and encodings.
const (
	dataPage        = 0
	dictionaryPage  = 2
	dataPageV2      = 3
	deltaLengths    = 6
	deltaByteArrays = 7
)

var (
	errShort  = errors.New("the header of a page goes on")
	errHeader = errors.New("the header of a page is wrong")
)

// readPageHeader reads the header that b begins with, and returns its size. The
// error is errShort if more bytes may help.
func readPageHeader(b []byte) (h pageHeader, size int, err error) {
	t := &thrift{b: b}
	err = t.structure(0, 0, func(parent, field int16, v int64) {
		switch parent {
		case 0:
			switch field {
			case 1:
				h.kind = v
			case 2:
				h.unpacked = v
			case 3:
				h.packed = v
			}
		case 5, 7: // of data and of a dictionary
			switch field {
			case 1:
				h.values = v
			case 2:
				h.encoding = v
			}
		case 8: // of data, version 2
			switch field {
			case 1:
				h.values = v
			case 4:
				h.encoding = v
			case 5, 6:
				h.levels += v
			case 7:
				h.stored = v == 0
			}
		}
	})
	if err == nil && (h.packed < 0 || h.unpacked < 0 || h.values < 0 || h.levels < 0 ||
		max(h.packed, h.unpacked, h.values, h.levels) > math.MaxInt32) {
		err = errHeader
	}
	return h, t.at, err
}

// A thrift reads Thrift's compact protocol.
type thrift struct {
	b  []byte
	at int
}

// Types of the compact protocol.
const (
	thriftTrue   = 1
	thriftFalse  = 2
	thriftByte   = 3
	thriftI64    = 6
	thriftDouble = 7
	thriftBinary = 8
	thriftList   = 9
	thriftSet    = 10
	thriftStruct = 12
)

// structure reads a struct that is field parent of another and calls visit with
// the numbers and booleans in it and, if it is the outermost, in its structs.
func (t *thrift) structure(depth int, parent int16, visit func(parent, field int16, v int64)) error {
	const deepest = 16
	if depth > deepest {
		return errHeader
	}
	field := int16(0)
	for {
		head, err := t.byte()
		if err != nil || head == 0 {
			return err
		}
		if delta := int16(head >> 4); delta != 0 {
			field += delta
		} else {
			id, err := t.varint()
			if err != nil {
				return err
			}
			field = int16(zigzag(id))
		}
		switch kind := head & 0xF; kind {
		case thriftStruct:
			inner := visit
			if depth > 0 {
				inner = func(int16, int16, int64) {}
			}
			if err := t.structure(depth+1, field, inner); err != nil {
				return err
			}
		case thriftTrue, thriftFalse:
			visit(parent, field, thriftFalse-int64(kind))
		default:
			v, err := t.value(kind)
			if err != nil {
				return err
			}
			visit(parent, field, v)
		}
	}
}

// value reads a number, or passes over a text or a list of them.
func (t *thrift) value(kind byte) (int64, error) {
	switch {
	case kind == thriftByte:
		b, err := t.byte()
		return int64(int8(b)), err
	case kind > thriftByte && kind <= thriftI64:
		v, err := t.varint()
		return zigzag(v), err
	case kind == thriftDouble:
		return 0, t.skip(8)
	case kind == thriftBinary:
		n, err := t.varint()
		if err != nil {
			return 0, err
		}
		return 0, t.skip(n)
	case kind == thriftList, kind == thriftSet:
		head, err := t.byte()
		if err != nil {
			return 0, err
		}
		n, of := uint64(head>>4), head&0xF
		if n == 15 {
			if n, err = t.varint(); err != nil {
				return 0, err
			}
		}
		if of < thriftByte || of > thriftBinary {
			return 0, errHeader
		}
		for range n {
			if _, err := t.value(of); err != nil {
				return 0, err
			}
		}
		return 0, nil
	}
	return 0, errHeader
}

func (t *thrift) byte() (byte, error) {
	if t.at >= len(t.b) {
		return 0, errShort
	}
	t.at++
	return t.b[t.at-1], nil
}

func (t *thrift) varint() (uint64, error) {
	v, n := binary.Uvarint(t.b[t.at:])
	switch {
	case n < 0:
		return 0, errHeader
	case n == 0:
		return 0, errShort
	}
	t.at += n
	return v, nil
}

func (t *thrift) skip(n uint64) error {
	if n > uint64(len(t.b)-t.at) {
		return errShort
	}
	t.at += int(n)
	return nil
}

func zigzag(v uint64) int64 { return int64(v>>1) ^ -int64(v&1) }
