//go:build cuda

package main

import (
	"math"
	"math/rand/v2"

	"github.com/gladflow/gladflow/solver"
	"github.com/gladflow/gladflow/solver/cuda/internal/modeltest"
	"github.com/gladflow/gladflow/solver/dense"
	"github.com/gladflow/gladflow/solver/glad"
)

// sparse is the covariance of m samples of a sparse network, as models were trained on: a
// chain of neighbours, with weights that differ.
func (c *check) sparse(d, m int) solver.Problem {
	return c.covariance(d, m, func(r *rand.Rand, row []float64) {
		for j := range row {
			row[j] = r.NormFloat64()
			if j > 0 {
				row[j] += 0.6 * row[j-1]
			}
		}
	})
}

// factored is the covariance of m samples that few factors explain, with variances over
// four decades: as badly conditioned as those of gene expression.
func (c *check) factored(d, m int) solver.Problem {
	factors := max(1, min(d/10, 30))
	loads, scale := c.normal(factors*d), make([]float64, d)
	for j := range scale {
		scale[j] = math.Pow(10, 2*c.random.Float64()-1)
	}
	f := make([]float64, factors)
	return c.covariance(d, m, func(r *rand.Rand, row []float64) {
		for k := range f {
			f[k] = r.NormFloat64() / (1 + float64(k)/2)
		}
		for j := range row {
			row[j] = 0.1 * r.NormFloat64()
			for k, v := range f {
				row[j] += v * loads[k*d+j]
			}
			row[j] *= scale[j]
		}
	})
}

// covariance is that of m samples. For large d they are no more than 2,000.
func (c *check) covariance(d, m int, sample func(r *rand.Rand, row []float64)) solver.Problem {
	m = min(m, 2000)
	x := make([]float64, m*d)
	for i := range m {
		sample(c.random, x[i*d:(i+1)*d])
	}
	s := dense.NewSym(d, nil)
	dense.NewWorkspace(dense.Default(), d).Gram(s, 1/float64(m), x, m, 0)
	return solver.Problem{S: s, Samples: m}
}

func builtin(name string) *glad.Model { return got(glad.Builtin(name)) }

// network is one of random weights.
func (c *check) network(inputs []glad.Feature, activation glad.Activation, units ...int) glad.Network {
	n := glad.Network{Inputs: inputs}
	below := len(inputs)
	for i, u := range units {
		l := glad.Layer{Bias: c.normal(u), Activation: "tanh"}
		for range u {
			w := c.normal(below)
			for j := range w {
				w[j] /= 2 * math.Sqrt(float64(below))
			}
			l.Weights = append(l.Weights, w)
		}
		if i == len(units)-1 {
			l.Activation = activation
			for j := range l.Bias {
				l.Bias[j] -= 1
			}
		}
		n.Layers = append(n.Layers, l)
		below = u
	}
	return n
}

// made are models of kinds and shapes that no shipped one has.
func (c *check) made() []*glad.Model {
	admmu := builtin("er-d100-m100-literal").Clone()
	admmu.Name, admmu.Kind, admmu.Iterations = "made-admmu", glad.ADMMu, 6
	admmu.Rho = c.network([]glad.Feature{glad.Theta, glad.S, glad.Z, glad.Lambda}, "sigmoid", 3, 3, 1)
	wide := builtin("er-d100-m100-recipe").Clone()
	wide.Name, wide.Iterations = "made-glad-wide", 5
	wide.Rho = c.network([]glad.Feature{glad.AbsTheta, glad.AbsS, glad.AbsZ, glad.NegThetaS, glad.Diagonal, glad.Lambda, glad.Context}, "sigmoid", 9, 4, 1)
	posterior := builtin("general").Clone()
	posterior.Name = "made-glad-pm-wide"
	for i := range posterior.Cells {
		inputs := append([]glad.Feature{glad.Lambda}, posterior.Cells[i].Network.Inputs...)
		posterior.Cells[i].Network = c.network(inputs, "identity", 7, 3)
	}
	var all []*glad.Model
	for _, m := range []*glad.Model{admmu, wide, posterior} {
		must(m.Validate())
		all = append(all, m)
	}
	return all
}

// shapes are models of which every other one has the same networks, with other weights.
var shapes = []string{"general", "er-d100-m100", "er-d100-m100-literal", "er-d100-m100-recipe", "made-admmu", "made-glad-wide", "made-glad-pm-wide"}

// plan is that of a model.
func plan(m *glad.Model) *glad.Plan { return got(modeltest.FixedPlan(m)) }
