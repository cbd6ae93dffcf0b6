package glad

import "math"

// Loops that several formulas need.

func fill(y []float64, v float64) {
	for i := range y {
		y[i] = v
	}
}

func absolute(to, from []float64) {
	to = to[:len(from)]
	for j, v := range from {
		to[j] = math.Abs(v)
	}
}

// absoluteDerivative adds to to the derivatives by x where by are those by |x|.
func absoluteDerivative(to, x, by []float64) {
	to, by = to[:len(x)], by[:len(x)]
	for j, v := range x {
		to[j] += by[j] * sign(v)
	}
}

// less sets x to a − b.
func less(x, a []float64, b float64) {
	x = x[:len(a)]
	for j, v := range a {
		x[j] = v - b
	}
}

// average sets x to (a + b)/2.
func average(x, a []float64, b float64) {
	x = x[:len(a)]
	for j, v := range a {
		x[j] = (v + b) / 2
	}
}

// contrast sets x to |a − b|/2.
func contrast(x, a []float64, b float64) {
	x = x[:len(a)]
	for j, v := range a {
		x[j] = math.Abs(v-b) / 2
	}
}

// sign is −1, 0 or 1.
func sign(x float64) float64 {
	switch {
	case x > 0:
		return 1
	case x < 0:
		return -1
	}
	return 0
}
