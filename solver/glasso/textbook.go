package glasso

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/gladflow/gladflow/solver"
	"github.com/gladflow/gladflow/solver/dense"
)

// Textbook is the plain iteration of ADMM (Boyd et al. 2011, section 6.5), or of
// AM: λ is fixed, the threshold ρ/λ is applied to every entry, to the diagonal
// unless SpareDiagonal is set, and no certificate is computed. It is for studies
// of the iteration itself and for tuning the number of iterations, where every
// iterate of one trajectory counts; ADMM and AM are for estimates.
//
// With Θ0 = Z0 = (S + tI)⁻¹ and U0 = 0, one iteration is
//
//	Θ ← ½(−Y + √(Y² + (4/λ)I)),   Y = S/λ − Z + U
//	Z ← soft threshold of Θ + U at ρ/λ
//	U ← U + Θ − Z
//
// and U stays 0 for AM.
type Textbook struct {
	// Rho is ρ, in units of S; it is not negative.
	Rho float64
	// Lambda is the quadratic penalty λ, in units of S². Default (0): 1.
	Lambda float64
	// Offset is t, in units of S. Default (0): 0.1.
	Offset float64
	// Iterations is their number. Default (0): 50.
	Iterations int
	// Alternating leaves U at 0: AM.
	Alternating bool
	// SpareDiagonal leaves the diagonal out of the threshold and of the
	// objective's penalty.
	SpareDiagonal bool
	// Engine does the linear algebra. Default (nil): dense.Default().
	Engine dense.Engine
}

// A TextbookStep is the state after one iteration.
type TextbookStep struct {
	// Iteration counts from 1.
	Iteration int
	// Theta and Z are the iteration's own memory, to be read before the
	// observer returns.
	Theta, Z *dense.Sym
	// Objective is −log det Θ + tr(SΘ) + ρ‖Θ‖₁ at Theta, over all entries that
	// the threshold is applied to.
	Objective float64
}

// Run iterates on p and calls observe after every iteration. It returns the
// error of ctx when that ends first, and an error for settings or a problem that
// are not valid.
func (t Textbook) Run(ctx context.Context, p solver.Problem, observe func(TextbookStep)) error {
	if err := validateQuadratic(t.Lambda, t.Offset); err != nil {
		return err
	}
	if err := (Penalty{Rho: t.Rho}).validate(0); err != nil {
		return err
	}
	if t.Iterations < 0 {
		return fmt.Errorf("%d iterations; the number must be positive", t.Iterations)
	}
	if err := p.Validate(); err != nil {
		return err
	}
	lambda, iterations, engine := t.Lambda, t.Iterations, t.Engine
	if lambda == 0 {
		lambda = 1
	}
	if iterations == 0 {
		iterations = 50
	}
	if engine == nil {
		engine = dense.Default()
	}
	n := p.S.Len()
	work := dense.NewWorkspace(engine, n)
	sp := newSpectral(work, n)
	z, u := dense.NewSym(n, nil), dense.NewSym(n, nil)
	if !regularisedInverse(&block{s: p.S, work: work}, z, t.Offset) {
		return errors.New("the matrix S + tI is not positive definite; use a larger offset t")
	}
	for k := 1; k <= iterations; k++ {
		y, zs, us := sp.y.Raw(), z.Raw(), u.Raw()
		for i, s := range p.S.Raw() {
			y[i] = s/lambda - zs[i] + us[i]
		}
		switch sp.step(ctx, lambda) {
		case solver.Interrupted:
			return ctx.Err()
		case solver.Stalled:
			return fmt.Errorf("iteration %d with ρ = %v, λ = %v: %w", k, t.Rho, lambda, sp.err)
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		var absolute float64
		for i, v := range sp.theta.Raw() {
			w := v + us[i]
			if t.SpareDiagonal && i%(n+1) == 0 {
				zs[i] = w
			} else {
				absolute += math.Abs(v)
				zs[i] = dense.SoftThreshold(w, t.Rho/lambda)
			}
			if !t.Alternating {
				us[i] = w - zs[i]
			}
		}
		if observe != nil {
			observe(TextbookStep{
				Iteration: k, Theta: sp.theta, Z: z,
				Objective: p.S.Dot(sp.theta) - sp.logdet + t.Rho*absolute,
			})
		}
	}
	return nil
}
