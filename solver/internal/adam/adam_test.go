package adam

import (
	"math"
	"testing"
)

func TestAdam(t *testing.T) {
	a, x := New(3), []float64{1, 2, 3}
	a.Step(x, []float64{5, -1e-3, 0}, 0.1)
	// The first step has the length of the rate, whatever the gradient, but
	// for Adam's ε of 1e-8, a part of 1e-5 of the smallest one.
	for i, want := range []float64{0.9, 2.1, 3} {
		if math.Abs(x[i]-want) > 1e-5 {
			t.Errorf("x[%d] = %v, want %v", i, x[i], want)
		}
	}
	// It finds the minimum of an ill-scaled quadratic, to a tenth of the rate:
	// at a constant rate it goes on moving about it.
	a, x = New(2), []float64{3, -2}
	for range 2000 {
		a.Step(x, []float64{1e4 * (x[0] - 1), 1e-2 * (x[1] - 1)}, 0.01)
	}
	if math.Abs(x[0]-1) > 1e-3 || math.Abs(x[1]-1) > 1e-3 {
		t.Errorf("Adam ends at %v", x)
	}
}
