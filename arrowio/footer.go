package arrowio

import (
	"encoding/binary"
	"errors"
	"io"
	"math"

	"github.com/gladflow/gladflow/arrowio/batch"
)

// A footer is the FileMetaData of Parquet (parquet.thrift), walked through before
// Arrow reads it: Arrow makes room for as many elements of a list, and children of
// a column, as it states.
type footer struct {
	thrift
	takes    int64   // memory, about
	children []int64 // of each element of the schema, in order
}

const (
	footerTail = 8 // its length, and PAR1
	// About what a struct, an element of a list and a child take.
	structBytes  = 128
	elementBytes = 16
	// A column of lists is four deep, one of ours two.
	deepestSchema     = 32
	childrenOfElement = 5
)

var (
	errFooter     = errors.New("the lengths in its footer are wrong")
	errDeepSchema = errors.New("its columns are nested too deeply; write a table of plain columns")
)

// checkFooter checks the footer of a file that ends with PAR1.
func checkFooter(in io.ReaderAt, size int64, counter *batch.Counter) error {
	var tail [footerTail]byte
	if size < int64(len(tail)) {
		return io.ErrUnexpectedEOF
	}
	if _, err := in.ReadAt(tail[:], size-footerTail); err != nil && err != io.EOF {
		return err
	}
	n := int64(binary.LittleEndian.Uint32(tail[:]))
	if n > size-footerTail {
		return errFooter
	}
	if err := counter.Part("the footer of the file", n); err != nil {
		return err
	}
	b := make([]byte, n)
	if _, err := in.ReadAt(b, size-footerTail-n); err != nil && err != io.EOF {
		return err
	}
	takes, err := readFooter(b)
	if err != nil {
		return err
	}
	return counter.Part("the footer of the file", takes)
}

// readFooter returns about how much memory a footer takes.
func readFooter(b []byte) (takes int64, err error) {
	f := footer{thrift: thrift{b: b}}
	if err := f.structure(0, fileShape()); err != nil {
		return 0, errFooter
	}
	return f.takes, f.tree()
}

// A shape is what a struct of the format holds besides plain values. Arrow reads the
// elements of a list as what the format says that they are, whatever the list says.
type shape struct {
	schema  bool // it is an element of the schema
	structs map[int16]*shape
	lists   map[int16]listShape
}

// A listShape is the type of the elements of a list, and their shape if they are
// structs.
type listShape struct {
	of    byte
	shape *shape
}

func fileShape() *shape {
	structs := listShape{thriftStruct, nil}
	texts := listShape{thriftBinary, nil}
	column := &shape{lists: map[int16]listShape{2: {thriftI32, nil}, 3: texts, 8: structs, 13: structs}}
	key := &shape{structs: map[int16]*shape{2: {lists: map[int16]listShape{1: texts}}}}
	chunk := &shape{structs: map[int16]*shape{3: column, 8: key}}
	group := &shape{lists: map[int16]listShape{1: {thriftStruct, chunk}, 4: structs}}
	return &shape{lists: map[int16]listShape{
		2: {thriftStruct, &shape{schema: true}},
		4: {thriftStruct, group}, 5: structs, 7: structs,
	}}
}

// structure walks through a struct.
func (f *footer) structure(depth int, s *shape) error {
	const deepest = 16
	if depth > deepest {
		return errFooter
	}
	if s == nil {
		s = &shape{}
	}
	f.takes += structBytes
	if s.schema {
		f.children = append(f.children, 0)
	}
	return f.fields(func(field int16, kind byte) error {
		switch kind {
		case thriftStruct:
			return f.structure(depth+1, s.structs[field])
		case thriftSet: // the format has none, and Arrow passes over them
			return f.list(depth, listShape{})
		case thriftList:
			return f.list(depth, s.lists[field])
		}
		before := f.at
		v, err := f.value(kind)
		f.takes += int64(f.at - before) // of texts
		if s.schema && field == childrenOfElement && kind == thriftI32 {
			f.children[len(f.children)-1] = v
		}
		return err
	})
}

// list walks through a list.
func (f *footer) list(depth int, s listShape) error {
	n, of, err := f.listHead()
	if err != nil {
		return err
	}
	if n > uint64(len(f.b)-f.at) { // each takes a byte at least
		return errFooter
	}
	if n > 0 && s.of != 0 && of != s.of {
		return errFooter
	}
	f.takes += int64(n) * elementBytes
	for range n {
		switch of {
		case thriftStruct:
			err = f.structure(depth+1, s.shape)
		case thriftTrue, thriftFalse:
			err = f.skip(1)
		default:
			before := f.at
			_, err = f.value(of)
			f.takes += int64(f.at - before)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// tree checks that the elements of the schema, each with its children after it,
// are a tree that is not deep.
func (f *footer) tree() error {
	if len(f.children) == 0 {
		return errFooter
	}
	open := []int64{1} // children still to come, from the root down
	for _, n := range f.children {
		for len(open) > 0 && open[len(open)-1] == 0 {
			open = open[:len(open)-1]
		}
		if len(open) == 0 || n < 0 || n > math.MaxInt32 {
			return errFooter
		}
		open[len(open)-1]--
		if open = append(open, n); len(open) > deepestSchema {
			return errDeepSchema
		}
		if n >= int64(len(f.children)) {
			return errFooter
		}
		f.takes += n * elementBytes
	}
	for _, n := range open {
		if n != 0 {
			return errFooter
		}
	}
	return nil
}
