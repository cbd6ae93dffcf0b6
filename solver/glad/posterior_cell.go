package glad

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/gladflow/gladflow/solver/dense"
)

const (
	// leastInformation bounds σi from below, as a part of Sii: in exact
	// arithmetic σi is a diagonal entry of Θ⁻¹, in float64 it may cancel.
	leastInformation = 1e-3
	supportOffset    = 0.1 // in q(i)
	nodeContextScale = 3   // in n(i)
	// What is taken from features, so that they are about 0 on the data that
	// the cell was designed on, and those of its outputs.
	logVCentre   = -2.6
	logSCentre   = -1
	meanCentre   = 4
	scaledUScale = 4
	meanScale    = 0.3
	mixCentre    = 1.5
)

// posteriorCell is the entry-wise part of kind GLADPM: see PosteriorMean.
type posteriorCell struct {
	program     *program
	context     float64
	rootSamples float64
	nodes       []float64 // n(i)
	logS        []float64 // log Sii

	// Of the cell that was prepared.
	network            *network
	step               int // index of e in the flat vector
	index              int // of the network's scratch
	lambda, gain, mean float64
	sigma, logSigma    []float64
	rootSigma          []float64
	bounded            []bool    // σi is at its bound
	support            []float64 // q(i)
	diagonal           []float64 // Zii new
	worker             *worker   // for the diagonal

	// Derivatives that segments add to and adjointPrepare hands on.
	byLogSigma, bySupport []float64
	byMean, byGain        float64
}

func newPosteriorCell(p *program, s *dense.Sym, samples int, c connectedness) *posteriorCell {
	d := s.Len()
	r := rows(9, d)
	cell := &posteriorCell{
		program: p, context: c.context, rootSamples: math.Sqrt(float64(samples)),
		nodes: r[0], logS: r[1], sigma: r[2], logSigma: r[3], rootSigma: r[4],
		support: r[5], diagonal: r[6], byLogSigma: r[7], bySupport: r[8],
		bounded: make([]bool, d),
		worker:  newWorker(p, true),
	}
	if samples == 0 && slices.ContainsFunc(p.entries, func(n *network) bool { return slices.Contains(n.inputs, ZScore) }) {
		cell.rootSamples = math.Sqrt(likelySamples(s))
	}
	mean := floats.Sum(c.nodes) / float64(d)
	for i, a := range c.nodes {
		cell.nodes[i] = nodeContextScale * (a - mean)
		cell.logS[i] = math.Log(s.At(i, i))
	}
	return cell
}

// softplus is log(1 + eˣ).
func softplus(x float64) float64 { return max(x, 0) + math.Log1p(math.Exp(-math.Abs(x))) }

// prepare implements entrywise.
func (c *posteriorCell) prepare(o *operands, k int, lambda float64) {
	c.network, c.index = c.program.entry(k)
	c.step = c.program.steps[c.index]
	c.lambda, c.gain = lambda, softplus(c.program.values[c.step])
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
		out, u := c.diagonalOutputs(o, from, to)
		for j := range to - from {
			c.diagonal[from+j] = c.mean*(1+meanScale*out[1][j]) + sigmoid(out[2][j]+mixCentre)*(u[j]-c.mean)
		}
	}
	clear(c.byLogSigma)
	clear(c.bySupport)
	c.byMean, c.byGain = 0, 0
}

// diagonalOutputs evaluates the network for the diagonal entries from ≤ i < to
// and returns its outputs and uii.
func (c *posteriorCell) diagonalOutputs(o *operands, from, to int) (out [][]float64, u []float64) {
	k := &c.worker.scratch[c.index]
	n := to - from
	u = k.rows[0][:n]
	theta, z := k.rows[1][:n], k.rows[2][:n]
	for j := range n {
		i := from + j
		theta[j], z[j] = o.theta.At(i, i), o.z.At(i, i)
		u[j] = theta[j] + c.gain*c.lambda*(theta[j]-z[j])/(c.sigma[i]*c.sigma[i])
	}
	for f, name := range c.network.inputs {
		x := k.own[f][:n]
		k.batch.inputs[f] = x
		switch name {
		case AbsU:
			less(x, theta, c.mean)
		case LogV:
			for j := range x {
				x[j] = 2*c.logSigma[from+j] - logVCentre
			}
		case ScaledU:
			less(x, c.logS[from:to], logSCentre)
		case PriorZ:
			less(x, z, c.mean)
		case UZ:
			less(x, u, c.mean)
		case Diagonal:
			fill(x, 1)
		case ZScore:
			fill(x, 0)
		case NodeContext:
			copy(x, c.nodes[from:to])
		case NodeSupport:
			copy(x, c.support[from:to])
		default:
			fill(x, c.common(name))
		}
	}
	return c.network.run(&k.batch, n), u
}

// less sets x to a − b.
func less(x, a []float64, b float64) {
	for j, v := range a {
		x[j] = v - b
	}
}

// common is a feature that is the same for all entries.
func (c *posteriorCell) common(name Feature) float64 {
	switch name {
	case MeanDiagonal:
		return c.mean - meanCentre
	case Lambda:
		return c.lambda
	case Context:
		return c.context
	}
	panic("glad: feature " + string(name) + " is not one of the posterior-mean cell")
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
	u, gate := c.entries(w, o, i, from, to)
	var sum float64
	for j, v := range u {
		z := v*gate[j] + 0 // not −0
		toZ[from+j] = z
		e := z - theta[from+j]
		sum += e * e
	}
	return diagonal + 2*sum
}

// entries computes u and sigmoid(o0) for the entries i < from ≤ j < to of row
// i.
func (c *posteriorCell) entries(w *worker, o *operands, i, from, to int) (u, gate []float64) {
	k, n := &w.scratch[c.index], to-from
	u = k.rows[0][:n]
	theta, z := o.theta.Row(i)[from:to], o.z.Row(i)[from:to]
	sigma, logSigma, rootSigma := c.sigma[from:to], c.logSigma[from:to], c.rootSigma[from:to]
	move := c.gain * c.lambda / c.sigma[i]
	for j, t := range theta {
		u[j] = t + move*(t-z[j])/sigma[j]
	}
	for f, name := range c.network.inputs {
		x := k.own[f][:n]
		k.batch.inputs[f] = x
		switch name {
		case AbsU:
			absolute(x, u)
		case LogV:
			less(x, logSigma, logVCentre-c.logSigma[i])
		case ScaledU:
			scale := scaledUScale * c.rootSigma[i]
			for j, v := range u {
				x[j] = scale * math.Abs(v) * rootSigma[j]
			}
		case ZScore:
			scale := c.rootSamples * c.rootSigma[i]
			for j, v := range u {
				x[j] = math.Log1p(scale * math.Abs(v) * rootSigma[j])
			}
		case PriorZ:
			absolute(x, z)
		case UZ:
			for j, v := range u {
				x[j] = v * z[j]
			}
		case Diagonal:
			fill(x, 0)
		case NodeContext:
			average(x, c.nodes[from:to], c.nodes[i])
		case NodeSupport:
			average(x, c.support[from:to], c.support[i])
		default:
			fill(x, c.common(name))
		}
	}
	gate = k.rows[1][:n]
	// sigmoid(x) = (1 + tanh(x/2))/2
	for j, v := range w.run(k, c.network, n)[0][:n] {
		gate[j] = v / 2
	}
	tanh(gate)
	for j, v := range gate {
		gate[j] = (1 + v) / 2
	}
	return u, gate
}

// average sets x to (a + b)/2.
func average(x, a []float64, b float64) {
	for j, v := range a {
		x[j] = (v + b) / 2
	}
}
