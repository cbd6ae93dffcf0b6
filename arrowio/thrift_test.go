package arrowio

import (
	"encoding/binary"
	"slices"
	"testing"
)

// Fields of Thrift's compact protocol, for files that no writer makes.

func thriftHead(id int16, kind byte) []byte {
	return binary.AppendVarint([]byte{kind}, int64(id))
}

func thriftNumber(id int16, v int64) []byte { return thriftTyped(id, thriftI32, v) }

func thriftTyped(id int16, kind byte, v int64) []byte {
	return binary.AppendVarint(thriftHead(id, kind), v)
}

func thriftText(id int16, s string) []byte {
	return append(thriftHead(id, thriftBinary), thriftBytes(s)...)
}

func thriftBytes(s string) []byte {
	return append(binary.AppendUvarint(nil, uint64(len(s))), s...)
}

func thriftFields(id int16, fields ...[]byte) []byte {
	return append(thriftHead(id, thriftStruct), thriftElement(fields...)...)
}

// thriftElement is a struct in a list, or on its own.
func thriftElement(fields ...[]byte) []byte {
	return append(slices.Concat(fields...), 0)
}

func thriftElements(id int16, of byte, n uint64, elements ...[]byte) []byte {
	b := append(thriftHead(id, thriftList), 0xF0|of)
	return append(binary.AppendUvarint(b, n), slices.Concat(elements...)...)
}

// A crafted is a Parquet file of one column, a, and beside one of labels a second
// of zeros, b.
type crafted struct {
	kind     int64 // of a
	repeated int64 // 0 required, 1 optional
	codec    int64
	values   int64 // that the footer promises
	pages    []byte
}

// Types of columns.
const (
	parquetInt64  = 2
	parquetDouble = 5
	parquetText   = 6
)

func (c crafted) schema() [][]byte {
	list := [][]byte{
		thriftElement(thriftText(4, "schema"), thriftNumber(5, 1)),
		thriftElement(thriftNumber(1, c.kind), thriftNumber(3, c.repeated), thriftText(4, "a")),
	}
	if c.kind == parquetText {
		list[0] = thriftElement(thriftText(4, "schema"), thriftNumber(5, 2))
		list = append(list, thriftElement(thriftNumber(1, parquetDouble), thriftNumber(3, 0), thriftText(4, "b")))
	}
	return list
}

func (c crafted) file() []byte {
	column := func(name string, kind, codec, at, size int64) []byte {
		return thriftElement(thriftTyped(2, thriftI64, at), thriftFields(3,
			thriftNumber(1, kind), thriftElements(2, thriftI32, 0), thriftElements(3, thriftBinary, 1, thriftBytes(name)), thriftNumber(4, codec),
			thriftTyped(5, thriftI64, c.values), thriftTyped(6, thriftI64, size), thriftTyped(7, thriftI64, size), thriftTyped(9, thriftI64, at)))
	}
	pages := slices.Clone(c.pages)
	columns := [][]byte{column("a", c.kind, c.codec, 4, int64(len(pages)))}
	if c.kind == parquetText {
		zeros := dataPageOf(0, c.values, 8*c.values, make([]byte, 8*c.values))
		columns = append(columns, column("b", parquetDouble, 0, int64(4+len(pages)), int64(len(zeros))))
		pages = append(pages, zeros...)
	}
	group := thriftElement(thriftElements(1, thriftStruct, uint64(len(columns)), columns...),
		thriftTyped(2, thriftI64, int64(len(pages))), thriftTyped(3, thriftI64, c.values))
	schema := c.schema()
	return parquetOf(pages, thriftElement(thriftNumber(1, 2), thriftElements(2, thriftStruct, uint64(len(schema)), schema...),
		thriftTyped(3, thriftI64, c.values), thriftElements(4, thriftStruct, 1, group)))
}

// parquetOf is a Parquet file of pages and a footer.
func parquetOf(pages, footer []byte) []byte {
	b := slices.Concat(parquetMagic, pages, footer)
	return append(binary.LittleEndian.AppendUint32(b, uint32(len(footer))), parquetMagic...)
}

// dataPageOf is a page with its header, of version 1.
func dataPageOf(encoding, values, unpacked int64, body []byte) []byte {
	return append(thriftElement(thriftNumber(1, dataPage), thriftNumber(2, unpacked), thriftNumber(3, int64(len(body))),
		thriftFields(5, thriftNumber(1, values), thriftNumber(2, encoding), thriftNumber(3, 3), thriftNumber(4, 3))), body...)
}

// A header shows what Arrow makes of it, though something else stands in it too.
func TestHeadersOfTwoFaces(t *testing.T) {
	contents := func(id int16, values, encoding int64) []byte {
		return thriftFields(id, thriftNumber(1, values), thriftNumber(2, encoding), thriftNumber(3, 3), thriftNumber(4, 3))
	}
	contents2 := func(fields ...[]byte) []byte {
		return thriftFields(8, append([][]byte{thriftNumber(1, 9), thriftNumber(2, 0), thriftNumber(3, 9), thriftNumber(4, 0), thriftNumber(5, 1), thriftNumber(6, 1)}, fields...)...)
	}
	sizes := [][]byte{thriftNumber(2, 100), thriftNumber(3, 10)}
	for name, c := range map[string]struct {
		fields [][]byte
		want   pageHeader // the zero value for one that is refused
	}{
		"contents of another kind": {
			[][]byte{thriftNumber(1, dataPage), contents(5, 1<<30, deltaByteArrays), contents2()},
			pageHeader{dataPage, 10, 100, pageContents{values: 1 << 30, encoding: deltaByteArrays}},
		},
		"contents twice": {
			[][]byte{thriftNumber(1, dataPageV2), contents2(thriftHead(7, thriftFalse)), contents2()},
			pageHeader{dataPageV2, 10, 100, pageContents{values: 9, levels: 2}},
		},
		"a size of another type": {
			[][]byte{thriftNumber(1, dataPage), contents(5, 1, 0), thriftTyped(2, thriftI64, 1)},
			pageHeader{dataPage, 10, 100, pageContents{values: 1}},
		},
		"values of another type": {
			[][]byte{thriftNumber(1, dataPage), thriftFields(5, thriftNumber(1, 1<<30), thriftTyped(1, thriftI64, 1), thriftNumber(2, 0))},
			pageHeader{dataPage, 10, 100, pageContents{values: 1 << 30}},
		},
		"a page that Arrow does not pass over": {[][]byte{thriftNumber(1, 1), contents(5, 1, 0)}, pageHeader{}},
		"negative levels":                      {[][]byte{thriftNumber(1, dataPageV2), contents2(thriftNumber(5, -1))}, pageHeader{}},
	} {
		got, _, err := readPageHeader(thriftElement(append(sizes, c.fields...)...))
		if refused := c.want == (pageHeader{}); refused != (err != nil) || !refused && got != c.want {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
}
