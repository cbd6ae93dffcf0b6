package glad

import (
	"context"
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/gladflow/gladflow/solver/dense"
)

// A tape is the Adjoint on dense.Workspace. Of every cell it keeps the
// eigendecomposition, which takes most of the time to compute, and Z (and U):
// 8(2K + 1)d² bytes, 488 MB at K = 30 and d = 1000. Θ, by one product, and the
// activations of the networks, by one evaluation, would be four to twenty times
// as much: they are kept where d is small, and computed again on the way back
// where it is not.
type tape struct {
	*cpu
	vectors []*dense.Sym // by cell from 0; eigenvectors by rows, not symmetric
	values  [][]float64
	zs, us  []*dense.Sym // after cell k, and before the first at 0
	worker  *worker
	// Where d is small, Θ0, Θ of every cell, and its activations.
	start  *dense.Sym
	thetas []*dense.Sym
	kept   [][]float64
	adjoints
	product []float64 // n²
	roots   []float64

	// truth is Θ* in the units of the scaled S; loss is what is minimised,
	// times weight, and total its value as far as the way back has come.
	truth  *dense.Sym
	loss   Loss
	weight float64
	total  float64
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
	// byLambda and gradient, by the parameters, are added to.
	byLambda float64
	gradient []float64
}

var _ Adjoint = (*tape)(nil)

// newTape returns a tape for d×d covariances.
func newTape(p *program, d int, e dense.Engine) *tape {
	// Cells run one after the other, on one core: who has many covariances has
	// a tape for each core.
	t := &tape{cpu: newCPU(p, dense.Identity(d), 0, e, 1), worker: newWorker(p, true), product: make([]float64, d*d), roots: make([]float64, d)}
	for range len(p.trace) {
		t.vectors = append(t.vectors, dense.NewSym(d, nil))
		t.values = append(t.values, make([]float64, d))
	}
	for range len(p.trace) + 1 {
		t.zs = append(t.zs, dense.NewSym(d, nil))
		if t.cpu.u != nil {
			t.us = append(t.us, dense.NewSym(d, nil))
		}
	}
	// Beyond one tile there and back come to the entries in another order, and
	// 20 MB with K = 30 and the paper's networks are enough.
	if d <= tileColumns {
		var units int
		for _, n := range p.entries {
			units = max(units, n.units())
		}
		for range p.trace {
			t.thetas = append(t.thetas, dense.NewSym(d, nil))
			t.kept = append(t.kept, make([]float64, units*d*(d+1)/2))
		}
		t.start = t.cpu.next
	}
	t.adjoints.z, t.adjoints.theta = dense.NewSym(d, nil), dense.NewSym(d, nil)
	if t.cpu.u != nil {
		t.adjoints.u = dense.NewSym(d, nil)
	}
	return t
}

// load makes t the tape of another covariance of the same size.
func (t *tape) load(p *program, s, truth *dense.Sym, samples int, loss Loss, weight float64) {
	t.cpu.s, t.truth, t.loss, t.weight, t.total = s, truth, loss, weight, 0
	t.shape, t.sweep.cell = describe(p, s, samples)
}

// Initial implements Engine.
func (t *tape) Initial(ctx context.Context, offset float64) error {
	t.cpu.z, t.cpu.spare = t.zs[0], t.vectors[0]
	if t.thetas != nil {
		t.cpu.next = t.start
	}
	if t.cpu.u != nil {
		t.cpu.u = t.us[0]
	}
	if err := t.cpu.Initial(ctx, offset); err != nil {
		return err
	}
	clear(t.adjoints.z.Raw())
	if t.adjoints.u != nil {
		clear(t.adjoints.u.Raw())
	}
	return nil
}

// Theta implements Engine.
func (t *tape) Theta(ctx context.Context, lambda float64) error {
	t.cpu.spare, t.cpu.values = t.vectors[t.k], t.values[t.k]
	if t.thetas != nil {
		t.cpu.next = t.thetas[t.k]
	}
	return t.cpu.Theta(ctx, lambda)
}

// Z implements Engine.
func (t *tape) Z(ctx context.Context, lambda float64) (float64, error) {
	toU := t.cpu.u
	if toU != nil {
		toU = t.us[t.k+1]
	}
	if t.kept != nil {
		t.sweep.workers[0].kept = t.kept[t.k]
	}
	return t.cpu.advance(ctx, lambda, t.zs[t.k+1], toU)
}

// AdjointZ implements Adjoint.
func (t *tape) AdjointZ(ctx context.Context, k int, lambda, byNorm2 float64, gradient []float64) (float64, error) {
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	theta := t.cpu.next
	if t.kept != nil {
		theta = t.thetas[k-1]
		t.worker.kept, t.worker.known = t.kept[k-1], true
	} else {
		spectrum(t.phi, t.values[k-1], lambda)
		t.work.Spectral(theta, t.phi, t.vectors[k-1].Raw())
	}
	o := operands{theta: theta, s: t.cpu.s, z: t.zs[k-1], toZ: t.zs[k]}
	if t.us != nil {
		o.u, o.toU = t.us[k-1], t.us[k]
	}
	a := &t.adjoints
	a.byNorm2, a.byLambda, a.gradient = byNorm2, 0, gradient
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
	return a.byLambda, nil
}

// seed adds the derivative of the loss by x after cell k to by, and the share
// of that cell to total.
func (t *tape) seed(by, x *dense.Sym, k int) {
	weight := t.weight * t.loss.discount(len(t.values)-k)
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

// AdjointTheta implements Adjoint.
func (t *tape) AdjointTheta(ctx context.Context, k int, lambda float64) (float64, error) {
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	values, vectors := t.values[k-1], t.vectors[k-1].Raw()
	spectrum(t.phi, values, lambda)
	a := &t.adjoints
	h := a.theta
	t.work.Conjugate(h, vectors, false, t.product)
	// ∂φ/∂λ at fixed Y is −1/(λ²s), and the derivative of the matrix function
	// in the eigenbasis an entry-wise product with the divided differences.
	root := 2 / math.Sqrt(lambda)
	roots := t.roots
	var byLambda float64
	for i, y := range values {
		roots[i] = math.Hypot(y, root)
		byLambda -= h.At(i, i) / roots[i]
	}
	for i := range values {
		row := h.Row(i)
		phi, s := t.phi[i], roots[i]
		for j := range row {
			row[j] *= -(phi + t.phi[j]) / (s + roots[j])
		}
	}
	t.work.Conjugate(h, vectors, true, t.product)
	// Y = S/λ − Z (+ U).
	byLambda -= h.Dot(t.cpu.s)
	floats.AddScaled(a.z.Raw(), -1, h.Raw())
	if a.u != nil {
		floats.Add(a.u.Raw(), h.Raw())
	}
	return byLambda / (lambda * lambda), nil
}

// AdjointInitial implements Adjoint: ∂(S + tI)⁻¹/∂t = −Θ0².
func (t *tape) AdjointInitial(context.Context) (float64, error) {
	start := t.zs[0]
	t.work.Mul(t.product, start, start)
	var sum float64
	for i, v := range t.adjoints.z.Raw() {
		sum += v * t.product[i]
	}
	return -sum, nil
}
