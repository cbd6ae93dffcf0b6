package glad

import (
	"math"

	"gonum.org/v1/gonum/floats"
)

// threshold is the entry-wise part of kinds GLAD and ADMMu: the soft threshold
// by ρnn.
type threshold struct {
	rho     *network
	context float64
	lambda  float64
}

func (c *threshold) prepare(_ *operands, _ int, lambda float64) { c.lambda = lambda }

func (c *threshold) segment(w *worker, o *operands, i, from, to int) float64 {
	theta, z := o.theta.Row(i)[from:to], o.toZ.Row(i)[from:to]
	rho := c.thresholds(&w.scratch[0], o, i, from, to)
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

// thresholds evaluates ρnn for the entries from ≤ j < to of row i.
func (c *threshold) thresholds(k *scratch, o *operands, i, from, to int) []float64 {
	n := to - from
	if c.rho.constant != nil {
		return c.rho.run(&k.batch, n)[0]
	}
	theta := o.theta.Row(i)[from:to]
	s := o.s.Row(i)[from:to]
	z := o.z.Row(i)[from:to]
	for f, name := range c.rho.inputs {
		own := k.own[f][:n]
		k.batch.inputs[f] = own
		switch name {
		case Theta:
			k.batch.inputs[f] = theta
		case S:
			k.batch.inputs[f] = s
		case Z:
			k.batch.inputs[f] = z
		case AbsTheta:
			absolute(own, theta)
		case AbsS:
			absolute(own, s)
		case AbsZ:
			absolute(own, z)
		case NegThetaS:
			for j, t := range theta {
				own[j] = -t * s[j]
			}
		case Diagonal:
			fill(own, 0)
			if from == i {
				own[0] = 1
			}
		case Lambda:
			fill(own, c.lambda)
		case Context:
			fill(own, c.context)
		}
	}
	return c.rho.run(&k.batch, n)[0]
}

func absolute(to, from []float64) {
	for j, v := range from {
		to[j] = math.Abs(v)
	}
}

// adjointSegment implements entrywise. Off the diagonal the derivatives are
// those by the value that (i, j) and (j, i) share, until they are stored.
func (c *threshold) adjointSegment(w *worker, o *operands, a *adjoints, i, from, to int) {
	k := &w.scratch[0]
	n := to - from
	rho := c.thresholds(k, o, i, from, to)
	theta, s, z := o.theta.Row(i)[from:to], o.s.Row(i)[from:to], o.z.Row(i)[from:to]
	toZ := o.toZ.Row(i)[from:to]
	byZ, byTheta := a.z.Row(i)[from:to], a.theta.Row(i)[from:to]
	var u, byU []float64
	if o.u != nil {
		u, byU = o.u.Row(i)[from:to], a.u.Row(i)[from:to]
	}
	byRho := k.batch.deltas[len(k.batch.deltas)-1][0][:n]
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
	for f, by := range c.rho.backward(&k.batch, n, a.gradient) {
		by = by[:n]
		if c.rho.inputs[f] == Lambda {
			a.byLambda += floats.Sum(by)
			continue
		}
		floats.Scale(0.5, by) // for each of the two entries
		if from == i {
			by[0] *= 2
		}
		switch c.rho.inputs[f] {
		case Theta:
			floats.Add(byTheta, by)
		case Z:
			floats.Add(byZ, by)
		case AbsTheta:
			for j, t := range theta {
				byTheta[j] += by[j] * sign(t)
			}
		case AbsZ:
			for j, v := range z {
				byZ[j] += by[j] * sign(v)
			}
		case NegThetaS:
			for j, v := range s {
				byTheta[j] -= by[j] * v
			}
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
