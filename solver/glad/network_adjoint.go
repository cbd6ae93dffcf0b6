package glad

import "gonum.org/v1/gonum/floats"

// backward is the adjoint of run, which must have been the last on b, with the
// same n. The caller has set the last of b.deltas to the derivatives of the
// loss by the outputs; backward adds those by the weights to gradient, which
// is laid out like the flat vector, and returns those by the inputs, valid
// until the next call. It overwrites b.deltas.
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
			for j := range l.below {
				weights[u*l.below+j] += floats.Dot(d, x[j][:n])
			}
			bias[u] += floats.Sum(d)
		}
		for j := range l.below {
			l.combine(j, below[j][:n], delta)
		}
	}
	return b.deltas[0]
}

// derive multiplies delta, the adjoint of the outputs y of a unit, by the
// derivative of scale·activation, which every activation has from its value.
func (l *layer) derive(delta, y []float64) {
	y = y[:len(delta)]
	s := l.scale
	switch l.activation {
	case Tanh:
		for i, v := range y {
			delta[i] *= s - v*v/s
		}
	case Sigmoid:
		for i, v := range y {
			delta[i] *= v * (1 - v/s)
		}
	case Exp:
		for i, v := range y {
			delta[i] *= v
		}
	case Identity:
		if s != 1 {
			floats.Scale(s, delta)
		}
	}
}

// combine sets to to the sum over the units of l of delta, times the weight
// by which input j enters.
func (l *layer) combine(j int, to []float64, delta [][]float64) {
	w := l.weights[j:]
	u := 0
	if l.units >= 3 {
		w0, w1, w2 := w[0], w[l.below], w[2*l.below]
		d0, d1, d2 := delta[0][:len(to)], delta[1][:len(to)], delta[2][:len(to)]
		for i := range to {
			to[i] = w0*d0[i] + w1*d1[i] + w2*d2[i]
		}
		u = 3
	} else {
		w0, d0 := w[0], delta[0][:len(to)]
		for i := range to {
			to[i] = w0 * d0[i]
		}
		u = 1
	}
	for ; u < l.units; u++ {
		wu, du := w[u*l.below], delta[u][:len(to)]
		for i := range to {
			to[i] += wu * du[i]
		}
	}
}
