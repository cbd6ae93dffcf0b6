package genes

import (
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/stat"
)

// A mechanism is the function of a structural equation: it adds to out what the
// columns of parents give. signs, if not nil, are those of the parents.
type mechanism func(rng *rand.Rand, parents table, out []float64) (signs []int8)

// mostSpread bounds the standard deviation of what a gene's regulators give it, so
// that it does not grow along the order.
const mostSpread = 3

// drawSEM draws structural equations: every gene is a function of its regulators
// plus noise, which is normal or, where laplace says so, Laplace. Inputs that spread
// have a standard deviation from .7 to 1.5, others of 1.
func drawSEM(rng *rand.Rand, net *network, samples int, f mechanism, laplace, spread bool) (table, [][]int8) {
	t := newTable(len(net.parents), samples)
	signs := make([][]int8, len(t))
	base, equal := uniform(rng, .3, 1.5), rng.IntN(2) == 0
	for _, j := range net.order {
		deviation := base
		if !equal {
			deviation *= uniform(rng, .4, 1.6)
		}
		out, parents := t[j], columnsOf(t, net.parents[j])
		if len(parents) == 0 {
			deviation = 1
			if spread {
				deviation = uniform(rng, .7, 1.5)
			}
		} else {
			signs[j] = f(rng, parents, out)
			mean, sd := stat.PopMeanStdDev(out, nil)
			scale := 1.0
			if sd > mostSpread {
				scale = mostSpread / sd
			}
			for r, v := range out {
				out[r] = scale * (v - mean)
			}
		}
		for r := range out {
			e := rng.NormFloat64()
			if laplace {
				e = rng.ExpFloat64() / math.Sqrt2
				if rng.IntN(2) == 0 {
					e = -e
				}
			}
			out[r] += deviation * e
		}
	}
	return t, signs
}

func columnsOf(t table, list []int) table {
	some := make(table, len(list))
	for k, j := range list {
		some[k] = t[j]
	}
	return some
}

// linear weights every parent by .3 to 1.2, of either sign.
func linear(rng *rand.Rand, parents table, out []float64) []int8 {
	return weigh(rng, parents, out, .3, 1.2, func(x float64) float64 { return x })
}

// sigmoid is the same of a soft step of every parent.
func sigmoid(rng *rand.Rand, parents table, out []float64) []int8 {
	return weigh(rng, parents, out, .5, 2, func(x float64) float64 { return 2/(1+math.Exp(-1.5*x)) - 1 })
}

// quadratic is linear with a parabola of every parent beside.
func quadratic(rng *rand.Rand, parents table, out []float64) []int8 {
	weigh(rng, parents, out, .3, 1, func(x float64) float64 { return x })
	for _, parent := range parents {
		w := .24 * rng.NormFloat64()
		for r, x := range parent {
			x = min(max(x, -3), 3)
			out[r] += w * (x*x - 1)
		}
	}
	return nil
}

func weigh(rng *rand.Rand, parents table, out []float64, low, high float64, f func(float64) float64) []int8 {
	signs := make([]int8, len(parents))
	for k, parent := range parents {
		signs[k] = pick[int8](rng, -1, 1)
		w := float64(signs[k]) * uniform(rng, low, high)
		for r, x := range parent {
			out[r] += w * f(x)
		}
	}
	return signs
}

// process is a draw of a Gaussian process over all parents together, by random
// Fourier features (Rahimi and Recht, NIPS 2007).
func process(rng *rand.Rand, parents table, out []float64) []int8 {
	fourier(rng, parents, out, 80)
	return nil
}

// additive is a draw of a process for each parent.
func additive(rng *rand.Rand, parents table, out []float64) []int8 {
	for k := range parents {
		fourier(rng, parents[k:k+1], out, 60)
	}
	return nil
}

func fourier(rng *rand.Rand, parents table, out []float64, features int) {
	width := uniform(rng, .7, 1.6)
	scale := math.Sqrt(2 / float64(features))
	w := make([]float64, len(parents))
	for range features {
		for k := range w {
			w[k] = rng.NormFloat64() / width
		}
		phase, amplitude := uniform(rng, 0, 2*math.Pi), scale*rng.NormFloat64()
		for r := range out {
			angle := phase
			for k, parent := range parents {
				angle += w[k] * parent[r]
			}
			out[r] += amplitude * math.Cos(angle)
		}
	}
}

// perceptron is a network of one hidden layer with random weights.
func perceptron(rng *rand.Rand, parents table, out []float64) []int8 {
	w := make([]float64, len(parents))
	for range 12 {
		for k := range w {
			w[k] = rng.NormFloat64()
		}
		offset, weight := .5*rng.NormFloat64(), rng.NormFloat64()/2
		for r := range out {
			v := offset
			for k, parent := range parents {
				v += w[k] * parent[r]
			}
			out[r] += weight * math.Tanh(v)
		}
	}
	return nil
}
