package train

import (
	"math"
	"testing"
)

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
