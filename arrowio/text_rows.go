package arrowio

import (
	"bufio"
	"bytes"
	stdcsv "encoding/csv"
	"io"
	"math"
	"slices"
)

// textRows delivers the rows of a textFile as numbers, without a record of Arrow in
// between: most of the time of reading text was spent on making those.
type textRows struct {
	file  *textFile
	in    *bufio.Reader
	names []string // of the columns
	id    int      // position of the label column, −1
	to    []int    // of every column, where its values go in a row; −1 for none
	side  []int    // of every column, which one beside the variables it is; −1 for none
	of    *matrix
	keep  bool // missing values are NaN
	first int  // the record that is row 0
	plain bool // see TextOptions

	record []byte // one that is longer than the reader's buffer, or has quotes
	usual  []byte // a cell as strconv reads it
	rows   int    // of the table so far
	// leftOut counts those of them that were not chosen.
	leftOut int
}

// rows starts the reading of the rows below the header, which has these names, for a
// matrix: numbers of its value columns, labels, and words of the columns beside them.
func (t *textFile) rows(names []string, m *matrix) *textRows {
	parts := []io.Reader{bytes.NewReader(t.raw[0]), bytes.NewReader(t.raw[1]), t.rest}
	r := &textRows{file: t, names: names, id: m.id, to: make([]int, len(names)), side: make([]int, len(names)), of: m, keep: m.keep, first: 1, plain: t.options.plain()}
	if t.options.NoHeader {
		r.first = 0
	}
	r.in = bufio.NewReaderSize(io.MultiReader(parts[r.first:]...), rowsAhead)
	for i := range r.to {
		r.to[i], r.side[i] = -1, -1
	}
	for k, i := range m.values {
		r.to[i] = k
	}
	for k, i := range m.beside.at {
		r.side[i] = k
	}
	return r
}

const rowsAhead = 256 << 10

// line is the line of a row, both counted as in recordReader.
func (r *textRows) line(row int) int { return r.file.trim.lineOf(row + r.first) }

// read appends at most so many rows of d numbers to dst, and returns them with their labels
// if there are any; io.EOF after the last.
func (r *textRows) read(dst []float64, d, most int) (b block, err error) {
	choice := &r.of.choiceOfRows
	choosing := choice.any() && !r.of.labelled
	for b.n < most {
		record, err := r.next()
		if err == io.EOF {
			if b.n > 0 {
				break
			}
			return block{}, io.EOF
		}
		var label string
		if err == nil && choosing {
			if choice.byLabel() != "" {
				label, err = r.labelOf(record)
			}
			if err == nil && !choice.keeps(r.rows, label) {
				r.rows++
				r.leftOut++
				continue
			}
			b.origin = append(b.origin, r.rows)
		}
		if err == nil && cap(dst) < len(dst)+d {
			dst = slices.Grow(dst, d)
			err = r.file.src.counter.Hold(grownBytes * 8 * int64(cap(dst)))
		}
		if err == nil {
			dst = dst[:len(dst)+d]
			label, err = r.split(dst[len(dst)-d:], record)
		}
		if err != nil {
			return block{}, r.file.src.explain(err, r.file.what)
		}
		if r.id >= 0 {
			b.ids = append(b.ids, label)
		}
		r.rows++
		b.n++
	}
	b.rows = dst
	return b, nil
}

// labelOf is the label of a record, whatever else it holds.
func (r *textRows) labelOf(record []byte) (string, error) {
	if bytes.IndexByte(record, '"') >= 0 {
		cells, err := r.cells(record)
		if err != nil {
			return "", err
		}
		return cells[r.id], nil
	}
	for range r.id {
		end := bytes.IndexByte(record, r.file.comma)
		if end < 0 {
			return "", r.unequal()
		}
		record = record[end+1:]
	}
	if end := bytes.IndexByte(record, r.file.comma); end >= 0 {
		record = record[:end]
	}
	return string(record), nil
}

// next is the next record without its line end, valid until the call after it.
func (r *textRows) next() ([]byte, error) {
	r.record = r.record[:0]
	for quotes := 0; ; {
		part, err := r.in.ReadSlice('\n')
		if err == nil && len(r.record) == 0 && bytes.IndexByte(part, '"') < 0 {
			return part[:len(part)-1], nil
		}
		quotes += bytes.Count(part, []byte{'"'})
		r.record = append(r.record, part...)
		switch {
		case err == bufio.ErrBufferFull || err == nil && quotes%2 == 1:
			if held := r.file.src.counter.Hold(grownBytes * int64(len(r.record))); held != nil {
				return nil, held
			}
			continue // until the trimmer finds it too long
		case err != nil && err != io.EOF:
			return nil, err
		case len(r.record) == 0:
			return nil, io.EOF
		}
		return bytes.TrimSuffix(r.record, []byte{'\n'}), nil
	}
}

// split writes the numbers of a record to dst and returns its label.
func (r *textRows) split(dst []float64, record []byte) (label string, err error) {
	comma, column, rest := r.file.comma, 0, record
	for more := true; more; column++ {
		if r.plain && column < len(r.to) && r.to[column] >= 0 {
			if v, n, ok := parseDecimal(rest, comma); ok {
				dst[r.to[column]] = v
				more = n < len(rest)
				rest = rest[min(n+1, len(rest)):]
				continue
			}
		}
		var cell []byte
		if len(rest) > 0 && rest[0] == '"' {
			end := 1 + bytes.IndexByte(rest[1:], '"')
			if end == 0 || end+1 < len(rest) && rest[end+1] != comma {
				return r.splitQuoted(dst, record) // quotes in quotes, or wrong ones
			}
			cell, more = rest[1:end], end+1 < len(rest)
			rest = rest[min(end+2, len(rest)):]
		} else {
			end := bytes.IndexByte(rest, comma)
			if more = end >= 0; more {
				cell, rest = rest[:end], rest[end+1:]
			} else {
				cell = rest
			}
			if bytes.IndexByte(cell, '"') >= 0 {
				return r.splitQuoted(dst, record)
			}
		}
		switch {
		case column >= len(r.names):
			return "", r.unequal()
		case column == r.id:
			label = string(cell)
		case r.to[column] >= 0:
			if dst[r.to[column]], err = r.number(column, cell); err != nil {
				return "", err
			}
		case r.side[column] >= 0:
			if err := r.of.addWord(r.side[column], cell); err != nil {
				return "", err
			}
		}
	}
	if column != len(r.names) {
		return "", r.unequal()
	}
	return label, nil
}

// splitQuoted is split for records whose quotes take a whole reader of CSV.
func (r *textRows) splitQuoted(dst []float64, record []byte) (label string, err error) {
	cells, err := r.cells(record)
	if err != nil {
		return "", err
	}
	for k, i := range r.of.beside.at { // without what split has added of them
		r.of.beside.columns[k].Words = r.of.beside.columns[k].Words[:r.rows-r.leftOut]
		if err := r.of.addWord(k, []byte(cells[i])); err != nil {
			return "", err
		}
	}
	for column, cell := range cells {
		switch {
		case column == r.id:
			label = cell
		case r.to[column] >= 0:
			if dst[r.to[column]], err = r.number(column, []byte(cell)); err != nil {
				return "", err
			}
		}
	}
	return label, nil
}

// cells are those of a record, unquoted.
func (r *textRows) cells(record []byte) ([]string, error) {
	csv := stdcsv.NewReader(bytes.NewReader(record))
	csv.Comma = rune(r.file.comma)
	cells, err := csv.Read()
	switch {
	case err != nil:
		return nil, r.file.malformed(r.rows+r.first, err)
	case len(cells) != len(r.names):
		return nil, r.unequal()
	}
	return cells, nil
}

func (r *textRows) unequal() error {
	return &InputError{Path: r.file.src.name, Line: r.line(r.rows), Reason: unequalCells}
}

// number is the value of a cell.
func (r *textRows) number(column int, cell []byte) (float64, error) {
	number := cell
	if !r.plain {
		r.usual = r.file.options.usual(r.usual[:0], cell)
		number = r.usual
	}
	v, err := parseFloat(number)
	if err == nil {
		return v, nil
	}
	if r.keep && r.file.options.isMissing(string(cell)) {
		return math.NaN(), nil
	}
	return 0, r.file.cellFault(r.names[column], r.rows+1, r.line(r.rows), string(cell), err)
}
