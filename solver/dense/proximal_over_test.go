package dense

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/gladflow/gladflow/solver/internal/processor"
)

// randomSymmetric has entries of the given size; those of a few rows are zero.
func randomSymmetric(r *rand.Rand, n int, size float64) *Sym {
	y := NewSym(n, nil)
	for i := range n {
		for j := range i + 1 {
			if i%7 != 3 || i == j {
				y.Set(i, j, size*r.NormFloat64())
			}
		}
	}
	return y
}

func largest(a *Sym) float64 {
	var v float64
	for _, x := range a.Raw() {
		v = max(v, math.Abs(x))
	}
	return v
}

// The root by the tridiagonal form is that by eigenvectors, on both sides of the condition number
// from which eigenvectors take over, for matrices of any size and units.
func TestLogDetProxOver(t *testing.T) {
	for _, e := range engines(t) {
		for _, n := range []int{1, 2, 3, 5, 31, 32, 33, 34, 65, 66, 100, 161, 450} {
			if n > 200 && engineName(e) == "gonum" {
				continue // no other way
			}
			for _, threads := range []int{1, 2} {
				if threads == 2 && n < parallelConjugation {
					continue
				}
				w, exact := NewWorkspace(WithThreads(e, threads), n), NewWorkspace(Gonum{}, n)
				for _, size := range []float64{1, 1e-3, 1e120, 1e-120} {
					if n > 200 && size != 1 {
						continue
					}
					for _, condition := range []float64{1.1, 5, 300, 9e3, 1e6} {
						if n > 200 && condition != 5 {
							continue
						}
						t.Run(fmt.Sprintf("%s/n=%d/threads=%d/%v/%v", engineName(e), n, threads, size, condition), func(t *testing.T) {
							y := randomSymmetric(rand.New(rand.NewPCG(uint64(n), 1)), n, size)
							bound := 2 * size * math.Sqrt(float64(n)) // about ‖Y‖
							lambda := 4 * condition / bound * condition / bound
							theta, want := NewSym(n, nil), NewSym(n, nil)
							phi := make([]float64, n)
							if err := exact.LogDetProx(want, y, lambda, 0, phi, phi, make([]float64, n*n)); err != nil {
								t.Fatal(err)
							}
							if err := w.LogDetProxOver(theta, y, lambda, 0); err != nil {
								t.Fatal(err)
							}
							var off float64
							for i, v := range theta.Raw() {
								off = max(off, math.Abs(v-want.Raw()[i]))
							}
							if limit := 1e-12 * largest(want); !(off <= limit) {
								t.Errorf("off by %.2g of the largest", off/largest(want))
							}
						})
					}
				}
			}
		}
	}
}

// The result depends on the number of threads, but not on who is faster.
func TestLogDetProxOverTwice(t *testing.T) {
	const n = 500
	e := WithThreads(Default(), 2)
	var first *Sym
	for range 3 {
		theta := NewSym(n, nil)
		if err := NewWorkspace(e, n).LogDetProxOver(theta, randomSymmetric(rand.New(rand.NewPCG(1, 1)), n, 1), .1, 0); err != nil {
			t.Fatal(err)
		}
		if first == nil {
			first = theta
		}
		for i, v := range theta.Raw() {
			if v != first.Raw()[i] {
				t.Fatalf("entry %d is %v, and was %v", i, v, first.Raw()[i])
			}
		}
	}
}

// A matrix that is not finite is an error, and one of zeros is not.
func TestLogDetProxOverAtTheEnds(t *testing.T) {
	for _, e := range engines(t) {
		w := NewWorkspace(e, 40)
		theta := NewSym(40, nil)
		if err := w.LogDetProxOver(theta, NewSym(40, nil), 4, 0); err != nil {
			t.Fatal(err)
		}
		for i := range 40 {
			for j, v := range theta.Row(i) {
				want := 0.0
				if i == j {
					want = .5
				}
				if math.Abs(v-want) > 1e-14 {
					t.Fatalf("%s: entry %d, %d is %v", e.Name(), i, j, v)
				}
			}
		}
		for _, v := range []float64{math.NaN(), math.Inf(1)} {
			y := NewSym(40, nil)
			y.Set(3, 5, v)
			if err := w.LogDetProxOver(theta, y, 4, 0); err == nil {
				t.Errorf("%s: %v is no error", e.Name(), v)
			}
		}
	}
}

// Calls of the library take a few words each, by the number of blocks of reflections; none takes a
// matrix.
func TestLogDetProxOverAllocatesNoMatrix(t *testing.T) {
	const n = 60
	w := NewWorkspace(WithThreads(Default(), 1), n)
	y, theta, over := randomSymmetric(rand.New(rand.NewPCG(1, 1)), n, 1), NewSym(n, nil), NewSym(n, nil)
	run := func() {
		over.CopyFrom(y)
		if err := w.LogDetProxOver(theta, over, .1, 0); err != nil {
			t.Fatal(err)
		}
	}
	run()
	if a := testing.AllocsPerRun(5, run); a > 40 {
		t.Errorf("%v allocations", a)
	}
}

// BenchmarkLogDetProx compares the ways of the Θ step.
func BenchmarkLogDetProx(b *testing.B) {
	for _, n := range []int{25, 100, 500, 1000} {
		y := randomSymmetric(rand.New(rand.NewPCG(1, 1)), n, 1)
		theta, over := NewSym(n, nil), NewSym(n, nil)
		values := make([]float64, n)
		for threads := range min(2, Cores()) {
			w := NewWorkspace(WithThreads(Default(), threads+1), n)
			b.Run(fmt.Sprintf("eigenvectors/n=%d/threads=%d", n, threads+1), func(b *testing.B) {
				processor.Loop(b, func() {
					over.CopyFrom(y)
					if err := w.LogDetProx(theta, over, 10/float64(n), 0, values, values, over.Raw()); err != nil {
						b.Fatal(err)
					}
				})
			})
			b.Run(fmt.Sprintf("tridiagonal/n=%d/threads=%d", n, threads+1), func(b *testing.B) {
				b.ReportAllocs()
				processor.Loop(b, func() {
					over.CopyFrom(y)
					if err := w.LogDetProxOver(theta, over, 10/float64(n), 0); err != nil {
						b.Fatal(err)
					}
				})
			})
		}
	}
}
