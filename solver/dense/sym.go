package dense

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"
)

// Sym is a symmetric d×d matrix of float64, stored in full: row-major, both
// triangles, always equal. Being symmetric, it reads the same column-major.
// It implements gonum's mat.Symmetric.
type Sym struct {
	n    int
	data []float64
}

var _ mat.Symmetric = (*Sym)(nil)

// NewSym returns an n×n matrix over data, row-major, of length n². Both
// triangles must be equal. A nil data gives zeros.
func NewSym(n int, data []float64) *Sym {
	if data == nil {
		data = make([]float64, n*n)
	}
	if n < 0 || len(data) != n*n {
		panic(fmt.Sprintf("dense: %d values for a %d×%d matrix", len(data), n, n))
	}
	return &Sym{n: n, data: data}
}

// Identity returns the n×n identity.
func Identity(n int) *Sym {
	s := NewSym(n, nil)
	for i := range n {
		s.data[i*n+i] = 1
	}
	return s
}

// FromSymmetric copies a gonum matrix.
func FromSymmetric(a mat.Symmetric) *Sym {
	n := a.SymmetricDim()
	s := NewSym(n, nil)
	for i := range n {
		for j := i; j < n; j++ {
			s.Set(i, j, a.At(i, j))
		}
	}
	return s
}

// Len is d, the number of rows.
func (s *Sym) Len() int { return s.n }

// Dims returns d, d.
func (s *Sym) Dims() (r, c int) { return s.n, s.n }

// SymmetricDim returns d.
func (s *Sym) SymmetricDim() int { return s.n }

// At returns the entry in row i and column j.
func (s *Sym) At(i, j int) float64 { return s.data[i*s.n+j] }

// T returns s, its own transpose.
func (s *Sym) T() mat.Matrix { return s }

// Set stores v at (i, j) and (j, i).
func (s *Sym) Set(i, j int, v float64) {
	s.data[i*s.n+j] = v
	s.data[j*s.n+i] = v
}

// Row is row i (and column i), length d, sharing memory with s. A caller that
// writes to it must keep both triangles equal.
func (s *Sym) Row(i int) []float64 { return s.data[i*s.n : (i+1)*s.n : (i+1)*s.n] }

// Raw is the storage, row-major, length d². A caller that writes to it must keep
// both triangles equal.
func (s *Sym) Raw() []float64 { return s.data }

// Clone returns a copy.
func (s *Sym) Clone() *Sym {
	return NewSym(s.n, append([]float64(nil), s.data...))
}

// CopyFrom makes s equal to a of the same size.
func (s *Sym) CopyFrom(a *Sym) {
	if s.n != a.n {
		panic(fmt.Sprintf("dense: copy of a %d×%d matrix into a %d×%d one", a.n, a.n, s.n, s.n))
	}
	copy(s.data, a.data)
}

// Submatrix copies the rows and columns idx, in that order.
func (s *Sym) Submatrix(idx []int) *Sym {
	r := NewSym(len(idx), nil)
	for a, i := range idx {
		row, from := r.Row(a), s.Row(i)
		for b, j := range idx {
			row[b] = from[j]
		}
	}
	return r
}

// SetSubmatrix writes a to the rows and columns idx of s.
func (s *Sym) SetSubmatrix(idx []int, a *Sym) {
	for r, i := range idx {
		row, from := s.Row(i), a.Row(r)
		for c, j := range idx {
			row[j] = from[c]
		}
	}
}

// AddDiagonal adds t to every diagonal entry.
func (s *Sym) AddDiagonal(t float64) {
	for i := range s.n {
		s.data[i*s.n+i] += t
	}
}

// Scale multiplies every entry by f.
func (s *Sym) Scale(f float64) {
	for i := range s.data {
		s.data[i] *= f
	}
}

// Trace is the sum of the diagonal.
func (s *Sym) Trace() float64 {
	var t float64
	for i := range s.n {
		t += s.data[i*s.n+i]
	}
	return t
}

// Dot is Σij sij·aij, the trace of s·a.
func (s *Sym) Dot(a *Sym) float64 {
	var t float64
	for i := range s.n {
		var r float64 // per row: n partial sums lose less than one
		ai := a.Row(i)
		for j, v := range s.Row(i) {
			r += v * ai[j]
		}
		t += r
	}
	return t
}

// Finite reports whether no entry is NaN or infinite.
func (s *Sym) Finite() bool { return finite(s.data) }

func finite(a []float64) bool {
	for _, v := range a {
		// v−v is 0, or NaN for NaN and ±Inf: half the time of the two tests.
		if v-v != 0 {
			return false
		}
	}
	return true
}

// Asymmetry is the largest |sij − sji|; it is zero for every matrix made by
// this package.
func (s *Sym) Asymmetry() float64 {
	var m float64
	for i := range s.n {
		for j := range i {
			m = math.Max(m, math.Abs(s.At(i, j)-s.At(j, i)))
		}
	}
	return m
}

// mirror copies the upper triangle (row-major) onto the lower one, in blocks
// that stay in the cache.
func mirror(a []float64, n int) {
	const b = 48
	for i0 := 0; i0 < n; i0 += b {
		for j0 := i0; j0 < n; j0 += b {
			for i := i0; i < min(i0+b, n); i++ {
				for j := max(j0, i+1); j < min(j0+b, n); j++ {
					a[j*n+i] = a[i*n+j]
				}
			}
		}
	}
}
