// Package adam is the optimiser that models are trained with.
package adam

import "math"

// Adam is the optimiser of Kingma and Ba (ICLR 2015), with their β and ε.
type Adam struct {
	// First and Second are the moments of the gradient; Steps counts.
	First, Second []float64
	Steps         int
}

const (
	beta1, beta2 = 0.9, 0.999
	epsilon      = 1e-8
)

// New is the optimiser of n values, before its first step.
func New(n int) Adam { return Adam{First: make([]float64, n), Second: make([]float64, n)} }

// Step moves values against gradient by about rate each.
func (a *Adam) Step(values, gradient []float64, rate float64) {
	a.Steps++
	c1 := 1 - math.Pow(beta1, float64(a.Steps))
	c2 := 1 - math.Pow(beta2, float64(a.Steps))
	for i, g := range gradient {
		a.First[i] = beta1*a.First[i] + (1-beta1)*g
		a.Second[i] = beta2*a.Second[i] + (1-beta2)*g*g
		values[i] -= rate * (a.First[i] / c1) / (math.Sqrt(a.Second[i]/c2) + epsilon)
	}
}

// CopyFrom makes a a copy of b, which is as long.
func (a *Adam) CopyFrom(b *Adam) {
	copy(a.First, b.First)
	copy(a.Second, b.Second)
	a.Steps = b.Steps
}
