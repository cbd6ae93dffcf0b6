package train

import "gonum.org/v1/gonum/floats"

// clip scales gradient to norm limit where it is longer.
func clip(gradient []float64, limit float64) {
	if n := floats.Norm(gradient, 2); n > limit {
		floats.Scale(limit/n, gradient)
	}
}

func allFinite(x []float64) bool {
	for _, v := range x {
		if v-v != 0 {
			return false
		}
	}
	return true
}
