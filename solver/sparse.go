package solver

import (
	"math"
	"slices"

	"github.com/gladflow/gladflow/solver/dense"
)

// A Sparse is a symmetric d×d matrix of which only the diagonal and the entries that are not
// zero are held: that of a network of so many variables that d² numbers are too many.
type Sparse struct {
	diagonal []float64
	start    []int     // of every row above the diagonal, and the end of the last
	column   []int32   // ascending within a row
	value    []float64 // not zero
}

// SparseOf holds the entries of a.
func SparseOf(a *dense.Sym) *Sparse {
	s := &Sparse{diagonal: make([]float64, a.Len()), start: make([]int, 1, a.Len()+1)}
	for i := range a.Len() {
		row := a.Row(i)
		s.diagonal[i] = row[i]
		for j, v := range row[i+1:] {
			if v != 0 {
				s.column, s.value = append(s.column, int32(i+1+j)), append(s.value, v)
			}
		}
		s.start = append(s.start, len(s.column))
	}
	return s
}

// JoinSparse is the d×d matrix whose rows and columns index[k], which ascend, hold parts[k],
// and which is zero elsewhere. Every variable is in one of the parts.
func JoinSparse(d int, index [][]int, parts []*Sparse) *Sparse {
	s := &Sparse{diagonal: make([]float64, d), start: make([]int, d+1)}
	total := 0
	for k, idx := range index {
		total += len(parts[k].column)
		for a, i := range idx {
			s.diagonal[i] = parts[k].diagonal[a]
			s.start[i+1] = parts[k].start[a+1] - parts[k].start[a]
		}
	}
	for i := range d {
		s.start[i+1] += s.start[i]
	}
	s.column, s.value = make([]int32, total), make([]float64, total)
	for k, idx := range index {
		for a, i := range idx {
			columns, values := parts[k].Row(a)
			copy(s.value[s.start[i]:], values)
			for b, j := range columns {
				s.column[s.start[i]+b] = int32(idx[j])
			}
		}
	}
	return s
}

// Len is d, the number of rows.
func (s *Sparse) Len() int { return len(s.diagonal) }

// Diagonal is the diagonal, not to be modified.
func (s *Sparse) Diagonal() []float64 { return s.diagonal }

// Row are the entries of row i above the diagonal that are not zero: their columns, which
// ascend, and their values, neither to be modified.
func (s *Sparse) Row(i int) (columns []int32, values []float64) {
	lo, hi := s.start[i], s.start[i+1]
	return s.column[lo:hi:hi], s.value[lo:hi:hi]
}

// At is the entry in row i and column j.
func (s *Sparse) At(i, j int) float64 {
	if i == j {
		return s.diagonal[i]
	}
	columns, values := s.Row(min(i, j))
	if at, found := slices.BinarySearch(columns, int32(max(i, j))); found {
		return values[at]
	}
	return 0
}

// NonZeros counts the entries above the diagonal.
func (s *Sparse) NonZeros() int { return len(s.column) }

// Map is the matrix whose entries are f of those of s that are held.
func (s *Sparse) Map(f func(i, j int, v float64) float64) *Sparse {
	m := &Sparse{diagonal: make([]float64, s.Len()), start: s.start, column: s.column, value: make([]float64, len(s.value))}
	for i, v := range s.diagonal {
		m.diagonal[i] = f(i, i, v)
		for k := s.start[i]; k < s.start[i+1]; k++ {
			m.value[k] = f(i, int(s.column[k]), s.value[k])
		}
	}
	return m
}

// Finite reports whether no entry is NaN or infinite.
func (s *Sparse) Finite() bool {
	bad := func(v float64) bool { return math.IsNaN(v) || math.IsInf(v, 0) }
	return !slices.ContainsFunc(s.diagonal, bad) && !slices.ContainsFunc(s.value, bad)
}
