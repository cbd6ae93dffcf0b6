package glasso

import (
	"context"
	"math"

	"github.com/gladflow/gladflow/solver"
	"github.com/gladflow/gladflow/solver/dense"
)

// ADMM is the alternating direction method of multipliers on Θ = Z (Boyd,
// Parikh, Chu, Peleato, Eckstein 2011, section 6.5), in the notation of GLAD:
//
//	Θ ← argmin −log det Θ + tr(SΘ) + (λ/2)‖Θ − Z + U‖²
//	Z ← soft threshold of Θ + U at ρ/λ
//	U ← U + Θ − Z
//
// With Lambda zero, the default, λ adapts to the residuals, the steps are
// over-relaxed, and connected components are solved on their own; the
// estimate is Z where Z is positive definite and better than Θ. With Lambda
// set, the textbook iteration above runs on the whole matrix with that λ, and
// the estimate is the pair (Θ, Z) as the last iteration left it.
type ADMM struct {
	Settings
	// Lambda is the quadratic penalty λ, in units of S². Default (0): adaptive.
	Lambda float64
	// Offset is t in the start Θ = Z = (S + tI)⁻¹ of the textbook iteration,
	// in units of S. Default (0): 0.1.
	Offset float64
}

var _ solver.Solver = ADMM{}

// Solve implements solver.Solver.
func (a ADMM) Solve(ctx context.Context, p solver.Problem) (*solver.Estimate, error) {
	if err := validateQuadratic(a.Lambda, a.Offset); err != nil {
		return nil, err
	}
	if a.Lambda == 0 {
		return solve(ctx, p, a.Settings, method{run: admm, residual: kktResidual})
	}
	return solve(ctx, p, a.Settings, method{
		whole:    true,
		run:      func(ctx context.Context, b *block) outcome { return admmTextbook(ctx, b, a.Lambda, a.Offset) },
		residual: kktResidual,
	})
}

const (
	// admmPatience is the number of checks without progress taken for
	// rounding.
	admmPatience = 300
	// admmCheck is the number of iterations between checks of the
	// certificate, which takes two Cholesky factorisations for as many
	// eigendecompositions.
	admmCheck = 4
	// admmRelaxation is the over-relaxation of Boyd et al., section 3.4.3.
	admmRelaxation = 1.6
	// admmChanges bounds the changes of λ.
	admmChanges = 100
)

// admmState is the iteration's Θ (in spectral), Z and U.
type admmState struct {
	b        *block
	spectral *spectral
	z, u     *dense.Sym
	lambda   float64
	changes  int // of lambda so far
	// ‖Θ − Z‖/‖Z‖ and ‖Z − the Z before‖/‖U‖, which λ balances.
	primal, dual float64
}

func newADMM(b *block, lambda float64) *admmState {
	n := b.len()
	return &admmState{
		b:        b,
		spectral: newSpectral(b.work, n),
		z:        dense.NewSym(n, nil),
		u:        dense.NewSym(n, nil),
		lambda:   lambda,
	}
}

func admm(ctx context.Context, b *block) outcome {
	c := newCertificate(b)
	c.offerInterior(ctx)
	st := newADMM(b, 1)
	st.spectral.plain = true
	st.z.CopyFrom(c.theta)
	if b.initial != nil {
		st.z.CopyFrom(b.initial)
		// U at the optimum is (Θ⁻¹ − S)/λ.
		if _, ok := b.work.Inverse(st.u, b.initial); ok {
			st.subtractS()
		}
	}
	w := dense.NewSym(b.len(), nil)
	for iteration := 1; ; iteration++ {
		if status := st.thetaStep(ctx); status != solver.NotTerminated {
			return c.outcome(status, iteration-1)
		}
		st.zStep(admmRelaxation)
		if iteration%admmCheck == 0 || iteration >= b.limit {
			c.offerPrimal(ctx, st.z)
			c.offerDual(ctx, st.dualPoint(w))
			if status, more := c.next(ctx, iteration, admmPatience); !more {
				return c.outcome(status, iteration)
			}
			st.balance()
		}
	}
}

// admmTextbook is the plain iteration on the whole matrix.
func admmTextbook(ctx context.Context, b *block, lambda, offset float64) outcome {
	c := newCertificate(b)
	c.offerInterior(ctx)
	st := newADMM(b, lambda)
	if !regularisedInverse(b, st.z, offset) {
		return c.outcome(solver.Stalled, 0)
	}
	out := outcome{theta: st.z.Clone(), support: st.z.Clone()}
	out.objective, _ = c.objective(ctx, out.theta)
	w := dense.NewSym(b.len(), nil)
	for iteration := 1; ; iteration++ {
		status := st.thetaStep(ctx)
		more := status == solver.NotTerminated
		if more {
			st.zStep(1)
			out.theta.CopyFrom(st.spectral.theta)
			out.support.CopyFrom(st.z)
			out.objective = linear(b, out.theta) - st.spectral.logdet
			c.offerPrimalAt(out.theta, out.objective)
			c.offerPrimal(ctx, st.z)
			c.offerDual(ctx, st.dualPoint(w))
			status, more = c.next(ctx, iteration, admmPatience)
			out.iterations = iteration
		}
		if !more {
			out.status = status
			out.gap = c.gapAt(out.objective)
			return out
		}
	}
}

func (st *admmState) subtractS() {
	u := st.u.Raw()
	for i, s := range st.b.s.Raw() {
		u[i] = (u[i] - s) / st.lambda
	}
}

// thetaStep computes Θ from Z and U. It returns NotTerminated, or why there is
// no new Θ.
func (st *admmState) thetaStep(ctx context.Context) solver.Status {
	y, z, u := st.spectral.y.Raw(), st.z.Raw(), st.u.Raw()
	for i, s := range st.b.s.Raw() {
		y[i] = s/st.lambda - z[i] + u[i]
	}
	return st.spectral.step(ctx, st.lambda)
}

// zStep updates Z and U, with Θ replaced by relaxation·Θ + (1−relaxation)·Z.
func (st *admmState) zStep(relaxation float64) {
	var primal, dual, size, force float64
	for i := range st.b.len() {
		t, z, u, r := st.spectral.theta.Row(i), st.z.Row(i), st.u.Row(i), st.b.pen.row(i)
		var pr, du, si, fo float64
		for j, old := range z {
			rho := r[j]
			if j == i {
				rho = st.b.pen.diagonal[i]
			}
			v := relaxation*t[j] + (1-relaxation)*old + u[j]
			z[j] = dense.SoftThreshold(v, rho/st.lambda)
			u[j] = v - z[j]
			pr += (t[j] - z[j]) * (t[j] - z[j])
			du += (z[j] - old) * (z[j] - old)
			si += z[j] * z[j]
			fo += u[j] * u[j]
		}
		primal += pr
		dual += du
		size += si
		force += fo
	}
	st.primal, st.dual = math.Sqrt(primal/size), math.Sqrt(dual/force)
}

// dualPoint sets w = S + λU, which the threshold has put into the dual's box.
func (st *admmState) dualPoint(w *dense.Sym) *dense.Sym {
	to, u := w.Raw(), st.u.Raw()
	for i, s := range st.b.s.Raw() {
		to[i] = s + st.lambda*u[i]
	}
	return w
}

// balance doubles or halves λ when one residual is far above the other (Boyd
// et al., section 3.4.1), both taken relative to what they are residuals of
// (Wohlberg 2017): absolute residuals depend on the condition of Θ and cost a
// hundred times the iterations on ill-conditioned problems. U is in units of
// 1/λ. The iteration converges for a λ that changes finitely often.
func (st *admmState) balance() {
	if st.changes >= admmChanges {
		return
	}
	factor := 1.0
	switch {
	case st.primal > 4*st.dual:
		factor = 2
	case st.dual > 4*st.primal:
		factor = 0.5
	default:
		return
	}
	st.changes++
	st.lambda *= factor
	st.u.Scale(1 / factor)
}
