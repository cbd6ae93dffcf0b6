package glad

import (
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/gladflow/gladflow/solver/dense"
)

const (
	// leastInformation bounds σi from below, as a part of Sii: in exact
	// arithmetic σi is a diagonal entry of Θ⁻¹, in float64 it may cancel.
	leastInformation = 1e-3
	supportOffset    = 0.1 // in q(i)
	nodeContextScale = 3   // in n(i)
	// What the outputs of the network are multiplied by, or shifted.
	meanScale = 0.3
	mixCentre = 1.5
)

// posteriorCell is the entry-wise part of kind GLADPM, forward and adjoint: see
// PosteriorMean for the formulas. What comes before it stands in
// cell_lambda.go and cell_theta.go.
type posteriorCell struct {
	plan        *Plan
	networks    []*network
	rootSamples float64
	nodes       []float64 // n(i)
	logS        []float64 // log Sii

	// Of the cell that was prepared.
	constants
	network         *network
	index           int // of the network in the plan
	gain            float64
	sigma, logSigma []float64
	rootSigma       []float64
	bounded         []bool    // σi is at its bound
	support         []float64 // q(i)
	diagonal        []float64 // Zii new
	worker          *worker   // for the diagonal

	// Derivatives that segments add to and adjointPrepare hands on; that by
	// the mean is in adjoints.
	byLogSigma, bySupport []float64
	byGain                float64
}

// posteriorEntries are what the features of some neighbouring entries of a row
// are made of, or of some of the diagonal, and the derivatives by it. By column
// of the entry:
type posteriorEntries struct {
	theta, z, u, logSigma, rootSigma, nodes, support []float64

	logS []float64 // on the diagonal only
	// row has the same of the row, off the diagonal only.
	row struct{ logSigma, rootSigma, node, support float64 }
	// rootSamples is √M, mean is m.
	rootSamples, mean float64

	byTheta, byZ, byU, byLogSigma, bySupport []float64

	byLogV       []float64 // off the diagonal only
	byRowSupport *float64
	by           *constants
}

func newPosteriorCell(p *Plan, networks []*network, s *dense.Sym, of Preparation) *posteriorCell {
	d := s.Len()
	r := rows(8, d)
	cell := &posteriorCell{
		plan: p, networks: networks, constants: constants{context: of.Shape.Context, table: of.Shape.Table}, rootSamples: of.RootSamples,
		nodes: of.Nodes, logS: r[0], sigma: r[1], logSigma: r[2], rootSigma: r[3],
		support: r[4], diagonal: r[5], byLogSigma: r[6], bySupport: r[7],
		bounded: make([]bool, d),
		worker:  newWorker(networks, true),
	}
	for i := range d {
		cell.logS[i] = math.Log(s.At(i, i))
	}
	return cell
}

// softplus is log(1 + eˣ).
func softplus(x float64) float64 { return max(x, 0) + math.Log1p(math.Exp(-math.Abs(x))) }

// prepare implements entrywise.
func (c *posteriorCell) prepare(o *operands, k int, lambda float64) {
	c.index = c.plan.Entry(k)
	c.network = c.networks[c.index]
	c.lambda, c.gain = lambda, c.plan.Gain(k)
	d := len(c.nodes)
	c.mean = o.theta.Trace() / float64(d)
	for i := range d {
		s := o.s.At(i, i)
		v := s + lambda*(o.theta.At(i, i)-o.z.At(i, i))
		least := leastInformation * s
		c.bounded[i] = !(v > least)
		if c.bounded[i] {
			v = least
		}
		c.sigma[i], c.logSigma[i], c.rootSigma[i] = v, math.Log(v), math.Sqrt(v)
		z := o.z.Row(i)
		c.support[i] = math.Log(supportOffset + floats.Dot(z[:i], z[:i]) + floats.Dot(z[i+1:], z[i+1:]))
	}
	for from := 0; from < d; from += tileColumns {
		to := min(d, from+tileColumns)
		out := c.diagonalOutputs(o, from, to)
		for j, u := range c.worker.posterior.u {
			c.diagonal[from+j] = c.mean*(1+meanScale*out[1][j]) + sigmoid(out[2][j]+mixCentre)*(u-c.mean)
		}
	}
	clear(c.byLogSigma)
	clear(c.bySupport)
	c.byGain = 0
}

// columns makes e those of the columns from ≤ j < to, but for Θ and Z.
func (c *posteriorCell) columns(e *posteriorEntries, from, to int) {
	e.logSigma, e.rootSigma = c.logSigma[from:to], c.rootSigma[from:to]
	e.nodes, e.support, e.logS = c.nodes[from:to], c.support[from:to], c.logS[from:to]
	e.byLogSigma, e.bySupport = c.byLogSigma[from:to], c.bySupport[from:to]
	e.rootSamples, e.mean = c.rootSamples, c.mean
}

// inputs sets the inputs of the network to the features of the n entries of e.
func (c *posteriorCell) inputs(b *batch, e *posteriorEntries, n int, diagonal bool) {
	for f, feature := range c.network.features {
		x := b.inputs[f][:n]
		if feature.common != nil {
			fill(x, feature.common.value(&c.constants))
		} else {
			feature.posterior(diagonal).value(e, x)
		}
	}
}

// adjointInputs goes back through the network and inputs.
func (c *posteriorCell) adjointInputs(b *batch, e *posteriorEntries, a *adjoints, n int, diagonal bool) {
	for f, by := range c.network.backward(b, n, a.gradient) {
		feature := c.network.features[f]
		switch {
		case feature.fixed:
		case feature.common != nil:
			feature.common.derivative(&a.by, floats.Sum(by[:n]))
		default:
			if d := feature.posterior(diagonal).derivative; d != nil {
				d(e, by[:n])
			}
		}
	}
}

// diagonalOutputs evaluates the network for the diagonal entries from ≤ i < to
// and returns its outputs. c.worker.posterior holds the entries.
func (c *posteriorCell) diagonalOutputs(o *operands, from, to int) [][]float64 {
	k, e := &c.worker.scratch[c.index], &c.worker.posterior
	n := to - from
	c.columns(e, from, to)
	e.u, e.theta, e.z = k.rows[0][:n], k.rows[1][:n], k.rows[2][:n]
	for j := range n {
		i := from + j
		e.theta[j], e.z[j] = o.theta.At(i, i), o.z.At(i, i)
		e.u[j] = e.theta[j] + c.gain*c.lambda*(e.theta[j]-e.z[j])/(c.sigma[i]*c.sigma[i])
	}
	c.inputs(&k.batch, e, n, true)
	return c.network.run(&k.batch, n)
}

// block implements entrywise.
func (c *posteriorCell) block(w *worker, o *operands, first, end, left, right int, norm2 float64) float64 {
	for i := first; i < end; i++ {
		if from := max(i, left); from < right {
			norm2 += c.segment(w, o, i, from, right)
		}
	}
	return norm2
}

// segment is block for the entries from ≤ j < to of row i.
func (c *posteriorCell) segment(w *worker, o *operands, i, from, to int) float64 {
	toZ, theta := o.toZ.Row(i), o.theta.Row(i)
	var diagonal float64
	if from == i {
		toZ[i] = c.diagonal[i]
		e := toZ[i] - theta[i]
		diagonal = e * e
		from++
	}
	if from == to {
		return diagonal
	}
	gate := c.entries(w, o, i, from, to)
	var sum float64
	for j, v := range w.posterior.u {
		z := v*gate[j] + 0 // not −0
		toZ[from+j] = z
		e := z - theta[from+j]
		sum += e * e
	}
	return diagonal + 2*sum
}

// entries makes w.posterior the entries i < from ≤ j < to of row i and returns
// sigmoid(o0).
func (c *posteriorCell) entries(w *worker, o *operands, i, from, to int) (gate []float64) {
	k, e, n := &w.scratch[c.index], &w.posterior, to-from
	c.columns(e, from, to)
	e.theta, e.z, e.u = o.theta.Row(i)[from:to], o.z.Row(i)[from:to], k.rows[0][:n]
	e.row.logSigma, e.row.rootSigma, e.row.node, e.row.support = c.logSigma[i], c.rootSigma[i], c.nodes[i], c.support[i]
	sigma, z, u := c.sigma[from:to], e.z[:n], e.u
	move := c.gain * c.lambda / c.sigma[i]
	for j, t := range e.theta[:n] {
		u[j] = t + move*(t-z[j])/sigma[j]
	}
	c.inputs(&k.batch, e, n, false)
	gate = k.rows[1][:n]
	// sigmoid(x) = (1 + tanh(x/2))/2
	for j, v := range w.run(k, c.network, n)[0][:n] {
		gate[j] = v / 2
	}
	tanh(gate)
	for j, v := range gate {
		gate[j] = (1 + v) / 2
	}
	return gate
}

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
	k, e := &w.scratch[c.index], &w.posterior
	n := to - from
	gate := c.entries(w, o, i, from, to)
	toZ := o.toZ.Row(i)[from:to]
	e.byZ, e.byTheta = a.z.Row(i)[from:to], a.theta.Row(i)[from:to]
	e.byU, e.byLogV = k.rows[2][:n], k.rows[3][:n]
	e.byRowSupport = &c.bySupport[i]
	theta, z, byZ, byTheta, byU, byLogV := e.theta, e.z, e.byZ, e.byTheta, e.byU, e.byLogV
	out := k.batch.deltas[len(k.batch.deltas)-1]
	for j, v := range e.u {
		off := toZ[j] - theta[j]
		g := 2 * (byZ[j] + 2*a.byNorm2*off)
		byTheta[j] = -4 * a.byNorm2 * off
		byU[j] = g * gate[j]
		out[0][j] = g * v * gate[j] * (1 - gate[j])
		out[1][j], out[2][j] = 0, 0
		byZ[j] = 0
	}
	fill(byLogV, 0)
	c.adjointInputs(&k.batch, e, a, n, false)
	// u = Θ + gain·G/v with G = λ(Θ − Z).
	sigma := c.sigma[from:to]
	var byRowLogSigma float64
	for j, g := range byU {
		off := theta[j] - z[j]
		perV := g / (c.sigma[i] * sigma[j])
		byG := c.gain * perV
		c.byGain += perV * c.lambda * off
		a.by.lambda += byG * off
		byTheta[j] = (byTheta[j] + g + c.lambda*byG) / 2
		byZ[j] = (byZ[j] - c.lambda*byG) / 2
		v := byLogV[j] - byG*c.lambda*off
		byRowLogSigma += v
		c.byLogSigma[from+j] += v
	}
	c.byLogSigma[i] += byRowLogSigma
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
			a.by.lambda += g * (theta - z)
		}
		c.bySupport[i] /= math.Exp(c.support[i]) // by Σ Zij²
		a.theta.Set(i, i, a.theta.At(i, i)+a.by.mean/float64(d))
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
	a.gradient[c.plan.Entries[c.index].Step] += c.byGain * c.plan.GainSlope(c.index)
}

func (c *posteriorCell) adjointDiagonal(o *operands, a *adjoints, from, to int) {
	out := c.diagonalOutputs(o, from, to)
	k, e := &c.worker.scratch[c.index], &c.worker.posterior
	n := to - from
	e.byU, e.byTheta, e.byZ, e.by = k.rows[3][:n], k.rows[4][:n], k.rows[5][:n], &a.by
	delta := k.batch.deltas[len(k.batch.deltas)-1]
	for j, u := range e.u {
		i := from + j
		off := o.toZ.At(i, i) - e.theta[j]
		g := a.z.At(i, i) + 2*a.byNorm2*off
		mix := sigmoid(out[2][j] + mixCentre)
		e.byTheta[j], e.byZ[j] = -2*a.byNorm2*off, 0
		e.byU[j] = g * mix
		a.by.mean += g * (1 + meanScale*out[1][j] - mix)
		delta[0][j] = 0
		delta[1][j] = g * meanScale * c.mean
		delta[2][j] = g * mix * (1 - mix) * (u - c.mean)
	}
	c.adjointInputs(&k.batch, e, a, n, true)
	for j, g := range e.byU {
		i := from + j
		off := e.theta[j] - e.z[j]
		perV := g / (c.sigma[i] * c.sigma[i])
		byG := c.gain * perV
		c.byGain += perV * c.lambda * off
		a.by.lambda += byG * off
		a.theta.Set(i, i, e.byTheta[j]+g+c.lambda*byG)
		a.z.Set(i, i, e.byZ[j]-c.lambda*byG)
		c.byLogSigma[i] -= 2 * byG * c.lambda * off
	}
}
