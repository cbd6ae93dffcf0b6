package glasso

import (
	"math/rand/v2"
	"testing"

	"github.com/gladflow/gladflow/solver"
	"github.com/gladflow/gladflow/solver/dense"
)

// BenchmarkSolvers sets the four solvers beside each other on one problem of
// 200 variables and 100 samples at a relative gap of 1e-6 (AM to its own
// optimum), on every engine of the machine.
func BenchmarkSolvers(b *testing.B) {
	s := randomCovariance(rand.New(rand.NewPCG(1, 1)), 200, 100)
	for _, name := range []string{"gonum", "openblas"} {
		engine, err := dense.Open(name)
		if err != nil {
			b.Logf("%s: %v", name, err)
			continue
		}
		set := Settings{Penalty: Penalty{Rho: 0.3}, Engine: engine}
		for _, sv := range []struct {
			name string
			solver.Solver
		}{{"bcd", BCD{set}}, {"gista", GISTA{set}}, {"admm", ADMM{Settings: set}}, {"am", AM{Settings: set}}} {
			b.Run(name+"/"+sv.name, func(b *testing.B) {
				var est *solver.Estimate
				for b.Loop() {
					var err error
					if est, err = sv.Solve(b.Context(), solver.Problem{S: s}); err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric(float64(est.Iterations), "iterations")
			})
		}
	}
}

// TestIterationsAllocateNothing compares a long run with a short one.
func TestIterationsAllocateNothing(t *testing.T) {
	s := randomCovariance(rand.New(rand.NewPCG(1, 1)), 30, 100)
	for _, name := range []string{"bcd", "gista", "admm", "am"} {
		run := func(iterations int) float64 {
			set := Settings{Penalty: Penalty{Rho: 0.02}, Gap: 1e-300, IterationLimit: iterations, Engine: dense.Gonum{}}
			return testing.AllocsPerRun(3, func() {
				if _, err := all(set)[name].Solve(t.Context(), solver.Problem{S: s}); err != nil {
					t.Fatal(err)
				}
			})
		}
		short, long := run(10), run(30)
		// The lasso's buffers grow with the active set, a few times.
		if long-short > 10 {
			t.Errorf("%s: 20 more iterations allocate %v times", name, long-short)
		}
	}
}
