package arrowio

// Missing is the number of missing values delivered so far, with
// SampleOptions.KeepMissing, and where the first of them is; nil if there is none. The
// place is an InputError without a reason.
func (s *Samples) Missing() (n int, first *InputError) { return s.missing, s.firstMissing }

// countMissing counts the missing values of a block and remembers where the first is.
func (s *Samples) countMissing(b block) {
	if b.whole {
		return
	}
	d := len(s.names)
	for i, v := range b.rows {
		if v == v {
			continue
		}
		if s.missing++; s.firstMissing != nil {
			continue
		}
		row := b.row(i/d, s.rows)
		e := &InputError{Path: s.src.name, Column: s.names[i%d], Row: row + 1}
		if m, ok := s.blocks.(*matrix); ok {
			e.Line = m.line(row)
		} else { // rows of the file are variables
			e.Column, e.Row = b.ids[i/d], 0
		}
		s.firstMissing = e
	}
}
