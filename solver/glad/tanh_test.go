package glad

import (
	"math"
	"math/big"
	"testing"
)

// bigTanh is tanh(x) = (e²ˣ − 1)/(e²ˣ + 1) in 200 bits.
func bigTanh(x float64) float64 {
	const bits = 200
	number := func(v float64) *big.Float { return new(big.Float).SetPrec(bits).SetFloat64(v) }
	// e²ˣ = (e^(2x/2¹⁰))^(2¹⁰), the inner one by its series.
	const halvings = 10
	h := number(math.Ldexp(2*x, -halvings))
	sum, term := number(1), number(1)
	for n := 1.0; n < 60; n++ {
		term.Mul(term, h)
		term.Quo(term, number(n))
		sum.Add(sum, term)
	}
	for range halvings {
		sum.Mul(sum, sum)
	}
	above := new(big.Float).SetPrec(bits).Sub(sum, number(1))
	below := new(big.Float).SetPrec(bits).Add(sum, number(1))
	v, _ := above.Quo(above, below).Float64()
	return v
}

// tanhs are the versions of tanh that this machine can run.
var tanhs = map[string]func([]float64){"Go": tanhGo, "here": tanh}

func TestTanh(t *testing.T) {
	var xs []float64
	for x := 1e-9; x < 25; x *= 1.01 {
		xs = append(xs, x, -x)
	}
	// Around the steps of the table.
	for j := range 300 {
		x := (float64(j) + 0.5) * math.Ln2 / 128
		xs = append(xs, x, math.Nextafter(x, 0), math.Nextafter(x, 1e3))
	}
	want := make([]float64, len(xs))
	for i, x := range xs {
		want[i] = bigTanh(x)
	}
	for name, tanh := range tanhs {
		y := append([]float64(nil), xs...)
		tanh(y)
		var worst float64
		for i, x := range xs {
			if e := math.Abs(y[i]/want[i] - 1); e > 1e-15 || math.IsNaN(e) {
				t.Errorf("%s: tanh(%v) = %v, want %v", name, x, y[i], want[i])
			} else {
				worst = max(worst, e)
			}
		}
		t.Logf("%s: largest relative error over %d points: %.2g", name, len(xs), worst)
	}
}

// A value does not depend on its place, nor on what stands beside it, and
// nothing beyond the slice is touched.
func TestTanhOfAnyLength(t *testing.T) {
	const x = 0.7
	for name, tanh := range tanhs {
		one := []float64{x}
		tanh(one)
		for n := range 11 {
			y := make([]float64, n+1)
			for i := range y {
				y[i] = x
			}
			tanh(y[:n])
			for i, v := range y[:n] {
				if v != one[0] {
					t.Errorf("%s: of %d values number %d is %v, want %v", name, n, i, v, one[0])
				}
			}
			if y[n] != x {
				t.Errorf("%s: the value after %d is changed to %v", name, n, y[n])
			}
		}
	}
}

func TestTanhAtTheEnds(t *testing.T) {
	tiny := math.SmallestNonzeroFloat64
	for _, c := range [][2]float64{
		{0, 0}, {math.Copysign(0, -1), 0}, {1e300, 1}, {-1e300, -1}, {math.Inf(1), 1}, {math.Inf(-1), -1},
		{19.5, 1}, {20, 1}, {20.5, 1}, {1e-300, 1e-300}, {-1e-300, -1e-300}, {tiny, tiny},
	} {
		for name, tanh := range tanhs {
			y := []float64{c[0]}
			tanh(y)
			if y[0] != c[1] || math.Signbit(y[0]) != math.Signbit(c[0]) {
				t.Errorf("%s: tanh(%v) = %v, want %v", name, c[0], y[0], c[1])
			}
		}
	}
	for name, tanh := range tanhs {
		y := []float64{math.NaN()}
		tanh(y)
		if !math.IsNaN(y[0]) {
			t.Errorf("%s: tanh(NaN) = %v", name, y[0])
		}
	}
}
