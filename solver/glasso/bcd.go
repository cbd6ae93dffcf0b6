package glasso

import (
	"context"
	"math"

	"github.com/gladflow/gladflow/solver"
	"github.com/gladflow/gladflow/solver/dense"
)

// BCD is block coordinate ascent on the dual of the graphical lasso, the
// algorithm known as "graphical lasso" itself (Friedman, Hastie, Tibshirani
// 2008): the covariance W is improved one row and column at a time, each by
// a lasso regression of one variable on the others. It is the fastest of the
// four when the solution is sparse.
type BCD struct {
	Settings
}

var _ solver.Solver = BCD{}

// Solve implements solver.Solver.
func (b BCD) Solve(ctx context.Context, p solver.Problem) (*solver.Estimate, error) {
	return solve(ctx, p, b.Settings, method{run: bcd, residual: kktResidual})
}

// bcdPatience is the number of sweeps without progress taken for rounding.
const bcdPatience = 50

// bcdState is W = S + U within the dual's box, positive definite, and for
// every column j the lasso coefficients β with w12 = W11·β.
type bcdState struct {
	b     *block
	w     *dense.Sym
	beta  []float64 // n×n, column j's coefficients in row j
	fit   []float64 // W·β for the column at hand
	lasso lasso
	theta *dense.Sym
}

func bcd(ctx context.Context, b *block) outcome {
	n := b.len()
	c := newCertificate(b)
	st := &bcdState{
		b:     b,
		w:     dense.NewSym(n, nil),
		beta:  make([]float64, n*n),
		fit:   make([]float64, n),
		theta: dense.NewSym(n, nil),
	}
	st.begin(ctx, c)
	// The lasso problems need not be solved better than the whole is.
	tolerance := 1e-3
	for sweep := 1; ; sweep++ {
		for j := range n {
			if ctx.Err() != nil {
				break
			}
			st.column(j, tolerance)
		}
		st.check(ctx, c)
		status, more := c.next(ctx, sweep, bcdPatience)
		if !more {
			return c.outcome(status, sweep)
		}
		if per := c.gap() / float64(n); per < math.Inf(1) {
			tolerance = clip(0.01*per, 1e-13, tolerance)
		}
	}
}

// begin sets W to a positive definite point of the dual's box: the interior
// point, or one near the inverse of the initial estimate.
func (st *bcdState) begin(ctx context.Context, c *certificate) {
	b := st.b
	n := b.len()
	interior(b, st.w)
	if b.initial != nil {
		inverse := dense.NewSym(n, nil)
		if _, ok := b.work.Inverse(inverse, b.initial); ok {
			c.offerDual(ctx, inverse) // leaves its feasible point in c.trial
			if _, ok := c.logDet(ctx, c.trial); ok {
				st.w.CopyFrom(c.trial)
			}
		}
		for j := range n {
			t := b.initial.Row(j)
			beta := st.beta[j*n : (j+1)*n]
			for i, v := range t {
				beta[i] = -v / t[j]
			}
			beta[j] = 0
		}
	}
	c.offerDual(ctx, st.w)
}

// column improves row and column j of W by the lasso
//
//	min ½·βᵀW11β − βᵀs12 + Σ ρij|βi|
//
// whose solution makes w12 = W11β the best choice in the dual's box.
func (st *bcdState) column(j int, tolerance float64) {
	n := st.b.len()
	beta := st.beta[j*n : (j+1)*n]
	s, r := st.b.s.Row(j), st.b.pen.row(j)
	st.lasso.solve(st.w, j, s, r, beta, st.fit, tolerance)
	row := st.w.Row(j)
	for i, v := range st.fit {
		if i != j {
			row[i] = clip(v, s[i]-r[i], s[i]+r[i])
		}
	}
	raw := st.w.Raw()
	for i, v := range row {
		raw[i*n+j] = v
	}
}

// check brings the certificate up to date with W and the Θ that its
// regressions imply: θjj = 1/(wjj − w12ᵀβ), θ12 = −β·θjj, made symmetric.
func (st *bcdState) check(ctx context.Context, c *certificate) {
	n := st.b.len()
	t := st.theta.Raw()
	for j := range n {
		beta := st.beta[j*n : (j+1)*n]
		w := st.w.Row(j)
		residual := w[j]
		for i, v := range beta {
			residual -= v * w[i]
		}
		scale := 1 / residual
		row := t[j*n : (j+1)*n]
		for i, v := range beta {
			row[i] = -v * scale
		}
		row[j] = scale
	}
	for j := range n {
		for i := range j {
			a, b := t[j*n+i], t[i*n+j]
			v := (a + b) / 2
			if a == 0 || b == 0 {
				v = 0 // the two regressions disagree: not an edge yet
			}
			t[j*n+i], t[i*n+j] = v, v
		}
	}
	// Early on Θ tends to be just short of positive definite; weaker edges
	// make it so, and a far better point than the one before the sweep.
	for _, f := range [...]float64{1, 0.99, 0.95, 0.8} {
		if f < 1 {
			st.weaken(f)
		}
		if c.offerPrimal(ctx, st.theta) {
			break
		}
	}
	before := c.dual
	c.offerDual(ctx, st.w)
	if c.dual == before {
		// An inexact regression may have cost W its definiteness; the
		// certificate has found the way back.
		st.repair(ctx, c)
	}
}

// weaken multiplies the off-diagonal of Θ by f.
func (st *bcdState) weaken(f float64) {
	for j := range st.b.len() {
		row := st.theta.Row(j)
		diagonal := row[j]
		for i := range row {
			row[i] *= f
		}
		row[j] = diagonal
	}
}

// repair replaces an indefinite W by the feasible point next to it.
func (st *bcdState) repair(ctx context.Context, c *certificate) {
	if _, ok := c.logDet(ctx, st.w); ok {
		return
	}
	if _, ok := c.nearestInterior(ctx, st.w); !ok {
		interior(st.b, st.w)
	}
}
