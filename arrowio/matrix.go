package arrowio

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"

	"github.com/gladflow/gladflow/arrowio/batch"
)

// A matrix is a table of numbers that has been opened: its columns are
// sorted into values and labels, and its rows come as row-major blocks, the
// way they lie in the file.
type matrix struct {
	*table
	names     []string // of the value columns
	values    []int    // positions of the value columns, or
	list      int      // position of the one list column, −1
	id        int      // position of the label column, −1
	shortHead bool     // the header lacks a cell for the labels (R)
	labels    int64    // bytes of all labels

	grid *textRows // of text

	batch arrow.Record
	at    int // rows of batch already delivered
	rows  int // rows delivered before batch
	buf   []float64
}

var _ blocks = (*matrix)(nil)

// openMatrix opens the table at path. labelled says that there is an id column
// even when none is named: then it is the first.
func openMatrix(ctx context.Context, path string, o SampleOptions, labelled bool) (*matrix, error) {
	t, err := openTable(ctx, path, o)
	if err != nil {
		return nil, err
	}
	m := &matrix{table: t, list: -1, id: -1}
	if err := m.layOut(o.IDColumn, labelled); err != nil {
		m.close()
		return nil, err
	}
	return m, nil
}

// layOut decides what every column is, and starts the reading of text.
func (m *matrix) layOut(idColumn string, labelled bool) error {
	names := m.columnNames()
	if err := checkLengths(m.src.name, names); err != nil {
		return err
	}
	if m.text != nil && len(m.text.second) == len(names)+1 && (labelled && idColumn == "" || idColumn == "#1") {
		// R's write.table gives the row names no header.
		m.shortHead = true
		names = append([]string{""}, names...)
	}
	switch {
	case idColumn != "":
		i, err := findColumn(m.src, names, idColumn)
		if err != nil {
			return err
		}
		m.id = i
	case labelled:
		m.id = 0
	}
	if m.text != nil {
		return m.layOutText(names)
	}
	for i, f := range m.records.schema().Fields() {
		switch {
		case i == m.id:
		case isSampleList(f.Type):
			if m.list >= 0 {
				return columnFault(m.src.name, f.Name, "a second column of whole samples; remove one")
			}
			m.list = i
		default:
			m.values = append(m.values, i)
			m.names = append(m.names, f.Name)
		}
	}
	if m.list >= 0 {
		return m.layOutList()
	}
	for _, i := range m.values {
		if err := checkVariable(m.src.name, m.records.schema().Field(i)); err != nil {
			return err
		}
	}
	return m.checkAny()
}

func (m *matrix) checkAny() error {
	if len(m.names) == 0 {
		return fault(m.src.name, "the table has no columns of numbers")
	}
	return nil
}

func (m *matrix) layOutList() error {
	f := m.records.schema().Field(m.list)
	if len(m.values) > 0 {
		return columnFault(m.src.name, m.names[0], "the column stands beside %q, which holds whole samples", f.Name).
			advise(labels(m.names[0], "remove it, or pass %s", "remove it"))
	}
	var err error
	m.names, err = listNames(m.src.name, f)
	if err != nil {
		return err
	}
	return m.checkAny()
}

func (m *matrix) layOutText(names []string) error {
	for i, n := range names {
		if i == m.id {
			continue
		}
		m.values = append(m.values, i)
		m.names = append(m.names, n)
	}
	if err := m.checkAny(); err != nil {
		return err
	}
	if second := m.text.second; second != nil && len(second) != len(names) {
		return m.unequalHead(len(names), len(second))
	}
	m.grid = m.text.rows(names, m.id)
	return nil
}

func (m *matrix) unequalHead(header, first int) error {
	e := &InputError{Path: m.src.name, Line: m.text.trim.lineOf(1)}
	e.Reason = fmt.Sprintf("the line has %d cells and the header has %d", first, header)
	if first == header+1 {
		e.Advice = labels("#1", "if the first of them labels the row, pass %s", "")
	}
	return e
}

// blockRows is the number of rows of d numbers in a block.
func blockRows(d int) int { return int(batch.Rows(batch.Bytes, 8*int64(d))) }

// next implements blocks.
func (m *matrix) next() (rows []float64, n int, ids []string, err error) {
	if m.grid != nil {
		return m.nextText()
	}
	for m.batch == nil || m.at == int(m.batch.NumRows()) {
		if m.batch != nil {
			m.rows += m.at
		}
		m.batch, m.at = nil, 0
		if m.batch, err = m.records.read(); err != nil {
			return nil, 0, nil, err
		}
	}
	d := len(m.names)
	n = min(int(m.batch.NumRows())-m.at, blockRows(d))
	if len(m.buf) < n*d {
		m.buf = make([]float64, n*d)
	}
	rows = m.buf[:n*d]
	err = batch.Guard(func() error {
		if m.id >= 0 {
			text := texts(m.batch.Column(m.id))
			ids = make([]string, n)
			for i := range ids {
				label := text(m.at + i)
				if err := m.countLabel(label); err != nil {
					return err
				}
				ids[i] = strings.Clone(label)
			}
		}
		return m.fill(rows, n)
	})
	if err != nil {
		return nil, 0, nil, m.src.explain(err, "table")
	}
	m.at += n
	return rows, n, ids, nil
}

// countLabel counts the label of a row, which is kept.
func (m *matrix) countLabel(label string) error {
	m.labels += int64(len(label))
	if err := m.src.counter.Part("the labels of all rows", m.labels); err != nil {
		return err
	}
	return m.src.counter.Keep(int64(len(label)) + stringBytes)
}

// nextText is next for text.
func (m *matrix) nextText() (rows []float64, n int, ids []string, err error) {
	d := len(m.names)
	if rows, ids, err = m.grid.read(m.buf[:0], d, blockRows(d)); err != nil {
		return nil, 0, nil, err
	}
	m.buf = rows
	for _, label := range ids {
		if err := m.countLabel(label); err != nil {
			return nil, 0, nil, m.src.explain(err, m.grid.file.what)
		}
	}
	for i, v := range rows {
		if v-v != 0 { // NaN or infinite
			return nil, 0, nil, m.notFinite(m.names[i%d], i/d, false, v)
		}
	}
	n = len(rows) / d
	m.rows += n
	return rows, n, ids, nil
}

// line is the line of a row, both counted as in recordReader.
func (m *matrix) line(row int) int {
	if m.grid != nil {
		return m.grid.line(row)
	}
	return m.records.line(row)
}

// fill copies n rows of the batch to dst and refuses values that are not
// finite.
func (m *matrix) fill(dst []float64, n int) error {
	d := len(m.names)
	if m.list >= 0 {
		list := m.batch.Column(m.list).(*array.FixedSizeList)
		row, element := fillList(dst, list, m.at, n)
		switch {
		case row >= 0 && element < 0:
			return &InputError{Path: m.src.name, Column: m.batch.ColumnName(m.list), Row: m.rows + m.at + row + 1,
				Reason: missingValue("the whole sample is null")}
		case row >= 0:
			start, _ := list.ValueOffsets(m.at + row)
			return m.notFinite(m.names[element], row, list.ListValues().IsNull(int(start)+element), dst[row*d+element])
		}
		return nil
	}
	for j, c := range m.values {
		a := m.batch.Column(c)
		if bad := fill(dst[j:], d, a, m.at, n); bad >= 0 {
			return m.notFinite(m.names[j], bad, a.IsNull(m.at+bad), dst[bad*d+j])
		}
	}
	return nil
}

// notFinite is the error of a value in row i of the block being filled.
func (m *matrix) notFinite(column string, i int, null bool, v float64) error {
	row := m.rows + m.at + i
	e := &InputError{Path: m.src.name, Column: column, Row: row + 1, Line: m.line(row)}
	switch {
	case null:
		e.Reason = missingValue("null")
	case v != v:
		e.Reason = missingValue("NaN")
	default:
		e.Reason = "the value is infinite, and no option accepts that; remove the row or the column, or put a finite value"
	}
	return e
}

// stringBytes is what a string takes besides its bytes.
const stringBytes = 16

// all reads the rest of the matrix: n rows, in row-major pieces as they come, and
// their labels.
func (m *matrix) all() (pieces [][]float64, n int, ids []string, err error) {
	for {
		rows, k, labels, err := m.next()
		if err == io.EOF {
			return pieces, n, ids, nil
		}
		if err != nil {
			return nil, 0, nil, err
		}
		if err := m.src.counter.Keep(8 * int64(len(rows))); err != nil {
			return nil, 0, nil, m.src.explain(err, "")
		}
		pieces = append(pieces, slices.Clone(rows))
		ids = append(ids, labels...)
		n += k
	}
}

// transposed delivers a matrix held in memory by its columns.
type transposed struct {
	pieces  [][]float64 // variables×samples, row-major
	p, n    int         // variables, samples
	ids     []string    // of the samples
	at      int
	buf     []float64
	closing func() error
}

// transpose makes s, whose rows are variables so far, deliver samples. The
// whole table is read.
func (s *Samples) transpose(m *matrix) error {
	if m.list >= 0 {
		return columnFault(s.src.name, m.records.schema().Field(m.list).Name,
			"every row of the column is a whole sample").advise(lies("%s does not apply", ""))
	}
	pieces, p, names, err := m.all()
	if err != nil {
		return err
	}
	if p == 0 {
		return fault(s.src.name, "the table has no variables").advise(lies("with %s rows are variables", "rows are variables"))
	}
	s.names = names
	s.blocks = &transposed{pieces: pieces, p: p, n: len(m.names), ids: m.names, closing: m.close}
	return nil
}

func (t *transposed) next() (rows []float64, n int, ids []string, err error) {
	n = min(t.n-t.at, blockRows(t.p))
	if n == 0 {
		return nil, 0, nil, io.EOF
	}
	if t.buf == nil {
		t.buf = make([]float64, n*t.p)
	}
	v := 0
	for _, piece := range t.pieces {
		for row := range slices.Chunk(piece, t.n) {
			for i, x := range row[t.at : t.at+n] {
				t.buf[i*t.p+v] = x
			}
			v++
		}
	}
	ids = t.ids[t.at : t.at+n]
	t.at += n
	return t.buf[:n*t.p], n, ids, nil
}

func (t *transposed) close() error { return t.closing() }
