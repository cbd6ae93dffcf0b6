package inference

import (
	"context"
	"fmt"
	"math"

	"github.com/gladflow/gladflow/solver"
	"github.com/gladflow/gladflow/solver/dense"
	"github.com/gladflow/gladflow/solver/glasso"
)

// TheoryPenalty is √(log d/M), the rate at which the penalty of the graphical lasso behind
// Desparsified falls, on the scale of correlations.
func TheoryPenalty(d, samples int) float64 {
	return math.Sqrt(math.Log(math.Max(2, float64(d))) / float64(samples))
}

// gap is the relative duality gap of the graphical lasso: p-values are then right to some
// four digits.
const gap = 1e-9

// Desparsified tests by the de-sparsified graphical lasso: Janková and van de Geer,
// "Confidence intervals for high-dimensional inverse covariance estimation", Electronic J.
// of Statistics 9 (2015). Θ being the graphical lasso of the correlation at TheoryPenalty,
//
//	T = 2Θ − ΘSΘ
//
// takes the bias of the penalty away (Eq. 4): √M(Tij − Θ*ij) is nearly normal, and for
// Gaussian samples has the variance ΘiiΘjj + Θij² (Section 2.3), which the tests use.
// Estimates are −Tij/√(TiiTjj), and intervals theirs by Fisher's z with the standard error
// 1/√M: the diagonal of Θ is biased too, and intervals of Tij/√(ΘiiΘjj) miss strong partial
// correlations too often. They are wider than the tests, so that one may hold 0 where p is
// somewhat below 1 − level.
//
// The theory asks for Gaussian samples and for few neighbours: Crowding small. M must be at
// least LeastSamples, else the error wraps ErrTooFewSamples.
func Desparsified(ctx context.Context, p solver.Problem, s Settings) (*Tests, error) {
	if p.Samples < LeastSamples {
		return nil, fmt.Errorf("%w: the de-sparsified graphical lasso needs %d, and there are %d", ErrTooFewSamples, LeastSamples, p.Samples)
	}
	if err := p.Validate(); err != nil {
		return nil, err
	}
	d := p.S.Len()
	correlation := p.S.Clone()
	scale(correlation, roots(correlation))
	t := &Tests{Samples: p.Samples, Penalty: TheoryPenalty(d, p.Samples)}
	bcd := glasso.BCD{Settings: glasso.Settings{Penalty: glasso.Penalty{Rho: t.Penalty}, Gap: gap, Engine: s.engine(), Recorder: s.Recorder}}
	est, err := bcd.Solve(ctx, solver.Problem{S: correlation, Samples: p.Samples})
	if err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	theta := est.Precision
	for i := range d {
		neighbours := -1
		for _, v := range theta.Row(i) {
			if v != 0 {
				neighbours++
			}
		}
		t.Degree = max(t.Degree, neighbours)
	}
	err = dense.Await(ctx, func() {
		w := dense.NewWorkspace(s.engine(), d)
		w.Conjugate(correlation, theta.Raw(), false, make([]float64, d*d))
	})
	if err != nil {
		return nil, err
	}
	// −T = ΘSΘ − 2Θ, in units of √(ΘiiΘjj).
	for k, v := range theta.Raw() {
		correlation.Raw()[k] -= 2 * v
	}
	root := roots(theta)
	scale(correlation, root)
	t.r, t.plain = correlation, theta.Clone()
	scale(t.plain, root)
	return t, t.order(ctx)
}

// Crowding is s·log d/√M, which the theory of Desparsified wants to be small: s is Degree.
func (t *Tests) Crowding() float64 {
	return float64(t.Degree) * math.Log(float64(t.r.Len())) / math.Sqrt(float64(t.Samples))
}
