package glad

import (
	"math"
	"slices"
)

// A network is a Network laid out for evaluation on batches: one slice per
// unit, one element per entry of the matrix. Its weights are a part of the flat
// vector of all parameters of the model (see Model.Values), and follow it.
type network struct {
	inputs []Feature
	layers []layer
	// outputs is the number of units of the last layer.
	outputs int
	// constant holds the outputs where they are the same for every input,
	// because a layer has no weight but zeros; else it is nil.
	constant []float64
}

type layer struct {
	units, below int
	at           int       // index of the first weight in the flat vector
	weights      []float64 // row-major, one row per unit
	bias         []float64
	activation   Activation
	scale        float64
}

// compile lays n out over values, the flat vector of all parameters, from
// index at on.
func compile(n Network, values []float64, at int) *network {
	c := &network{inputs: n.Inputs}
	below := len(n.Inputs)
	for _, l := range n.Layers {
		to := layer{units: len(l.Bias), below: below, at: at, activation: l.Activation, scale: l.Scale}
		if to.scale == 0 {
			to.scale = 1
		}
		weights := to.units * below
		to.weights = values[at : at+weights : at+weights]
		to.bias = values[at+weights : at+weights+to.units : at+weights+to.units]
		at += weights + to.units
		c.layers = append(c.layers, to)
		below = to.units
	}
	c.outputs = below
	return c
}

// fold finds out whether c is constant. The weights must not change any more.
func (c *network) fold() {
	from := -1 // the last layer that does not depend on what is below
	for i, l := range c.layers {
		if !slices.ContainsFunc(l.weights, func(w float64) bool { return w != 0 }) {
			from = i
		}
	}
	if from < 0 {
		return
	}
	top := &network{inputs: make([]Feature, c.layers[from].below), layers: c.layers[from:], outputs: c.outputs}
	var b batch
	b.fit(top, 1)
	for _, y := range top.run(&b, 1) { // at inputs 0, like at all others
		c.constant = append(c.constant, y[0])
	}
}

// A batch is the memory of one evaluation at a time.
type batch struct {
	// inputs holds one slice per feature. The caller fills them, or puts
	// others in their place, of the same length or longer.
	inputs [][]float64
	// units are the outputs of every layer.
	units [][][]float64
	// deltas are the adjoints of units, and those of inputs before them; only
	// for backward.
	deltas [][][]float64
}

// fit makes b big enough for n entries of c.
func (b *batch) fit(c *network, n int) {
	b.inputs = rows(len(c.inputs), n)
	b.units = nil
	for _, l := range c.layers {
		b.units = append(b.units, rows(l.units, n))
	}
}

// fitAdjoint makes b big enough for backward as well.
func (b *batch) fitAdjoint(c *network, n int) {
	b.fit(c, n)
	b.deltas = [][][]float64{rows(len(c.inputs), n)}
	for _, l := range c.layers {
		b.deltas = append(b.deltas, rows(l.units, n))
	}
}

// rows is k slices of length n.
func rows(k, n int) [][]float64 {
	r, data := make([][]float64, k), make([]float64, k*n)
	for i := range r {
		r[i] = data[i*n : (i+1)*n]
	}
	return r
}

// run evaluates c at the first n entries of b.inputs. The result, one slice
// per output of which n entries count, is valid until the next run on b.
func (c *network) run(b *batch, n int) [][]float64 {
	if c.constant != nil {
		y := b.units[len(b.units)-1]
		for u, v := range c.constant {
			fill(y[u][:n], v)
		}
		return y
	}
	x := b.inputs
	for i := range c.layers {
		l, y := &c.layers[i], b.units[i]
		for u := range y {
			l.unit(u, y[u][:n], x)
		}
		x = y
	}
	return x
}

// unit sets y to unit u of l at x.
func (l *layer) unit(u int, y []float64, x [][]float64) {
	w := l.weights[u*len(x) : (u+1)*len(x)]
	b := l.bias[u]
	// Three inputs a pass: the sums stay in registers, and the networks of the
	// paper need no second pass.
	if len(w) >= 3 {
		w0, w1, w2 := w[0], w[1], w[2]
		x0, x1, x2 := x[0][:len(y)], x[1][:len(y)], x[2][:len(y)]
		for i := range y {
			y[i] = b + w0*x0[i] + w1*x1[i] + w2*x2[i]
		}
		w, x = w[3:], x[3:]
	} else {
		fill(y, b)
	}
	for len(w) >= 2 {
		w0, w1 := w[0], w[1]
		x0, x1 := x[0][:len(y)], x[1][:len(y)]
		for i := range y {
			y[i] += w0*x0[i] + w1*x1[i]
		}
		w, x = w[2:], x[2:]
	}
	if len(w) > 0 {
		w0, x0 := w[0], x[0][:len(y)]
		for i := range y {
			y[i] += w0 * x0[i]
		}
	}
	l.activation.apply(y)
	if l.scale != 1 {
		for i := range y {
			y[i] *= l.scale
		}
	}
}

func (a Activation) apply(y []float64) {
	switch a {
	case Tanh:
		tanh(y)
	case Sigmoid:
		for i, v := range y {
			y[i] = sigmoid(v)
		}
	case Exp:
		for i, v := range y {
			y[i] = math.Exp(v)
		}
	}
}

// sigmoid is 1/(1 + e⁻ˣ), to full relative precision also where it is tiny.
func sigmoid(x float64) float64 {
	if x < 0 {
		e := math.Exp(x)
		return e / (1 + e)
	}
	return 1 / (1 + math.Exp(-x))
}

func fill(y []float64, v float64) {
	for i := range y {
		y[i] = v
	}
}
