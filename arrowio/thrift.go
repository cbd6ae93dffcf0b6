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
	pageContents
}

// pageContents are those of a data page or a dictionary.
type pageContents struct {
	values       int64
	encoding     int64
	levels       int64 // bytes of levels of a data page of version 2, never compressed
	stored       bool  // of a data page of version 2: nothing is compressed
	levelsPacked bool  // of a data page of version 1: levels are BIT_PACKED
}

// Kinds of pages and encodings.
const (
	dataPage        = 0
	dictionaryPage  = 2
	dataPageV2      = 3
	bitPacked       = 4
	deltaNumbers    = 5
	deltaLengths    = 6
	deltaByteArrays = 7
)

var (
	errShort  = errors.New("the header of a page goes on")
	errHeader = errors.New("the header of a page is wrong")
)

// readPageHeader reads the header that b begins with, and returns its size. The
// error is errShort if more bytes may help.
//
// Arrow takes what is of the type that the format has, the last of what comes
// twice, and the contents that belong to the kind of the page: so does this, or
// a header could show the one what the other does not see.
func readPageHeader(b []byte) (h pageHeader, size int, err error) {
	t := &thrift{b: b}
	var data, dictionary, dataV2 pageContents
	err = t.fields(func(field int16, kind byte) error {
		var into *pageContents
		switch field {
		case 5:
			into = &data
		case 7:
			into = &dictionary
		case 8:
			into = &dataV2
		}
		switch {
		case kind == thriftStruct && into != nil:
			*into = pageContents{}
			return t.structure(1, func(f int16, kind byte, v int64) { into.set(field == 8, f, kind, v) })
		case kind == thriftStruct:
			return t.structure(1, nil)
		case kind != thriftI32:
			_, err := t.value(kind)
			return err
		}
		v, err := t.value(kind)
		switch field {
		case 1:
			h.kind = v
		case 2:
			h.unpacked = v
		case 3:
			h.packed = v
		}
		return err
	})
	switch h.kind {
	case dataPage:
		h.pageContents = data
	case dictionaryPage:
		h.pageContents = dictionary
	case dataPageV2:
		h.pageContents = dataV2
	default:
		// Arrow passes over the header alone, and would read the page as the next.
		if err == nil {
			err = errHeader
		}
	}
	if err == nil && (h.packed < 0 || h.unpacked < 0 || h.values < 0 || h.levels < 0 ||
		max(h.packed, h.unpacked, h.values, h.levels) > math.MaxInt32) {
		err = errHeader
	}
	return h, t.at, err
}

// set takes a field of the contents. A page of version 2 has others.
func (c *pageContents) set(v2 bool, field int16, kind byte, v int64) {
	switch {
	case v2 && field == 7 && (kind == thriftTrue || kind == thriftFalse):
		c.stored = v == 0
	case kind != thriftI32:
	case field == 1:
		c.values = v
	case !v2 && field == 2, v2 && field == 4:
		c.encoding = v
	case !v2 && (field == 3 || field == 4):
		c.levelsPacked = c.levelsPacked || v == bitPacked
	case v2 && (field == 5 || field == 6):
		// One that comes twice counts twice, and is refused if that is too much.
		if v < 0 {
			v = math.MaxInt32 + 1
		}
		c.levels += v
	}
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
	thriftI32    = 5
	thriftI64    = 6
	thriftDouble = 7
	thriftBinary = 8
	thriftList   = 9
	thriftSet    = 10
	thriftStruct = 12
)

// structure passes over a struct. visit, which may be nil, is told its numbers and
// booleans.
func (t *thrift) structure(depth int, visit func(field int16, kind byte, v int64)) error {
	const deepest = 16
	if depth > deepest {
		return errHeader
	}
	return t.fields(func(field int16, kind byte) error {
		if kind == thriftStruct {
			return t.structure(depth+1, nil)
		}
		v, err := t.value(kind)
		if err == nil && visit != nil {
			visit(field, kind, v)
		}
		return err
	})
}

// fields calls read, which reads the value, for every field of a struct.
func (t *thrift) fields(read func(field int16, kind byte) error) error {
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
		if err := read(field, head&0xF); err != nil {
			return err
		}
	}
}

// value reads a number or a boolean, or passes over a text or a list of them.
func (t *thrift) value(kind byte) (int64, error) {
	switch {
	case kind == thriftTrue, kind == thriftFalse: // of a field: it has no bytes
		return thriftFalse - int64(kind), nil
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
		n, of, err := t.listHead()
		if err != nil {
			return 0, err
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

// listHead is how many elements a list or a set has, and of which type.
func (t *thrift) listHead() (n uint64, of byte, err error) {
	head, err := t.byte()
	if err != nil {
		return 0, 0, err
	}
	n, of = uint64(head>>4), head&0xF
	if n == 15 {
		n, err = t.varint()
	}
	return n, of, err
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
