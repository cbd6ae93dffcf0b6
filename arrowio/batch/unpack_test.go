package batch

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/ipc"
	"github.com/apache/arrow/go/v15/arrow/memory"

	"github.com/gladflow/gladflow/arrowio/arrowiotest"
	"github.com/gladflow/gladflow/arrowio/internal/arrowtest"
)

// A few hundred kilobytes that unpack to gigabytes are refused before they are
// unpacked, whatever holds them.
func TestBombs(t *testing.T) {
	const most = 8 << 20
	for name, table := range map[string]arrow.Record{
		"columns":    arrowiotest.Constant(1<<20, 40), // 320 MiB
		"lists":      arrowiotest.ConstantLists(1<<14, 1<<10),
		"dictionary": arrowiotest.ConstantDictionary(64 << 20),
	} {
		for _, codec := range arrowtest.Codecs() {
			list := arrowtest.Packed(t, table, codec.Option)
			var err error
			took := arrowtest.Allocated(func() {
				_, err = readLimited(list, Limits{Batch: most})
			})
			var limit *LimitError
			if !errors.As(err, &limit) || limit.Table || limit.Most != most || !errors.Is(err, ErrTooLarge) {
				t.Errorf("%s, %s: %v", name, codec.Name, err)
			}
			if took > most {
				t.Errorf("%s, %s: it took %d bytes to refuse what may take %d", name, codec.Name, took, most)
			}
		}
	}
}

// What is unpacked counts for the whole table.
func TestBombOfManyBatches(t *testing.T) {
	for _, codec := range arrowtest.Codecs() {
		list := arrowtest.Packed(t, arrowiotest.Constant(1<<10, 10), codec.Option) // 80 KiB a batch
		for range 1000 {
			list = append(list, list[1])
		}
		rows, err := readLimited(list, Limits{Table: 1 << 20})
		var limit *LimitError
		if !errors.As(err, &limit) || !limit.Table || rows != 12<<10 {
			t.Errorf("%s: %d rows, %v", codec.Name, rows, err)
		}
	}
}

// Buffers that lie in the same bytes of the body count each for itself.
func TestBombOfSharedBytes(t *testing.T) {
	list := arrowtest.Messages(t, arrowiotest.Constant(1<<10, 40), 1<<10)
	layout, err := verifyMessage(list[1].Metadata)
	if err != nil {
		t.Fatal(err)
	}
	for i := range layout.buffers {
		if binary.LittleEndian.Uint64(list[1].Metadata[layout.at+16*i+8:]) > 0 {
			layout.setBuffer(list[1].Metadata, i, 0, 8<<10)
		}
	}
	list[1].Body = list[1].Body[:8<<10]
	_, err = readLimited(list, Limits{Batch: 64 << 10})
	if !errors.Is(err, ErrTooLarge) {
		t.Error(err)
	}
}

// A buffer that states more than can come of it is corrupt, and takes nothing.
func TestLiesOfLength(t *testing.T) {
	for _, codec := range arrowtest.Codecs() {
		for _, stated := range []int64{-2, 1 << 29, 1 << 40, 1<<63 - 1} {
			list := arrowtest.Packed(t, arrowiotest.Constant(100, 2), codec.Option)
			layout, err := verifyMessage(list[1].Metadata)
			if err != nil {
				t.Fatal(err)
			}
			at := binary.LittleEndian.Uint64(list[1].Metadata[layout.at+16*(layout.buffers-1):])
			binary.LittleEndian.PutUint64(list[1].Body[at:], uint64(stated))
			took := arrowtest.Allocated(func() { _, err = readLimited(list, Limits{}) })
			var corrupt *CorruptError
			if !errors.As(err, &corrupt) || took > 1<<20 {
				t.Errorf("%s, %d: %d bytes, %v", codec.Name, stated, took, err)
			}
		}
	}
}

// Compressed tables of every kind are read as those that are not.
func TestUnpack(t *testing.T) {
	mem := memory.NewCheckedAllocator(memory.NewGoAllocator())
	defer mem.AssertSize(t, 0)
	for name, table := range map[string]arrow.Record{
		"plain": wide(mem, 1000, 30), "lists": lists(mem, 100, 300), "mixed": mixed(mem, 200), "none": wide(mem, 0, 3),
		"dictionary": arrowiotest.ConstantDictionary(5 << 20), "large": arrowiotest.Constant(1<<19, 3),
	} {
		for _, codec := range append(arrowtest.Codecs(), arrowtest.Codec{Name: "as it is", Option: ipc.WithMinSpaceSavings(0)}) {
			r, err := NewReader(arrowtest.Replay(arrowtest.Packed(t, table, codec.Option), io.EOF), mem)
			if err != nil {
				t.Fatal(err)
			}
			if !r.Next() || !array.RecordEqual(r.Record(), table) || r.Next() || r.Err() != nil {
				t.Errorf("%s, %s: another table, %v", name, codec.Name, r.Err())
			}
			r.Release()
		}
		table.Release()
	}
}

// The end of the context ends the unpacking of a batch.
func TestUnpackEndsWithItsContext(t *testing.T) {
	for _, codec := range arrowtest.Codecs() {
		list := arrowtest.Packed(t, arrowiotest.Constant(1<<20, 3), codec.Option)
		u := NewUnpacker(&endingContext{Context: context.Background(), after: 5}, memory.DefaultAllocator, Limits{})
		_, err := u.Message(memory.NewBufferBytes(list[1].Metadata), memory.NewBufferBytes(list[1].Body))
		if !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v", codec.Name, err)
		}
	}
}

// So it does the copying of buffers that are stored as they are.
func TestCopyEndsWithItsContext(t *testing.T) {
	const size = 8 << 20
	m := arrowtest.Packed(t, arrowiotest.Constant(size/8, 3), arrowtest.Codecs()[0].Option)[1]
	layout, err := verifyMessage(m.Metadata)
	if err != nil {
		t.Fatal(err)
	}
	for i := range layout.buffers {
		if binary.LittleEndian.Uint64(m.Metadata[layout.at+16*i+8:]) > 0 {
			layout.setBuffer(m.Metadata, i, 0, prefix+size)
		}
	}
	body := append(bytes.Repeat([]byte{0xFF}, prefix), make([]byte, size)...)
	read := func(ctx context.Context) error {
		_, err := NewUnpacker(ctx, memory.DefaultAllocator, Limits{}).Message(memory.NewBufferBytes(m.Metadata), memory.NewBufferBytes(body))
		return err
	}
	if err := read(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := read(&endingContext{Context: context.Background(), after: 5}); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// An endingContext ends when it has been looked at so often.
type endingContext struct {
	context.Context
	after int
}

func (c *endingContext) Err() error {
	if c.after--; c.after < 0 {
		return context.Canceled
	}
	return nil
}

func TestLimitErrorsAdvise(t *testing.T) {
	for _, e := range []*LimitError{{Most: 7, What: "a batch"}, {Table: true, Most: 7}} {
		if text := e.Error(); !strings.Contains(text, "7 bytes") || !strings.Contains(text, "smaller") {
			t.Error(text)
		}
	}
}

func readLimited(list []arrowtest.Message, l Limits) (rows int64, err error) {
	r, err := NewLimitedReader(context.Background(), arrowtest.Replay(list, io.EOF), nil, l)
	if err != nil {
		return 0, err
	}
	defer r.Release()
	for r.Next() {
		rows += r.Record().NumRows()
	}
	return rows, r.Err()
}

// FuzzUnpack damages compressed messages: whatever comes, it is unpacked or
// refused within its limits.
func FuzzUnpack(f *testing.F) {
	const most = 1 << 20
	for _, codec := range arrowtest.Codecs() {
		for _, m := range arrowtest.Packed(f, arrowiotest.Constant(100, 2), codec.Option) {
			f.Add(m.Metadata, m.Body)
		}
		for _, m := range arrowtest.Packed(f, arrowiotest.ConstantDictionary(100), codec.Option) {
			f.Add(m.Metadata, m.Body)
		}
	}
	f.Fuzz(func(t *testing.T, metadata, body []byte) {
		before := [2][]byte{slices.Clone(metadata), slices.Clone(body)}
		mem := memory.NewCheckedAllocator(memory.NewGoAllocator())
		u := NewUnpacker(t.Context(), mem, Limits{Batch: most})
		m, err := u.Message(memory.NewBufferBytes(metadata), memory.NewBufferBytes(body))
		if err == nil {
			if mem.CurrentAlloc() > 2*most+16*len(metadata) {
				t.Errorf("%d bytes of %d", mem.CurrentAlloc(), len(body))
			}
			m.Release()
		}
		mem.AssertSize(t, 0)
		if !bytes.Equal(before[0], metadata) || !bytes.Equal(before[1], body) {
			t.Error("the message has changed")
		}
	})
}
