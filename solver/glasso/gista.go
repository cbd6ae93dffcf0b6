package glasso

import (
	"context"
	"math"

	"github.com/gladflow/gladflow/solver"
	"github.com/gladflow/gladflow/solver/dense"
)

// GISTA is the graphical iterative shrinkage-thresholding algorithm of
// Guillot, Rajaratnam, Rolfs, Maleki, Wong (2012): a proximal gradient step on
// Θ whose length comes from Barzilai and Borwein and is cut by a line search
// until Θ stays positive definite and the objective falls enough.
type GISTA struct {
	Settings
}

var _ solver.Solver = GISTA{}

// Solve implements solver.Solver.
func (g GISTA) Solve(ctx context.Context, p solver.Problem) (*solver.Estimate, error) {
	return solve(ctx, p, g.Settings, method{run: gista, residual: kktResidual})
}

const (
	// gistaPatience is the number of checks without progress taken for
	// rounding.
	gistaPatience = 300
	// gistaCheck is the number of steps between checks of the certificate,
	// which costs about a third of a step.
	gistaCheck = 3
)

// gistaPoint is Θ with what a step from it needs.
type gistaPoint struct {
	theta   *dense.Sym
	inverse *dense.Sym
	smooth  float64 // −log det Θ + tr(SΘ)
}

func gista(ctx context.Context, b *block) outcome {
	n := b.len()
	c := newCertificate(b)
	c.offerInterior(ctx)
	now := &gistaPoint{theta: c.theta.Clone(), inverse: dense.NewSym(n, nil)}
	next := &gistaPoint{theta: dense.NewSym(n, nil), inverse: dense.NewSym(n, nil)}
	factor := make([]float64, n*n)
	now.evaluate(b, factor)
	b.work.InvertFactor(now.inverse, factor)
	length, ok := 1.0, true
	step := func() { ok = gistaStep(b, factor, now, next, &length) }
	for iteration := 1; ; iteration++ {
		if dense.AwaitLong(ctx, n, step) != nil {
			return c.outcome(solver.Interrupted, iteration-1)
		}
		if !ok {
			// No step, however short, gains anything: Θ is optimal to
			// rounding.
			c.offerPrimalAt(now.theta, now.smooth+penaltyOf(b, now.theta))
			c.offerDual(ctx, now.inverse)
			status, more := c.next(ctx, iteration, 0)
			if more {
				status = solver.Stalled
			}
			return c.outcome(status, iteration)
		}
		now, next = next, now
		if iteration%gistaCheck != 1 && iteration < b.limit {
			continue
		}
		c.offerPrimalAt(now.theta, now.smooth+penaltyOf(b, now.theta))
		c.offerDual(ctx, now.inverse)
		if status, more := c.next(ctx, iteration, gistaPatience); !more {
			return c.outcome(status, iteration)
		}
	}
}

// gistaStep moves from now to next. It reports whether any step length from
// *step downwards decreases the objective; *step becomes the proposal for the
// step after.
func gistaStep(b *block, factor []float64, now, next *gistaPoint, step *float64) bool {
	// Rounding of the smooth part: a smaller decrease tells nothing.
	slack := 1e-13 * (math.Abs(now.smooth) + float64(b.len()))
	for halvings := 0; ; halvings++ {
		if halvings > 100 {
			return false
		}
		slope, length := proximalStep(b, now, next.theta, *step)
		if length == 0 {
			return false
		}
		if next.evaluate(b, factor) && next.smooth <= now.smooth+slope+length/(2**step)+slack {
			break
		}
		*step /= 2
	}
	if !b.work.InvertFactor(next.inverse, factor) {
		return false
	}
	*step = barzilaiBorwein(now, next, *step)
	return true
}

// evaluate computes the smooth part of the objective and reports whether Θ is
// positive definite; factor then holds its Cholesky factor.
func (p *gistaPoint) evaluate(b *block, factor []float64) bool {
	logdet, ok := b.work.LogDet(p.theta, factor)
	p.smooth = b.s.Dot(p.theta) - logdet
	return ok
}

// proximalStep sets theta to the soft threshold of Θ − ζ(S − Θ⁻¹) and returns
// the gradient's product with the step and the step's squared length.
func proximalStep(b *block, now *gistaPoint, theta *dense.Sym, zeta float64) (slope, length float64) {
	n := theta.Len()
	raw := theta.Raw()
	for i := range n {
		t, inv, s, r := now.theta.Row(i), now.inverse.Row(i), b.s.Row(i), b.pen.row(i)
		to := theta.Row(i)
		var sl, le float64
		for j := range i {
			g := s[j] - inv[j]
			v := dense.SoftThreshold(t[j]-zeta*g, zeta*r[j])
			d := v - t[j]
			to[j], raw[j*n+i] = v, v
			sl += 2 * g * d
			le += 2 * d * d
		}
		g := s[i] - inv[i]
		v := dense.SoftThreshold(t[i]-zeta*g, zeta*b.pen.diagonal[i])
		d := v - t[i]
		to[i] = v
		slope += sl + g*d
		length += le + d*d
	}
	return slope, length
}

// barzilaiBorwein is ‖ΔΘ‖² / ⟨ΔΘ, −ΔΘ⁻¹⟩, the inverse of the curvature along
// the last step, or that step's length where the quotient is not usable.
func barzilaiBorwein(now, next *gistaPoint, last float64) float64 {
	var num, den float64
	for i := range now.theta.Len() {
		t0, t1, w0, w1 := now.theta.Row(i), next.theta.Row(i), now.inverse.Row(i), next.inverse.Row(i)
		var a, c float64
		for j, v := range t1 {
			d := v - t0[j]
			a += d * d
			c += d * (w0[j] - w1[j])
		}
		num += a
		den += c
	}
	if z := num / den; z > 0 && z < 1e100 {
		return z
	}
	return last
}

// penaltyOf is Σ ρij|Θij|.
func penaltyOf(b *block, theta *dense.Sym) float64 {
	var total float64
	for i := range theta.Len() {
		t, r := theta.Row(i), b.pen.row(i)
		var sum float64
		for j, v := range t[:i] {
			sum += r[j] * math.Abs(v)
		}
		total += 2*sum + b.pen.diagonal[i]*math.Abs(t[i])
	}
	return total
}
