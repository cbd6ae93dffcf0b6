package dense

import (
	"math"
	"math/rand/v2"
	"runtime"
	"testing"
)

func TestWithThreads(t *testing.T) {
	cores(t, 6)
	for _, e := range []Engine{Gonum{}, WithThreads(Gonum{}, 6)} {
		for n, want := range map[int]int{0: 6, 1: 1, 4: 4, 6: 6, 99: 6, -3: 6} {
			if got := Threads(WithThreads(e, n)); got != want {
				t.Errorf("%d threads of %d are %d, want %d", n, Threads(e), got, want)
			}
		}
	}
	two := WithThreads(Gonum{}, 2)
	if n := Threads(WithThreads(two, 5)); n != 2 {
		t.Errorf("an engine of 2 threads gives %d", n)
	}
	if WithThreads(two, 1); Threads(two) != 2 {
		t.Error("the engine itself has changed")
	}
	if n := Threads(struct{ Engine }{two}); n != 6 {
		t.Errorf("an engine that does not say has %d threads", n)
	}
	runtime.GOMAXPROCS(1 + int(spare.Load()))
	if Threads(two) != 1 {
		t.Errorf("%d threads on one core", Threads(two))
	}
}

// The same number of threads gives the same bits, however many of them get to work;
// with gonum any number does. With OpenBLAS another number changes no more than
// rounding does.
func TestSameBitsWithSameThreads(t *testing.T) {
	cores(t, 5)
	for _, e := range engines(t) {
		with := e.(interface{ withThreads(int) Engine }).withThreads // more than the machine has
		sizes := []int{90, 256, 257, 300, 449}
		if e != Engine(Gonum{}) {
			sizes = append(sizes, 777)
		}
		if testing.Short() {
			sizes = sizes[:3]
		}
		for _, n := range sizes {
			one := everything(t, with(1), n)
			for _, number := range []int{2, 5} {
				first := everything(t, with(number), n)
				busy := with(number)
				of := ownThreads(t, busy)
				for range number - 1 {
					of.own.enter() // as if the others never got a core
				}
				for name, again := range everything(t, busy, n) {
					if k := different(first[name], again); k > 0 {
						t.Errorf("%s, n = %d, %d threads: %d of %d numbers of %s change", engineName(e), n, number, k, len(again), name)
					}
					if e == Engine(Gonum{}) {
						if k := different(one[name], again); k > 0 {
							t.Errorf("n = %d: %d threads change %d of %d numbers of %s", n, number, k, len(again), name)
						}
						continue
					}
					if name != "eigenvectors" { // whose signs are free
						equal(t, name, again, one[name], eps(n, 20*float64(n)))
					}
				}
			}
		}
	}
}

func ownThreads(t *testing.T, e Engine) *threads {
	t.Helper()
	of, ok := e.(interface{ of() *threads })
	if !ok {
		t.Fatalf("%s has no threads of its own", e.Name())
	}
	return of.of()
}

func different(a, b []float64) (count int) {
	for i, v := range a {
		if math.Float64bits(v) != math.Float64bits(b[i]) {
			count++
		}
	}
	return count
}

// everything is what the kernels make of a matrix.
func everything(t *testing.T, e Engine, n int) map[string][]float64 {
	t.Helper()
	r := rand.New(rand.NewPCG(uint64(n), 8))
	s := symmetric(r, spectra(n)["well-conditioned"])
	a, lda := random(r, n, n)
	b, ldb := random(r, n, n)
	results := map[string][]float64{}
	product := func(name string, f func(c []float64)) {
		c := make([]float64, n*n)
		for i := range c {
			c[i] = float64(i % 7)
		}
		f(c)
		results[name] = c
	}
	w := NewWorkspace(e, n)
	product("A·B", func(c []float64) { e.Gemm(false, false, n, n, n, 1, a, lda, b, ldb, 0.5, c, n) })
	product("Aᵀ·B", func(c []float64) { e.Gemm(true, false, n, n, n, 1, a, lda, b, ldb, 1, c, n) })
	product("A·Bᵀ", func(c []float64) { e.Gemm(false, true, n, n-3, n, -1, a, lda, b, ldb, 0, c, n) })
	product("Aᵀ·Bᵀ", func(c []float64) { e.Gemm(true, true, n-5, n, n, 1, a, lda, b, ldb, 0, c, n) })
	product("S·B", func(c []float64) { e.Symm(n, n, 1, s.Raw(), n, b, ldb, 0.5, c, n) })
	product("AᵀA", func(c []float64) { e.Syrk(true, n, n, 1, a, lda, 0.5, c, n) })
	product("AAᵀ", func(c []float64) { e.Syrk(false, n, n, 1, a, lda, 0, c, n) })
	values, vectors := make([]float64, n), make([]float64, n*n)
	if err := w.Eigen(s, values, vectors); err != nil {
		t.Fatal(err)
	}
	inverse, factor := NewSym(n, nil), make([]float64, n*n)
	if _, ok := w.LogDet(s, factor); !ok || !w.InvertFactor(inverse, factor) {
		t.Fatal("not positive definite")
	}
	for i := range n {
		clear(factor[i*n : i*n+i]) // whatever it is
	}
	results["eigenvalues"], results["eigenvectors"] = values, vectors
	results["factor"], results["inverse"] = factor, inverse.Raw()
	return results
}

func TestLimitCores(t *testing.T) {
	cores(t, 4)
	spareBefore := spare.Load()
	t.Cleanup(func() { spare.Store(spareBefore) })
	for _, n := range []int{9, 3, 5, 1, -2} {
		before := Cores()
		LimitCores(n)
		if want := min(before, max(1, n)); Cores() != want {
			t.Errorf("%d of %d cores are %d", n, before, Cores())
		}
	}
	if n := runtime.GOMAXPROCS(0); n != 1 {
		t.Errorf("GOMAXPROCS is %d on one core", n)
	}
	SpareProcessor()
	if Cores() != 1 || runtime.GOMAXPROCS(0) != 1 {
		t.Errorf("%d cores and GOMAXPROCS %d with a processor to spare", Cores(), runtime.GOMAXPROCS(0))
	}
}
