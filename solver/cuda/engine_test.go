//go:build cuda

package cuda

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gladflow/gladflow/solver/cuda/driver"
	"github.com/gladflow/gladflow/solver/dense"
)

func random(r *rand.Rand, n int) []float64 {
	v := make([]float64, n)
	for i := range v {
		v[i] = r.NormFloat64()
	}
	return v
}

func near(t *testing.T, what string, got, want []float64) {
	t.Helper()
	for i, v := range want {
		if !(math.Abs(got[i]-v) <= 1e-9*(1+math.Abs(v))) {
			t.Fatalf("%s: entry %d is %v, want %v", what, i, got[i], v)
		}
	}
}

// Products of any shape and stride, with what lies between rows left alone.
func TestEngineProducts(t *testing.T) {
	e, want := opened(t).Engine(nil), dense.Gonum{}
	r := rand.New(rand.NewPCG(1, 1))
	const m, n, k = 270, 260, 300
	for _, transA := range []bool{false, true} {
		for _, transB := range []bool{false, true} {
			for _, beta := range []float64{0, 0.5} {
				lda, ldb, ldc := 305, 307, 263
				a, b, c := random(r, 305*lda), random(r, 305*ldb), random(r, m*ldc)
				got, ref := slices.Clone(c), slices.Clone(c)
				e.Gemm(transA, transB, m, n, k, 1.5, a, lda, b, ldb, beta, got, ldc)
				want.Gemm(transA, transB, m, n, k, 1.5, a, lda, b, ldb, beta, ref, ldc)
				near(t, "Gemm", got, ref)
			}
		}
	}
	for _, trans := range []bool{false, true} {
		rows, columns := n, k
		if trans {
			rows, columns = k, n
		}
		a, c := random(r, rows*columns), random(r, n*n)
		got, ref := slices.Clone(c), slices.Clone(c)
		e.Syrk(trans, n, k, 2, a, columns, 0.5, got, n)
		want.Syrk(trans, n, k, 2, a, columns, 0.5, ref, n)
		for i := range n {
			near(t, "Syrk", got[i*n+i:(i+1)*n], ref[i*n+i:(i+1)*n])
		}
	}
}

// A workspace on the device gives what one on the CPU does.
func TestEngineFactors(t *testing.T) {
	e := opened(t).Engine(nil)
	for _, n := range []int{5, 270} {
		s := sampled(rand.New(rand.NewPCG(2, 2)), n, 2*n).S
		results := func(e dense.Engine) (inverse, root []float64, logdet float64) {
			w := dense.NewWorkspace(e, n)
			i, q := dense.NewSym(n, nil), dense.NewSym(n, nil)
			logdet, ok := w.Inverse(i, s)
			if !ok {
				t.Fatal("not positive definite")
			}
			values, phi := make([]float64, n), make([]float64, n)
			if err := w.LogDetProx(q, s, 0.7, 0, values, phi, make([]float64, n*n)); err != nil {
				t.Fatal(err)
			}
			// Without the vectors the device does it alone.
			again, same := dense.NewSym(n, nil), make([]float64, n)
			if err := w.LogDetProx(again, s, 0.7, 0, nil, same, nil); err != nil {
				t.Fatal(err)
			}
			near(t, "proximal step without vectors", again.Raw(), q.Raw())
			near(t, "its eigenvalues", same, phi)
			return i.Raw(), q.Raw(), logdet
		}
		i, q, l := results(e)
		wi, wq, wl := results(dense.Gonum{})
		near(t, "inverse", i, wi)
		near(t, "proximal step", q, wq)
		near(t, "log det", []float64{l}, []float64{wl})

		indefinite := s.Clone()
		indefinite.Set(n/2, n/2, -1)
		if e.Cholesky(n, indefinite.Raw()) {
			t.Error("an indefinite matrix has a factor")
		}
		indefinite.Set(0, 1, math.NaN())
		if p := e.(dense.ProximalEngine); p.HasLogDetProx(n) && p.LogDetProx(n, make([]float64, n*n), indefinite.Raw(), 1, 0, make([]float64, n)) {
			t.Error("a matrix with NaN has a proximal step")
		}
		if e.Eigen(n, indefinite.Raw(), make([]float64, n), &dense.Scratch{}) {
			t.Error("a matrix with NaN has eigenvalues")
		}
	}
}

// What does not fit says so, and the engine goes on.
func TestEngineOutOfMemory(t *testing.T) {
	b := opened(t)
	e := b.Engine(nil)
	all := b.budget.free
	b.budget.free = 1000
	func() {
		defer func() {
			if err, ok := recover().(error); !ok || driver.KindOf(err) != driver.OutOfMemory {
				t.Errorf("it panics with %v", err)
			}
		}()
		n := 270
		e.Cholesky(n, random(rand.New(rand.NewPCG(3, 3)), n*n))
	}()
	b.budget.free = all
	n := 270
	if !e.Cholesky(n, dense.Identity(n).Raw()) {
		t.Error("the identity has no factor")
	}
}
