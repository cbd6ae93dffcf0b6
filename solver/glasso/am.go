package glasso

import (
	"context"
	"math"

	"github.com/gladflow/gladflow/solver"
	"github.com/gladflow/gladflow/solver/dense"
)

// AM is plain alternating minimisation of the quadratic-penalty form (GLAD,
// Eq. 6),
//
//	−log det Θ + tr(SΘ) + Σ ρij|Zij| + (λ/2)‖Z − Θ‖²F
//
// over Θ and Z in turn: GLAD with its two networks replaced by constants. Its
// optimum is not the graphical lasso's; it tends to it as λ grows. The
// objective, gap and KKT residual of the estimate are those of this problem,
// whose dual is
//
//	max log det(S + U) + d − ‖U‖²F/(2λ)   over   |Uij| ≤ ρij.
//
// Θ is dense for every ρ, so that screening by |Sij| > ρij does not apply.
type AM struct {
	Settings
	// Lambda is the quadratic penalty λ, in units of S². An entry of Θ becomes
	// an edge above ρ/λ. A larger λ brings the optimum nearer to the graphical
	// lasso's and needs more iterations, about in proportion. Default (0):
	// four times the squared mean of diag(S), which is 4 for a correlation.
	Lambda float64
	// Offset is t in the start Θ = Z = (S + tI)⁻¹, in units of S. Default (0):
	// 0.1.
	Offset float64
}

var _ solver.Solver = AM{}

// amPatience is the number of iterations without progress taken for rounding.
const amPatience = 3000

// Solve implements solver.Solver.
func (a AM) Solve(ctx context.Context, p solver.Problem) (*solver.Estimate, error) {
	if err := validateQuadratic(a.Lambda, a.Offset); err != nil {
		return nil, err
	}
	if err := p.Validate(); err != nil {
		return nil, err
	}
	lambda := a.Lambda
	if lambda == 0 {
		mean := p.S.Trace() / float64(p.S.Len())
		lambda = 4 * mean * mean
	}
	return solve(ctx, p, a.Settings, method{
		whole: true,
		run:   func(ctx context.Context, b *block) outcome { return am(ctx, b, lambda, a.Offset) },
		residual: func(b *block, out outcome, _ []float64) float64 {
			return amResidual(b, out, lambda)
		},
	})
}

func am(ctx context.Context, b *block, lambda, offset float64) outcome {
	n := b.len()
	out := outcome{theta: dense.NewSym(n, nil), support: dense.NewSym(n, nil)}
	c := newCertificate(b)
	if b.initial != nil {
		out.support.CopyFrom(b.initial)
	} else if !regularisedInverse(b, out.support, offset) {
		out.support.CopyFrom(c.theta)
	}
	out.theta.CopyFrom(out.support)
	sp := newSpectral(b.work, n)
	cert := amCertificate{certificate: c, lambda: lambda}
	logdet, _ := b.work.LogDet(out.theta, c.factor.Raw())
	cert.update(ctx, out, logdet)
	for iteration := 1; ; iteration++ {
		y, z := sp.y.Raw(), out.support.Raw()
		for i, s := range b.s.Raw() {
			y[i] = s/lambda - z[i]
		}
		status := sp.step(ctx, lambda)
		more := status == solver.NotTerminated
		if more {
			out.theta.CopyFrom(sp.theta)
			threshold(b, out.support, out.theta, lambda)
			cert.update(ctx, out, sp.logdet)
			status, more = c.next(ctx, iteration, amPatience)
			out.iterations = iteration
		}
		if !more {
			out.status, out.objective, out.gap = status, c.primal, c.gap()
			return out
		}
	}
}

// threshold sets Z to the soft threshold of Θ at ρ/λ.
func threshold(b *block, z, theta *dense.Sym, lambda float64) {
	for i := range z.Len() {
		to, t, r := z.Row(i), theta.Row(i), b.pen.row(i)
		for j, v := range t {
			to[j] = dense.SoftThreshold(v, r[j]/lambda)
		}
		to[i] = dense.SoftThreshold(t[i], b.pen.diagonal[i]/lambda)
	}
}

// amCertificate is the certificate of AM's own objective.
type amCertificate struct {
	*certificate
	lambda float64
}

// update takes the objective at (Θ, Z), which alternation never increases,
// and the dual value at U = λ(Θ − Z), which the threshold has put into the box.
func (c *amCertificate) update(ctx context.Context, out outcome, logdet float64) {
	b := c.b
	objective := -logdet
	for i := range b.len() {
		t, z, s, r := out.theta.Row(i), out.support.Row(i), b.s.Row(i), b.pen.row(i)
		w := c.trial.Row(i)
		var sum float64
		for j, v := range t {
			d := v - z[j]
			w[j] = s[j] + c.lambda*d
			sum += s[j]*v + c.lambda/2*d*d
			if j != i {
				sum += r[j] * math.Abs(z[j])
			}
		}
		objective += sum + b.pen.diagonal[i]*math.Abs(z[i])
	}
	c.primal = objective
	logdetW, ok := c.nearestInterior(ctx, c.trial)
	if !ok {
		return
	}
	var square float64
	for i := range b.len() {
		s := b.s.Row(i)
		for j, v := range c.trial.Row(i) {
			u := v - s[j]
			square += u * u
		}
	}
	c.dual = math.Max(c.dual, logdetW+float64(b.len())-square/(2*c.lambda))
}

// amResidual is the largest entry of S − Θ⁻¹ + λ(Θ − Z); the other optimality
// condition, on Z, holds after every threshold.
func amResidual(b *block, out outcome, lambda float64) float64 {
	w := dense.NewSym(b.len(), nil)
	if _, ok := b.work.Inverse(w, out.theta); !ok {
		return math.Inf(1)
	}
	t, z, inverse := out.theta.Raw(), out.support.Raw(), w.Raw()
	var worst float64
	for i, v := range b.s.Raw() {
		worst = math.Max(worst, math.Abs(v-inverse[i]+lambda*(t[i]-z[i])))
	}
	return worst
}
