package arrowio

import (
	"io"
	"slices"
)

// transposed delivers a matrix held in memory by its columns.
type transposed struct {
	variables [][]float64 // one by one, n samples each
	n         int         // samples
	ids       []string    // of the samples
	origin    []int       // which of the table's they are; nil for all
	leftOut   int
	beside    []Beside
	at        int
	buf       []float64
	closing   func() error
}

// transpose makes s, whose rows are variables so far, deliver samples. The
// whole table is read.
func (s *Samples) transpose(m *matrix, o SampleOptions) error {
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
	all := make([][]float64, 0, p)
	for _, piece := range pieces {
		all = slices.AppendSeq(all, slices.Chunk(piece, len(m.names)))
	}
	m.id = -1
	if err := m.findBeside(o.Beside, names); err != nil {
		return err
	}
	var others []int
	var list []string
	for i, name := range names {
		if !slices.Contains(m.beside.at, i) {
			others, list = append(others, i), append(list, name)
		}
	}
	chosen, err := o.selection().of(s.src.name, list)
	if err != nil {
		return err
	}
	t := &transposed{n: len(m.names), ids: m.names, origin: m.origin, leftOut: m.leftOut, closing: m.close}
	s.names = nil
	for _, k := range chosen {
		t.variables, s.names = append(t.variables, all[others[k]]), append(s.names, list[k])
	}
	for k, i := range m.beside.at {
		t.beside = append(t.beside, Beside{Name: m.beside.columns[k].Name, Numbers: all[i]})
	}
	s.blocks = t
	return nil
}

func (t *transposed) next() (block, error) {
	p := len(t.variables)
	n := min(t.n-t.at, blockRows(p))
	if n == 0 {
		return block{}, io.EOF
	}
	if t.buf == nil {
		t.buf = make([]float64, n*p)
	}
	for v, values := range t.variables {
		for i, x := range values[t.at : t.at+n] {
			t.buf[i*p+v] = x
		}
	}
	b := block{rows: t.buf[:n*p], n: n, ids: t.ids[t.at : t.at+n]}
	if t.origin != nil {
		b.origin = t.origin[t.at : t.at+n]
	}
	t.at += n
	return b, nil
}

func (t *transposed) close() error { return t.closing() }
