package glad

import (
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/gladflow/gladflow/solver/dense"
)

// paperCell is the entry-wise part of the paper's cell (Algorithm 1, kind GLAD)
// and of the unrolled ADMM of its appendix (kind ADMMu), forward and adjoint:
//
//	ρij ← ρnn(features of (i, j))
//	Zij ← sign(Θij)·max(|Θij| − ρij, 0)
//
// and for ADMMu, with A = Θ + U, Zij ← sign(Aij)·max(|Aij| − ρij, 0) and
// U ← A − Z. What comes before it stands in cell_lambda.go and cell_theta.go.
type paperCell struct {
	rho *network
	constants
}

// paperEntries are what the features of some neighbouring entries of a row are
// made of, and the derivatives by it.
type paperEntries struct {
	theta, s, z []float64
	// diagonal says that the first entry is on the diagonal.
	diagonal bool

	byTheta, byZ []float64
}

// prepare implements entrywise.
func (c *paperCell) prepare(_ *operands, _ int, lambda float64) { c.lambda = lambda }

// block implements entrywise.
func (c *paperCell) block(w *worker, o *operands, first, end, left, right int, norm2 float64) float64 {
	for i := first; i < end; {
		var n int
		if i, n = w.gather(i, end, left, right); n == 0 {
			continue
		}
		rho := c.thresholds(w, o, n)
		for i, p := range w.pieces {
			norm2 += c.piece(o, p, &w.paper[i], p.in(rho))
		}
	}
	return norm2
}

// piece is block for the entries e of p, where the thresholds are rho.
func (c *paperCell) piece(o *operands, p piece, e *paperEntries, rho []float64) float64 {
	theta, z := e.theta, p.of(o.toZ)
	var u, toU []float64
	if o.u != nil {
		u, toU = p.of(o.u), p.of(o.toU)
	}
	var sum, diagonal float64
	for j, t := range theta {
		a := t
		if u != nil {
			a += u[j]
		}
		v := dense.SoftThreshold(a, rho[j])
		z[j] = v
		if u != nil {
			toU[j] = a - v
		}
		sum += (v - t) * (v - t)
	}
	if e.diagonal {
		v := z[0] - theta[0]
		diagonal = v * v
	}
	return 2*sum - diagonal
}

// thresholds makes w.paper the entries of the pieces of w, of which there are n,
// and evaluates ρnn for them.
func (c *paperCell) thresholds(w *worker, o *operands, n int) []float64 {
	for i, p := range w.pieces {
		e := &w.paper[i]
		e.theta, e.s, e.z = p.of(o.theta), p.of(o.s), p.of(o.z)
		e.diagonal = p.from == p.i
	}
	k := &w.scratch[0]
	if c.rho.constant != nil {
		return c.rho.run(&k.batch, n)[0]
	}
	for f, feature := range c.rho.features {
		x := k.batch.inputs[f]
		if feature.common != nil {
			fill(x[:n], feature.common.value(&c.constants))
			continue
		}
		value := feature.rho.value
		for i, p := range w.pieces {
			value(&w.paper[i], p.in(x))
		}
	}
	return w.run(k, c.rho, n)[0]
}

// adjoint implements entrywise, in the order of the sweep. Off the diagonal the
// derivatives are those by the value that (i, j) and (j, i) share, until they
// are stored.
func (c *paperCell) adjoint(w *worker, o *operands, a *adjoints) {
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
func (c *paperCell) adjointPieces(w *worker, o *operands, a *adjoints, n int) {
	b := &w.scratch[0].batch
	rho := c.thresholds(w, o, n)
	byRho := b.deltas[len(b.deltas)-1][0]
	for i, p := range w.pieces {
		c.adjointPiece(o, a, p, &w.paper[i], p.in(rho), p.in(byRho))
	}
	for f, by := range c.rho.backward(b, n, a.gradient) {
		feature, by := c.rho.features[f], by[:n]
		if feature.fixed {
			continue
		}
		if feature.common != nil {
			feature.common.derivative(&a.by, floats.Sum(by))
			continue
		}
		floats.Scale(0.5, by) // for each of the two entries
		derivative := feature.rho.derivative
		for i, p := range w.pieces {
			e, by := &w.paper[i], p.in(by)
			if e.diagonal {
				by[0] *= 2
			}
			derivative(e, by)
		}
	}
}

// adjointPiece goes back from Z (and U) of the entries e of p to Θ (and U), and sets
// byRho to the derivatives by the thresholds.
func (c *paperCell) adjointPiece(o *operands, a *adjoints, p piece, e *paperEntries, rho, byRho []float64) {
	e.byTheta, e.byZ = p.of(a.theta), p.of(a.z)
	theta, toZ, byTheta, byZ := e.theta, p.of(o.toZ), e.byTheta, e.byZ
	var u, byU []float64
	if o.u != nil {
		u, byU = p.of(o.u), p.of(a.u)
	}
	for j, t := range theta {
		off := toZ[j] - t
		g := byZ[j] + 2*a.byNorm2*off
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
		byTheta[j] = byArg - 2*a.byNorm2*off
		byZ[j] = 0
		if u != nil {
			byU[j] = byArg
		}
	}
	if e.diagonal {
		byRho[0] /= 2 // the diagonal has one entry, not two
	}
}

// adjointPrepare implements entrywise.
func (c *paperCell) adjointPrepare(*operands, *adjoints) {}
