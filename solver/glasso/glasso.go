// Package glasso holds the classical solvers for sparse precision matrices
// and what they share. They minimise
//
//	−log det Θ + tr(SΘ) + Σij ρij·|Θij|
//
// over symmetric positive definite Θ: the graphical lasso. There are four
// algorithms:
//
//   - BCD, block coordinate ascent on the dual, one column at a time
//     (Friedman, Hastie, Tibshirani 2008; Banerjee, El Ghaoui, d'Aspremont 2008)
//   - GISTA, proximal gradient with a line search (Guillot et al. 2012)
//   - ADMM, the alternating direction method of multipliers (Boyd et al. 2011)
//   - AM, alternating minimisation of the quadratic-penalty form (GLAD, Eq. 6),
//     which has an optimum of its own that tends to the others' as λ grows
//
// All stop at a certificate: a duality gap evaluated at a point that is
// feasible for the dual, so that it bounds the distance to the optimum from
// above and is never negative. BCD, GISTA and ADMM split the problem first
// into the connected components of |Sij| > ρij (Witten, Friedman, Simon 2011;
// Mazumder, Hastie 2012), which are solved on their own and in parallel.
//
//	s := glasso.BCD{Settings: glasso.Settings{Penalty: glasso.Penalty{Rho: 0.1}}}
//	est, err := s.Solve(ctx, solver.Problem{S: s, Samples: 100})
//
// Package selection chooses the penalty.
package glasso

import (
	"fmt"
	"math"

	"github.com/gladflow/gladflow/solver"
	"github.com/gladflow/gladflow/solver/dense"
)

// DefaultGap is the relative duality gap at which solvers stop by default.
const DefaultGap = 1e-6

// DefaultIterationLimit bounds the iterations of every solver by default. It
// is a last resort: solvers stop at their certificate or at the context's end.
const DefaultIterationLimit = 100_000

// Settings are common to the four solvers.
type Settings struct {
	// Penalty is ρ. Its zero value penalises nothing.
	Penalty Penalty
	// Gap is the relative duality gap, gap / max(|objective|, d), at which to
	// stop. Default (0): DefaultGap. It cannot be negative.
	Gap float64
	// IterationLimit is the largest number of iterations: sweeps over all
	// columns for BCD, steps for the others. Default (0):
	// DefaultIterationLimit.
	IterationLimit int
	// Initial is where to start: the estimate of a neighbouring penalty, say.
	// Default (nil): a cold start. An Initial of another size is an error.
	Initial *solver.Estimate
	// Engine does the linear algebra. Default (nil): dense.Default().
	Engine dense.Engine
	// Recorder is told of every check of the certificate, of the largest
	// connected component. Default (nil): none.
	Recorder solver.Recorder
}

func (s Settings) engine() dense.Engine {
	if s.Engine == nil {
		return dense.Default()
	}
	return s.Engine
}

func (s Settings) gap() float64 {
	if s.Gap == 0 {
		return DefaultGap
	}
	return s.Gap
}

func (s Settings) iterationLimit() int {
	if s.IterationLimit == 0 {
		return DefaultIterationLimit
	}
	return s.IterationLimit
}

func (s Settings) validate(d int) error {
	if s.Gap < 0 || math.IsNaN(s.Gap) {
		return fmt.Errorf("the gap is %v; it must be positive", s.Gap)
	}
	if s.IterationLimit < 0 {
		return fmt.Errorf("the iteration limit is %d; it must be positive", s.IterationLimit)
	}
	if s.Initial != nil && (s.Initial.Precision == nil || s.Initial.Precision.Len() != d) {
		return fmt.Errorf("the initial estimate is not of %d variables", d)
	}
	return s.Penalty.validate(d)
}
