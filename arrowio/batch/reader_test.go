package batch

import (
	"encoding/binary"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/memory"

	"github.com/gladflow/gladflow/arrowio/arrowiotest"
	"github.com/gladflow/gladflow/arrowio/internal/arrowtest"
)

// readAll reads batches to their end and counts the rows.
func readAll(list []arrowtest.Message, last error, mem memory.Allocator) (rows int64, err error) {
	r, err := NewReader(arrowtest.Replay(list, last), mem)
	if err != nil {
		return 0, err
	}
	defer r.Release()
	for r.Next() {
		rows += r.Record().NumRows()
	}
	return rows, r.Err()
}

func TestReader(t *testing.T) {
	mem := memory.NewCheckedAllocator(memory.NewGoAllocator())
	defer mem.AssertSize(t, 0)
	for name, table := range map[string]arrow.Record{"plain": wide(mem, 10, 3), "FixedSizeList": lists(mem, 10, 3), "mixed": mixed(mem, 10)} {
		for _, rows := range []int64{1, 3, 10} {
			if got, err := readAll(arrowtest.Messages(t, table, rows), io.EOF, mem); got != 10 || err != nil {
				t.Errorf("%s, batches of %d: %d rows, %v", name, rows, got, err)
			}
		}
		table.Release()
	}
}

func TestReaderErrors(t *testing.T) {
	table := lists(memory.DefaultAllocator, 3, 2)
	defer table.Release()
	list := arrowtest.Messages(t, table, 1)
	broken := errors.New("the wire is cut")
	if _, err := NewReader(arrowtest.Replay(nil, broken), nil); err != broken {
		t.Errorf("before the schema: %v", err)
	}
	if rows, err := readAll(list[:2], broken, nil); rows != 1 || err != broken {
		t.Errorf("after a batch: %d rows, %v", rows, err)
	}
	damaged := slices.Clone(list)
	damaged[2].Body = damaged[2].Body[:8]
	longer := arrowtest.Messages(t, arrowiotest.Constant(3, 1), 3)
	for at := 0; at+8 <= len(longer[1].Metadata); at += 4 {
		if b := longer[1].Metadata[at:]; binary.LittleEndian.Uint64(b) == 3 { // rows
			binary.LittleEndian.PutUint64(b, 1000)
		}
	}
	for name, test := range map[string]struct {
		list []arrowtest.Message
		want string
	}{
		"nothing":             {nil, "the stream: it ends before its schema; send the table"},
		"no schema":           {list[1:], ""},
		"more rows":           {longer, "the stream: a message is corrupt; send it again"},
		"short body":          {damaged, ""},
		"metadata of nothing": {append(list[:1:1], arrowtest.Message{}), "the stream: a message is corrupt (the lengths in its metadata are wrong); send it again"},
	} {
		_, err := readAll(test.list, io.EOF, nil)
		var corrupt *CorruptError
		if !errors.As(err, &corrupt) || test.want != "" && err.Error() != test.want || strings.Contains(corrupt.Reason, "runtime error") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// FuzzReader reads messages whose bytes are damaged: whatever comes, it is
// read or refused, with little memory and without a panic.
func FuzzReader(f *testing.F) {
	tables := func() []arrow.Record {
		mem := memory.DefaultAllocator
		return []arrow.Record{lists(mem, 3, 2), wide(mem, 3, 2), mixed(mem, 3)}
	}
	for i, table := range tables() {
		for _, m := range arrowtest.Messages(f, table, 2) {
			f.Add(m.Metadata, m.Body, uint8(i), true)
		}
		table.Release()
	}
	f.Fuzz(func(t *testing.T, metadata, body []byte, which uint8, first bool) {
		all := tables()
		list := arrowtest.Messages(t, all[int(which)%len(all)], 2)
		if first {
			list[0] = arrowtest.Message{Metadata: metadata, Body: body}
		} else {
			list = append(list[:1], arrowtest.Message{Metadata: metadata, Body: body})
		}
		_, err := readAll(list, io.EOF, memory.NewCheckedAllocator(memory.NewGoAllocator()))
		var corrupt *CorruptError
		if err != nil && !errors.As(err, &corrupt) {
			t.Errorf("%T: %v", err, err)
		}
	})
}
