//go:build (linux || darwin) && (amd64 || arm64)

package dense

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gladflow/gladflow/solver/internal/processor"
)

// A panel on several threads is that of LAPACK, also where rows are there already, or are zero.
func TestReducePanel(t *testing.T) {
	e, ok := WithThreads(Default(), 2).(*openBLAS)
	if !ok {
		t.Skip("no OpenBLAS")
	}
	const n, k = 90, 32
	for _, sparse := range []bool{false, true} {
		a := slices.Clone(randomSymmetric(rand.New(rand.NewPCG(1, 1)), n, .3).Raw())
		if sparse {
			for i := range n {
				for j := range n {
					if abs := max(i-j, j-i); abs > 1 || i > 5 && i < 9 && abs == 1 {
						a[i*n+j] = 0
					}
				}
			}
		}
		b := slices.Clone(a)
		var got, want struct{ off, tau, w [k * n]float64 }
		var work Scratch
		team := NewTeam(e, 2)
		e.reducePanel(team, n, k, a, n, got.off[:], got.tau[:], got.w[:], n, &work)
		team.Close()
		e.latrd(n, k, b, n, want.off[:], want.tau[:], want.w[:], n)
		same := func(what string, x, y []float64) {
			for i := range x {
				if !(math.Abs(x[i]-y[i]) <= 1e-12) {
					t.Fatalf("sparse %v: %s %d is %v, want %v", sparse, what, i, x[i], y[i])
				}
			}
		}
		same("off-diagonal", got.off[:k], want.off[:k])
		same("tau", got.tau[:k], want.tau[:k])
		for i := range k {
			same("row", a[i*n+i:(i+1)*n], b[i*n+i:(i+1)*n])
			same("product", got.w[i*n+i+1:(i+1)*n], want.w[i*n+i+1:(i+1)*n])
		}
	}
}

// Several threads find the decomposition that one finds.
func TestEigenOnThreads(t *testing.T) {
	const n = sharedPanel + 120
	y := randomSymmetric(rand.New(rand.NewPCG(3, 1)), n, 1)
	one, two := make([]float64, n), make([]float64, n)
	for threads, values := range map[int][]float64{1: one, 2: two} {
		if err := NewWorkspace(WithThreads(Default(), threads), n).Eigen(y, values, make([]float64, n*n)); err != nil {
			t.Fatal(err)
		}
	}
	for i, v := range one {
		if math.Abs(v-two[i]) > 1e-11 {
			t.Fatalf("eigenvalue %d is %v on two threads and %v on one", i, two[i], v)
		}
	}
}

// BenchmarkReducePanel compares the panels of a matrix.
func BenchmarkReducePanel(b *testing.B) {
	e, ok := WithThreads(Default(), 2).(*openBLAS)
	if !ok {
		b.Skip("no OpenBLAS")
	}
	const n, k = 1000, 32
	y := randomSymmetric(rand.New(rand.NewPCG(1, 1)), n, .3).Raw()
	a, off, tau, w := make([]float64, n*n), make([]float64, n), make([]float64, n), make([]float64, k*n)
	var work Scratch
	b.Run("LAPACK", func(b *testing.B) {
		processor.Loop(b, func() {
			copy(a, y)
			e.latrd(n, k, a, n, off, tau, w, n)
		})
	})
	one := WithThreads(e, 1).(*openBLAS)
	b.Run("shared with nobody", func(b *testing.B) {
		processor.Loop(b, func() {
			copy(a, y)
			one.reducePanel(NewTeam(one, 1), n, k, a, n, off, tau, w, n, &work)
		})
	})
	b.Run("shared", func(b *testing.B) {
		team := NewTeam(e, 2)
		defer team.Close()
		processor.Loop(b, func() {
			copy(a, y)
			e.reducePanel(team, n, k, a, n, off, tau, w, n, &work)
		})
	})
}
