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
	values    []int    // positions of the value columns, or of the values in
	list      int      // the one list column at this position, −1
	id        int      // position of the label column, −1
	shortHead bool     // the header lacks a cell for the labels (R)
	keep      bool     // missing values are NaN
	choice    selection
	labels    int64 // bytes of all labels

	grid *textRows // of text

	batch arrow.Record
	at    int // rows of batch already delivered
	rows  int // rows delivered before batch
	buf   []float64
	width int       // of the samples in the list column, as many as names or more
	whole []float64 // some of them, where not all values are chosen
}

var _ blocks = (*matrix)(nil)

// openMatrix opens the table at path. labelled says that there is an id column
// even when none is named: then it is the first.
func openMatrix(ctx context.Context, path string, o SampleOptions, labelled bool) (*matrix, error) {
	t, err := openTable(ctx, path, o)
	if err != nil {
		return nil, err
	}
	m := &matrix{table: t, list: -1, id: -1, keep: o.KeepMissing}
	if o.Orientation == Rows {
		m.choice = o.selection()
	}
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
		if i == m.id || !isSampleList(f.Type) {
			continue
		}
		if m.list >= 0 {
			return columnFault(m.src.name, f.Name, "a second column of whole samples; remove one")
		}
		m.list = i
	}
	if m.list >= 0 {
		return m.layOutList(names)
	}
	if err := m.choose(names); err != nil {
		return err
	}
	for _, i := range m.values {
		if err := checkVariable(m.src.name, m.records.schema().Field(i)); err != nil {
			return err
		}
	}
	return nil
}

// types counts the types of the value columns.
func (m *matrix) types() map[string]int {
	switch {
	case m.grid != nil:
		return map[string]int{"text": len(m.names)}
	case m.list >= 0:
		list := m.records.schema().Field(m.list).Type.(*arrow.FixedSizeListType)
		return map[string]int{"list of " + list.Elem().String(): len(m.names)}
	}
	counts := make(map[string]int)
	for _, i := range m.values {
		counts[m.records.schema().Field(i).Type.String()]++
	}
	return counts
}

// choose sets the value columns to those of the columns, the labels excepted, that are
// chosen.
func (m *matrix) choose(names []string) error {
	var positions []int
	var others []string
	for i, n := range names {
		if i != m.id {
			positions, others = append(positions, i), append(others, n)
		}
	}
	chosen, err := m.choice.of(m.src.name, others)
	if err != nil {
		return err
	}
	for _, k := range chosen {
		m.values, m.names = append(m.values, positions[k]), append(m.names, others[k])
	}
	if len(m.names) == 0 {
		return fault(m.src.name, "the table has no columns of numbers")
	}
	return nil
}

func (m *matrix) layOutList(columns []string) error {
	f := m.records.schema().Field(m.list)
	for i, n := range columns {
		if i != m.list && i != m.id {
			return columnFault(m.src.name, n, "the column stands beside %q, which holds whole samples", f.Name).
				advise(labels(n, "remove it, or pass %s", "remove it"))
		}
	}
	names, err := listNames(m.src.name, f)
	if err != nil {
		return err
	}
	if m.values, err = m.choice.of(m.src.name, names); err != nil {
		return err
	}
	m.width = len(names)
	for _, i := range m.values {
		m.names = append(m.names, names[i])
	}
	return nil
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
		whole := dst
		if m.width > d {
			m.whole = slices.Grow(m.whole[:0], n*m.width)[:n*m.width]
			whole = m.whole
		}
		row, element := fillList(whole, list, m.at, n, m.keep)
		switch {
		case row >= 0 && element < 0:
			return &InputError{Path: m.src.name, Column: m.batch.ColumnName(m.list), Row: m.rows + m.at + row + 1,
				Reason: missingValue("the whole sample is null")}
		case row >= 0:
			start, _ := list.ValueOffsets(m.at + row)
			name := fmt.Sprintf("value %d", element+1)
			if k := slices.Index(m.values, element); k >= 0 {
				name = m.names[k]
			}
			return m.notFinite(name, row, list.ListValues().IsNull(int(start)+element), whole[row*m.width+element])
		}
		for i := 0; m.width > d && i < n; i++ {
			for k, element := range m.values {
				dst[i*d+k] = whole[i*m.width+element]
			}
		}
		return nil
	}
	for j, c := range m.values {
		a := m.batch.Column(c)
		if bad := fill(dst[j:], d, a, m.at, n, m.keep); bad >= 0 {
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
	variables [][]float64 // one by one, n samples each
	n         int         // samples
	ids       []string    // of the samples
	at        int
	buf       []float64
	closing   func() error
}

// transpose makes s, whose rows are variables so far, deliver samples. The
// whole table is read.
func (s *Samples) transpose(m *matrix, choice selection) error {
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
	chosen, err := choice.of(s.src.name, names)
	if err != nil {
		return err
	}
	t := &transposed{n: len(m.names), ids: m.names, closing: m.close}
	s.names = nil
	row, k := 0, 0
	for _, piece := range pieces {
		for values := range slices.Chunk(piece, t.n) {
			if k < len(chosen) && chosen[k] == row {
				t.variables, s.names = append(t.variables, values), append(s.names, names[row])
				k++
			}
			row++
		}
	}
	s.blocks = t
	return nil
}

func (t *transposed) next() (rows []float64, n int, ids []string, err error) {
	p := len(t.variables)
	n = min(t.n-t.at, blockRows(p))
	if n == 0 {
		return nil, 0, nil, io.EOF
	}
	if t.buf == nil {
		t.buf = make([]float64, n*p)
	}
	for v, values := range t.variables {
		for i, x := range values[t.at : t.at+n] {
			t.buf[i*p+v] = x
		}
	}
	ids = t.ids[t.at : t.at+n]
	t.at += n
	return t.buf[:n*p], n, ids, nil
}

func (t *transposed) close() error { return t.closing() }
