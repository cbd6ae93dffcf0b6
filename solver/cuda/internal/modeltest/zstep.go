package modeltest

import (
	"math"
	"math/rand/v2"
	"slices"

	"github.com/gladflow/gladflow/solver/glad"
)

// A ZStep is what goes into the Z step of a cell for one covariance, and into the way back
// through it. Matrices are symmetric, d×d.
type ZStep struct {
	Plan *glad.Plan
	Cell int // from 1
	D    int

	Theta, S, Z, U []float64 // U for ADMMu only
	ByZ, ByU       []float64 // the derivatives by Z and U after the step
	ByNorm2        float64   // that by ‖Z − Θ‖²F

	Lambda float64
	Shape  glad.Shape // its Context and Table
	// Of posterior-mean cells: the mean of the diagonal, √M, the gain, and of every
	// variable n(i), log Sii, σ and q.
	Mean, RootSamples, Gain     float64
	Nodes, LogS, Sigma, Support []float64
}

// Derivatives are those of the loss by what a ZStep has: see Differentiate. Those by a matrix
// are by its single entries, and symmetric.
type Derivatives struct {
	ToZ, ToU     []float64 // the step itself
	Theta, Z, U  []float64
	LogSigma     []float64 // by log(σi·σj) off the diagonal, by log σi on it
	Support      []float64 // in row i what an entry has of that by qi
	Lambda, Mean float64
	Gain         float64
	Weights      []float64 // and biases, in the order of the plan
}

// RandomStep is a step of random numbers. A third of the entries of Z are 0, as the soft
// threshold makes them.
func RandomStep(r *rand.Rand, p *glad.Plan, k, d int) *ZStep {
	s := &ZStep{
		Plan: p, Cell: k, D: d, ByNorm2: r.NormFloat64(), Lambda: 0.3 + r.Float64(),
		Shape: glad.Shape{Context: r.NormFloat64(), Table: glad.Table{
			SampleRatio: r.NormFloat64(), Strength: r.NormFloat64(), Kurtosis: r.NormFloat64(),
			RowSpread: r.NormFloat64(), LargestContext: r.NormFloat64(),
		}},
		Mean: 1 + r.Float64(), RootSamples: 3 + 5*r.Float64(), Gain: 0.2 + r.Float64(),
	}
	matrix := func(zeros float64) []float64 {
		a := make([]float64, d*d)
		for i := range d {
			for j := range i + 1 {
				if r.Float64() >= zeros {
					a[i*d+j] = r.NormFloat64()
					a[j*d+i] = a[i*d+j]
				}
			}
		}
		return a
	}
	row := func(f func() float64) []float64 {
		v := make([]float64, d)
		for i := range v {
			v[i] = f()
		}
		return v
	}
	s.Theta, s.S, s.Z, s.ByZ = matrix(0), matrix(0), matrix(1./3), matrix(0)
	if p.Kind == glad.ADMMu {
		s.U, s.ByU = matrix(0), matrix(0)
	}
	s.Nodes, s.LogS, s.Support = row(r.NormFloat64), row(r.NormFloat64), row(r.NormFloat64)
	s.Sigma = row(func() float64 { return 0.3 + r.Float64() })
	return s
}

// Rows are the arrays of the variables as posterior_rows leaves them.
func (s *ZStep) Rows() []float64 {
	logs, roots := make([]float64, s.D), make([]float64, s.D)
	for i, v := range s.Sigma {
		logs[i], roots[i] = math.Log(v), math.Sqrt(v)
	}
	return slices.Concat(s.Nodes, s.LogS, s.Sigma, logs, roots, s.Support)
}

// Weights is the number of weights and biases of the network.
func (s *ZStep) Weights() int {
	e := s.Plan.Entries[s.Plan.Entry(s.Cell)]
	count, below := 0, len(e.Network.Inputs)
	for _, l := range e.Network.Layers {
		count += len(l.Bias) * (below + 1)
		below = len(l.Bias)
	}
	return count
}
