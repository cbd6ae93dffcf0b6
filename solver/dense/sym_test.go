package dense

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"
)

func TestSym(t *testing.T) {
	s := FromSymmetric(mat.NewSymDense(3, []float64{1, 2, 3, 0, 4, 5, 0, 0, 6}))
	equal(t, "FromSymmetric", s.Raw(), []float64{1, 2, 3, 2, 4, 5, 3, 5, 6}, 0)
	if r, c := s.Dims(); r != 3 || c != 3 || s.Len() != 3 || s.SymmetricDim() != 3 || s.T() != mat.Matrix(s) {
		t.Error("wrong size")
	}
	if s.Trace() != 11 || s.Dot(Identity(3)) != 11 || s.Dot(s) != 129 {
		t.Errorf("trace %v, %v, norm² %v", s.Trace(), s.Dot(Identity(3)), s.Dot(s))
	}
	c := s.Clone()
	c.Set(0, 2, -1)
	c.AddDiagonal(10)
	c.Scale(2)
	equal(t, "changed", c.Raw(), []float64{22, 4, -2, 4, 28, 10, -2, 10, 32}, 0)
	equal(t, "the original", s.Raw(), []float64{1, 2, 3, 2, 4, 5, 3, 5, 6}, 0)
	c.CopyFrom(s)
	equal(t, "copied", c.Raw(), s.Raw(), 0)

	sub := s.Submatrix([]int{2, 0})
	equal(t, "Submatrix", sub.Raw(), []float64{6, 3, 3, 1}, 0)
	sub.Scale(-1)
	s.SetSubmatrix([]int{2, 0}, sub)
	equal(t, "SetSubmatrix", s.Raw(), []float64{-1, 2, -3, 2, 4, 5, -3, 5, -6}, 0)

	if s.Asymmetry() != 0 || !s.Finite() {
		t.Error("symmetric and finite")
	}
	s.Raw()[1] += 3
	if s.Asymmetry() != 3 {
		t.Errorf("asymmetry %v, want 3", s.Asymmetry())
	}
	for _, v := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
		s.Raw()[8] = v
		if s.Finite() {
			t.Errorf("%v is finite", v)
		}
	}
}

func TestSymPanics(t *testing.T) {
	for name, f := range map[string]func(){
		"too short":      func() { NewSym(2, make([]float64, 3)) },
		"negative":       func() { NewSym(-1, make([]float64, 1)) },
		"different size": func() { NewSym(2, nil).CopyFrom(NewSym(3, nil)) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: no panic", name)
				}
			}()
			f()
		}()
	}
}

func TestMirror(t *testing.T) {
	for _, n := range []int{1, 2, 47, 48, 49, 130} {
		a := make([]float64, n*n)
		for i := range n {
			for j := i; j < n; j++ {
				a[i*n+j] = float64(i*n + j)
			}
		}
		mirror(a, n)
		s := NewSym(n, a)
		if s.Asymmetry() != 0 || a[n-1] != float64(n-1) {
			t.Errorf("n = %d", n)
		}
	}
}
