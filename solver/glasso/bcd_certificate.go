package glasso

import (
	"context"
	"math"

	"github.com/gladflow/gladflow/solver"
	"github.com/gladflow/gladflow/solver/dense"
	"github.com/gladflow/gladflow/solver/glasso/internal/vector"
)

// check brings the certificate up to date with W and the Θ that its regressions
// imply. st.c.factor is scratch.
func (st *bcdState) check(ctx context.Context) {
	st.spread = math.Inf(1)
	if ctx.Err() != nil { // c.factor may be in use
		return
	}
	needed := true // the factor of W
	t := st.theta
	t.symmetrise(st.c.factor, st.columns, st.weight)
	// Early on Θ tends to be just short of positive definite; weaker edges
	// make it so.
	for _, f := range [...]float64{1, 0.99, 0.95, 0.8} {
		if f < 1 {
			t.weaken(f)
			t.to(st.c.factor)
		}
		logdet, ok := st.c.factorise(ctx)
		if ctx.Err() != nil {
			return
		}
		if !ok {
			continue
		}
		objective := t.linear(st.b) - logdet
		gap, least := st.gap(t)
		needed = gap > st.b.target && !(least > st.b.target)
		st.c.dual = math.Max(st.c.dual, objective-gap)
		st.offer(t, objective)
		break
	}
	if st.broken || needed {
		st.factorised(ctx)
	}
}

// bcdSpread is the largest spread for which bcdResidual's bound is of use.
const bcdSpread = 0.5

// offer takes t if it is the best primal point yet; what was it is the next st.theta.
func (st *bcdState) offer(t *sparse, objective float64) {
	if st.paired = objective < st.c.primal; st.paired {
		st.c.primal = objective
		st.theta, st.best = st.best, t
		if st.theta == nil {
			st.theta = new(sparse)
		}
	}
}

// gap is what the duality gap of Θ = t, positive definite, and W is at most and at least.
//
// With WΘ = I + E it is
//
//	Σ ρij|Θij| − (Wij − Sij)Θij   +   tr E − log det(I + E).
//
// No term of the first sum is negative, W being in the box. The eigenvalues λ of E
// are real, since those of WΘ are those of Θ^½WΘ^½. Where Σλ² < 1, W is positive
// definite like Θ, and the second part is between ½Σλ² − ⅓Σ|λ|³ and
// ½Σλ² + ⅓Σ|λ|³/(1 − max|λ|). Σλ² is tr E²: a product of W with the sparse Θ takes the place of a factorisation of W.
func (st *bcdState) gap(t *sparse) (most, least float64) {
	squares := st.mismatch(t)
	st.spread = math.Sqrt(squares)
	if !(st.spread < 1) {
		return math.Inf(1), 0
	}
	var apart float64
	for i := range st.n {
		index, value := t.row(i)
		w, s, r := st.row(i), st.b.s.Row(i), st.b.pen.row(i)
		var sum float64
		for a, j := range index[:len(index)-1] {
			sum += r[j]*math.Abs(value[a]) - (w[j]-s[j])*value[a]
		}
		apart += sum
	}
	apart = math.Max(apart, 0)
	cubes := squares * st.spread / 3
	return apart + squares/2 + cubes/(1-st.spread), apart + squares/2 - cubes
}

// mismatch is tr E² of E = WΘ − I. Panels of W are narrow enough for the cache to hold
// them while all rows of Θ pass.
func (st *bcdState) mismatch(t *sparse) float64 {
	n := st.n
	e := st.c.factor.Raw()
	width := min(max(1<<16/n, 32), 512) &^ 7
	dense.Share(st.b.work.Engine(), (n+width-1)/width, func(k int) {
		from := k * width
		to := min(from+width, n)
		for j := range n {
			row := e[j*n+from : j*n+to]
			clear(row)
			index, value := t.row(j)
			vector.Combine(row, st.w[from:], st.stride, index, value)
			if j >= from && j < to {
				row[j-from]--
			}
		}
	})
	return math.Max(traceOfSquare(e, n), 0)
}

// traceOfSquare is tr E² of an n×n matrix, row-major.
func traceOfSquare(e []float64, n int) float64 {
	const tile = 16
	var sum float64
	for i0 := 0; i0 < n; i0 += tile {
		i1 := min(i0+tile, n)
		var above, diagonal float64
		for j0 := i0; j0 < n; j0 += tile {
			for i := i0; i < i1; i++ {
				row := e[i*n : i*n+n]
				for j := max(j0, i+1); j < min(j0+tile, n); j++ {
					above += row[j] * e[j*n+i]
				}
			}
		}
		for i := i0; i < i1; i++ {
			diagonal += e[i*n+i] * e[i*n+i]
		}
		sum += 2*above + diagonal
	}
	return sum
}

// factorised takes the dual objective of W from a factorisation, where Θ is too far
// from its inverse for gap. An inexact regression may have cost W its definiteness:
// then W moves towards the interior point until it has it back.
func (st *bcdState) factorised(ctx context.Context) {
	alpha := math.NaN()
	for range 14 {
		for i := range st.n {
			copy(st.c.factor.Row(i), st.row(i))
		}
		logdet, ok := st.c.factorise(ctx)
		if ctx.Err() != nil {
			return
		}
		if ok {
			st.c.dual = math.Max(st.c.dual, logdet+float64(st.n))
			break
		}
		if math.IsNaN(alpha) {
			if alpha = interiorShrinkage(st.b); alpha == 0 {
				break
			}
		}
		// Each step takes away half of what is left of W.
		for i := range st.n {
			row, s := st.row(i), st.b.s.Row(i)
			for j := range row {
				if j != i {
					row[j] = (row[j] + (1-alpha)*s[j]) / 2
				}
			}
		}
	}
	st.broken = false
}

// A plan says when the certificate is worth its cost: where it is likely to meet the
// target. The gap is about as large as the squares of what the last sweep changed,
// times a ratio that varies little from sweep to sweep: that of the last check, or before
// it the contraction, up to planMost.
type plan struct {
	target float64
	ratio  float64
	before float64 // what the sweep before changed
	less   float64 // the last change as a share of the one before; 0 where there is none
	last   int     // the sweep of the last check
	least  float64 // what W moved by
	since  int     // sweeps without less
}

const (
	planLeast = 0.01 // the least contraction that is counted on
	planMost  = 0.04
)

func newPlan(target float64) *plan {
	return &plan{target: target, ratio: planMost, least: math.Inf(1)}
}

// predict is the gap after a sweep.
func (p *plan) predict(moved float64) float64 { return p.ratio * moved }

// contraction is the share of their squares that changes are likely to have after the
// next sweep.
func (p *plan) contraction() float64 { return math.Min(math.Max(p.less, planLeast), 1) }

// due is called once after every sweep.
func (p *plan) due(sweep int, moved float64) bool {
	if p.before > 0 {
		p.less = moved / p.before
		if p.last == 0 {
			p.ratio = math.Min(p.contraction(), planMost)
		}
	}
	p.before = moved
	if p.since++; moved < p.least {
		p.least, p.since = moved, 0
	}
	// The second is where rounding, or a hard problem, has the last word.
	return p.predict(moved) <= p.target || p.since > 3 || sweep-p.last >= 25
}

// checked tells the gap that was found.
func (p *plan) checked(sweep int, moved, gap float64) {
	p.last, p.since = sweep, 0
	if r := gap / moved; r > 0 && !math.IsInf(r, 0) {
		p.ratio = r
	}
}

// An interim is the certificate between two checks of the plan: for who watches, and
// for who cannot wait for the end. It depends on the clock, and so nothing else depends
// on it.
type interim struct {
	primal, dual float64
	theta        *sparse
}

func (i *interim) gap() float64 { return i.primal - i.dual }

// look makes an interim certificate.
func (st *bcdState) look(ctx context.Context, sweep int) {
	c := st.c
	primal, dual, best := c.primal, c.dual, st.best
	st.best = nil
	st.check(ctx)
	if st.best != nil && c.gap() < st.between.gap() {
		st.between = interim{c.primal, c.dual, st.best}
		c.b.record(sweep, c.primal, c.gap())
	}
	c.primal, c.dual, st.best = primal, dual, best
}

// outcome is the best primal point with its certificate.
func (st *bcdState) outcome(status solver.Status, iterations int) outcome {
	c := st.c
	if status == solver.Interrupted {
		if st.between.gap() < c.primal-c.dual {
			c.primal, c.dual, st.best = st.between.primal, st.between.dual, st.between.theta
		}
		c.theta = dense.NewSym(st.n, nil) // c.factor may be in use
	} else {
		c.theta = c.factor
	}
	st.best.to(c.theta)
	out := c.outcome(status, iterations)
	if status == solver.Converged && st.paired && st.spread < bcdSpread {
		out.dual = st
	}
	return out
}

// bcdResidual is an upper bound of kktResidual that needs no inverse of Θ: W takes its
// place, for |Θ⁻¹ − W|ij is at most √(Wii·Wjj)·spread/(1 − spread).
func bcdResidual(b *block, out outcome, scale []float64) float64 {
	st := out.dual
	if st == nil {
		return kktResidual(b, out, scale)
	}
	apart := st.spread / (1 - st.spread)
	unit := make([]float64, st.n) // √Wii in units of S
	var first, second, worst float64
	for i := range unit {
		unit[i] = math.Sqrt(st.row(i)[i]) / scale[i]
		worst = math.Max(worst, apart*unit[i]*unit[i])
		if unit[i] > first {
			first, second = unit[i], first
		} else {
			second = math.Max(second, unit[i])
		}
	}
	worst = math.Max(worst, apart*first*second)
	for i := range st.n {
		index, value := st.best.row(i)
		s, w, r := b.s.Row(i), st.row(i), b.pen.row(i)
		for a, j := range index[:len(index)-1] {
			v := violation(s[j]-w[j], value[a], r[j])/(scale[i]*scale[j]) + apart*unit[i]*unit[j]
			worst = math.Max(worst, v)
		}
	}
	return worst
}
