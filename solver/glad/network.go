package glad

import "math"

// A network is a Network laid out for evaluation on batches: one slice per
// unit, one element per entry of the matrix.
type network struct {
	inputs []Feature
	layers []layer
	width  int // of the widest layer
	// fixed is set where a layer with no weight but zeros makes the output,
	// value, the same for every input.
	fixed bool
	value float64
}

type layer struct {
	units      int
	weights    []float64 // row-major, one row per unit
	bias       []float64
	activation Activation
	scale      float64
}

func compile(n Network) *network {
	c := &network{inputs: n.Inputs}
	from := -1 // the last layer that does not depend on what is below
	for i, l := range n.Layers {
		to := layer{units: len(l.Bias), bias: l.Bias, activation: l.Activation, scale: l.Scale}
		if to.scale == 0 {
			to.scale = 1
		}
		zero := true
		for _, row := range l.Weights {
			to.weights = append(to.weights, row...)
			for _, w := range row {
				zero = zero && w == 0
			}
		}
		if zero {
			from = i
		}
		c.layers = append(c.layers, to)
		c.width = max(c.width, to.units)
	}
	if from >= 0 {
		top := &network{
			inputs: make([]Feature, len(n.Layers[from].Weights[0])),
			layers: c.layers[from:],
			width:  c.width,
		}
		var b batch
		b.fit(top, 1)
		c.value = top.run(&b, 1)[0] // at inputs 0, like at all others
		c.fixed = true
	}
	return c
}

// A batch is the memory of one evaluation at a time.
type batch struct {
	// inputs holds one slice per feature. The caller fills them, or puts
	// others in their place, of the same length or longer.
	inputs [][]float64
	// units are the outputs of two layers in turn.
	units [2][][]float64
}

// fit makes b big enough for n entries of c.
func (b *batch) fit(c *network, n int) {
	rows := func(k int) [][]float64 {
		r, data := make([][]float64, k), make([]float64, k*n)
		for i := range r {
			r[i] = data[i*n : (i+1)*n]
		}
		return r
	}
	b.inputs = rows(len(c.inputs))
	b.units = [2][][]float64{rows(c.width), rows(c.width)}
}

// run evaluates c at the first n entries of b.inputs. The result is valid
// until the next run on b.
func (c *network) run(b *batch, n int) []float64 {
	if c.fixed {
		out := b.units[0][0][:n]
		fill(out, c.value)
		return out
	}
	x := b.inputs
	for i := range c.layers {
		l := &c.layers[i]
		y := b.units[i&1][:l.units]
		for u := range y {
			l.unit(u, y[u][:n], x)
		}
		x = y
	}
	return x[0][:n]
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
