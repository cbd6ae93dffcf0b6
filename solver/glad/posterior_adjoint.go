package glad

import (
	"math"

	"gonum.org/v1/gonum/floats"
)

// adjoint implements entrywise.
func (c *posteriorCell) adjoint(w *worker, o *operands, a *adjoints) {
	d := len(c.nodes)
	for i := range d {
		for from := i; from < d; from += tileColumns {
			c.adjointSegment(w, o, a, i, from, min(d, from+tileColumns))
		}
	}
}

// adjointSegment is adjoint for the entries from ≤ j < to of row i, except on
// the diagonal, where nothing is done before adjointPrepare. Derivatives are
// those by the value that (i, j) and (j, i) share, until they are stored.
func (c *posteriorCell) adjointSegment(w *worker, o *operands, a *adjoints, i, from, to int) {
	if from == i {
		from++
	}
	if from >= to {
		return
	}
	k := &w.scratch[c.index]
	n := to - from
	u, gate := c.entries(w, o, i, from, to)
	theta, z, toZ := o.theta.Row(i)[from:to], o.z.Row(i)[from:to], o.toZ.Row(i)[from:to]
	byZ, byTheta := a.z.Row(i)[from:to], a.theta.Row(i)[from:to]
	byU := k.rows[2][:n]
	out := k.batch.deltas[len(k.batch.deltas)-1]
	for j, v := range u {
		e := toZ[j] - theta[j]
		g := 2 * (byZ[j] + 2*a.byNorm2*e)
		byTheta[j] = -4 * a.byNorm2 * e
		byU[j] = g * gate[j]
		out[0][j] = g * v * gate[j] * (1 - gate[j])
		out[1][j], out[2][j] = 0, 0
		byZ[j] = 0
	}
	sigma, rootSigma := c.sigma[from:to], c.rootSigma[from:to]
	byLogV := k.rows[3][:n]
	fill(byLogV, 0)
	for f, by := range c.network.backward(&k.batch, n, a.gradient) {
		by = by[:n]
		switch c.network.inputs[f] {
		case AbsU:
			for j, v := range u {
				byU[j] += by[j] * sign(v)
			}
		case LogV:
			floats.Add(byLogV, by)
		case ScaledU:
			scale := scaledUScale * c.rootSigma[i]
			for j, v := range u {
				x := by[j] * scale * rootSigma[j]
				byU[j] += x * sign(v)
				byLogV[j] += x * math.Abs(v) / 2
			}
		case ZScore:
			scale := c.rootSamples * c.rootSigma[i]
			for j, v := range u {
				perU := scale * rootSigma[j]
				w := perU * math.Abs(v)
				x := by[j] / (1 + w)
				byU[j] += x * perU * sign(v)
				byLogV[j] += x * w / 2
			}
		case PriorZ:
			for j, v := range z {
				byZ[j] += by[j] * sign(v)
			}
		case UZ:
			for j, v := range u {
				byU[j] += by[j] * z[j]
				byZ[j] += by[j] * v
			}
		case NodeSupport:
			c.bySupport[i] += floats.Sum(by) / 2
			floats.AddScaled(c.bySupport[from:to], 0.5, by)
		default:
			c.byCommon(c.network.inputs[f], by, a)
		}
	}
	// u = Θ + gain·G/v with G = λ(Θ − Z).
	var byRowLogSigma float64
	for j, g := range byU {
		e := theta[j] - z[j]
		perV := g / (c.sigma[i] * sigma[j])
		byG := c.gain * perV
		c.byGain += perV * c.lambda * e
		a.byLambda += byG * e
		byTheta[j] = (byTheta[j] + g + c.lambda*byG) / 2
		byZ[j] = (byZ[j] - c.lambda*byG) / 2
		v := byLogV[j] - byG*c.lambda*e
		byRowLogSigma += v
		c.byLogSigma[from+j] += v
	}
	c.byLogSigma[i] += byRowLogSigma
}

// byCommon hands on the derivatives by a feature of common.
func (c *posteriorCell) byCommon(name Feature, by []float64, a *adjoints) {
	switch name {
	case MeanDiagonal:
		c.byMean += floats.Sum(by)
	case Lambda:
		a.byLambda += floats.Sum(by)
	}
}

// adjointPrepare implements entrywise: the diagonal, and what all entries
// share.
func (c *posteriorCell) adjointPrepare(o *operands, a *adjoints) {
	d := len(c.nodes)
	for from := 0; from < d; from += tileColumns {
		c.adjointDiagonal(o, a, from, min(d, from+tileColumns))
	}
	// A row's σ, q and the mean of the diagonal.
	for i := range d {
		theta, z := o.theta.At(i, i), o.z.At(i, i)
		if !c.bounded[i] {
			g := c.byLogSigma[i] / c.sigma[i]
			a.theta.Set(i, i, a.theta.At(i, i)+c.lambda*g)
			a.z.Set(i, i, a.z.At(i, i)-c.lambda*g)
			a.byLambda += g * (theta - z)
		}
		c.bySupport[i] /= math.Exp(c.support[i]) // by Σ Zij²
		a.theta.Set(i, i, a.theta.At(i, i)+c.byMean/float64(d))
	}
	for i := range d {
		// Row i has Zij², and row j the same Zji²: each entry takes half of
		// both derivatives, 2Z·(by_i + by_j)/2.
		g, z, by := c.bySupport[i], o.z.Row(i), a.z.Row(i)
		for j, v := range z {
			if j != i {
				by[j] += v * (g + c.bySupport[j])
			}
		}
	}
	a.gradient[c.step] += c.byGain * sigmoid(c.program.values[c.step]) // d softplus
}

func (c *posteriorCell) adjointDiagonal(o *operands, a *adjoints, from, to int) {
	out, u := c.diagonalOutputs(o, from, to)
	k := &c.worker.scratch[c.index]
	n := to - from
	byU := k.rows[3][:n]
	delta := k.batch.deltas[len(k.batch.deltas)-1]
	for j := range n {
		i := from + j
		e := o.toZ.At(i, i) - o.theta.At(i, i)
		g := a.z.At(i, i) + 2*a.byNorm2*e
		mix := sigmoid(out[2][j] + mixCentre)
		a.theta.Set(i, i, -2*a.byNorm2*e)
		a.z.Set(i, i, 0)
		byU[j] = g * mix
		c.byMean += g * (1 + meanScale*out[1][j] - mix)
		delta[0][j] = 0
		delta[1][j] = g * meanScale * c.mean
		delta[2][j] = g * mix * (1 - mix) * (u[j] - c.mean)
	}
	for f, by := range c.network.backward(&k.batch, n, a.gradient) {
		by = by[:n]
		switch c.network.inputs[f] {
		case AbsU:
			for j, v := range by {
				a.theta.Set(from+j, from+j, a.theta.At(from+j, from+j)+v)
			}
			c.byMean -= floats.Sum(by)
		case LogV:
			floats.AddScaled(c.byLogSigma[from:to], 2, by)
		case PriorZ:
			for j, v := range by {
				a.z.Set(from+j, from+j, a.z.At(from+j, from+j)+v)
			}
			c.byMean -= floats.Sum(by)
		case UZ:
			floats.Add(byU, by)
			c.byMean -= floats.Sum(by)
		case NodeSupport:
			floats.Add(c.bySupport[from:to], by)
		default:
			c.byCommon(c.network.inputs[f], by, a)
		}
	}
	for j, g := range byU {
		i := from + j
		theta, z := o.theta.At(i, i), o.z.At(i, i)
		perV := g / (c.sigma[i] * c.sigma[i])
		byG := c.gain * perV
		c.byGain += perV * c.lambda * (theta - z)
		a.byLambda += byG * (theta - z)
		a.theta.Set(i, i, a.theta.At(i, i)+g+c.lambda*byG)
		a.z.Set(i, i, a.z.At(i, i)-c.lambda*byG)
		c.byLogSigma[i] -= 2 * byG * c.lambda * (theta - z)
	}
}
