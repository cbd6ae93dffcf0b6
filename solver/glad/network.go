package glad

import (
	"slices"

	"gonum.org/v1/gonum/floats"
)

// A network is a Network laid out for evaluation on batches: one slice per
// unit, one element per entry of the matrix. Its weights are a part of the flat
// vector of all parameters of the model (see Model.Values), and follow it.
type network struct {
	// features are the inputs.
	features []*feature
	layers   []layer
	// outputs is the number of units of the last layer.
	outputs int
	// constant holds the outputs where they are the same for every input,
	// because a layer has no weight but zeros; else it is nil.
	constant []float64
}

// parameters is the number of weights and biases.
func (n Network) parameters() int {
	var count int
	n.visit(func(*float64) { count++ })
	return count
}

// compile lays n out over values, the flat vector of all parameters, from
// index at on.
func compile(n Network, values []float64, at int) *network {
	c := &network{}
	for _, f := range n.Inputs {
		c.features = append(c.features, featureOf(f))
	}
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

// units is the number of units of all layers.
func (c *network) units() int {
	var n int
	for _, l := range c.layers {
		n += l.units
	}
	return n
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
	top := &network{features: make([]*feature, c.layers[from].below), layers: c.layers[from:], outputs: c.outputs}
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
	b.inputs = rows(len(c.features), n)
	b.units = nil
	for _, l := range c.layers {
		b.units = append(b.units, rows(l.units, n))
	}
}

// fitAdjoint makes b big enough for backward as well.
func (b *batch) fitAdjoint(c *network, n int) {
	b.fit(c, n)
	b.deltas = [][][]float64{rows(len(c.features), n)}
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

// backward is the adjoint of run, whose inputs and units b still holds, with
// the same n. The caller has set the last of b.deltas to the derivatives of the
// loss by the outputs; backward adds those by the weights to gradient, which
// is laid out like the flat vector, and returns those by the inputs, valid
// until the next call and undefined for fixed ones. It overwrites b.deltas.
func (c *network) backward(b *batch, n int, gradient []float64) [][]float64 {
	for i := len(c.layers) - 1; i >= 0; i-- {
		l := &c.layers[i]
		x, y := b.inputs, b.units[i]
		if i > 0 {
			x = b.units[i-1]
		}
		delta, below := b.deltas[i+1], b.deltas[i]
		for u := range l.units {
			l.derive(delta[u][:n], y[u][:n])
		}
		weights := gradient[l.at : l.at+l.units*l.below]
		bias := gradient[l.at+l.units*l.below:][:l.units]
		for u := range l.units {
			d := delta[u][:n]
			collect(weights[u*l.below:(u+1)*l.below], d, x[:l.below])
			bias[u] += floats.Sum(d)
		}
		for j := range l.below {
			if i > 0 || !c.features[j].fixed {
				l.combine(j, below[j][:n], delta)
			}
		}
	}
	return b.deltas[0]
}
