package arrowio

import (
	"bufio"
	"bytes"
	stdcsv "encoding/csv"
	"errors"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/csv"
	"github.com/apache/arrow/go/v15/arrow/memory"
	"github.com/klauspost/compress/gzip"

	"github.com/gladflow/gladflow/arrowio/batch"
)

const (
	// longestRecord bounds the bytes of a record, with the line ends in its
	// quotes: beyond it the input is no table but something without line ends.
	longestRecord = 64 << 20
	// cellBytes is about the memory that a cell takes besides its text while its
	// record is split.
	cellBytes = 40
)

// A textFile is delimited text with its first two records already read: the
// header, or first row, and the row after it. records reads the rest.
type textFile struct {
	src     *input
	what    string        // for messages
	in      *bufio.Reader // unpacked text, if it is not the input's own
	options TextOptions
	comma   byte
	trim    *trimmer
	rest    *bufio.Reader
	raw     [2][]byte // the first two records as text
	header  []string
	second  []string // nil when there is none
}

// openText reads the head of a text file. preferred is the delimiter that
// the format names, 0 if it names none.
func openText(s *input, f format, o TextOptions) (*textFile, error) {
	t := &textFile{src: s, what: f.String(), options: o}
	if err := t.open(f.delimiter()); err != nil {
		return nil, s.explain(err, t.what)
	}
	return t, nil
}

func (t *textFile) open(preferred byte) error {
	in, err := t.unpack()
	if err != nil {
		return err
	}
	first, err := firstLine(in)
	if err != nil {
		return err
	}
	if len(first) == 0 {
		return fault(t.src.name, "the file is empty")
	}
	if !looksLikeText(first) && isLatin(first) {
		return fault(t.src.name, "the first line is text, but not UTF-8 (perhaps Latin-1 or Windows-1252); save the table as UTF-8")
	}
	if !looksLikeText(first) {
		return fault(t.src.name, "this is not a table of text; give the file the extension of its format (%s)", formatList)
	}
	t.comma = delimiterOf(first, preferred)
	if err := t.options.check(t.src.name, t.comma); err != nil {
		return err
	}
	t.trim = newTrimmer(t.src.name, io.MultiReader(bytes.NewReader(first), in), t.comma)
	t.rest = bufio.NewReaderSize(t.trim, 64<<10)
	if t.header, err = t.head(0); err != nil {
		return err
	}
	// Longer records are refused in any case, but by whoever has split them.
	t.trim.mostCells = 4*len(t.header) + 1000
	t.second, err = t.head(1)
	if err == io.EOF {
		err = nil
	}
	if t.options.NoHeader {
		t.header = namesOfColumns(len(t.header))
	}
	return err
}

// unpack looks through gzip and the byte-order mark.
func (t *textFile) unpack() (*bufio.Reader, error) {
	if t.in != nil {
		return t.in, nil
	}
	in := t.src.Reader
	head, err := in.Peek(len(gzipMagic))
	if err != nil && err != io.EOF {
		return nil, err
	}
	if bytes.Equal(head, gzipMagic) {
		t.what = "gzip-compressed " + t.what
		z, err := gzip.NewReader(in)
		if err != nil {
			return nil, err
		}
		unpacked, stop := readAheadOf(z)
		t.src.closers = append(t.src.closers, stop)
		in = bufio.NewReaderSize(counted{unpacked, t.src}, readAhead)
	} else {
		in = bufio.NewReaderSize(counted{in, t.src}, readAhead)
	}
	head, err = in.Peek(4)
	if err != nil && err != io.EOF {
		return nil, err
	}
	switch {
	case bytes.HasPrefix(head, utf8Mark):
		_, err = in.Discard(len(utf8Mark))
		return in, err
	case bytes.HasPrefix(head, streamMagic):
		return nil, fault(t.src.name, "this is an Arrow IPC stream, not text; name it so with the extension .arrows")
	case bytes.HasPrefix(head, utf16LowMark), bytes.HasPrefix(head, utf16HighMark):
		return nil, fault(t.src.name, "this is UTF-16 text; save it as UTF-8")
	case bytes.Equal(head, featherMagic):
		return nil, fault(t.src.name, "this is a Feather file of version 1; write it as version 2 (Arrow IPC)")
	}
	return in, nil
}

// A counted reader counts what comes out of it as the table's, and looks at the
// context before every read: a few bytes of gzip can become very many.
type counted struct {
	io.Reader
	src *input
}

// Read implements io.Reader.
func (c counted) Read(p []byte) (int, error) {
	if err := c.src.ctx.Err(); err != nil {
		return 0, err
	}
	n, err := c.Reader.Read(p)
	if limit := c.src.counter.Table(int64(n)); limit != nil {
		return 0, limit
	}
	return n, err
}

// firstLine returns the first line that is not blank, with the line ends of
// the blank ones before it, so that lines can still be counted.
func firstLine(in *bufio.Reader) ([]byte, error) {
	var line []byte
	blank := true
	for {
		part, err := in.ReadSlice('\n')
		line = append(line, part...)
		if len(line) > longestRecord {
			return nil, errors.New("its first line does not end")
		}
		blank = blank && len(bytes.TrimSpace(part)) == 0
		switch {
		case err == bufio.ErrBufferFull:
		case err != nil && err != io.EOF:
			return nil, err
		case !blank:
			return line, nil
		case err == io.EOF:
			return nil, nil
		}
	}
}

func looksLikeText(line []byte) bool {
	return utf8.Valid(line) && bytes.IndexByte(line, 0) < 0
}

// isLatin reports whether a line has no control characters, so that it is text of some encoding
// of one byte a letter: most of its letters are ASCII.
func isLatin(line []byte) bool {
	above := 0
	for _, b := range line {
		if b < ' ' && b != '\t' && b != '\r' && b != '\n' || b == 0x7f {
			return false
		}
		if b >= 0x80 {
			above++
		}
	}
	return 2*above < len(line)
}

// delimiterOf returns the delimiter of a header line: the preferred one if it
// occurs, else whichever of tab, comma and semicolon occurs most, else the
// space if it occurs, else the preferred one, for a table of one column.
func delimiterOf(line []byte, preferred byte) byte {
	var count [256]int
	quoted := false
	for _, b := range bytes.TrimSpace(line) {
		if b == '"' {
			quoted = !quoted
		} else if !quoted {
			count[b]++
		}
	}
	if preferred != 0 && count[preferred] > 0 {
		return preferred
	}
	best := preferred
	if best == 0 {
		best = ','
	}
	for _, b := range []byte("\t,;") {
		if count[b] > count[best] {
			best = b
		}
	}
	if count[best] == 0 && count[' '] > 0 {
		return ' '
	}
	return best
}

// head reads record i of the two that are read ahead.
func (t *textFile) head(i int) ([]string, error) {
	var raw []byte
	quotes, cells := 0, 1
	for {
		part, err := t.rest.ReadSlice('\n')
		raw = append(raw, part...)
		quotes += bytes.Count(part, []byte{'"'})
		cells += bytes.Count(part, []byte{t.comma})
		if err == bufio.ErrBufferFull || err == nil && quotes%2 == 1 {
			continue // until the trimmer finds it too long
		}
		if err != nil && err != io.EOF {
			return nil, err
		}
		break
	}
	if len(raw) == 0 {
		return nil, io.EOF
	}
	if err := t.src.counter.Part("a line of so many cells", int64(cells)*cellBytes); err != nil {
		return nil, err
	}
	if err := t.src.counter.Hold(int64(cells)*cellBytes + grownBytes*int64(len(raw))); err != nil {
		return nil, err
	}
	t.raw[i] = raw
	split := stdcsv.NewReader(bytes.NewReader(raw))
	split.Comma = rune(t.comma)
	record, err := split.Read()
	if err != nil {
		return nil, t.malformed(i, err)
	}
	return record, nil
}

const unequalCells = "the line does not have as many cells as the lines before it"

// malformed explains an error of encoding/csv in record i.
func (t *textFile) malformed(i int, err error) error {
	var parse *stdcsv.ParseError
	if !errors.As(err, &parse) {
		return err
	}
	e := &InputError{Path: t.src.name, Line: t.trim.lineOf(i), Err: err}
	switch {
	case errors.Is(err, stdcsv.ErrFieldCount):
		e.Reason = unequalCells
	case errors.Is(err, stdcsv.ErrQuote), errors.Is(err, stdcsv.ErrBareQuote):
		e.Reason = `the quotes are unbalanced; write a " inside of a cell as "" and put the cell in quotes`
	default:
		e.Reason = parse.Err.Error()
	}
	return e
}

// textRecords delivers the rows of a textFile in batches.
type textRecords struct {
	file  *textFile
	first int // the record that is row 0
	csv   *csv.Reader
	sch   *arrow.Schema
	rows  int
}

// records reads the rows as columns of the schema, one per cell; the header
// is row 0 unless skipped. Batches have chunk rows.
//
// No null strings are given to Arrow: its reader drops the text of what it
// cannot read, and leaves a null. With no other nulls about, that null tells
// the row and the column, and the error the text.
func (t *textFile) records(sch *arrow.Schema, skipHeader bool, chunk int, mem memory.Allocator) *textRecords {
	parts := []io.Reader{bytes.NewReader(t.raw[0]), bytes.NewReader(t.raw[1]), t.rest}
	first := 0
	if skipHeader {
		parts, first = parts[1:], 1
	}
	return &textRecords{file: t, first: first, sch: sch,
		csv: csv.NewReader(io.MultiReader(parts...), sch,
			csv.WithComma(rune(t.comma)), csv.WithChunk(chunk), csv.WithAllocator(mem))}
}

func (r *textRecords) schema() *arrow.Schema { return r.sch }

func (r *textRecords) line(row int) int { return r.file.trim.lineOf(row + r.first) }

func (r *textRecords) close() { r.csv.Release() }

func (r *textRecords) read() (arrow.Record, error) {
	var more bool
	if err := batch.Guard(func() error { more = r.csv.Next(); return nil }); err != nil {
		return nil, r.file.src.explain(err, r.file.what)
	}
	record := r.csv.Record()
	if err := r.csv.Err(); err != nil {
		return nil, r.file.src.explain(r.fault(record, err), r.file.what)
	}
	if !more {
		return nil, io.EOF
	}
	r.rows += int(record.NumRows())
	return record, nil
}

// fault finds out what and where an error of Arrow's reader is.
func (r *textRecords) fault(record arrow.Record, err error) error {
	at := r.rows
	if record != nil {
		for i := range int(record.NumRows()) {
			for j, c := range record.Columns() {
				if c.IsNull(i) {
					return r.cellFault(r.rows+i, j, err)
				}
			}
		}
		at += int(record.NumRows())
	}
	return r.file.malformed(at+r.first, err)
}

// isMissing knows the ways in which programs write that there is no value.
func isMissing(cell string) bool {
	switch strings.ToLower(strings.TrimSpace(cell)) {
	case "", "na", "n/a", "nan", "null", "none", "nil", "-", "?", ".":
		return true
	case "#n/a", "#div/0!", "#name?", "#null!", "#num!", "#ref!", "#value!": // of spreadsheets
		return true
	}
	return false
}

func (r *textRecords) cellFault(row, column int, err error) error {
	var number *strconv.NumError
	if !errors.As(err, &number) {
		return &InputError{Path: r.file.src.name, Column: r.sch.Field(column).Name, Row: row + 1, Line: r.line(row), Err: err,
			Reason: "the cell is not a number"}
	}
	return r.file.cellFault(r.sch.Field(column).Name, row+1, r.line(row), number.Num, err)
}

// cellFault is the error of a cell that err says is no number.
func (t *textFile) cellFault(column string, row, line int, cell string, err error) error {
	e := &InputError{Path: t.src.name, Column: column, Row: row, Line: line, Err: err}
	switch {
	case cell == "":
		e.Reason = missingValue("the cell is empty")
	case t.options.isMissing(cell):
		e.Reason = missingValue(strconv.Quote(cell))
	case errors.Is(err, strconv.ErrRange):
		e.Reason = clip(cell) + " is beyond what a float64 can hold; scale the column"
	default:
		e.Reason = strconv.Quote(clip(cell)) + " is not a number"
		t.options.adviseCell(e, cell, t.comma, row == 1)
	}
	return e
}
