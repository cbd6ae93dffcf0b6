package glad

import (
	"context"

	"github.com/gladflow/gladflow/solver"
	"github.com/gladflow/gladflow/solver/dense"
)

// A tape is the Adjoint of CPU, on a dense.Workspace. Of every cell it keeps the
// eigendecomposition, which takes most of the time to compute, and Z (and U):
// 8(2K + 1)d² bytes, 488 MB at K = 30 and d = 1000. Θ, by one product, and the
// activations of the networks, by one evaluation, would be four to twenty times
// as much: they are kept where d is small, and computed again on the way back
// where it is not.
type tape struct {
	*iterates
	kept   []cellRecord // by cell from 0
	zs, us []*dense.Sym // after cell k, and before the first at 0
	start  *dense.Sym   // Θ0, where Θ of every cell is kept
	worker *worker
	adjoints
	product []float64 // n²
	roots   []float64

	// truth is Θ* in the units of the scaled S; loss is what is minimised,
	// times weight, and total its value as far as the way back has come.
	truth  *dense.Sym
	loss   Loss
	weight float64
	total  float64
	// outcome, if set, is the loss in place of that: see Outcome.
	outcome func(theta, by *dense.Sym) float64
}

// A cellRecord is what a tape keeps of a cell.
type cellRecord struct {
	vectors *dense.Sym // eigenvectors by rows, not symmetric
	values  []float64
	// Where d is small, Θ and the activations.
	theta       *dense.Sym
	activations []float64
}

// adjoints are the derivatives of the loss. Derivatives by a matrix are those
// by its single entries, and symmetric.
type adjoints struct {
	// z and u are those by Z and U after the cell, before entrywise.adjoint;
	// by Z and U before it afterwards.
	z, u *dense.Sym
	// theta is set by entrywise.adjoint.
	theta *dense.Sym
	// byNorm2 is that by ‖Z − Θ‖²F.
	byNorm2 float64
	// by, by what the entries share, and gradient, by the parameters, are
	// added to.
	by       constants
	gradient []float64
}

var _ Adjoint = (*tape)(nil)

// newTape returns a tape for d×d covariances.
func (s *cpuSession) newTape(d int) *tape {
	// One core: several covariances are differentiated at a time.
	t := &tape{
		iterates: s.newIterates(d, 1), worker: newWorker(s.networks, true),
		product: make([]float64, d*d), roots: make([]float64, d),
		kept: make([]cellRecord, s.plan.Iterations),
	}
	t.iterates.keep = true
	for k := range t.kept {
		t.kept[k].vectors, t.kept[k].values = dense.NewSym(d, nil), make([]float64, d)
	}
	for range len(t.kept) + 1 {
		t.zs = append(t.zs, dense.NewSym(d, nil))
		if t.iterates.u != nil {
			t.us = append(t.us, dense.NewSym(d, nil))
		}
	}
	// Beyond one tile there and back come to the entries in another order, and
	// 20 MB with K = 30 and the paper's networks are enough.
	if d <= tileColumns {
		t.keepAll(s.networks)
	}
	t.adjoints.z, t.adjoints.theta = dense.NewSym(d, nil), dense.NewSym(d, nil)
	if t.iterates.u != nil {
		t.adjoints.u = dense.NewSym(d, nil)
	}
	t.gradient = make([]float64, len(s.plan.Values))
	return t
}

// keepAll makes t keep Θ and the activations too.
func (t *tape) keepAll(networks []*network) {
	var units int
	for _, n := range networks {
		units = max(units, n.units())
	}
	d := len(t.roots)
	for k := range t.kept {
		t.kept[k].theta = dense.NewSym(d, nil)
		t.kept[k].activations = make([]float64, units*d*(d+1)/2)
	}
	t.start = t.next
}

// load makes t the tape of another example of the same dimension.
func (t *tape) load(s *cpuSession, e solver.Example, loss Loss, weight float64) {
	t.iterates.load(s, e.S, e.Samples)
	t.truth, t.loss, t.weight, t.total, t.outcome = e.Truth, loss, weight, 0, nil
}

// Initial implements Cells.
func (t *tape) Initial(ctx context.Context, offset float64) error {
	c := t.iterates
	c.pair.z, c.spare = t.zs[0], t.kept[0].vectors
	if t.start != nil {
		c.next = t.start
	}
	if c.u != nil {
		c.u = t.us[0]
	}
	if err := c.Initial(ctx, offset); err != nil {
		return err
	}
	clear(t.adjoints.z.Raw())
	if t.adjoints.u != nil {
		clear(t.adjoints.u.Raw())
	}
	clear(t.gradient)
	return nil
}

// Cell implements Cells.
func (t *tape) Cell(ctx context.Context, lambda float64) (float64, error) {
	c, to := t.iterates, &t.kept[t.k]
	c.spare, c.values = to.vectors, to.values
	if to.theta != nil {
		c.next = to.theta
		c.sweep.workers[0].kept = to.activations
	}
	if err := c.thetaStep(ctx, lambda); err != nil {
		return 0, err
	}
	toU := c.u
	if toU != nil {
		toU = t.us[t.k+1]
	}
	return c.advance(ctx, lambda, t.zs[t.k+1], toU)
}

// AdjointCell implements Adjoint.
func (t *tape) AdjointCell(ctx context.Context, k int, lambda, byNorm2, byLambda float64) (float64, error) {
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	t.byNorm2 = byNorm2
	t.adjointZ(k, lambda)
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	return byLambda + t.by.lambda + t.adjointTheta(k, lambda), nil
}

// adjointZ goes back through the Z step of cell k, to the derivatives by Θ and λ
// and by Z (and U) before the cell.
func (t *tape) adjointZ(k int, lambda float64) {
	var theta *dense.Sym
	if from := &t.kept[k-1]; from.theta != nil {
		theta = from.theta
		t.worker.kept, t.worker.known = from.activations, true
	} else {
		theta = t.recompute(k, lambda)
	}
	o := operands{theta: theta, s: t.s, z: t.zs[k-1], toZ: t.zs[k]}
	if t.us != nil {
		o.u, o.toU = t.us[k-1], t.us[k]
	}
	a := &t.adjoints
	a.by = constants{}
	if t.loss.On == LossOnZ {
		t.seed(a.z, o.toZ, k)
	}
	cell := t.sweep.cell
	cell.prepare(&o, k, lambda)
	cell.adjoint(t.worker, &o, a)
	d := t.shape.Dimension
	for _, m := range []*dense.Sym{a.theta, a.z, a.u} {
		if m != nil {
			mirror(m, 0, d, 0, d)
		}
	}
	cell.adjointPrepare(&o, a)
	if t.loss.On == LossOnTheta {
		t.seed(a.theta, o.theta, k)
	}
	if t.outcome != nil && k == len(t.kept) {
		t.total += t.outcome(o.theta, a.theta)
	}
}

// seed adds the derivative of the loss by x after cell k to by, and the share
// of that cell to total.
func (t *tape) seed(by, x *dense.Sym, k int) {
	weight := t.weight * t.loss.discount(len(t.kept)-k)
	f := 2 * weight
	var sum float64
	for i := range x.Len() {
		to, truth := by.Row(i), t.truth.Row(i)
		var even, odd float64 // two sums do not wait for each other
		for j, v := range x.Row(i) {
			e := v - truth[j]
			to[j] += f * e
			even, odd = odd, even+e*e
		}
		sum += even + odd
	}
	t.total += weight * sum
}

// AdjointInitial implements Adjoint: ∂(S + tI)⁻¹/∂t = −Θ0².
func (t *tape) AdjointInitial(_ context.Context, gradient []float64) (float64, error) {
	start := t.zs[0]
	t.work.Mul(t.product, start, start)
	var sum float64
	for i, v := range t.adjoints.z.Raw() {
		sum += v * t.product[i]
	}
	t.gradient[len(t.gradient)-1] -= sum
	for i, v := range t.gradient {
		gradient[i] += v
	}
	return t.total, nil
}
