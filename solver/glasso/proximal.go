package glasso

import (
	"context"
	"fmt"
	"math"

	"github.com/gladflow/gladflow/solver"
	"github.com/gladflow/gladflow/solver/dense"
)

// spectral is dense.LogDetProx for ADMM and AM, with memory of its own: the
// minimiser of −log det Θ + tr(SΘ) + (λ/2)‖Θ − A‖² over Θ ≻ 0.
type spectral struct {
	work   *dense.Workspace
	y      *dense.Sym // S/λ − A, filled in by the caller
	values []float64  // the eigenvalues of theta
	theta  *dense.Sym
	logdet float64 // log det theta, unless plain is set
	plain  bool    // step may overwrite y, and does not set logdet
	// The step's argument and result, here so that run is made once.
	lambda float64
	err    error
	run    func()
}

func newSpectral(work *dense.Workspace, n int) *spectral {
	sp := &spectral{
		work:   work,
		y:      dense.NewSym(n, nil),
		values: make([]float64, n),
		theta:  dense.NewSym(n, nil),
	}
	sp.run = func() { sp.err = sp.compute(sp.lambda) }
	return sp
}

// step sets theta = ½(−Y + √(Y² + (4/λ)I)) (GLAD, Algorithm 1), which is
// positive definite for every finite Y. It returns NotTerminated, or why it
// could not; after Interrupted sp must not be used again.
func (sp *spectral) step(ctx context.Context, lambda float64) solver.Status {
	sp.lambda = lambda
	if dense.AwaitLong(ctx, sp.theta.Len(), sp.run) != nil {
		return solver.Interrupted
	}
	if sp.err != nil {
		return solver.Stalled
	}
	return solver.NotTerminated
}

func (sp *spectral) compute(lambda float64) error {
	if sp.plain {
		return sp.work.LogDetProxOver(sp.theta, sp.y, lambda, 0)
	}
	if err := sp.work.LogDetProx(sp.theta, sp.y, lambda, 0, nil, sp.values, nil); err != nil {
		return err
	}
	sp.logdet = 0
	for _, v := range sp.values {
		sp.logdet += math.Log(v)
	}
	return nil
}

// regularisedInverse sets z = (S + tI)⁻¹, the start of the textbook
// iterations, with t = offset or 0.1 by default.
func regularisedInverse(b *block, z *dense.Sym, offset float64) bool {
	if offset == 0 {
		offset = 0.1
	}
	z.CopyFrom(b.s)
	z.AddDiagonal(offset)
	_, ok := b.work.Inverse(z, z)
	return ok
}

// validateQuadratic checks λ and t.
func validateQuadratic(lambda, offset float64) error {
	if !(lambda >= 0) || math.IsInf(lambda, 0) {
		return fmt.Errorf("λ is %v; it must be a positive number", lambda)
	}
	if !(offset >= 0) || math.IsInf(offset, 0) {
		return fmt.Errorf("the offset t is %v; it must be a positive number", offset)
	}
	return nil
}
