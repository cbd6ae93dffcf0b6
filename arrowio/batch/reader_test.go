package batch

import (
	"bytes"
	"errors"
	"io"
	"slices"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/ipc"
	"github.com/apache/arrow/go/v15/arrow/memory"
)

// message is one of an IPC stream.
type message struct{ metadata, body []byte }

// taken collects messages as Arrow Flight would send them.
type taken []message

func (*taken) Start() error { return nil }
func (*taken) Close() error { return nil }
func (m *taken) WritePayload(p ipc.Payload) error {
	meta := p.Meta()
	defer meta.Release()
	var body bytes.Buffer
	if err := p.SerializeBody(&body); err != nil {
		return err
	}
	*m = append(*m, message{slices.Clone(meta.Bytes()), body.Bytes()})
	return nil
}

// messagesOf writes a table in batches of so many rows.
func messagesOf(t testing.TB, table arrow.Record, rows int64) []message {
	t.Helper()
	var m taken
	w := ipc.NewWriterWithPayloadWriter(&m, ipc.WithSchema(table.Schema()))
	for at := int64(0); at < table.NumRows(); at += rows {
		piece := table.NewSlice(at, min(at+rows, table.NumRows()))
		if err := w.Write(piece); err != nil {
			t.Fatal(err)
		}
		piece.Release()
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return m
}

// replay hands messages out one after the other, and then last.
func replay(list []message, last error) func() ([]byte, []byte, error) {
	return func() (metadata, body []byte, err error) {
		if len(list) == 0 {
			return nil, nil, last
		}
		m := list[0]
		list = list[1:]
		return m.metadata, m.body, nil
	}
}

// readAll reads batches to their end and counts the rows.
func readAll(list []message, last error, mem memory.Allocator) (rows int64, err error) {
	r, err := NewReader(replay(list, last), mem)
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
			if got, err := readAll(messagesOf(t, table, rows), io.EOF, mem); got != 10 || err != nil {
				t.Errorf("%s, batches of %d: %d rows, %v", name, rows, got, err)
			}
		}
		table.Release()
	}
}

func TestReaderErrors(t *testing.T) {
	table := lists(memory.DefaultAllocator, 3, 2)
	defer table.Release()
	list := messagesOf(t, table, 1)
	broken := errors.New("the wire is cut")
	if _, err := NewReader(replay(nil, broken), nil); err != broken {
		t.Errorf("before the schema: %v", err)
	}
	if rows, err := readAll(list[:2], broken, nil); rows != 1 || err != broken {
		t.Errorf("after a batch: %d rows, %v", rows, err)
	}
	damaged := slices.Clone(list)
	damaged[2].body = damaged[2].body[:8]
	for name, test := range map[string]struct {
		list []message
		want string
	}{
		"nothing":             {nil, "the stream: it ends before its schema; send the table"},
		"no schema":           {list[1:], ""},
		"short body":          {damaged, ""},
		"metadata of nothing": {append(list[:1:1], message{}), "the stream: a message is corrupt (the lengths in its metadata are wrong); send it again"},
	} {
		_, err := readAll(test.list, io.EOF, nil)
		var corrupt *CorruptError
		if !errors.As(err, &corrupt) || test.want != "" && err.Error() != test.want {
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
		for _, m := range messagesOf(f, table, 2) {
			f.Add(m.metadata, m.body, uint8(i), true)
		}
		table.Release()
	}
	f.Fuzz(func(t *testing.T, metadata, body []byte, which uint8, first bool) {
		all := tables()
		list := messagesOf(t, all[int(which)%len(all)], 2)
		if first {
			list[0] = message{metadata, body}
		} else {
			list = append(list[:1], message{metadata, body})
		}
		_, err := readAll(list, io.EOF, memory.NewCheckedAllocator(memory.NewGoAllocator()))
		var corrupt *CorruptError
		if err != nil && !errors.As(err, &corrupt) {
			t.Errorf("%T: %v", err, err)
		}
	})
}
