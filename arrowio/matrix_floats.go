package arrowio

import (
	"fmt"
	"io"
	"math"

	"github.com/gladflow/gladflow/arrowio/batch"
)

// floatRows is blockRows for columns of Parquet. Of very many variables it is more rows, so
// that a column of few is read at once: every visit to one costs as much as some ten numbers.
func floatRows(d int) int {
	const many, rows, bytes = 4096, 512, 128 << 20
	if d < many {
		return blockRows(d)
	}
	return max(blockRows(d), min(rows, bytes/(8*d)))
}

// nextFloats is next for columns of Parquet that are read without Arrow.
func (m *matrix) nextFloats() (b block, err error) {
	d := len(m.names)
	b.n = min(m.total-m.rows, floatRows(d))
	if b.n <= 0 {
		return block{}, io.EOF
	}
	if len(m.buf) < b.n*d {
		m.buf = make([]float64, b.n*d)
	}
	b.rows, b.whole = m.buf[:b.n*d], true
	err = batch.Guard(func() error {
		for j, c := range m.floats {
			if err := m.src.ctx.Err(); err != nil {
				return err
			}
			bad, null, err := c.read(b.rows[j:], d, b.n)
			if err != nil {
				return fmt.Errorf("column %q: %w", c.name, err)
			}
			b.whole = b.whole && bad < 0
			for ; m.keep && bad >= 0 && bad < b.n && !math.IsInf(b.rows[bad*d+j], 0); bad++ {
				null = false
			}
			if bad >= 0 && bad < b.n {
				return m.notFinite(m.names[j], m.rows+bad, null, b.rows[bad*d+j])
			}
		}
		return nil
	})
	if err != nil {
		return block{}, m.src.explain(err, parquetWhat)
	}
	m.rows += b.n
	return b, nil
}
