package dense

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

// Every test below runs on each engine of this machine; where OpenBLAS is
// absent it says so and gonum is tested alone.
func engines(t testing.TB) []Engine {
	es := []Engine{Gonum{}}
	e, err := Open("openblas")
	if err != nil {
		t.Log(err)
		return es
	}
	return append(es, e)
}

// symmetric is a random matrix with the given eigenvalues.
func symmetric(r *rand.Rand, eigenvalues []float64) *Sym {
	n := len(eigenvalues)
	a := NewSym(n, nil)
	for i, v := range eigenvalues {
		a.Set(i, i, v)
	}
	// n random reflections H = I − 2vvᵀ, a ← HaH, in plain loops: nothing here
	// relies on an engine.
	v, u := make([]float64, n), make([]float64, n)
	for range min(n, 6) {
		var norm float64
		for i := range v {
			v[i] = r.NormFloat64()
			norm += v[i] * v[i]
		}
		for i := range v {
			v[i] /= math.Sqrt(norm)
		}
		var vav float64
		for i := range u {
			u[i] = 0
			for j, x := range a.Row(i) {
				u[i] += x * v[j]
			}
			vav += u[i] * v[i]
		}
		for i := range n {
			for j := range i + 1 {
				a.Set(i, j, a.At(i, j)-2*(v[i]*u[j]+u[i]*v[j])+4*vav*v[i]*v[j])
			}
		}
	}
	return a
}

// spectra are eigenvalues, ascending, of all the sorts that occur.
func spectra(n int) map[string][]float64 {
	make := func(f func(x float64) float64) []float64 {
		v := make([]float64, n)
		for i := range v {
			v[i] = f((float64(i) + 1) / float64(n))
		}
		return v
	}
	return map[string][]float64{
		"well-conditioned": make(func(x float64) float64 { return 1 + x }),
		"all equal":        make(func(x float64) float64 { return 3 }),
		"rank-deficient":   make(func(x float64) float64 { return math.Max(0, 2*x-1) }),
		"ill-conditioned":  make(func(x float64) float64 { return math.Pow(10, 12*(x-1)) }),
		"tiny":             make(func(x float64) float64 { return 1e-12 * (1 + x) }),
		"huge":             make(func(x float64) float64 { return 1e12 * (1 + x) }),
		"indefinite":       make(func(x float64) float64 { return 2*x - 1 }),
		"zero":             make(func(x float64) float64 { return 0 }),
	}
}

var sizes = []int{1, 2, 3, 7, 33, 100}

// forAll runs f for every engine, size and spectrum. unit is the largest
// absolute eigenvalue.
func forAll(t *testing.T, sizes []int, f func(t *testing.T, w *Workspace, a *Sym, eigenvalues []float64, unit float64)) {
	for _, e := range engines(t) {
		for _, n := range sizes {
			for name, values := range spectra(n) {
				t.Run(fmt.Sprintf("%s/%d/%s", engineName(e), n, name), func(t *testing.T) {
					r := rand.New(rand.NewPCG(uint64(n), 5))
					unit := math.Max(math.Abs(values[0]), math.Abs(values[n-1]))
					f(t, NewWorkspace(e, n), symmetric(r, values), values, unit)
				})
			}
		}
	}
}

// eps is the tolerance for backward-stable kernels: n roundings of the largest
// eigenvalue, with a margin of ten.
func eps(n int, unit float64) float64 { return 10 * 0x1p-52 * float64(n) * unit }

func TestEigen(t *testing.T) {
	forAll(t, sizes, func(t *testing.T, w *Workspace, a *Sym, eigenvalues []float64, unit float64) {
		equal(t, "eigenvalues", checkEigen(t, w, a, unit), eigenvalues, eps(a.Len(), unit)) // ascending, as they were made
	})
}

// checkEigen decomposes a, of norm unit at most, and fails t unless that is a
// decomposition.
func checkEigen(t *testing.T, w *Workspace, a *Sym, unit float64) []float64 {
	t.Helper()
	n := a.Len()
	before := a.Clone()
	values, q := make([]float64, n), make([]float64, n*n)
	if err := w.Eigen(a, values, q); err != nil {
		t.Fatal(err)
	}
	equal(t, "the argument", a.Raw(), before.Raw(), 0)
	for k := range n {
		if k > 0 && values[k] < values[k-1] {
			t.Fatalf("eigenvalue %d is %v, the one before %v", k, values[k], values[k-1])
		}
		v := q[k*n : (k+1)*n]
		for i := range n {
			var residual, product float64
			for j, x := range a.Row(i) {
				residual += x * v[j]
				product += q[i*n+j] * v[j]
			}
			if d := math.Abs(residual - values[k]*v[i]); !(d <= eps(n, unit)) {
				t.Fatalf("vector %d: residual %v", k, d)
			}
			if i == k {
				product--
			}
			if !(math.Abs(product) <= eps(n, 1)) {
				t.Fatalf("vectors %d and %d: product off by %v", i, k, product)
			}
		}
	}
	return values
}

// Matrices with many zeros and equal entries, of which Householder's reflections
// end in zeros.
func TestEigenStructured(t *testing.T) {
	families := map[string]func(r *rand.Rand, i, j, n int) float64{ // for j ≤ i
		"arrow": func(_ *rand.Rand, i, j, n int) float64 {
			switch {
			case j == 0:
				return 1
			case i == j:
				return float64(i % 3)
			}
			return 0
		},
		"sparse": func(r *rand.Rand, i, j, n int) float64 {
			if r.IntN(8) > 0 {
				return 0
			}
			return float64(r.IntN(5) - 2)
		},
		"all equal":       func(*rand.Rand, int, int, int) float64 { return 1 },
		"equicorrelation": func(_ *rand.Rand, i, j, n int) float64 { return equal01(i, j) + .5*(1-equal01(i, j)) },
		"blocks":          func(_ *rand.Rand, i, j, n int) float64 { return equal01(i/7, j/7) * (1 + equal01(i, j)) },
		"antidiagonal":    func(_ *rand.Rand, i, j, n int) float64 { return equal01(i+j, n-1) },
		"Hilbert":         func(_ *rand.Rand, i, j, n int) float64 { return 1 / float64(i+j+1) },
	}
	for _, e := range engines(t) {
		w := NewWorkspace(e, 1) // one for all
		for name, entry := range families {
			for _, n := range []int{1, 2, 16, 33, 34, 35, 47, 50, 68, 92, 130} {
				r := rand.New(rand.NewPCG(uint64(n), 7))
				a := NewSym(n, nil)
				var unit float64
				for i := range n {
					for j := range i + 1 {
						a.Set(i, j, entry(r, i, j, n))
						unit = max(unit, math.Abs(a.At(i, j)))
					}
				}
				t.Run(fmt.Sprintf("%s/%d/%s", engineName(e), n, name), func(t *testing.T) {
					checkEigen(t, w, a, float64(n)*unit)
				})
			}
		}
	}
}

func equal01(i, j int) float64 {
	if i == j {
		return 1
	}
	return 0
}

// A matrix at either end of float64's range has the eigenvectors that it has in
// the middle, to the bit, and the eigenvalues times the factor.
func TestEigenFarFromOne(t *testing.T) {
	const n = 40
	s := symmetric(rand.New(rand.NewPCG(n, 6)), spectra(n)["indefinite"])
	for _, e := range engines(t) {
		w := NewWorkspace(e, n)
		want, q := make([]float64, n), make([]float64, n*n)
		if err := w.Eigen(s, want, q); err != nil {
			t.Fatal(err)
		}
		for _, exponent := range []int{-900, -400, 400, 1000, 1020} {
			a := s.Clone()
			for i, v := range a.Raw() {
				a.Raw()[i] = math.Ldexp(v, exponent)
			}
			values, vectors := make([]float64, n), make([]float64, n*n)
			if err := w.Eigen(a, values, vectors); err != nil {
				t.Fatalf("%s, times 2^%d: %v", e.Name(), exponent, err)
			}
			for i, v := range want {
				if got := math.Ldexp(values[i], -exponent); got != v {
					t.Errorf("%s, times 2^%d: eigenvalue %d is %v of it, want %v", e.Name(), exponent, i, got, v)
				}
			}
			equal(t, "vectors", vectors, q, 0)
		}
		// So has one of the least numbers that there are.
		least := NewSym(2, nil)
		least.Set(0, 1, math.SmallestNonzeroFloat64)
		values, vectors := make([]float64, 2), make([]float64, 4)
		if err := w.Eigen(least, values, vectors); err != nil || values[0] != -math.SmallestNonzeroFloat64 || values[1] != math.SmallestNonzeroFloat64 {
			t.Errorf("%s, subnormal: %v, %v", e.Name(), values, err)
		}
		// Eigenvalues that float64 cannot hold are none.
		a := NewSym(n, nil)
		for i := range a.Raw() {
			a.Raw()[i] = math.MaxFloat64
		}
		if err := w.Eigen(a, make([]float64, n), make([]float64, n*n)); !errors.Is(err, ErrEigen) {
			t.Errorf("%s: overflow: %v", e.Name(), err)
		}
	}
}

func TestSpectral(t *testing.T) {
	forAll(t, sizes, func(t *testing.T, w *Workspace, a *Sym, _ []float64, unit float64) {
		n := a.Len()
		values, q := make([]float64, n), make([]float64, n*n)
		if err := w.Eigen(a, values, q); err != nil {
			t.Fatal(err)
		}
		back := NewSym(n, nil)
		w.Spectral(back, values, q)
		equal(t, "QᵀΛQ", back.Raw(), a.Raw(), eps(n, unit))

		// The rows of q are the eigenvectors: q·a·qᵀ is diagonal, and back.
		scratch, want := make([]float64, n*n), NewSym(n, nil)
		for i, v := range values {
			want.Set(i, i, v)
		}
		w.Conjugate(back, q, false, scratch)
		equal(t, "QAQᵀ", back.Raw(), want.Raw(), eps(n, unit))
		w.Conjugate(back, q, true, scratch)
		equal(t, "Qᵀ(QAQᵀ)Q", back.Raw(), a.Raw(), eps(n, unit))

		// Functions of both kinds: positive, and of both signs.
		for _, shift := range []float64{unit + 1, -unit / 3} {
			f := make([]float64, n)
			for i, v := range values {
				f[i] = v + shift
			}
			w.Spectral(back, f, q)
			want := a.Clone()
			want.AddDiagonal(shift)
			equal(t, "shifted", back.Raw(), want.Raw(), eps(n, unit+math.Abs(shift)))
			if back.Asymmetry() != 0 {
				t.Fatal("not symmetric")
			}
		}
	})
}

func TestCholesky(t *testing.T) {
	forAll(t, sizes, func(t *testing.T, w *Workspace, a *Sym, eigenvalues []float64, unit float64) {
		n := a.Len()
		before, factor := a.Clone(), make([]float64, n*n)
		logdet, ok := w.LogDet(a, factor)
		equal(t, "the argument", a.Raw(), before.Raw(), 0)
		smallest := eigenvalues[0]
		switch {
		case smallest < -eps(n, unit) || unit == 0:
			if ok {
				t.Fatal("an indefinite matrix has a logarithm of its determinant")
			}
			return
		case smallest < 1e-3*unit: // definite or not, as rounding will
			if ok && (math.IsNaN(logdet) || math.IsInf(logdet, 0)) {
				t.Fatal(logdet)
			}
			return
		case !ok:
			t.Fatal("a positive definite matrix has none")
		}
		var want float64
		for _, v := range eigenvalues {
			want += math.Log(v)
		}
		if d := math.Abs(logdet - want); !(d <= eps(n, math.Abs(want)+float64(n))) {
			t.Errorf("log det %v, want %v", logdet, want)
		}
		inverse, dot := NewSym(n, nil), make([]float64, n*n)
		again, ok := w.Inverse(inverse, a)
		if !ok || again != logdet {
			t.Errorf("the inverse says log det %v, %v", again, ok)
		}
		identity(t, w, dot, a, inverse)
		fromFactor := NewSym(n, nil)
		if !w.InvertFactor(fromFactor, factor) {
			t.Fatal("InvertFactor")
		}
		equal(t, "inverse of the factor", fromFactor.Raw(), inverse.Raw(), 0)
		inPlace := a.Clone()
		if _, ok := w.Inverse(inPlace, inPlace); !ok {
			t.Fatal("in place")
		}
		equal(t, "inverse in place", inPlace.Raw(), inverse.Raw(), 0)
		if inverse.Asymmetry() != 0 {
			t.Error("not symmetric")
		}
	})
}

// identity checks a·b = I for a with a condition number up to 1000, b = a⁻¹.
func identity(t *testing.T, w *Workspace, product []float64, a, b *Sym) {
	t.Helper()
	n := a.Len()
	w.Mul(product, a, b)
	equal(t, "a·a⁻¹", product, Identity(n).Raw(), eps(n, 1000))
}

func TestNotFinite(t *testing.T) {
	for _, e := range engines(t) {
		for _, n := range []int{1, 2, 40} {
			for _, bad := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
				for _, at := range [][2]int{{0, 0}, {0, n - 1}, {n - 1, n - 1}} {
					a := Identity(n)
					a.Set(at[0], at[1], bad)
					if a.Finite() {
						t.Errorf("a matrix with %v is finite", bad)
					}
					w := NewWorkspace(e, n)
					if _, ok := w.LogDet(a, make([]float64, n*n)); ok {
						t.Errorf("%s: log det of a %d×%d matrix with %v at %v", engineName(e), n, n, bad, at)
					}
					if _, ok := w.Inverse(NewSym(n, nil), a); ok {
						t.Errorf("%s: inverse of a %d×%d matrix with %v at %v", engineName(e), n, n, bad, at)
					}
					if err := w.Eigen(a, make([]float64, n), make([]float64, n*n)); !errors.Is(err, ErrEigen) {
						t.Errorf("%s: eigenvalues of a %d×%d matrix with %v at %v: %v", engineName(e), n, n, bad, at, err)
					}
				}
			}
		}
	}
}

func TestEmpty(t *testing.T) {
	for _, e := range engines(t) {
		w, a := NewWorkspace(e, 0), NewSym(0, nil)
		if err := w.Eigen(a, nil, nil); err != nil {
			t.Error(err)
		}
		w.Spectral(a, nil, nil)
		w.Gram(a, 1, nil, 5, 0)
		w.Mul(nil, a, a)
		if l, ok := w.Inverse(a, a); l != 0 || !ok {
			t.Errorf("log det of nothing: %v, %v", l, ok)
		}
		for _, n := range []int{1, 200} {
			b := Identity(n)
			w.Gram(b, 1, nil, 0, 2) // no samples: twice b
			if b.Trace() != 2*float64(n) {
				t.Errorf("%s, %d: trace %v", engineName(e), n, b.Trace())
			}
		}
	}
}

func TestGramAndMul(t *testing.T) {
	for _, e := range engines(t) {
		w := NewWorkspace(e, 3)
		x := []float64{1, 2, 3, 4, 5, 6}
		s := Identity(3)
		w.Gram(s, 2, x, 2, 10)
		equal(t, "Gram", s.Raw(), []float64{44, 44, 54, 44, 68, 72, 54, 72, 100}, 0)
		product := make([]float64, 9)
		w.Mul(product, s, NewSym(3, []float64{1, 0, 0, 0, 2, 0, 0, 0, 3}))
		equal(t, "Mul", product, []float64{44, 88, 162, 44, 136, 216, 54, 144, 300}, 0)
		if w.Engine() != e {
			t.Error("another engine")
		}
	}
}

func equal(t *testing.T, what string, got, want []float64, tolerance float64) {
	t.Helper()
	for i, v := range got {
		if !(math.Abs(v-want[i]) <= tolerance) {
			t.Fatalf("%s: entry %d is %.17g, want %.17g within %.2g", what, i, v, want[i], tolerance)
		}
	}
}

func engineName(e Engine) string {
	if _, ok := e.(Gonum); ok {
		return "gonum"
	}
	return "openblas"
}
