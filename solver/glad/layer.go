package glad

import (
	"math"

	"gonum.org/v1/gonum/floats"
)

// A layer is a Layer laid out for evaluation on batches.
type layer struct {
	units, below int
	at           int       // index of the first weight in the flat vector
	weights      []float64 // row-major, one row per unit
	bias         []float64
	activation   Activation
	scale        float64
}

// unit sets y to unit u of l at x.
func (l *layer) unit(u int, y []float64, x [][]float64) {
	w := l.weights[u*len(x) : (u+1)*len(x)]
	b := l.bias[u]
	// Three inputs a pass: the sums stay in registers, and the networks of the
	// paper need no second pass.
	if len(w) >= 3 {
		sum3(y, b, [3]float64(w), x[0], x[1], x[2])
		w, x = w[3:], x[3:]
	} else {
		fill(y, b)
	}
	for len(w) >= 2 {
		add2(y, w[0], w[1], x[0], x[1])
		w, x = w[2:], x[2:]
	}
	if len(w) > 0 {
		add1(y, w[0], x[0])
	}
	l.activation.apply(y)
	if l.scale != 1 {
		floats.Scale(l.scale, y)
	}
}

// derive multiplies delta, the adjoint of the outputs y of a unit, by the
// derivative of scale·activation, which every activation has from its value.
func (l *layer) derive(delta, y []float64) {
	y = y[:len(delta)]
	s := l.scale
	switch l.activation {
	case Tanh:
		lessSquare(delta, s, 1/s, y)
	case Sigmoid:
		f := 1 / s
		for i, v := range y {
			delta[i] *= v * (1 - v*f)
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
	w, k := l.weights[j:], l.below
	u := 1
	if l.units >= 3 {
		nothing := math.Copysign(0, -1) // adds nothing to any number, nor to −0
		sum3(to, nothing, [3]float64{w[0], w[k], w[2*k]}, delta[0], delta[1], delta[2])
		u = 3
	} else {
		floats.ScaleTo(to, w[0], delta[0][:len(to)])
	}
	for ; u < l.units; u++ {
		add1(to, w[u*k], delta[u])
	}
}

// collect adds the products of delta, the adjoint of a unit, with its inputs x
// to gradient.
func collect(gradient []float64, delta []float64, x [][]float64) {
	n := len(delta)
	for len(x) >= 3 {
		for j, v := range dot3(delta, x[0], x[1], x[2]) {
			gradient[j] += v
		}
		gradient, x = gradient[3:], x[3:]
	}
	for j := range x {
		gradient[j] += floats.Dot(delta, x[j][:n])
	}
}

func dot3Go(d, x0, x1, x2 []float64) [3]float64 {
	n := len(d)
	return [3]float64{floats.Dot(d, x0[:n]), floats.Dot(d, x1[:n]), floats.Dot(d, x2[:n])}
}

func sum3Go(y []float64, b float64, w [3]float64, x0, x1, x2 []float64) {
	x0, x1, x2 = x0[:len(y)], x1[:len(y)], x2[:len(y)]
	for i := range y {
		y[i] = b + w[0]*x0[i] + w[1]*x1[i] + w[2]*x2[i]
	}
}

func add2Go(y []float64, w0, w1 float64, x0, x1 []float64) {
	x0, x1 = x0[:len(y)], x1[:len(y)]
	for i := range y {
		y[i] += w0*x0[i] + w1*x1[i]
	}
}

func add1Go(y []float64, w float64, x []float64) {
	x = x[:len(y)]
	for i := range y {
		y[i] += w * x[i]
	}
}

func lessSquareGo(delta []float64, s, f float64, y []float64) {
	y = y[:len(delta)]
	for i, v := range y {
		delta[i] *= s - v*v*f
	}
}
