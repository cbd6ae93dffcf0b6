package arrowio

import (
	"fmt"
	"io"
	"sort"
)

// A trimmer passes delimited text on without what people and programs leave
// in it by accident and encoding/csv takes for data: spaces around cells
// outside of quotes, carriage returns before a line's end (also the doubled
// ones that some published networks have), and blank lines. It remembers
// which line every record stood on.
type trimmer struct {
	name  string // of the input, for messages
	r     io.Reader
	comma byte
	// mostCells bounds the cells of a record; 0 for none.
	mostCells int

	in       []byte // unread input, a window of buf
	buf      []byte
	out      []byte // produced and not yet delivered, a window of outBuf
	outBuf   []byte
	pending  []byte // spaces and carriage returns that may turn out to end a cell
	inQuotes bool
	closed   bool // the last byte closed a quoted cell
	fresh    bool // at the start of a cell
	blank    bool // nothing of this line has been passed on
	err      error

	read  int64 // bytes read before those in in
	begun int64 // where in them the current record begins
	cells int   // delimiters in the current record

	line    int // lines read so far, that is line+1 is being read
	records int // records passed on so far
	steps   []step
}

// step says that from a record on, lines run ahead of records by lead.
type step struct{ record, lead int }

func newTrimmer(name string, r io.Reader, comma byte) *trimmer {
	return &trimmer{name: name, r: r, comma: comma, buf: make([]byte, 64<<10), fresh: true, blank: true}
}

// lineOf is the line, counted from 1, on which record i begins, counted from 0.
func (t *trimmer) lineOf(i int) int {
	k := sort.Search(len(t.steps), func(k int) bool { return t.steps[k].record > i })
	lead := 0
	if k > 0 {
		lead = t.steps[k-1].lead
	}
	return i + 1 + lead
}

func (t *trimmer) Read(p []byte) (int, error) {
	for len(t.out) == 0 {
		if t.err != nil {
			return 0, t.err
		}
		n, err := t.r.Read(t.buf)
		t.err = err
		t.in = t.buf[:n]
		t.outBuf = t.outBuf[:0]
		t.run()
		t.read += int64(n)
		t.check()
		t.out = t.outBuf
	}
	n := copy(p, t.out)
	t.out = t.out[n:]
	return n, nil
}

// check refuses a record that grows without end, before whoever splits records
// holds all of it.
func (t *trimmer) check() {
	e := &InputError{Path: t.name, Line: t.lineOf(t.records)}
	switch {
	case t.read-t.begun > longestRecord:
		e.Reason = fmt.Sprintf("the line does not end within %d MiB; check its quotes", longestRecord>>20)
	case t.mostCells > 0 && t.cells > t.mostCells:
		e.Reason = unequalCells
	default:
		return
	}
	t.err = e
}

func (t *trimmer) run() {
	for i := 0; i < len(t.in); {
		b := t.in[i]
		i++
		switch {
		case b == '\n':
			t.newline(i)
		case t.inQuotes:
			t.inQuotes = b != '"'
			t.outBuf = append(t.outBuf, b)
			t.closed = !t.inQuotes
			continue
		case b == t.comma:
			t.begin()
			t.pending = t.pending[:0]
			t.fresh = true
			t.cells++
			t.outBuf = append(t.outBuf, b)
		case b == ' ' || b == '\r':
			t.pending = append(t.pending, b)
		default:
			t.begin()
			if !t.fresh {
				t.outBuf = append(t.outBuf, t.pending...)
			}
			t.pending = t.pending[:0]
			// A doubled quote inside quotes closes and reopens them.
			t.inQuotes = b == '"' && (t.fresh || t.closed)
			t.fresh = false
			from := i - 1
			for !t.inQuotes && i < len(t.in) && t.plain(t.in[i]) {
				i++
			}
			t.outBuf = append(t.outBuf, t.in[from:i]...)
		}
		t.closed = false
	}
}

// plain reports whether a byte that follows others in a cell just goes on.
func (t *trimmer) plain(b byte) bool {
	return b > ' ' && b != t.comma && b != '"'
}

// begin notes that the current line holds something.
func (t *trimmer) begin() {
	if !t.blank {
		return
	}
	t.blank = false
	lead := t.line - t.records
	last := 0
	if len(t.steps) > 0 {
		last = t.steps[len(t.steps)-1].lead
	}
	if lead != last {
		t.steps = append(t.steps, step{t.records, lead})
	}
}

// newline ends a line whose line end is the last of the first n bytes of in.
func (t *trimmer) newline(n int) {
	t.line++
	if t.inQuotes {
		t.outBuf = append(t.outBuf, '\n')
		return
	}
	t.begun, t.cells = t.read+int64(n), 0
	t.pending = t.pending[:0]
	t.fresh = true
	if !t.blank {
		t.records++
		t.outBuf = append(t.outBuf, '\n')
	}
	t.blank = true
}
