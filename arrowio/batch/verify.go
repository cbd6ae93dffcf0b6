package batch

import (
	"encoding/base64"
	"encoding/binary"
	"errors"
	"strings"
)

// continuation is the word that begins a message of an IPC stream.
const continuation = 0xFFFFFFFF

// Arrow's generated code trusts the lengths and offsets in the metadata of a
// message: a damaged length makes it allocate tens of gigabytes, which ends
// the process, and no recover helps. So metadata are walked through once
// before Arrow sees them (format/Message.fbs and format/Schema.fbs of Arrow;
// the binary format is that of FlatBuffers, internals.html).

var (
	errMetadata = errors.New("the lengths in its metadata are wrong")
	errCodec    = errors.New("its compression is unknown; write it with zstd or lz4")
)

// A flat is a FlatBuffer being verified.
type flat struct {
	b []byte
	// visits left: every table takes at least four bytes of its own, so a
	// buffer in which more are found shares them in order to explode.
	visits int
}

// A flatTable is the position of a table and the place of its vtable.
type flatTable struct{ at, vtable, size int }

// Kinds of messages.
const (
	schemaHeader     = 1
	dictionaryHeader = 2
	batchHeader      = 3
)

// VerifyMessage checks the metadata of an IPC message, a FlatBuffer: it returns an
// error where Arrow would trust a length or an offset that leads out of them.
func VerifyMessage(meta []byte) error {
	_, err := verifyMessage(meta)
	return err
}

// verifyMessage is VerifyMessage; it also returns how the body of a batch or of
// a dictionary lies.
func verifyMessage(meta []byte) (bodyLayout, error) {
	var none bodyLayout
	f := &flat{b: meta, visits: len(meta)/4 + 1}
	message, err := f.root()
	if err != nil {
		return none, err
	}
	if err := f.keyValues(message, 4); err != nil {
		return none, err
	}
	header, ok, err := f.child(message, 2)
	if err != nil || !ok {
		return none, err
	}
	kind, err := f.slot(message, 1, 1)
	if err != nil || kind == 0 {
		return none, errMetadata
	}
	switch f.b[kind] {
	case schemaHeader:
		if err := f.tables(header, 1, f.field); err != nil {
			return none, err
		}
		return none, f.keyValues(header, 2)
	case dictionaryHeader:
		data, ok, err := f.child(header, 1)
		if err != nil || !ok {
			return none, errMetadata
		}
		return f.recordBatch(data, dictionaryHeader)
	case batchHeader:
		return f.recordBatch(header, batchHeader)
	}
	return none, nil
}

// VerifySchema checks an IPC message that holds a schema, in base64, as
// Parquet files carry it under ARROW:schema.
func VerifySchema(text string) error {
	b, err := base64.RawStdEncoding.DecodeString(strings.TrimRight(text, "="))
	if err != nil {
		return err
	}
	if len(b) >= 4 && binary.LittleEndian.Uint32(b) == continuation {
		b = b[4:]
	}
	if len(b) < 4 || uint64(binary.LittleEndian.Uint32(b)) > uint64(len(b)-4) {
		return errMetadata
	}
	meta := b[4 : 4+binary.LittleEndian.Uint32(b)]
	if err := VerifyMessage(meta); err != nil {
		return err
	}
	f := &flat{b: meta, visits: 1}
	message, err := f.root()
	if err != nil {
		return err
	}
	// A schema has no body; Arrow would make room for the one that is stated.
	kind, err := f.slot(message, 1, 1)
	if err != nil || f.b[kind] != schemaHeader {
		return errMetadata
	}
	body, err := f.slot(message, 3, 8)
	if err != nil || body != 0 && binary.LittleEndian.Uint64(f.b[body:]) != 0 {
		return errMetadata
	}
	return nil
}

// root is the table that the buffer begins with.
func (f *flat) root() (flatTable, error) {
	at, err := f.offset(0)
	if err != nil {
		return flatTable{}, err
	}
	return f.table(at)
}

// field checks a Field and those nested in it.
func (f *flat) field(t flatTable) error {
	if err := f.tables(t, 5, f.field); err != nil {
		return err
	}
	return f.keyValues(t, 6)
}

// keyValues checks slot i of t, a vector of KeyValue.
func (f *flat) keyValues(t flatTable, i int) error {
	return f.tables(t, i, func(flatTable) error { return nil })
}

// recordBatch checks the vectors of a RecordBatch: nodes and buffers, of 16
// bytes an element, and variadic counts of 8.
func (f *flat) recordBatch(t flatTable, kind byte) (bodyLayout, error) {
	l := bodyLayout{kind: kind}
	if _, _, err := f.vector(t, 1, 16); err != nil {
		return l, err
	}
	if _, _, err := f.vector(t, 4, 8); err != nil {
		return l, err
	}
	var err error
	if l.at, l.buffers, err = f.vector(t, 2, 16); err != nil {
		return l, err
	}
	compression, ok, err := f.child(t, 3)
	if err != nil || !ok {
		return l, err
	}
	l.compressed = true
	codec, err := f.slot(compression, 0, 1)
	if err != nil {
		return l, err
	}
	if codec != 0 { // otherwise the default, LZ4
		l.codec = f.b[codec]
	}
	if l.codec != codecLZ4 && l.codec != codecZstd {
		return l, errCodec
	}
	return l, nil
}

// tables runs check over slot i of t, a vector of tables.
func (f *flat) tables(t flatTable, i int, check func(flatTable) error) error {
	at, n, err := f.vector(t, i, 4)
	if err != nil {
		return err
	}
	for k := range n {
		to, err := f.offset(at + 4*k)
		if err != nil {
			return err
		}
		element, err := f.table(to)
		if err != nil {
			return err
		}
		if err := check(element); err != nil {
			return err
		}
	}
	return nil
}

// vector returns where the elements of slot i of t begin and how many there
// are, none if the slot is empty.
func (f *flat) vector(t flatTable, i, width int) (at, n int, err error) {
	slot, err := f.slot(t, i, 4)
	if err != nil || slot == 0 {
		return 0, 0, err
	}
	at, err = f.offset(slot)
	if err != nil {
		return 0, 0, err
	}
	if at+4 > len(f.b) {
		return 0, 0, errMetadata
	}
	length := uint64(binary.LittleEndian.Uint32(f.b[at:]))
	at += 4
	if length*uint64(width) > uint64(len(f.b)-at) {
		return 0, 0, errMetadata
	}
	return at, int(length), nil
}

// child returns slot i of t, a table; false if the slot is empty.
func (f *flat) child(t flatTable, i int) (flatTable, bool, error) {
	slot, err := f.slot(t, i, 4)
	if err != nil || slot == 0 {
		return flatTable{}, false, err
	}
	at, err := f.offset(slot)
	if err != nil {
		return flatTable{}, false, err
	}
	c, err := f.table(at)
	return c, err == nil, err
}

// slot is the position of slot i of t, a value of width bytes; 0 if the slot
// is empty.
func (f *flat) slot(t flatTable, i, width int) (int, error) {
	// As in FlatBuffers' own code, a vtable of odd size has half a slot more.
	if 4+2*i >= t.size {
		return 0, nil
	}
	if t.vtable+4+2*i+2 > len(f.b) {
		return 0, errMetadata
	}
	o := int(binary.LittleEndian.Uint16(f.b[t.vtable+4+2*i:]))
	if o == 0 {
		return 0, nil
	}
	if t.at+o+width > len(f.b) {
		return 0, errMetadata
	}
	return t.at + o, nil
}

// offset follows the offset at a position. Offsets lead forward, so that no
// walk is endless.
func (f *flat) offset(at int) (int, error) {
	if at < 0 || at+4 > len(f.b) {
		return 0, errMetadata
	}
	to := uint64(at) + uint64(binary.LittleEndian.Uint32(f.b[at:]))
	if to <= uint64(at) || to+4 > uint64(len(f.b)) {
		return 0, errMetadata
	}
	return int(to), nil
}

// table finds the vtable of the table at a position.
func (f *flat) table(at int) (flatTable, error) {
	if f.visits--; f.visits < 0 {
		return flatTable{}, errMetadata
	}
	vtable := at - int(int32(binary.LittleEndian.Uint32(f.b[at:])))
	if vtable < 0 || vtable+4 > len(f.b) {
		return flatTable{}, errMetadata
	}
	size := int(binary.LittleEndian.Uint16(f.b[vtable:]))
	if size < 4 || vtable+size > len(f.b) {
		return flatTable{}, errMetadata
	}
	return flatTable{at, vtable, size}, nil
}
