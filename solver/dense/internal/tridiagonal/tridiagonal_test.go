package tridiagonal

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/gonum"
	"pgregory.net/rapid"
)

// products are gonum's.
type products struct{ gonum.Implementation }

func (p products) Gemm(transA, transB bool, m, n, k int, alpha float64, a []float64, lda int, b []float64, ldb int, beta float64, c []float64, ldc int) {
	if transA || transB {
		panic("nothing here needs a transpose")
	}
	p.Dgemm(blas.NoTrans, blas.NoTrans, m, n, k, alpha, a, max(1, lda), b, max(1, ldb), beta, c, ldc)
}

// decompose scales d and e to the order of 1, and fails t unless their
// decomposition is one: eigenvalues in ascending order, residuals and orthogonality within 4n roundings of the
// largest entry and of 1.
func decompose(t interface {
	Helper()
	Fatalf(string, ...any)
}, s *Solver, d, e []float64) {
	t.Helper()
	n := len(d)
	var largest float64
	for _, v := range slices.Concat(d, e) {
		largest = max(largest, math.Abs(v))
	}
	_, exponent := math.Frexp(largest)
	for _, x := range [][]float64{d, e} {
		for i, v := range x {
			x[i] = math.Ldexp(v, -exponent)
		}
	}
	largest = math.Ldexp(largest, -exponent)
	values, q := slices.Clone(d), make([]float64, n*n)
	for i := range q {
		q[i] = math.NaN() // whatever was there
	}
	order, ok := s.Decompose(values, slices.Clone(e), q, products{})
	if !ok {
		t.Fatalf("no convergence")
	}
	tolerance := unit * float64(max(32, 4*n))
	row := func(k int) []float64 { return q[order[k]*n : (order[k]+1)*n] }
	for k, value := range values {
		if k > 0 && value < values[k-1] {
			t.Fatalf("eigenvalue %d is %v, the one before %v", k, value, values[k-1])
		}
		v := row(k)
		for i := range v {
			residual := (d[i] - value) * v[i]
			if i > 0 {
				residual += e[i-1] * v[i-1]
			}
			if i < n-1 {
				residual += e[i] * v[i+1]
			}
			if !(math.Abs(residual) <= tolerance*largest) {
				t.Fatalf("eigenvalue %d: residual of %v roundings", k, residual/largest/unit)
			}
		}
		for l := range k + 1 {
			var product float64
			for i, x := range row(l) {
				product += x * v[i]
			}
			if l == k {
				product--
			}
			if !(math.Abs(product) <= tolerance) {
				t.Fatalf("vectors %d and %d: product off by %v roundings", l, k, product/unit)
			}
		}
	}
}

// matrices are those that are hard for one reason or another.
var matrices = map[string]func(r *rand.Rand, i, n int) (d, e float64){
	"random":    func(r *rand.Rand, i, n int) (d, e float64) { return r.NormFloat64(), r.NormFloat64() },
	"zero":      func(*rand.Rand, int, int) (d, e float64) { return 0, 0 },
	"identity":  func(*rand.Rand, int, int) (d, e float64) { return 1, 0 },
	"Laplacian": func(*rand.Rand, int, int) (d, e float64) { return 2, -1 },
	"zero diagonal": func(_ *rand.Rand, i, n int) (d, e float64) {
		return 0, math.Sqrt(float64(i+1)*float64(n-1-i)) / float64(n) // Clement
	},
	"Wilkinson": func(_ *rand.Rand, i, n int) (d, e float64) { // pairs that differ in the last digits
		return math.Abs(float64(i)-float64(n-1)/2) / float64(n), 1 / float64(n)
	},
	"glued Wilkinson": func(_ *rand.Rand, i, n int) (d, e float64) { // clusters
		d, e = math.Abs(float64(i%21)-10)/11, 1./11
		if i%21 == 20 {
			e = 1e-9
		}
		return d, e
	},
	"nearly diagonal": func(r *rand.Rand, i, n int) (d, e float64) { return 1, 1e-9 * r.NormFloat64() },
	"graded":          func(_ *rand.Rand, i, n int) (d, e float64) { return math.Exp2(-float64(i)), math.Exp2(-float64(i) - 2) },
	"graded upwards": func(_ *rand.Rand, i, n int) (d, e float64) {
		return math.Exp2(float64(i - n)), math.Exp2(float64(i-n) - 2)
	},
	"far between": func(r *rand.Rand, i, n int) (d, e float64) { // from 1e-160 to 1
		return math.Pow(10, -160*r.Float64()), math.Pow(10, -160*r.Float64())
	},
	"within rounding of ½": func(r *rand.Rand, i, n int) (d, e float64) { // single poles move
		return .5 + 1e-14*r.NormFloat64(), 5e-15 * r.NormFloat64()
	},
	"with zeros": func(r *rand.Rand, i, n int) (d, e float64) {
		return float64(r.IntN(3) - 1), float64(r.IntN(3) - 1)
	},
}

func TestDecompose(t *testing.T) {
	var s Solver // one for all sizes
	for name, entries := range matrices {
		for _, n := range []int{1, 2, 3, 15, 16, 17, 18, 31, 33, 34, 64, 100, 201} {
			t.Run(fmt.Sprintf("%s/%d", name, n), func(t *testing.T) {
				r := rand.New(rand.NewPCG(uint64(n), 1))
				d, e := make([]float64, n), make([]float64, n-1)
				for i := range d {
					var x float64
					if d[i], x = entries(r, i, n); i < n-1 {
						e[i] = x
					}
				}
				decompose(t, &s, d, e)
			})
		}
	}
}

// A sweep that ends in the middle of a leaf leaves what it has done: the rows that
// it has rotated, with the entry beside them.
func TestSweepFallsApart(t *testing.T) {
	var s Solver
	decompose(t, &s, make([]float64, 5), []float64{8.774999766492043e-05, 9.723258568907297e-119, 0.12953631100139823, 5.777574029633651e-15})
	rapid.Check(t, func(t *rapid.T) {
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
		n := 2 + r.IntN(leaf-1)
		d, e := make([]float64, n), make([]float64, n-1)
		for i := range d {
			d[i] = float64(r.IntN(2)) / 2
		}
		for i := range e {
			e[i] = math.Pow(10, -130*r.Float64()*float64(r.IntN(2)))
		}
		decompose(t, &s, d, e)
	})
}

// Any matrix at all, entries of all signs and sizes: scattered, of few values, of
// all orders of magnitude, mostly zero.
func TestDecomposeAny(t *testing.T) {
	var s Solver
	rapid.Check(t, func(t *rapid.T) {
		seed := rapid.Uint64().Draw(t, "seed") // decides n, or most would be small
		kind := rapid.SampledFrom([]string{"normal", "integer", "log-normal", "sparse", "far between"}).Draw(t, "kind")
		base := rapid.SampledFrom([]float64{0, .5, 1}).Draw(t, "base")
		largestD := math.Exp2(-rapid.Float64Range(0, 70).Draw(t, "log2 of d − base"))
		largestE := math.Exp2(-rapid.Float64Range(0, 70).Draw(t, "log2 of e"))
		r := rand.New(rand.NewPCG(seed, 1))
		entry := func() float64 {
			v := r.NormFloat64()
			switch {
			case kind == "integer":
				v = math.Round(v)
			case kind == "log-normal":
				v = math.Copysign(math.Exp2(60*v), v)
			case kind == "sparse" && r.IntN(3) > 0:
				v = 0
			case kind == "far between":
				v = math.Exp2(-450 * r.Float64())
			}
			return v
		}
		n := 1 + r.IntN(90)
		d, e := make([]float64, n), make([]float64, n-1)
		for i := range d {
			d[i] = base + largestD*entry()
		}
		for i := range e {
			e[i] = largestE * entry()
		}
		decompose(t, &s, d, e)
	})
}

// Every root lies in its interval, f changes its sign at it, and the
// differences are what they are called.
func TestSecular(t *testing.T) {
	var roots, taken int
	defer func() {
		if mean := float64(taken) / float64(roots); !(mean < 5) {
			t.Errorf("a root took %.1f steps on average", mean)
		}
	}()
	rapid.Check(t, func(t *rapid.T) {
		k := rapid.IntRange(1, 40).Draw(t, "k")
		gaps := rapid.SliceOfN(rapid.Map(rapid.Float64Range(-40, 0), math.Exp2), k, k).Draw(t, "gaps")
		weights := rapid.SliceOfN(rapid.Map(rapid.Float64Range(-20, 0), math.Exp2), k, k).Draw(t, "weights")
		var u secular
		u.begin(k, rapid.Map(rapid.Float64Range(-10, 10), math.Exp2).Draw(t, "rho"))
		at := -1.0
		for j, gap := range gaps {
			at += gap
			u.set(j, at, weights[j])
		}
		if !u.solve(nil) {
			t.Fatal("no convergence")
		}
		if k > 1 {
			roots, taken = roots+k, taken+int(u.taken.Load())
		}
		var trace float64
		for i, root := range u.roots {
			delta := u.deltas[i*u.stride : i*u.stride+k]
			if !(delta[i] < 0) || i+1 < k && !(delta[i+1] > 0) {
				t.Fatalf("root %d: %v from the pole below, %v from that above", i, delta[i], delta[i+1])
			}
			f, size := 1/u.rho, 1/u.rho
			for j := range delta {
				term := u.z[j] * u.z[j] / delta[j]
				f, size = f+term, size+math.Abs(term)
				if d := math.Abs(u.d[j] - root - delta[j]); !(d <= 4*unit*(math.Abs(u.d[j])+math.Abs(root))) {
					t.Fatalf("root %d, pole %d: difference %v, off by %v", i, j, delta[j], d)
				}
			}
			if k > 1 && !(math.Abs(f) <= unit*float64(2*k+16)*size) {
				t.Fatalf("root %d: f is %v of terms of %v", i, f, size)
			}
			trace += root - u.d[i]
		}
		var want float64
		for _, w := range weights {
			want += u.rho * w * w
		}
		if !(math.Abs(trace-want) <= 1e-12*(1+want)*float64(k)) {
			t.Fatalf("the roots are %v above the poles in all, want %v", trace, want)
		}
	})
}

func TestNoConvergence(t *testing.T) {
	var s Solver
	for _, n := range []int{5, 40} {
		for _, v := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
			for i := range 2 {
				d, e := make([]float64, n), make([]float64, n-1)
				[][]float64{d, e}[i][n/3] = v
				if _, ok := s.Decompose(d, e, make([]float64, n*n), products{}); ok {
					t.Errorf("n = %d: %v converged", n, v)
				}
			}
		}
	}
}

func BenchmarkDecompose(b *testing.B) {
	for _, n := range []int{16, 32, 100, 500} {
		b.Run(fmt.Sprintf("n=%d", n), func(b *testing.B) {
			r := rand.New(rand.NewPCG(uint64(n), 1))
			d, e := make([]float64, n), make([]float64, n-1)
			for i := range d {
				d[i] = 2 + r.Float64()
			}
			for i := range e {
				e[i] = r.Float64()
			}
			values, beside, q := make([]float64, n), make([]float64, n-1), make([]float64, n*n)
			var s Solver
			b.ReportAllocs()
			for b.Loop() {
				copy(values, d)
				copy(beside, e)
				if _, ok := s.Decompose(values, beside, q, products{}); !ok {
					b.Fatal("no convergence")
				}
			}
		})
	}
}
