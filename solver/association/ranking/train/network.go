package train

import (
	"math"
	"math/rand/v2"
	"sync"

	"github.com/gladflow/gladflow/solver/association/ranking"
)

// flat is a ranking.Network whose numbers are one vector: the weights by rows, the
// biases, the outputs and the output's bias.
type flat struct {
	units, width int
	values       []float64
	hidden       []float64 // of the pair at work
}

// newNetwork draws first weights: normal, with the variance 2/width that keeps the
// scale of what goes through a ramp (He et al., ICCV 2015).
func newNetwork(rng *rand.Rand, units, width int) *flat {
	n := &flat{units: units, width: width, values: make([]float64, units*(width+2)+1), hidden: make([]float64, units)}
	for i := range units * width {
		n.values[i] = rng.NormFloat64() * math.Sqrt(2/float64(width))
	}
	_, output := n.parts(n.values)
	for u := range output {
		output[u] = rng.NormFloat64() * math.Sqrt(1/float64(units))
	}
	return n
}

// parts are the biases and the outputs in a vector like values.
func (n *flat) parts(v []float64) (bias, output []float64) {
	at := n.units * n.width
	return v[at : at+n.units], v[at+n.units : at+2*n.units]
}

// loss is the mean over the pairs named of their weighted logistic losses, with the
// decay; its derivatives are added to gradient.
func (n *flat) loss(p *pairs, which []int, decay float64, gradient []float64) float64 {
	var loss float64
	bias, output := n.parts(n.values)
	toBias, toOutput := n.parts(gradient)
	last := len(n.values) - 1
	share := 1 / float64(len(which))
	for _, i := range which {
		x := p.row(i)
		score := n.values[last]
		for u := range n.units {
			h := bias[u]
			for k, w := range n.values[u*n.width : (u+1)*n.width] {
				h += w * x[k]
			}
			h = max(0, h)
			n.hidden[u] = h
			score += output[u] * h
		}
		margin := p.sign[i] * score
		w := share * p.weight[i]
		loss += w * softplus(-margin)
		delta := -w * p.sign[i] / (1 + math.Exp(margin))
		gradient[last] += delta
		for u, h := range n.hidden {
			if h <= 0 {
				continue
			}
			toOutput[u] += delta * h
			d := delta * output[u]
			toBias[u] += d
			row := gradient[u*n.width : (u+1)*n.width]
			for k, v := range x {
				row[k] += d * v
			}
		}
	}
	for i, v := range n.values[:n.units*n.width] {
		loss += decay / 2 * v * v
		gradient[i] += decay * v
	}
	for u, v := range output {
		loss += decay / 2 * v * v
		toOutput[u] += decay * v
	}
	return loss
}

// softplus is log(1 + exp(x)).
func softplus(x float64) float64 {
	if x > 0 {
		return x + math.Log1p(math.Exp(-x))
	}
	return math.Log1p(math.Exp(x))
}

// network is n as models have it.
func (n *flat) network() ranking.Network {
	bias, output := n.parts(n.values)
	r := ranking.Network{Bias: bias, Output: output, OutputBias: n.values[len(n.values)-1]}
	for u := range n.units {
		r.Weights = append(r.Weights, n.values[u*n.width:(u+1)*n.width])
	}
	return r
}

// A counter counts what concurrent workers have done.
type counter struct {
	mutex     sync.Mutex
	done, all int
	tell      func(done, all int)
}

func newCounter(all int, tell func(done, all int)) *counter { return &counter{all: all, tell: tell} }

func (c *counter) add() {
	if c.tell == nil {
		return
	}
	c.mutex.Lock()
	defer c.mutex.Unlock()
	c.done++
	c.tell(c.done, c.all)
}
