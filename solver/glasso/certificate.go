package glasso

import (
	"context"
	"math"

	"github.com/gladflow/gladflow/solver"
	"github.com/gladflow/gladflow/solver/dense"
)

// A certificate holds the best primal and dual points of a block seen so far.
//
// The dual of the graphical lasso is
//
//	max log det W + n   over   |Wij − Sij| ≤ ρij, Wii = Sii + ρii, W ≻ 0,
//
// and its value at every feasible W is a lower bound of the primal optimum.
// Candidates are therefore made feasible first, by clipping and, where that
// costs positive definiteness, by a step towards a point known to be interior.
type certificate struct {
	b       *block
	primal  float64    // objective at theta
	theta   *dense.Sym // best primal point
	dual    float64    // best lower bound
	factor  *dense.Sym // scratch for Cholesky
	trial   *dense.Sym // scratch for dual candidates
	checks  int        // since the gap last fell by a millionth
	lastGap float64
}

// newCertificate starts from the better of the diagonal Θ that is optimal when
// no pair is connected and the initial estimate, so that a method cancelled
// before its first step still returns that.
func newCertificate(b *block) *certificate {
	n := b.len()
	c := bareCertificate(b)
	c.theta = dense.NewSym(n, nil)
	c.trial = dense.NewSym(n, nil)
	for i, r := range b.pen.diagonal {
		c.theta.Set(i, i, 1/(b.s.At(i, i)+r))
	}
	if b.initial != nil {
		c.offerPrimalAt(b.initial, linear(b, b.initial)-b.logdet)
	}
	return c
}

// bareCertificate knows the objective of the diagonal Θ and has no point.
func bareCertificate(b *block) *certificate {
	n := b.len()
	c := &certificate{
		b:       b,
		primal:  float64(n),
		dual:    math.Inf(-1),
		factor:  b.factor,
		lastGap: math.Inf(1),
	}
	if c.factor == nil {
		c.factor = dense.NewSym(n, nil)
	}
	for i, r := range b.pen.diagonal {
		c.primal += math.Log(b.s.At(i, i) + r)
	}
	return c
}

// gap is the duality gap of the best points, +Inf before a dual point was
// found.
func (c *certificate) gap() float64 { return c.gapAt(c.primal) }

// gapAt is the gap of a point with the given objective. It is never below the
// rounding of that objective: a difference of zero certifies no more.
func (c *certificate) gapAt(objective float64) float64 {
	return math.Max(objective-c.dual, 0x1p-52*(math.Abs(objective)+float64(c.b.len())))
}

// logDet is log det a for a positive definite a. When ctx ends it returns false
// at once, and in every later call: c.factor may then be in use in the
// background. a is not.
func (c *certificate) logDet(ctx context.Context, a *dense.Sym) (logdet float64, ok bool) {
	if ctx.Err() != nil {
		return 0, false
	}
	c.factor.CopyFrom(a)
	return c.factorise(ctx)
}

// factorise is logDet of what is in c.factor, of which the caller knows that it is
// not in use: ctx has not ended.
func (c *certificate) factorise(ctx context.Context) (logdet float64, ok bool) {
	n := c.factor.Len()
	if n < dense.LongFrom { // no closure, no allocation
		return c.b.work.LogDet(c.factor, c.factor.Raw())
	}
	var l float64
	var definite bool
	if dense.AwaitLong(ctx, n, func() { l, definite = c.b.work.LogDet(c.factor, c.factor.Raw()) }) != nil {
		return 0, false
	}
	return l, definite
}

// objective is −log det Θ + tr(SΘ) + Σ ρij|Θij|, and whether Θ is positive
// definite.
func (c *certificate) objective(ctx context.Context, theta *dense.Sym) (float64, bool) {
	logdet, ok := c.logDet(ctx, theta)
	if !ok {
		return math.Inf(1), false
	}
	return linear(c.b, theta) - logdet, true
}

// linear is tr(SΘ) + Σ ρij|Θij|.
func linear(b *block, theta *dense.Sym) float64 {
	var total float64
	for i := range theta.Len() {
		t, s, r := theta.Row(i), b.s.Row(i), b.pen.row(i)
		sum := (s[i] + b.pen.diagonal[i]) * t[i]
		for j, v := range t[:i] {
			sum += 2 * (s[j]*v + r[j]*math.Abs(v))
		}
		total += sum
	}
	return total
}

// offerPrimal takes theta, copied, if it is positive definite and better than
// what was there. It reports whether it is positive definite.
func (c *certificate) offerPrimal(ctx context.Context, theta *dense.Sym) bool {
	obj, ok := c.objective(ctx, theta)
	if ok {
		c.offerPrimalAt(theta, obj)
	}
	return ok
}

// offerPrimalAt is offerPrimal for a positive definite theta of known
// objective.
func (c *certificate) offerPrimalAt(theta *dense.Sym, objective float64) {
	if objective < c.primal {
		c.primal = objective
		c.theta.CopyFrom(theta)
	}
}

// offerDual clips w into the dual's box and takes its value if that is better
// than what was there.
func (c *certificate) offerDual(ctx context.Context, w *dense.Sym) {
	for i := range w.Len() {
		from, to, s, r := w.Row(i), c.trial.Row(i), c.b.s.Row(i), c.b.pen.row(i)
		for j, v := range from {
			to[j] = clip(v, s[j]-r[j], s[j]+r[j])
		}
		to[i] = s[i] + c.b.pen.diagonal[i]
	}
	if v, ok := c.nearestInterior(ctx, c.trial); ok {
		c.dual = math.Max(c.dual, v+float64(w.Len()))
	}
}

// offerInterior offers the interior point: a first lower bound, without which a
// method stopped early has no gap to report.
func (c *certificate) offerInterior(ctx context.Context) {
	interior(c.b, c.trial)
	c.offerDual(ctx, c.trial)
}

// clip returns x, or the nearer end of [lo, hi] when it lies outside.
func clip(x, lo, hi float64) float64 {
	return math.Min(math.Max(x, lo), hi)
}

// nearestInterior moves w, which lies in the dual's box, towards the interior
// point until it is positive definite, and returns its log det. The box is
// convex, so that w stays in it.
func (c *certificate) nearestInterior(ctx context.Context, w *dense.Sym) (float64, bool) {
	logdet, ok := c.logDet(ctx, w)
	if ok || ctx.Err() != nil {
		return logdet, ok
	}
	b := c.b
	alpha := interiorShrinkage(b)
	if alpha == 0 {
		return 0, false
	}
	// Each step takes away half of what is left of w.
	for range 12 {
		for i := range w.Len() {
			row, s := w.Row(i), b.s.Row(i)
			for j := range row {
				if j != i {
					row[j] = (row[j] + (1-alpha)*s[j]) / 2
				}
			}
		}
		if logdet, ok = c.logDet(ctx, w); ok || ctx.Err() != nil {
			return logdet, ok
		}
	}
	return 0, false
}

// interiorShrinkage is the largest α ≤ 1 for which (1−α)S + α·diag(S), plus
// the diagonal penalties, lies in the dual's box. For α > 0 that point is
// positive definite, S being semidefinite with a positive diagonal.
func interiorShrinkage(b *block) float64 {
	alpha := 1.0
	for i := range b.len() {
		s, r := b.s.Row(i), b.pen.row(i)
		for j, v := range s[:i] {
			if a := math.Abs(v); a*alpha > r[j] {
				alpha = r[j] / a
			}
		}
	}
	return alpha
}

// interior fills w with that point.
func interior(b *block, w *dense.Sym) {
	alpha := interiorShrinkage(b)
	for i := range b.len() {
		row := w.Row(i)
		for j, v := range b.s.Row(i) {
			row[j] = (1 - alpha) * v
		}
		row[i] = b.s.At(i, i) + b.pen.diagonal[i]
	}
}

// next says whether the method goes on after the given iteration, whose
// certificate was just brought up to date, and with which status it stops
// otherwise. patience is the number of checks without progress after which
// rounding is taken to be the reason.
func (c *certificate) next(ctx context.Context, iteration, patience int) (solver.Status, bool) {
	gap := c.gap()
	c.b.record(iteration, c.primal, gap)
	if gap < (1-1e-6)*c.lastGap {
		c.lastGap = gap
		c.checks = 0
	}
	c.checks++
	switch {
	case gap <= c.b.target:
		return solver.Converged, false
	case ctx.Err() != nil:
		return solver.Interrupted, false
	case iteration >= c.b.limit:
		return solver.IterationLimit, false
	case c.checks > patience:
		return solver.Stalled, false
	}
	return solver.NotTerminated, true
}

// outcome is the best primal point with its certificate.
func (c *certificate) outcome(status solver.Status, iterations int) outcome {
	return outcome{theta: c.theta, status: status, iterations: iterations, objective: c.primal, gap: c.gap()}
}

// kktResidual is the largest violation of the optimality conditions at theta,
//
//	Sij − (Θ⁻¹)ij + ρij·sign(Θij) = 0 where Θij ≠ 0,   |Sij − (Θ⁻¹)ij| ≤ ρij elsewhere,
//
// in the units before rescaling.
func kktResidual(b *block, out outcome, scale []float64) float64 {
	theta := out.theta
	w := dense.NewSym(theta.Len(), nil)
	if _, ok := b.work.Inverse(w, theta); !ok {
		return math.Inf(1)
	}
	var worst float64
	for i := range theta.Len() {
		t, s, wi, r := theta.Row(i), b.s.Row(i), w.Row(i), b.pen.row(i)
		for j := range i + 1 {
			rho := r[j]
			if i == j {
				rho = b.pen.diagonal[i]
			}
			worst = math.Max(worst, violation(s[j]-wi[j], t[j], rho)/(scale[i]*scale[j]))
		}
	}
	return worst
}

// violation is the distance of −gradient from the subdifferential of ρ|·| at
// theta.
func violation(gradient, theta, rho float64) float64 {
	switch {
	case theta > 0:
		return math.Abs(gradient + rho)
	case theta < 0:
		return math.Abs(gradient - rho)
	}
	return math.Max(0, math.Abs(gradient)-rho)
}
