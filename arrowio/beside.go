package arrowio

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"

	"github.com/apache/arrow/go/v15/arrow"
)

// A Beside is a column that stands beside the variables and is none of them, such as the
// batch or the age of every sample: see SampleOptions.Beside. It has numbers or words.
type Beside struct {
	Name string
	// Numbers are its values, NaN where one is missing; nil for a column of words.
	Numbers []float64
	// Words are its values, empty where one is missing; nil for a column of numbers.
	Words []string
}

// Len is the number of samples.
func (b *Beside) Len() int { return max(len(b.Numbers), len(b.Words)) }

// Missing reports whether the value of sample i is missing.
func (b *Beside) Missing(i int) bool {
	if b.Numbers != nil {
		return b.Numbers[i] != b.Numbers[i]
	}
	return b.Words[i] == ""
}

// besides reads the columns that stand beside the variables.
type besides struct {
	at      []int // their columns
	columns []Beside
	kept    []map[string]string // words, each once
}

// findBeside finds the columns that are read beside the variables.
func (m *matrix) findBeside(wanted, names []string) error {
	for _, w := range wanted {
		i, err := findColumn(m.src, names, w)
		switch {
		case err != nil:
			return err
		case i == m.id:
			return columnFault(m.src.name, names[i], "the column labels the rows, and cannot be a covariate or weight besides; name another one")
		case slices.Contains(m.beside.at, i):
			return columnFault(m.src.name, names[i], "the column is named twice; name it once")
		}
		m.beside.at = append(m.beside.at, i)
		m.beside.columns = append(m.beside.columns, Beside{Name: names[i]})
		m.beside.kept = append(m.beside.kept, nil)
	}
	return nil
}

// checkBeside refuses columns that have neither numbers nor words.
func (m *matrix) checkBeside() error {
	for _, i := range m.beside.at {
		if f := m.records.schema().Field(i); !isText(f.Type) && f.Type.ID() != arrow.BOOL && !isNumber(f.Type) {
			return columnFault(m.src.name, f.Name, "columns of type %s are neither numbers nor words; convert it to one of them", f.Type)
		}
	}
	return nil
}

// addWord appends a word to column k, empty if it is missing.
func (m *matrix) addWord(k int, word []byte) error {
	b := &m.beside
	if b.kept[k] == nil {
		b.kept[k] = make(map[string]string)
	}
	known, ok := b.kept[k][string(word)]
	if !ok {
		known = string(word)
		b.kept[k][known] = known
		if err := m.countLabel(known); err != nil {
			return err
		}
	}
	b.columns[k].Words = append(b.columns[k].Words, known)
	return m.src.counter.Keep(stringBytes)
}

// readBeside reads rows from to from+n of the batch.
func (m *matrix) readBeside(from, n int) error {
	for k, i := range m.beside.at {
		a, c := m.batch.Column(i), &m.beside.columns[k]
		if !isNumber(a.DataType()) {
			text := texts(a)
			for row := range n {
				if err := m.addWord(k, []byte(text(from+row))); err != nil {
					return err
				}
			}
			continue
		}
		if err := m.src.counter.Keep(8 * int64(n)); err != nil {
			return err
		}
		at := len(c.Numbers)
		c.Numbers = append(c.Numbers, make([]float64, n)...)
		if bad := fill(c.Numbers[at:], 1, a, from, n, true); bad >= 0 {
			return &InputError{Path: m.src.name, Column: c.Name, Row: m.rows + from + bad + 1, Reason: infinite}
		}
	}
	return nil
}

// settleBeside makes numbers of the columns of text that have nothing else, and looks at
// them.
func (m *matrix) settleBeside() error {
	for k := range m.beside.columns {
		c := &m.beside.columns[k]
		if m.grid != nil {
			m.grid.file.numbers(c)
		}
		for i, v := range c.Numbers {
			if math.IsInf(v, 0) {
				return columnFault(m.src.name, c.Name, "the value of sample %d is infinite; put a finite one", i+1)
			}
		}
	}
	return nil
}

// numbers makes numbers of words, if all are; missing words are emptied.
func (t *textFile) numbers(c *Beside) {
	values := make(map[string]float64)
	all := true
	for i, w := range c.Words {
		if t.options.isMissing(w) {
			c.Words[i], w = "", ""
		}
		if _, ok := values[w]; ok {
			continue
		}
		if w == "" {
			values[w] = math.NaN()
			continue
		}
		v, err := parseFloat(t.options.usual(nil, []byte(w)))
		if err != nil {
			all = false
		}
		values[w] = v
	}
	if !all || len(values) == 1 && len(c.Words) > 0 && c.Words[0] == "" {
		return
	}
	c.Numbers = make([]float64, len(c.Words))
	for i, w := range c.Words {
		c.Numbers[i] = values[w]
	}
	c.Words = nil
}

// addBeside hashes columns beside the variables.
func (d *digest) addBeside(columns []Beside) {
	for _, c := range columns {
		d.hash.Write(fmt.Appendf(nil, "%q\n", c.Name))
		for _, v := range c.Numbers {
			d.hash.Write(binary.LittleEndian.AppendUint64(nil, math.Float64bits(v)))
		}
		for _, w := range c.Words {
			d.hash.Write(fmt.Appendf(nil, "%q\n", w))
		}
	}
}

// Beside are the columns of SampleOptions.Beside, in its order, for the samples
// delivered: complete once Next has returned io.EOF.
func (s *Samples) Beside() []Beside {
	switch b := s.blocks.(type) {
	case *matrix:
		return b.beside.columns
	case *transposed:
		return b.beside
	}
	return nil
}
