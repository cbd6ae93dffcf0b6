package glasso

import (
	"context"
	"errors"
	"math"
	"testing"

	"github.com/gladflow/gladflow/solver"
	"github.com/gladflow/gladflow/solver/dense"
)

// The certified solvers with λ fixed and every entry penalised run the same
// iteration, checked against the reference values elsewhere.
func TestTextbookIsTheIterationOfADMMAndAM(t *testing.T) {
	s := dense.NewSym(3, []float64{1, 0.4, -0.2, 0.4, 0.8, 0.1, -0.2, 0.1, 1.3})
	p := solver.Problem{S: s}
	const rho, lambda, offset, last = 0.1, 0.7, 0.2, 12
	for _, c := range []struct{ alternating, spared bool }{{false, false}, {true, false}, {false, true}, {true, true}} {
		alternating := c.alternating
		set := Settings{Penalty: Penalty{Rho: rho, Diagonal: !c.spared}, Gap: math.SmallestNonzeroFloat64}
		seen := 0
		err := Textbook{Rho: rho, Lambda: lambda, Offset: offset, Iterations: last, Alternating: alternating, SpareDiagonal: c.spared}.
			Run(t.Context(), p, func(step TextbookStep) {
				seen++
				set := set
				set.IterationLimit = step.Iteration
				var want *solver.Estimate
				var err error
				if alternating {
					want, err = AM{Settings: set, Lambda: lambda, Offset: offset}.Solve(t.Context(), p)
				} else {
					want, err = ADMM{Settings: set, Lambda: lambda, Offset: offset}.Solve(t.Context(), p)
				}
				if err != nil {
					t.Fatal(err)
				}
				if d := math.Max(maxDifference(step.Theta, want.Precision), maxDifference(step.Z, want.Support)); d > 1e-13 {
					t.Errorf("%+v, iteration %d: off by %.3g", c, step.Iteration, d)
				}
				if !alternating && math.Abs(step.Objective-want.Objective) > 1e-12 {
					t.Errorf("iteration %d: objective %.15g, want %.15g", step.Iteration, step.Objective, want.Objective)
				}
			})
		if err != nil || seen != last {
			t.Errorf("%+v: %d iterations, %v", c, seen, err)
		}
	}
}

func TestTextbookRefuses(t *testing.T) {
	p := solver.Problem{S: dense.Identity(2)}
	for name, bad := range map[string]Textbook{
		"ρ":          {Rho: -1},
		"λ":          {Lambda: math.NaN()},
		"t":          {Offset: -1},
		"iterations": {Iterations: -1},
	} {
		if err := bad.Run(t.Context(), p, nil); err == nil {
			t.Errorf("a wrong %s is accepted", name)
		}
	}
	if err := (Textbook{}).Run(t.Context(), solver.Problem{}, nil); err == nil {
		t.Error("a problem without S is accepted")
	}
	ctx, cancel := context.WithCancel(t.Context())
	err := Textbook{}.Run(ctx, p, func(TextbookStep) { cancel() })
	if !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled in the first iteration: %v", err)
	}
}
