package matrixroot

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"
)

func alone(n int, f func(i int)) {
	for i := range n {
		f(i)
	}
}

func TestApproximation(t *testing.T) {
	var a approximation
	for _, condition := range []float64{1, 1.0001, 1.5, 3, 10, 31, 100, 999, 1e4} {
		const c = 3.7
		bound := math.Sqrt(c * (condition*condition - 1))
		if !a.approximate(c, bound) {
			t.Errorf("condition %v: refused", condition)
			continue
		}
		var worst float64
		for i := range 10001 {
			// As many points near the ends as between them.
			y := bound * math.Pow(1/condition, 1.5*float64(i)/10000)
			if i == 10000 {
				y = 0
			}
			root := a.alpha
			for p, beta := range a.beta {
				root -= beta / (y*y + a.shift[p]*a.shift[p])
				if !(beta > 0 && a.shift[p] > 0) {
					t.Fatalf("condition %v: term %d is %v, %v", condition, p, beta, a.shift[p])
				}
			}
			worst = max(worst, math.Abs(root-math.Hypot(y, math.Sqrt(c)))/(bound+math.Sqrt(c)))
		}
		t.Logf("condition %v: %d terms, error %.2g, that of the formula %.2g", condition, len(a.beta), worst, a.err)
		// Coefficients and sums have seen some roundings of α, which is about ten times the root.
		if !(worst <= Accuracy+100*0x1p-52) {
			t.Errorf("condition %v: error %v", condition, worst)
		}
	}
	if a.approximate(1, 1.001e4) || a.approximate(1, math.NaN()) || a.approximate(1, math.Inf(1)) {
		t.Error("a bound that is too large is accepted")
	}
}

// compute returns the upper triangle of 2^exponent·½(√(T² + cI) − T), and the same from an
// eigendecomposition.
func compute(t *testing.T, r *Root, d, e []float64, c float64, exponent int) (got []float64, want *mat.SymDense) {
	t.Helper()
	n := len(d)
	got = make([]float64, n*n)
	for i := range got {
		got[i] = math.NaN()
	}
	if !r.Compute(got, d, e, c, exponent, alone) {
		t.Fatal("refused")
	}
	a := mat.NewSymDense(n, nil)
	for i := range n {
		a.SetSym(i, i, d[i])
		if i < n-1 {
			a.SetSym(i, i+1, e[i])
		}
	}
	var eigen mat.EigenSym
	if !eigen.Factorize(a, true) {
		t.Fatal("no eigendecomposition")
	}
	var q, scaled mat.Dense
	eigen.VectorsTo(&q)
	scaled.CloneFrom(&q)
	for j, y := range eigen.Values(nil) {
		f := math.Ldexp((math.Hypot(y, math.Sqrt(c))-y)/2, exponent)
		for i := range n {
			scaled.Set(i, j, q.At(i, j)*f)
		}
	}
	var product mat.Dense
	product.Mul(&scaled, q.T())
	want = mat.NewSymDense(n, nil)
	for i := range n {
		for j := i; j < n; j++ {
			want.SetSym(i, j, product.At(i, j))
		}
	}
	return got, want
}

func TestCompute(t *testing.T) {
	var r Root // one for all sizes
	for _, n := range []int{1, 2, 3, 4, 5, 63, 64, 65, 130, 200} {
		for _, c := range []float64{1e-6, .01, 1, 100} {
			t.Run(fmt.Sprintf("%d/%v", n, c), func(t *testing.T) {
				rng := rand.New(rand.NewPCG(uint64(n), 1))
				d, e := make([]float64, n), make([]float64, n-1)
				for i := range d {
					d[i] = rng.NormFloat64() / 3
				}
				for i := range e {
					e[i] = rng.NormFloat64() / 3
					if i%17 == 5 {
						e[i] = 0 // two blocks
					}
				}
				got, want := compute(t, &r, d, e, c, -2)
				largest := math.Ldexp(Bound(d, e)+math.Sqrt(c), -2)
				var worst float64
				for i := range n {
					for j := i; j < n; j++ {
						worst = max(worst, math.Abs(got[i*n+j]-want.At(i, j))/largest)
						if math.IsNaN(got[i*n+j]) {
							t.Fatalf("entry %d, %d is NaN", i, j)
						}
					}
				}
				if worst > 2e-13 {
					t.Errorf("off by %.2g", worst)
				}
			})
		}
	}
}

// A matrix of zeros has the root √c, and the order of blocks does not matter.
func TestComputeZero(t *testing.T) {
	var r Root
	const n = 70
	f := make([]float64, n*n)
	backwards := func(n int, f func(i int)) {
		for i := n - 1; i >= 0; i-- {
			f(i)
		}
	}
	if !r.Compute(f, make([]float64, n), make([]float64, n-1), 4, 0, backwards) {
		t.Fatal("refused")
	}
	for i := range n {
		for j := i; j < n; j++ {
			want := 0.0
			if i == j {
				want = 1
			}
			if math.Abs(f[i*n+j]-want) > 1e-13 {
				t.Fatalf("entry %d, %d is %v", i, j, f[i*n+j])
			}
		}
	}
}

func TestAdvanceAllocatesNothing(t *testing.T) {
	var r Root
	n := 100
	d, e, f := make([]float64, n), make([]float64, n-1), make([]float64, n*n)
	for i := range d {
		d[i] = float64(i%7) - 3
	}
	run := func() { r.Compute(f, d, e, 1, 0, alone) }
	run()
	if a := testing.AllocsPerRun(5, run); a > 0 {
		t.Errorf("%v allocations", a)
	}
}

func FuzzAdvance(f *testing.F) {
	f.Add(uint64(1), 3, 2)
	f.Add(uint64(2), 17, 16)
	f.Fuzz(func(t *testing.T, seed uint64, terms, chunks int) {
		if terms < 1 || terms > MostTerms || chunks < 0 || chunks > columns/chunk {
			return
		}
		rng := rand.New(rand.NewPCG(seed, 1))
		random := func(n int) []float64 {
			x := make([]float64, n)
			for i := range x {
				x[i] = rng.NormFloat64() * math.Pow(10, 6*rng.Float64()-3)
			}
			return x
		}
		state, ratios := random(chunks*chunk*2*terms+1), random(2*terms)
		other := append([]float64(nil), state...)
		a, b := make([]float64, chunks*chunk+1), make([]float64, chunks*chunk+1)
		advanceGo(a, state, ratios, chunks)
		advance(b, other, ratios, chunks)
		for i := range state {
			if state[i] != other[i] {
				t.Fatalf("state %d: %v in Go, %v here", i, state[i], other[i])
			}
		}
		for i := range a {
			if a[i] != b[i] {
				t.Fatalf("sum %d: %v in Go, %v here", i, a[i], b[i])
			}
		}
	})
}

func BenchmarkCompute(b *testing.B) {
	for _, n := range []int{25, 100, 500, 1000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			rng := rand.New(rand.NewPCG(uint64(n), 1))
			d, e, f := make([]float64, n), make([]float64, n-1), make([]float64, n*n)
			for i := range d {
				d[i] = rng.NormFloat64()
			}
			for i := range e {
				e[i] = rng.NormFloat64()
			}
			var r Root
			for b.Loop() {
				r.Compute(f, d, e, 1, 0, alone)
			}
		})
	}
}
