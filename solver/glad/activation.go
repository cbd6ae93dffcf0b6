package glad

import "math"

// apply replaces every x of y by the activation of x.
func (a Activation) apply(y []float64) {
	switch a {
	case Tanh:
		tanh(y)
	case Sigmoid:
		sigmoids(y)
	case Exp:
		for i, v := range y {
			y[i] = math.Exp(v)
		}
	}
}

// sigmoid is 1/(1 + e⁻ˣ), to full relative precision also where it is tiny.
func sigmoid(x float64) float64 {
	if x < 0 {
		e := math.Exp(x)
		return e / (1 + e)
	}
	return 1 / (1 + math.Exp(-x))
}

// sigmoidsGo is sigmoids where there are no vector instructions.
func sigmoidsGo(y []float64) {
	for i, v := range y {
		y[i] = sigmoid(v)
	}
}

// tanhGo is tanh where there are no vector instructions, in half the time of
// math.Tanh: nine of the ten activations of the paper's ρnn are tanh, and they
// are most of the Z step.
//
// With a = |x|, tanh(a) = −m/(m + 2) for m = e⁻²ᵃ − 1, and
// e⁻²ᵃ = 2⁻ᵏ·2^(−j/64)·e⁻ʳ with 0 ≤ j < 64 and |r| ≤ ln2/128: two tables and
// a polynomial. m does not cancel where it is small: k = 0 takes
// 2^(−j/64) − 1 from its own table.
func tanhGo(y []float64) {
	const (
		perLn2 = 64 / math.Ln2
		// ln2/64 in two parts; products of high with the whole numbers up to
		// 2¹³ that occur are exact.
		high = 0x1.62e42fefap-07
		low  = 0x1.cf79abc9e3b3ap-46
		// From here on tanh(a) is 1 in float64.
		saturated = 20
		// Adding and taking away 1.5·2⁵² rounds to the nearest whole number.
		rounder = 3 << 51
	)
	for i, x := range y {
		a := 2 * math.Abs(x)
		if a > 2*saturated {
			a = 2 * saturated
		}
		n := a*perLn2 + rounder
		j := math.Float64bits(n)
		n -= rounder
		r := n*high - a + n*low // −r of the comment above
		// eʳ − 1 by its series to r⁶: the next term is below 5e-18 of it.
		r2 := r * r
		p := r + r2*((1.0/2+r*(1.0/6))+r2*((1.0/24+r*(1.0/120))+r2*(1.0/720)))
		power := math.Float64frombits((1023 - (j>>6)&63) << 52) // 2⁻ᵏ
		t := &roots[j&63]
		m := power*(t.less1+t.root*p) + (power - 1)
		y[i] = math.Copysign(-m/(m+2), x)
	}
}

// roots holds 2^(−j/64) and the same less 1.
var roots = func() (t [64]struct{ root, less1 float64 }) {
	for j := range t {
		t[j].root = math.Exp2(-float64(j) / 64)
		t[j].less1 = math.Expm1(-float64(j) / 64 * math.Ln2)
	}
	return t
}()
