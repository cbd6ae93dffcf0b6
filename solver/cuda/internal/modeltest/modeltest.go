// Package modeltest has models for tests of what computes them, and derivatives of their Z
// steps that are computed another way: forwards.
package modeltest

import (
	"math"
	"math/rand/v2"

	"github.com/gladflow/gladflow/solver/glad"
)

// Random is a model of a kind with any features, layers, activations and scales.
func Random(r *rand.Rand, kind glad.Kind) *glad.Model {
	m := &glad.Model{
		Name: "random", Kind: kind, Iterations: 1 + r.IntN(4), Theta0Offset: 1, Lambda0: 1,
		// λ wanders between 0.5 and 2.5.
		Lambda: glad.Network{Inputs: []glad.Feature{glad.Lambda}, Layers: []glad.Layer{
			{Weights: [][]float64{{3}}, Bias: []float64{-4}, Activation: glad.Sigmoid, Scale: 2},
			{Weights: [][]float64{{1}}, Bias: []float64{0.5}, Activation: glad.Identity},
		}},
		Scaling: glad.Scaling{Mode: glad.ScalingNone},
	}
	last := []glad.Activation{glad.Tanh, glad.Sigmoid, glad.Exp, glad.Identity}
	if kind != glad.GLADPM {
		features := []glad.Feature{glad.Theta, glad.S, glad.Z, glad.AbsTheta, glad.AbsS, glad.AbsZ, glad.NegThetaS, glad.Diagonal, glad.Lambda, glad.Context}
		m.Rho = network(r, features, 1, last)
		return m
	}
	features := []glad.Feature{
		glad.AbsU, glad.LogV, glad.ScaledU, glad.PriorZ, glad.UZ, glad.Diagonal, glad.NodeContext,
		glad.NodeSupport, glad.MeanDiagonal, glad.ZScore, glad.Lambda, glad.Context,
		glad.NodeContrast, glad.SupportContrast,
		glad.SampleRatio, glad.Strength, glad.Kurtosis, glad.RowSpread, glad.LargestContext,
	}
	cells := 1
	if r.IntN(2) == 0 {
		cells = m.Iterations
	}
	for range cells {
		m.Cells = append(m.Cells, glad.PosteriorMean{Step: r.NormFloat64() - 1, Network: network(r, features, 3, last)})
	}
	return m
}

func network(r *rand.Rand, features []glad.Feature, outputs int, last []glad.Activation) glad.Network {
	n := glad.Network{}
	for _, i := range r.Perm(len(features))[:1+r.IntN(len(features))] {
		n.Inputs = append(n.Inputs, features[i])
	}
	layers, below := 1+r.IntN(4), len(n.Inputs)
	for i := range layers {
		units, from := 1+r.IntN(14), []glad.Activation{glad.Tanh, glad.Sigmoid, glad.Identity}
		if i == layers-1 {
			units, from = outputs, last
		}
		l := glad.Layer{Activation: from[r.IntN(len(from))], Bias: make([]float64, units)}
		if r.IntN(2) == 0 {
			l.Scale = 0.2 + r.Float64()
		}
		constant := r.IntN(10) == 0
		for u := range units {
			row := make([]float64, below)
			for j := range row {
				if !constant {
					row[j] = r.NormFloat64() / math.Sqrt(float64(below))
				}
			}
			l.Weights = append(l.Weights, row)
			l.Bias[u] = r.NormFloat64() / 2
		}
		n.Layers = append(n.Layers, l)
		below = units
	}
	return n
}
