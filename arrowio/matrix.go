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
	labelled  bool  // the header holds labels of samples
	labels    int64 // bytes of all labels

	choiceOfRows rowChoice
	origin       []int // the columns that are samples and chosen; nil for all
	beside       besides

	grid *textRows // of text
	// floats are the value columns of a Parquet file, and total its rows, where they are
	// read without Arrow.
	floats []*floatColumn
	total  int

	batch arrow.Record
	at    int // rows of batch already delivered
	rows  int // rows of the table before batch
	// leftOut counts the rows that were not chosen.
	leftOut int
	buf     []float64
	width   int       // of the samples in the list column, as many as names or more
	whole   []float64 // some of them, where not all values are chosen
}

var _ blocks = (*matrix)(nil)

// openMatrix opens the table at path. labelled says that there is an id column
// even when none is named: then it is the first.
func openMatrix(ctx context.Context, path string, o SampleOptions, labelled bool) (*matrix, error) {
	t, err := openTable(ctx, path, o)
	if err != nil {
		return nil, err
	}
	m := &matrix{table: t, list: -1, id: -1, keep: o.KeepMissing, choiceOfRows: o.rowChoice()}
	var beside []string
	if o.Orientation == Rows {
		m.choice, beside = o.selection(), o.Beside
	} else {
		m.labelled = true // and columns are samples
	}
	if err := m.layOut(o.IDColumn, labelled, beside); err != nil {
		m.close()
		return nil, err
	}
	return m, nil
}

// layOut decides what every column is, and starts the reading of text.
func (m *matrix) layOut(idColumn string, labelled bool, beside []string) error {
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
	if err := m.checkRows(); err != nil {
		return err
	}
	if err := m.findBeside(beside, names); err != nil {
		return err
	}
	if m.text != nil {
		return m.layOutText(names)
	}
	if err := m.checkBeside(); err != nil {
		return err
	}
	for i, f := range m.records.schema().Fields() {
		if i == m.id || !isSampleList(f.Type) || slices.Contains(m.beside.at, i) {
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
	if p, ok := m.records.(*parquetReader); ok && m.id < 0 && len(m.beside.at) == 0 && !m.choiceOfRows.any() {
		m.floats, m.total = p.floats(m.values), p.promised()
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

// choose sets the value columns to those of the columns that are chosen, the labels and
// those beside the variables excepted.
func (m *matrix) choose(names []string) error {
	var positions []int
	var others []string
	for i, n := range names {
		if i != m.id && !slices.Contains(m.beside.at, i) {
			positions, others = append(positions, i), append(others, n)
		}
	}
	var chosen []int
	var err error
	if m.labelled {
		chosen, err = m.chooseColumns(others)
	} else {
		chosen, err = m.choice.of(m.src.name, others)
	}
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
		if i != m.list && i != m.id && !slices.Contains(m.beside.at, i) {
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
func (m *matrix) next() (b block, err error) {
	switch {
	case m.grid != nil:
		b, err = m.nextText()
	case m.floats != nil:
		b, err = m.nextFloats()
	default:
		b, err = m.nextRecords()
	}
	if err == io.EOF {
		if wrong := m.settleBeside(); wrong != nil {
			return block{}, m.src.explain(wrong, "table")
		}
	}
	return b, err
}

// nextRecords is next for batches of Arrow, but for those of which no row is chosen.
func (m *matrix) nextRecords() (b block, err error) {
	for b.n == 0 {
		for m.batch == nil || m.at == int(m.batch.NumRows()) {
			if m.batch != nil {
				m.rows += m.at
			}
			m.batch, m.at = nil, 0
			if m.batch, err = m.records.read(); err != nil {
				return block{}, err
			}
		}
		n := min(int(m.batch.NumRows())-m.at, blockRows(len(m.names)))
		err = batch.Guard(func() (err error) { b, err = m.convert(n); return err })
		if err != nil {
			return block{}, m.src.explain(err, "table")
		}
		m.at += n
	}
	return b, nil
}

// convert makes a block of the next n rows of the batch.
func (m *matrix) convert(n int) (b block, err error) {
	d := len(m.names)
	if len(m.buf) < n*d {
		m.buf = make([]float64, n*d)
	}
	label := func(int) string { return "" }
	if m.id >= 0 {
		label = texts(m.batch.Column(m.id))
	}
	for from := 0; from < n; {
		run := n - from
		if m.choiceOfRows.any() && !m.labelled {
			for run = 0; from+run < n && m.choiceOfRows.keeps(m.rows+m.at+from+run, label(m.at+from+run)); run++ {
				b.origin = append(b.origin, m.rows+m.at+from+run)
			}
		}
		for i := from; m.id >= 0 && i < from+run; i++ {
			l := label(m.at + i)
			if err := m.countLabel(l); err != nil {
				return b, err
			}
			b.ids = append(b.ids, strings.Clone(l))
		}
		if run > 0 {
			if err := m.fill(m.buf[b.n*d:(b.n+run)*d], m.at+from, run); err != nil {
				return b, err
			}
			if err := m.readBeside(m.at+from, run); err != nil {
				return b, err
			}
			b.n += run
		}
		if from += run; from < n { // the row after is not chosen
			m.leftOut++
			from++
		}
	}
	b.rows = m.buf[:b.n*d]
	return b, nil
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

// fill copies n rows of the batch, from one on, to dst and refuses values that are not
// finite.
func (m *matrix) fill(dst []float64, from, n int) error {
	d := len(m.names)
	if m.list >= 0 {
		list := m.batch.Column(m.list).(*array.FixedSizeList)
		whole := dst
		if m.width > d {
			m.whole = slices.Grow(m.whole[:0], n*m.width)[:n*m.width]
			whole = m.whole
		}
		row, element := fillList(whole, list, from, n, m.keep)
		switch {
		case row >= 0 && element < 0:
			return &InputError{Path: m.src.name, Column: m.batch.ColumnName(m.list), Row: m.rows + from + row + 1,
				Reason: missingValue("the whole sample is null")}
		case row >= 0:
			start, _ := list.ValueOffsets(from + row)
			name := fmt.Sprintf("value %d", element+1)
			if k := slices.Index(m.values, element); k >= 0 {
				name = m.names[k]
			}
			return m.notFinite(name, m.rows+from+row, list.ListValues().IsNull(int(start)+element), whole[row*m.width+element])
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
		if bad := fill(dst[j:], d, a, from, n, m.keep); bad >= 0 {
			return m.notFinite(m.names[j], m.rows+from+bad, a.IsNull(from+bad), dst[bad*d+j])
		}
	}
	return nil
}

// notFinite is the error of a value in a row of the table, counted from 0.
func (m *matrix) notFinite(column string, row int, null bool, v float64) error {
	e := &InputError{Path: m.src.name, Column: column, Row: row + 1, Line: m.line(row)}
	switch {
	case null:
		e.Reason = missingValue("null")
	case v != v:
		e.Reason = missingValue("NaN")
	default:
		e.Reason = infinite
	}
	return e
}

const infinite = "the value is infinite, and no option accepts that; remove the row or the column, or put a finite value"

// stringBytes is what a string takes besides its bytes.
const stringBytes = 16

// all reads the rest of the matrix: n rows, in row-major pieces as they come, and
// their labels.
func (m *matrix) all() (pieces [][]float64, n int, ids []string, err error) {
	for {
		b, err := m.next()
		if err == io.EOF {
			return pieces, n, ids, nil
		}
		if err != nil {
			return nil, 0, nil, err
		}
		if err := m.src.counter.Keep(8 * int64(len(b.rows))); err != nil {
			return nil, 0, nil, m.src.explain(err, "")
		}
		pieces = append(pieces, slices.Clone(b.rows))
		ids = append(ids, b.ids...)
		n += b.n
	}
}
