package glasso

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/gladflow/gladflow/solver"
	"github.com/gladflow/gladflow/solver/dense"
)

// hardProblems are inputs that real tables bring: each has an optimum, which
// every solver must reach or say by how much it may have missed it.
func hardProblems() map[string]struct {
	s   *dense.Sym
	pen Penalty
} {
	type problem = struct {
		s   *dense.Sym
		pen Penalty
	}
	rng := func(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 9)) }
	scaled := func(s *dense.Sym, f func(i int) float64) *dense.Sym {
		v := make([]float64, s.Len())
		for i := range v {
			v[i] = f(i)
		}
		return rescaled(s.Clone(), v, false)
	}
	base := randomCovariance(rng(1), 20, 50)
	few := randomCovariance(rng(2), 60, 5)
	twins := dense.NewSym(6, nil) // three pairs of identical variables
	for i := range 6 {
		for j := range 6 {
			twins.Set(i, j, base.At(i/2, j/2))
		}
	}
	return map[string]problem{
		"d ≫ M, small penalty":        {few, Penalty{Rho: 0.02}},
		"d ≫ M, penalised diagonal":   {few, Penalty{Rho: 0.02, Diagonal: true}},
		"rank one":                    {randomCovariance(rng(3), 15, 2), Penalty{Rho: 0.05}},
		"identical variables":         {twins, Penalty{Rho: 0.01}},
		"columns from 1e-6 to 1e6":    {scaled(base, func(i int) float64 { return math.Pow(10, float64(i%13)-6) }), Penalty{Rho: 0.1}},
		"one nearly constant column":  {scaled(base, func(i int) float64 { return math.Pow(1e-6, float64(1-min(i, 1))) }), Penalty{Rho: 1e-9}},
		"everything tiny":             {scaled(base, func(int) float64 { return 1e-6 }), Penalty{Rho: 1e-13}},
		"everything huge":             {scaled(base, func(int) float64 { return 1e6 }), Penalty{Rho: 1e11}},
		"ρ far below, singular S":     {randomCovariance(rng(5), 12, 6), Penalty{Rho: 1e-3}},
		"ρ just below the largest":    {base, Penalty{Rho: 0.999 * math.Abs(base.At(0, 1))}},
		"one variable":                {dense.NewSym(1, []float64{1e-12}), Penalty{Rho: 1, Diagonal: true}},
		"equicorrelated, nearly one":  {equicorrelated(25, 0.9999), Penalty{Rho: 0.01}},
		"equicorrelated, all but one": {equicorrelated(25, 1-1e-9), Penalty{Rho: 1e-3}},
	}
}

func equicorrelated(d int, r float64) *dense.Sym {
	s := dense.Identity(d)
	for i := range d {
		for j := range i {
			s.Set(i, j, r)
		}
	}
	return s
}

func TestHardProblems(t *testing.T) {
	for name, p := range hardProblems() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var lowest, highest float64 = math.Inf(1), math.Inf(-1)
			set := Settings{Penalty: p.pen, Gap: 1e-7}
			solvers := all(set)
			// The steps of first-order methods shorten with the square of the
			// condition number: these two need not arrive, but be honest.
			set.IterationLimit = 500
			solvers["gista"], solvers["am"] = GISTA{set}, AM{Settings: set}
			for solverName, sv := range solvers {
				est, err := sv.Solve(t.Context(), solver.Problem{S: p.s})
				if err != nil {
					t.Fatal(err)
				}
				t.Logf("%-5s %v, %d iterations, relative gap %.2g, %v", solverName, est.Status, est.Iterations, est.RelativeGap(), est.Elapsed)
				d := p.s.Len()
				if _, ok := dense.NewWorkspace(dense.Gonum{}, d).LogDet(est.Precision, make([]float64, d*d)); !ok || !est.Precision.Finite() || !est.Support.Finite() {
					t.Errorf("%s: Θ is not positive definite", solverName)
				}
				if math.IsNaN(est.Objective) || math.IsNaN(est.DualityGap) || est.DualityGap < 0 || math.IsNaN(est.KKTResidual) {
					t.Errorf("%s: objective %v, gap %v, KKT residual %v", solverName, est.Objective, est.DualityGap, est.KKTResidual)
				}
				if solverName == "am" {
					continue // has an optimum of its own
				}
				if est.Status != solver.Converged && (solverName != "gista" || est.Status != solver.IterationLimit) {
					t.Errorf("%s: %v at relative gap %.2g", solverName, est.Status, est.RelativeGap())
				}
				lowest = math.Min(lowest, est.Objective)
				highest = math.Max(highest, est.Objective-est.DualityGap)
			}
			if highest > lowest+1e-9*(1+math.Abs(lowest)) {
				t.Errorf("a lower bound %v lies above an objective %v", highest, lowest)
			}
		})
	}
}
