package arrowio

import "fmt"

func (m *matrix) layOutText(names []string) error {
	if err := m.choose(names); err != nil {
		return err
	}
	if !m.text.options.NoHeader {
		if err := checkHeader(m.src.name, m.names); err != nil {
			return err
		}
	}
	if second := m.text.second; second != nil && len(second) != len(names) {
		return m.unequalHead(len(names), len(second))
	}
	m.grid = m.text.rows(names, m.id, m.values, m.keep)
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
		if v-v != 0 && !(m.keep && v != v) { // NaN or infinite
			return nil, 0, nil, m.notFinite(m.names[i%d], i/d, false, v)
		}
	}
	n = len(rows) / d
	m.rows += n
	return rows, n, ids, nil
}
