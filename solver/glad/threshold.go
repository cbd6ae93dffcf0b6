package glad

import (
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/gladflow/gladflow/solver/dense"
)

// threshold is the entry-wise part of kinds GLAD and ADMMu: the soft threshold
// by ρnn.
type threshold struct {
	rho     *network
	context float64
	lambda  float64
}

func (c *threshold) prepare(_ *operands, _ int, lambda float64) { c.lambda = lambda }

func (c *threshold) block(w *worker, o *operands, first, end, left, right int, norm2 float64) float64 {
	for i := first; i < end; {
		var n int
		if i, n = w.gather(i, end, left, right); n == 0 {
			continue
		}
		rho := c.thresholds(w, o, n)
		for _, p := range w.pieces {
			norm2 += c.piece(o, p, rho[p.at:])
		}
	}
	return norm2
}

// piece is block for p.
func (c *threshold) piece(o *operands, p piece, rho []float64) float64 {
	i, from, to := p.i, p.from, p.to
	theta, z := o.theta.Row(i)[from:to], o.toZ.Row(i)[from:to]
	var u, toU []float64
	if o.u != nil {
		u, toU = o.u.Row(i)[from:to], o.toU.Row(i)[from:to]
	}
	var sum, diagonal float64
	for j, t := range theta {
		a := t
		if u != nil {
			a += u[j]
		}
		v := shrink(a, rho[j])
		z[j] = v
		if u != nil {
			toU[j] = a - v
		}
		sum += (v - t) * (v - t)
	}
	if from == i {
		v := z[0] - theta[0]
		diagonal = v * v
	}
	return 2*sum - diagonal
}

// shrink is the soft threshold sign(a)·max(|a| − rho, 0), with one zero only.
// It hands on a rho that is NaN.
func shrink(a, rho float64) float64 {
	if v := max(math.Abs(a)-rho, 0); v != 0 {
		return math.Copysign(v, a)
	}
	return 0
}

// thresholds evaluates ρnn for the n entries of the pieces of w.
func (c *threshold) thresholds(w *worker, o *operands, n int) []float64 {
	k := &w.scratch[0]
	if c.rho.constant != nil {
		return c.rho.run(&k.batch, n)[0]
	}
	for f, name := range c.rho.inputs {
		switch own := k.own[f][:n]; name {
		case Lambda:
			fill(own, c.lambda)
		case Context:
			fill(own, c.context)
		case Diagonal:
			fill(own, 0)
			for _, p := range w.pieces {
				if p.from == p.i {
					own[p.at] = 1
				}
			}
		default:
			for _, p := range w.pieces {
				c.feature(own[p.at:], name, o, p)
			}
		}
	}
	return w.run(k, c.rho, n)[0]
}

// feature sets the first values of x to those of a feature that differs from
// entry to entry, for p.
func (c *threshold) feature(x []float64, name Feature, o *operands, p piece) {
	row := func(a *dense.Sym) []float64 { return a.Row(p.i)[p.from:p.to] }
	switch name {
	case Theta:
		copy(x, row(o.theta))
	case S:
		copy(x, row(o.s))
	case Z:
		copy(x, row(o.z))
	case AbsTheta:
		absolute(x, row(o.theta))
	case AbsS:
		absolute(x, row(o.s))
	case AbsZ:
		absolute(x, row(o.z))
	case NegThetaS:
		s := row(o.s)
		for j, t := range row(o.theta) {
			x[j] = -t * s[j]
		}
	}
}

func absolute(to, from []float64) {
	for j, v := range from {
		to[j] = math.Abs(v)
	}
}

// adjoint implements entrywise, in the order of the sweep. Off the diagonal the
// derivatives are those by the value that (i, j) and (j, i) share, until they
// are stored.
func (c *threshold) adjoint(w *worker, o *operands, a *adjoints) {
	d := o.s.Len()
	for first := 0; first < d; first += stripRows {
		end := min(first+stripRows, d)
		for left := first; left < d; left += tileColumns {
			right := min(left+tileColumns, d)
			for i := first; i < end; {
				var n int
				if i, n = w.gather(i, end, left, right); n > 0 {
					c.adjointPieces(w, o, a, n)
				}
			}
		}
	}
}

// adjointPieces is adjoint for the pieces of w, of n entries.
func (c *threshold) adjointPieces(w *worker, o *operands, a *adjoints, n int) {
	b := &w.scratch[0].batch
	rho := c.thresholds(w, o, n)
	byRho := b.deltas[len(b.deltas)-1][0]
	for _, p := range w.pieces {
		c.adjointPiece(o, a, p, rho[p.at:], byRho[p.at:])
	}
	for f, by := range c.rho.backward(b, n, a.gradient) {
		by = by[:n]
		if c.rho.inputs[f].fixed() {
			continue
		}
		if c.rho.inputs[f] == Lambda {
			a.byLambda += floats.Sum(by)
			continue
		}
		floats.Scale(0.5, by) // for each of the two entries
		for _, p := range w.pieces {
			if p.from == p.i {
				by[p.at] *= 2
			}
			c.adjointFeature(by[p.at:], c.rho.inputs[f], o, a, p)
		}
	}
}

// adjointPiece goes back from Z (and U) of p to Θ (and U), and sets the first
// values of byRho to the derivatives by the thresholds.
func (c *threshold) adjointPiece(o *operands, a *adjoints, p piece, rho, byRho []float64) {
	i, from, to := p.i, p.from, p.to
	theta, toZ := o.theta.Row(i)[from:to], o.toZ.Row(i)[from:to]
	byZ, byTheta := a.z.Row(i)[from:to], a.theta.Row(i)[from:to]
	var u, byU []float64
	if o.u != nil {
		u, byU = o.u.Row(i)[from:to], a.u.Row(i)[from:to]
	}
	for j, t := range theta {
		e := toZ[j] - t
		g := byZ[j] + 2*a.byNorm2*e
		arg, byArg := t, 0.0
		if u != nil { // U ← argument − Z
			arg += u[j]
			byArg = byU[j]
			g -= byArg
		}
		byRho[j] = 0
		if math.Abs(arg) > rho[j] {
			byArg += g
			byRho[j] = -2 * g * sign(arg)
		}
		byTheta[j] = byArg - 2*a.byNorm2*e
		byZ[j] = 0
		if u != nil {
			byU[j] = byArg
		}
	}
	if from == i {
		byRho[0] /= 2 // the diagonal has one entry, not two
	}
}

// adjointFeature hands on the first values of by, the derivatives by a feature.
func (c *threshold) adjointFeature(by []float64, name Feature, o *operands, a *adjoints, p piece) {
	row := func(a *dense.Sym) []float64 { return a.Row(p.i)[p.from:p.to] }
	by = by[:p.to-p.from]
	switch name {
	case Theta:
		floats.Add(row(a.theta), by)
	case Z:
		floats.Add(row(a.z), by)
	case AbsTheta:
		byTheta := row(a.theta)
		for j, t := range row(o.theta) {
			byTheta[j] += by[j] * sign(t)
		}
	case AbsZ:
		byZ := row(a.z)
		for j, v := range row(o.z) {
			byZ[j] += by[j] * sign(v)
		}
	case NegThetaS:
		byTheta := row(a.theta)
		for j, v := range row(o.s) {
			byTheta[j] -= by[j] * v
		}
	}
}

// sign is −1, 0 or 1.
func sign(x float64) float64 {
	switch {
	case x > 0:
		return 1
	case x < 0:
		return -1
	}
	return 0
}

func (c *threshold) adjointPrepare(*operands, *adjoints) {}
