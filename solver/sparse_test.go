package solver_test

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/gladflow/gladflow/solver"
	"github.com/gladflow/gladflow/solver/dense"
)

func TestSparse(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := rapid.IntRange(1, 8).Draw(t, "d")
		owner := rapid.SliceOfN(rapid.IntRange(0, 2), d, d).Draw(t, "part")
		value := rapid.SampledFrom([]float64{0, 0, 1, -2.5})
		a := dense.NewSym(d, nil)
		for i := range d {
			for j := range i {
				if owner[i] == owner[j] {
					a.Set(i, j, value.Draw(t, "entry"))
				}
			}
			a.Set(i, i, 1+float64(i))
		}
		var index [][]int
		var parts []*solver.Sparse
		for k := range 3 {
			var idx []int
			for i, o := range owner {
				if o == k {
					idx = append(idx, i)
				}
			}
			if idx != nil {
				index, parts = append(index, idx), append(parts, solver.SparseOf(a.Submatrix(idx)))
			}
		}
		s := solver.JoinSparse(d, index, parts)
		doubled := s.Map(func(i, j int, v float64) float64 { return 2*v + a.At(i, j) - a.At(j, i) })
		nonZeros := 0
		for i := range d {
			columns, _ := s.Row(i)
			if !slices.IsSorted(columns) {
				t.Fatalf("row %d: %v", i, columns)
			}
			for j := range d {
				if s.At(i, j) != a.At(i, j) || doubled.At(i, j) != 2*a.At(i, j) {
					t.Fatalf("(%d,%d) is %v, want %v", i, j, s.At(i, j), a.At(i, j))
				}
				if i < j && a.At(i, j) != 0 {
					nonZeros++
				}
			}
		}
		if s.Len() != d || s.NonZeros() != nonZeros || !s.Finite() {
			t.Errorf("%d variables, %d entries, want %d and %d", s.Len(), s.NonZeros(), d, nonZeros)
		}
		if s.Map(func(_, _ int, v float64) float64 { return v * math.Inf(1) }).Finite() {
			t.Error("infinity is finite")
		}
		held, sparse := &solver.Estimate{Precision: a, Support: a, Objective: 3, DualityGap: 1}, &solver.Estimate{Sparse: s, Objective: 3, DualityGap: 1}
		keep := func(i, j int) bool { return (i+j)%3 != 0 }
		for range 2 {
			if sparse.Edges() != held.Edges() || sparse.NonZeros() != held.NonZeros() || sparse.RelativeGap() != held.RelativeGap() {
				t.Errorf("%d edges, %d of a matrix", sparse.Edges(), held.Edges())
			}
			held.Kept, sparse.Kept = keep, keep
		}
	})
}
