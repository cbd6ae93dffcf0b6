package train

import (
	"math"

	"gonum.org/v1/gonum/floats"
)

// Adam is the optimiser of Kingma and Ba (ICLR 2015), with their β and ε.
type adam struct {
	// First and Second are the moments of the gradient; Steps counts.
	First, Second []float64
	Steps         int
}

const (
	beta1, beta2 = 0.9, 0.999
	epsilon      = 1e-8
)

func newAdam(n int) adam { return adam{First: make([]float64, n), Second: make([]float64, n)} }

// step moves values against gradient.
func (a *adam) step(values, gradient []float64, rate float64) {
	a.Steps++
	c1 := 1 - math.Pow(beta1, float64(a.Steps))
	c2 := 1 - math.Pow(beta2, float64(a.Steps))
	for i, g := range gradient {
		a.First[i] = beta1*a.First[i] + (1-beta1)*g
		a.Second[i] = beta2*a.Second[i] + (1-beta2)*g*g
		values[i] -= rate * (a.First[i] / c1) / (math.Sqrt(a.Second[i]/c2) + epsilon)
	}
}

func (a *adam) copyFrom(b *adam) {
	copy(a.First, b.First)
	copy(a.Second, b.Second)
	a.Steps = b.Steps
}

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
