package glasso

import (
	"math"

	"github.com/gladflow/gladflow/solver/dense"
)

// A sparse is a symmetric matrix by rows, each with its diagonal entry last. The
// others are in any order.
type sparse struct {
	start []int // of every row, and the end of the last
	index []int32
	value []float64
}

// row is the columns and values of row i.
func (t *sparse) row(i int) ([]int32, []float64) {
	return t.index[t.start[i]:t.start[i+1]], t.value[t.start[i]:t.start[i+1]]
}

// symmetrise sets t, and m, to the Θ that the regressions imply: θjj = 1/(wjj − w12ᵀβ),
// θ12 = −β·θjj, averaged over both triangles.
func (t *sparse) symmetrise(m *dense.Sym, columns []regression, diagonal []float64) {
	raw, n := m.Raw(), m.Len()
	clear(raw)
	total := n
	for j := range columns {
		r := &columns[j]
		for a, i := range r.index {
			raw[j*n+int(i)] = -r.beta[a] * diagonal[j]
		}
		total += len(r.index)
	}
	t.start = append(t.start[:0], 0)
	t.index, t.value = resize(t.index, total)[:0], resize(t.value, total)[:0]
	for j := range columns {
		for _, i := range columns[j].index {
			at, mirrored := &raw[j*n+int(i)], &raw[int(i)*n+j]
			switch {
			case *mirrored == 0: // the two regressions disagree: not an edge yet
				*at = 0
				continue
			case *at == 0:
				continue
			case int(i) > j:
				v := (*at + *mirrored) / 2
				*at, *mirrored = v, v
			}
			t.index, t.value = append(t.index, i), append(t.value, *at)
		}
		raw[j*n+j] = diagonal[j]
		t.index, t.value = append(t.index, int32(j)), append(t.value, diagonal[j])
		t.start = append(t.start, len(t.index))
	}
}

// diagonal sets t to the diagonal matrix with these values.
func (t *sparse) diagonal(values []float64) {
	t.start, t.index, t.value = t.start[:0], t.index[:0], t.value[:0]
	for i, v := range values {
		t.start, t.index, t.value = append(t.start, i), append(t.index, int32(i)), append(t.value, v)
	}
	t.start = append(t.start, len(values))
}

// from sets t to the entries of m that are not zero.
func (t *sparse) from(m *dense.Sym) {
	t.start, t.index, t.value = append(t.start[:0], 0), t.index[:0], t.value[:0]
	for i := range m.Len() {
		row := m.Row(i)
		for j, v := range row {
			if v != 0 && j != i {
				t.index, t.value = append(t.index, int32(j)), append(t.value, v)
			}
		}
		t.index, t.value = append(t.index, int32(i)), append(t.value, row[i])
		t.start = append(t.start, len(t.index))
	}
}

// weaken multiplies the off-diagonal of t by f.
func (t *sparse) weaken(f float64) {
	for i := range len(t.start) - 1 {
		_, value := t.row(i)
		for a := range value[:len(value)-1] {
			value[a] *= f
		}
	}
}

// to writes t into a dense matrix.
func (t *sparse) to(m *dense.Sym) {
	clear(m.Raw())
	for i := range m.Len() {
		row := m.Row(i)
		index, value := t.row(i)
		for a, j := range index {
			row[j] = value[a]
		}
	}
}

// linear is tr(SΘ) + Σ ρij|Θij|.
func (t *sparse) linear(b *block) float64 {
	var total float64
	for i := range b.len() {
		index, value := t.row(i)
		s, r := b.s.Row(i), b.pen.row(i)
		last := len(index) - 1
		sum := (s[i] + b.pen.diagonal[i]) * value[last]
		for a, j := range index[:last] {
			sum += s[j]*value[a] + r[j]*math.Abs(value[a])
		}
		total += sum
	}
	return total
}
