package batch

import "github.com/apache/arrow/go/v15/arrow"

// Bytes is about the size of a batch, read or sent: large enough that the work
// around a batch does not count, and below the 4 MiB to which gRPC limits a
// message by default.
const Bytes = 2 << 20

// Rows is the number of rows of width bytes in a batch of about size bytes, at
// least one.
func Rows(size, width int64) int64 { return max(1, size/max(1, width)) }

// Width is about the size in bytes of a row of a table that has not been read,
// at least 1. Values of varying length count as 8 bytes.
func Width(schema *arrow.Schema) int64 {
	n := int64(1)
	for _, f := range schema.Fields() {
		n += 8
		switch t := f.Type.(type) {
		case *arrow.FixedSizeListType:
			n += 8 * int64(max(0, t.Len()))
		case *arrow.FixedSizeBinaryType:
			n += int64(max(0, t.ByteWidth))
		}
	}
	return n
}

// Split calls f with slices of record of about size bytes each, of equal numbers
// of rows but the last, and with record itself where it is no larger. A slice is
// released when f has returned.
func Split(record arrow.Record, size int64, f func(arrow.Record) error) error {
	return Slice(record, rowsOf(record, size), f)
}

// Slice calls f with slices of record of so many rows, the last of fewer, and
// with record itself where it has no more. A slice is released when f has
// returned.
func Slice(record arrow.Record, rows int64, f func(arrow.Record) error) error {
	all := record.NumRows()
	if all <= rows {
		return f(record)
	}
	for from := int64(0); from < all; from += rows {
		slice := record.NewSlice(from, min(from+rows, all))
		err := f(slice)
		slice.Release()
		if err != nil {
			return err
		}
	}
	return nil
}

// rowsOf is the number of rows of record that make about size bytes, at least
// one.
func rowsOf(record arrow.Record, size int64) int64 {
	var bytes int64
	for _, column := range record.Columns() {
		d := column.Data()
		bytes += columnBytes(d.DataType(), d, d.Offset(), d.Len())
	}
	rows := record.NumRows()
	if bytes <= size {
		return max(rows, 1)
	}
	// Batches of the same size, not full ones and a rest.
	batches := min((bytes+size-1)/size, rows)
	return (rows + batches - 1) / batches
}

// columnBytes is the number of bytes that n rows of a column take in a message,
// from row from of its buffers on: those of the rows, not of the buffers, which
// they may be a small part of.
func columnBytes(t arrow.DataType, d arrow.ArrayData, from, n int) int64 {
	if n == 0 {
		return 0
	}
	validity := int64(n+7) / 8
	switch t := t.(type) {
	case arrow.ExtensionType:
		return columnBytes(t.StorageType(), d, from, n)
	case *arrow.NullType:
		return 0
	case *arrow.FixedSizeListType:
		size := int(t.Len())
		return validity + childBytes(d, 0, from*size, n*size)
	case *arrow.StructType:
		bytes := validity
		for i := range d.Children() {
			bytes += childBytes(d, i, from, n)
		}
		return bytes
	case *arrow.BinaryType, *arrow.StringType:
		begin, end := offsets32(d, from, n)
		return validity + 4*int64(n) + int64(end-begin)
	case *arrow.LargeBinaryType, *arrow.LargeStringType:
		begin, end := offsets64(d, from, n)
		return validity + 8*int64(n) + int64(end-begin)
	case *arrow.ListType, *arrow.MapType:
		begin, end := offsets32(d, from, n)
		return validity + 4*int64(n) + childBytes(d, 0, begin, end-begin)
	case *arrow.LargeListType:
		begin, end := offsets64(d, from, n)
		return validity + 8*int64(n) + childBytes(d, 0, begin, end-begin)
	case arrow.FixedWidthDataType: // dictionaries by their indices
		return validity + (int64(n)*int64(t.BitWidth())+7)/8
	}
	// Unions and the like, which no table of samples has, as if they were not
	// sliced.
	return allBytes(d)
}

func childBytes(d arrow.ArrayData, i, from, n int) int64 {
	child := d.Children()[i]
	return columnBytes(child.DataType(), child, child.Offset()+from, n)
}

func offsets32(d arrow.ArrayData, from, n int) (begin, end int) {
	o := arrow.Int32Traits.CastFromBytes(d.Buffers()[1].Bytes())
	return int(o[from]), int(o[from+n])
}

func offsets64(d arrow.ArrayData, from, n int) (begin, end int) {
	o := arrow.Int64Traits.CastFromBytes(d.Buffers()[1].Bytes())
	return int(o[from]), int(o[from+n])
}

func allBytes(d arrow.ArrayData) int64 {
	var bytes int64
	for _, b := range d.Buffers() {
		if b != nil {
			bytes += int64(b.Len())
		}
	}
	for _, child := range d.Children() {
		bytes += allBytes(child)
	}
	return bytes
}
