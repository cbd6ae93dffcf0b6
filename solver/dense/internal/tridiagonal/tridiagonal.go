// Package tridiagonal decomposes symmetric tridiagonal matrices by divide and
// conquer.
//
// A matrix is torn into two halves, T = diag(T₁, T₂) + ρvvᵀ, which are
// decomposed by themselves; what joins them is the decomposition of a diagonal
// matrix plus one of rank one (J. J. M. Cuppen, A divide and conquer method for
// the symmetric tridiagonal eigenproblem, Numer. Math. 36, 1981), whose
// eigenvectors are orthogonal to working precision when they are computed for
// the vector z to which the computed eigenvalues are exact (M. Gu and S. C.
// Eisenstat, A divide-and-conquer algorithm for the symmetric tridiagonal
// eigenproblem, SIAM J. Matrix Anal. Appl. 16, 1995).
//
// LAPACK's dstedc does the same, one entry at a time. Here the roots of the
// secular equation are found four terms at a time: at n = 100 they take most of
// the time.
package tridiagonal

import (
	"math"
	"slices"
)

// Products are the matrix products that join halves: C = alpha·op(A)·op(B) +
// beta·C, row-major, as in dense.Engine.
type Products interface {
	Gemm(transA, transB bool, m, n, k int, alpha float64, a []float64, lda int, b []float64, ldb int, beta float64, c []float64, ldc int)
}

// A Solver decomposes matrices with memory of its own, which grows to the
// largest of them: 2n² numbers. Its zero value is ready. It serves one goroutine
// at a time.
type Solver struct {
	products Products
	n        int
	q        []float64 // the caller's, n×n
	values   []float64 // by row of q
	offs     []float64
	order    []int // ascending, by block
	sorted   []int

	// Of the two halves that are being joined:
	z       []float64 // by row of q
	columns []columns
	joined  []int // rows that take part, ascending by value
	dropped []int // rows that do not
	rows    []float64
	place   []int

	secular secular
}

const (
	// unit is the relative rounding error of float64.
	unit = 0x1p-53
	// tiny is negligible next to entries of about 1, and far from where squares and
	// quotients leave the range of float64.
	tiny = 0x1p-400
)

// leaf is the largest matrix that is not torn.
const leaf = 16

// Decompose finds the eigenvalues and eigenvectors of the n×n matrix, n ≥ 1, with
// the diagonal d and the off-diagonal e, of n−1 entries. On return d holds the eigenvalues,
// ascending, and row order[k] of q (n×n, row-major) is the eigenvector of d[k];
// e is lost. order is valid until the next call. It reports whether every
// iteration converged, which is false where an entry is NaN or infinite. The
// largest entry should be about 1.
//
// The decomposition is that of a matrix which differs from the given one by a
// small multiple of the rounding error of its largest entry.
func (s *Solver) Decompose(d, e, q []float64, products Products) (order []int, ok bool) {
	n := len(d)
	for _, x := range [][]float64{d, e} {
		for _, v := range x {
			if v-v != 0 {
				return nil, false
			}
		}
	}
	s.products, s.n, s.q, s.values, s.offs = products, n, q[:n*n], d, e
	s.order, s.sorted = grow(s.order, n), grow(s.sorted, n)
	s.z, s.columns = grow(s.z, n), grow(s.columns, n)
	clear(s.q)
	ok = s.block(0, n)
	s.products, s.q, s.values, s.offs = nil, nil, nil, nil
	if !ok {
		return nil, false
	}
	// Until here the values are in the order of the rows.
	for k, i := range s.order {
		s.z[k] = d[i]
	}
	copy(d, s.z)
	return s.order, true
}

// block decomposes the m×m block that begins at row o.
func (s *Solver) block(o, m int) bool {
	if m <= leaf {
		return s.leaf(o, m)
	}
	half := m / 2
	tear := s.offs[o+half-1]
	s.values[o+half-1] -= math.Abs(tear)
	s.values[o+half] -= math.Abs(tear)
	return s.block(o, half) && s.block(o+half, m-half) && s.join(o, half, m, tear)
}

// row is what block o, m has of row i of q.
func (s *Solver) row(i, o, m int) []float64 {
	return s.q[i*s.n+o : i*s.n+o+m]
}

// sort sets order[o:o+m] to the ascending order of the values of a block, rows
// counted from 0.
func (s *Solver) sort(o, m int) {
	order := s.order[o : o+m]
	for i := range order {
		order[i] = o + i
	}
	slices.SortFunc(order, func(i, j int) int {
		switch {
		case s.values[i] < s.values[j]:
			return -1
		case s.values[i] > s.values[j]:
			return 1
		}
		return i - j
	})
}

func grow[T any](s []T, n int) []T {
	if cap(s) < n {
		return make([]T, n)
	}
	return s[:n]
}
