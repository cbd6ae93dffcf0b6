package dense

import (
	"fmt"
	"math"
	"math/rand/v2"
	"sync"
	"testing"
)

func twoEngines(t testing.TB) (gonum, openblas Engine) {
	e, err := Open("openblas")
	if err != nil {
		t.Skip(err)
	}
	return Gonum{}, e
}

// The tolerance that the package comment promises: 1e-10, relative to the
// largest entry, for condition numbers up to 1e4.
func TestEnginesAgree(t *testing.T) {
	const promised = 1e-10
	a, b := twoEngines(t)
	for _, n := range []int{1, 2, 5, 64, 260} { // on both sides of largeKernel
		for _, scale := range []float64{1e-6, 1, 1e6} {
			if n > 100 && scale != 1 {
				continue // gonum takes its time, and much more under the race detector
			}
			t.Run(fmt.Sprintf("%d/%v", n, scale), func(t *testing.T) {
				values := make([]float64, n)
				for i := range values {
					values[i] = scale * math.Pow(10, -4*float64(n-1-i)/float64(n))
				}
				s := symmetric(rand.New(rand.NewPCG(uint64(n), 2)), values)
				results := func(e Engine) map[string][]float64 {
					w := NewWorkspace(e, n)
					inverse, root := NewSym(n, nil), NewSym(n, nil)
					logdet, ok := w.Inverse(inverse, s)
					if !ok {
						t.Fatal("not positive definite")
					}
					eigenvalues, q, product := make([]float64, n), make([]float64, n*n), make([]float64, n*n)
					if err := w.Eigen(s, eigenvalues, q); err != nil {
						t.Fatal(err)
					}
					f := make([]float64, n)
					for i, v := range eigenvalues {
						f[i] = math.Sqrt(v*v + 4*scale*scale)
					}
					w.Spectral(root, f, q)
					gram := NewSym(n, nil)
					w.Gram(gram, 1, s.Raw(), n, 0)
					w.Mul(product, s, inverse)
					return map[string][]float64{
						"inverse": inverse.Raw(), "log det": {logdet}, "eigenvalues": eigenvalues,
						"spectral": root.Raw(), "Gram": gram.Raw(), "product": product,
					}
				}
				got := results(b)
				for name, want := range results(a) {
					var largest float64
					for _, v := range want {
						largest = math.Max(largest, math.Abs(v))
					}
					equal(t, name, got[name], want, promised*largest)
				}
			})
		}
	}
}

// Many goroutines with small and large matrices at once get what one gets
// alone, to the last bit.
func TestConcurrentCalls(t *testing.T) {
	for _, e := range engines(t) {
		t.Run(engineName(e), func(t *testing.T) {
			sizes := []int{3, 20, 90}
			if e != Engine(Gonum{}) {
				sizes = append(sizes, 270) // a large kernel, which is divided
			}
			wants := make([][]float64, len(sizes))
			run := func(n int) []float64 {
				s := symmetric(rand.New(rand.NewPCG(uint64(n), 3)), spectra(n)["well-conditioned"])
				w := NewWorkspace(e, n)
				values, q := make([]float64, n), make([]float64, n*n)
				if err := w.Eigen(s, values, q); err != nil {
					t.Error(err)
				}
				root, inverse := NewSym(n, nil), NewSym(n, nil)
				w.Spectral(root, values, q)
				if _, ok := w.Inverse(inverse, s); !ok {
					t.Error("not positive definite")
				}
				return append(append(values, root.Raw()...), inverse.Raw()...)
			}
			for i, n := range sizes {
				wants[i] = run(n)
			}
			var all sync.WaitGroup
			for g := range 8 {
				all.Go(func() {
					for round := range 3 {
						i := (g + round) % len(sizes)
						for k, v := range run(sizes[i]) {
							if v != wants[i][k] {
								t.Errorf("n = %d: number %d is %v, alone %v", sizes[i], k, v, wants[i][k])
								return
							}
						}
					}
				})
			}
			all.Wait()
		})
	}
}
