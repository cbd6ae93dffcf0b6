package arrowio

import (
	"fmt"
	"strings"
)

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
	m.grid = m.text.rows(names, m)
	return nil
}

func (m *matrix) unequalHead(header, first int) error {
	e := &InputError{Path: m.src.name, Line: m.text.trim.lineOf(1)}
	e.Reason = fmt.Sprintf("the line has %d cells and the header has %d", first, header)
	if len(m.text.header) > 0 && strings.HasPrefix(m.text.header[0], "#") {
		e.Reason += "; the header begins with #: if that is a comment, take it away"
	} else if first == header+1 {
		e.Advice = labels("#1", "if the first of them labels the row, pass %s", "")
	}
	return e
}

// nextText is next for text.
func (m *matrix) nextText() (b block, err error) {
	d := len(m.names)
	b, err = m.grid.read(m.buf[:0], d, blockRows(d))
	if !m.labelled {
		m.leftOut = m.grid.leftOut
	}
	if err != nil {
		return block{}, err
	}
	m.buf = b.rows
	for _, label := range b.ids {
		if err := m.countLabel(label); err != nil {
			return block{}, m.src.explain(err, m.grid.file.what)
		}
	}
	for i, v := range b.rows {
		if v-v != 0 && !(m.keep && v != v) { // NaN or infinite
			return block{}, m.notFinite(m.names[i%d], b.row(i/d, m.rows), false, v)
		}
	}
	m.rows += b.n
	return b, nil
}
