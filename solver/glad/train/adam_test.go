package train

import (
	"math"
	"testing"
)

func TestAdam(t *testing.T) {
	a, x := newAdam(3), []float64{1, 2, 3}
	a.step(x, []float64{5, -1e-3, 0}, 0.1)
	// The first step has the length of the rate, whatever the gradient, but
	// for Adam's ε of 1e-8, a part of 1e-5 of the smallest one.
	for i, want := range []float64{0.9, 2.1, 3} {
		if math.Abs(x[i]-want) > 1e-5 {
			t.Errorf("x[%d] = %v, want %v", i, x[i], want)
		}
	}
	// It finds the minimum of an ill-scaled quadratic, to a tenth of the rate:
	// at a constant rate it goes on moving about it.
	a, x = newAdam(2), []float64{3, -2}
	for range 2000 {
		a.step(x, []float64{1e4 * (x[0] - 1), 1e-2 * (x[1] - 1)}, 0.01)
	}
	if math.Abs(x[0]-1) > 1e-3 || math.Abs(x[1]-1) > 1e-3 {
		t.Errorf("Adam ends at %v", x)
	}
}

func TestClip(t *testing.T) {
	g := []float64{3, 4}
	clip(g, 10)
	if g[0] != 3 || g[1] != 4 {
		t.Errorf("a short gradient becomes %v", g)
	}
	clip(g, 1)
	if math.Abs(g[0]-0.6) > 1e-15 || math.Abs(g[1]-0.8) > 1e-15 {
		t.Errorf("a long gradient becomes %v", g)
	}
}

func TestSchedule(t *testing.T) {
	s := Settings{Steps: 100, LearningRate: 1, Decay: 0.1}.resolved()
	for step, want := range map[int]float64{1: 1, 50: 1, 51: 0.1, 75: 0.1, 76: 0.01, 91: 0.001, 100: 0.001} {
		if got := s.rate(step); math.Abs(got-want) > 1e-15 {
			t.Errorf("the rate of step %d is %v, want %v", step, got, want)
		}
	}
}
