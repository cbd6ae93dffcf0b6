package glad

import (
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"
)

// bigExp is eˣ in 300 bits.
func bigExp(x float64) *big.Float {
	// eˣ = (e^(x/2ⁿ))^(2ⁿ), the inner one by its series.
	const halvings = 16
	h := bigNumber(math.Ldexp(x, -halvings))
	sum, term := bigNumber(1), bigNumber(1)
	for n := 1.0; n < 60; n++ {
		term.Mul(term, h)
		term.Quo(term, bigNumber(n))
		sum.Add(sum, term)
	}
	for range halvings {
		sum.Mul(sum, sum)
	}
	return sum
}

func bigNumber(v float64) *big.Float { return new(big.Float).SetPrec(300).SetFloat64(v) }

func quotient(a, b *big.Float) float64 {
	v, _ := new(big.Float).SetPrec(300).Quo(a, b).Float64()
	return v
}

func bigTanh(x float64) float64 {
	e, one := bigExp(2*x), bigNumber(1)
	return quotient(new(big.Float).Sub(e, one), new(big.Float).Add(e, one))
}

func bigSigmoid(x float64) float64 {
	e := bigExp(x)
	return quotient(e, new(big.Float).Add(e, bigNumber(1)))
}

// vectored are the functions of vectors, in the versions that this machine
// can run.
var vectored = []struct {
	name     string
	versions map[string]func([]float64)
	exact    func(float64) float64
	below    float64      // x from which on all is tested
	ends     [][2]float64 // x and the value
}{
	{
		"tanh", map[string]func([]float64){"Go": tanhGo, "here": tanh}, bigTanh, -25,
		[][2]float64{
			{0, 0}, {math.Copysign(0, -1), math.Copysign(0, -1)}, {1e300, 1}, {-1e300, -1}, {math.Inf(1), 1}, {math.Inf(-1), -1},
			{19.5, 1}, {20, 1}, {20.5, 1}, {1e-300, 1e-300}, {-1e-300, -1e-300},
			{math.SmallestNonzeroFloat64, math.SmallestNonzeroFloat64},
		},
	},
	{
		"sigmoid", map[string]func([]float64){"Go": sigmoidsGo, "here": sigmoids}, bigSigmoid, -708,
		[][2]float64{
			{0, 0.5}, {math.Copysign(0, -1), 0.5}, {1e300, 1}, {-1e300, 0}, {math.Inf(1), 1}, {math.Inf(-1), 0},
			{40, 1}, {-750, 0}, {1e-300, 0.5}, {-1e-300, 0.5},
		},
	},
}

func TestActivations(t *testing.T) {
	var xs []float64
	for x := 1e-9; x < 708; x *= 1.01 {
		xs = append(xs, x, -x)
	}
	// Around the steps of the table, and of the powers of two.
	for j := range 300 {
		x := (float64(j) + 0.5) * math.Ln2 / 128
		xs = append(xs, x, math.Nextafter(x, 0), math.Nextafter(x, 1e3))
	}
	for _, f := range vectored {
		exact := map[float64]float64{} // takes most of the time
		for _, x := range xs {
			if x >= f.below && x <= 45 {
				exact[x] = f.exact(x)
			}
		}
		for name, version := range f.versions {
			var worst float64
			for x, want := range exact {
				y := []float64{x}
				version(y)
				if e := math.Abs(y[0]/want - 1); e > 1e-15 || math.IsNaN(e) {
					t.Errorf("%s, %s: at %v %v, want %v", f.name, name, x, y[0], want)
				} else {
					worst = max(worst, e)
				}
			}
			t.Logf("%s, %s: largest relative error %.2g", f.name, name, worst)
		}
	}
}

// A value does not depend on its place, nor on what stands beside it, and
// nothing beyond the slice is touched.
func TestActivationsOfAnyLength(t *testing.T) {
	const x = 0.7
	for _, f := range vectored {
		for name, version := range f.versions {
			one := []float64{x}
			version(one)
			for n := range 11 {
				y := make([]float64, n+1)
				for i := range y {
					y[i] = x
				}
				version(y[:n])
				for i, v := range y[:n] {
					if v != one[0] {
						t.Errorf("%s, %s: of %d values number %d is %v, want %v", f.name, name, n, i, v, one[0])
					}
				}
				if y[n] != x {
					t.Errorf("%s, %s: the value after %d is changed to %v", f.name, name, n, y[n])
				}
			}
		}
	}
}

func TestActivationsAtTheEnds(t *testing.T) {
	for _, f := range vectored {
		for name, version := range f.versions {
			for _, c := range f.ends {
				y := []float64{c[0]}
				version(y)
				if y[0] != c[1] || math.Signbit(y[0]) != math.Signbit(c[1]) {
					t.Errorf("%s, %s: at %v %v, want %v", f.name, name, c[0], y[0], c[1])
				}
			}
			y := []float64{math.NaN()}
			version(y)
			if !math.IsNaN(y[0]) {
				t.Errorf("%s, %s: at NaN %v", f.name, name, y[0])
			}
		}
	}
}

// The versions that a machine chooses between by its processor have the same bits, wherever a
// value stands.
func FuzzActivationsOfTheProcessor(f *testing.F) {
	f.Add(uint64(1), 20, 2.0)
	f.Add(uint64(2), 64, 50.0)
	f.Add(uint64(3), 9, 1e-9)
	f.Fuzz(func(t *testing.T, seed uint64, n int, size float64) {
		if n < 0 || n > 300 {
			return
		}
		r := rand.New(rand.NewPCG(seed, 1))
		x := make([]float64, n)
		for i := range x {
			x[i] = size * r.NormFloat64()
		}
		for _, function := range vectored {
			y := slices.Clone(x)
			function.versions["here"](y)
			for i, v := range x {
				four := []float64{v, v, v, v} // never by eights
				function.versions["here"](four)
				if y[i] != four[0] && !(math.IsNaN(y[i]) && math.IsNaN(four[0])) {
					t.Fatalf("%s of %v is %v among %d, else %v", function.name, v, y[i], n, four[0])
				}
			}
		}
	})
}
