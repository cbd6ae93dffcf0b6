package glasso

import (
	"context"
	"fmt"
	"math"

	"github.com/gladflow/gladflow/solver"
	"github.com/gladflow/gladflow/solver/dense"
)

// spectral is the step that ADMM and AM share, with memory of its own: the
// minimiser of −log det Θ + tr(SΘ) + (λ/2)‖Θ − A‖² over Θ ≻ 0.
type spectral struct {
	work    *dense.Workspace
	y       *dense.Sym // S/λ − A, filled in by the caller
	values  []float64
	vectors []float64
	theta   *dense.Sym
	logdet  float64 // log det theta
	// The step's argument and result, here so that run is made once.
	lambda float64
	err    error
	run    func()
}

func newSpectral(work *dense.Workspace, n int) *spectral {
	sp := &spectral{
		work:    work,
		y:       dense.NewSym(n, nil),
		values:  make([]float64, n),
		vectors: make([]float64, n*n),
		theta:   dense.NewSym(n, nil),
	}
	sp.run = func() { sp.err = sp.compute(sp.lambda) }
	return sp
}

// step sets theta = ½(−Y + √(Y² + (4/λ)I)) (GLAD, Algorithm 1), which is
// positive definite for every finite Y. It returns NotTerminated, or why it
// could not; after Interrupted the memory of sp is no longer its own.
func (sp *spectral) step(ctx context.Context, lambda float64) solver.Status {
	sp.lambda = lambda
	if await(ctx, sp.theta.Len(), sp.run) != nil {
		return solver.Interrupted
	}
	if sp.err != nil {
		return solver.Stalled
	}
	return solver.NotTerminated
}

func (sp *spectral) compute(lambda float64) error {
	if err := sp.work.Eigen(sp.y, sp.values, sp.vectors); err != nil {
		return err
	}
	sp.logdet = 0
	for k, y := range sp.values {
		root := math.Hypot(y, 2/math.Sqrt(lambda))
		if y > 0 { // the difference of two near equals otherwise
			sp.values[k] = 2 / lambda / (y + root)
		} else {
			sp.values[k] = (root - y) / 2
		}
		sp.logdet += math.Log(sp.values[k])
	}
	sp.work.Spectral(sp.theta, sp.values, sp.vectors)
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

// awaitFrom is the size from which a kernel may take long enough to be felt.
const awaitFrom = 300

// await runs f, which works on n×n matrices, and returns early when ctx ends
// if f may take long. The memory f writes to must then be left alone.
func await(ctx context.Context, n int, f func()) error {
	if n < awaitFrom {
		f()
		return nil
	}
	return dense.Await(ctx, f)
}
