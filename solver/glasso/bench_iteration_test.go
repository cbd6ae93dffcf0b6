package glasso

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/gladflow/gladflow/solver"
	"github.com/gladflow/gladflow/solver/dense"
	"github.com/gladflow/gladflow/solver/internal/processor"
)

// benchIterations are those of which one is the mean below, as in pipelines/peers/iterations.py.
const benchIterations = 20

// BenchmarkGISTAIteration and BenchmarkADMMIteration are 20 iterations with ρ = 0.01, a solve with
// its certificates, on one thread and on two.
// With GLADFLOW_BENCH_DATA, a folder that pipelines/peers/iterations.py wrote, they are on the
// covariances there, on which the same file times iterations in numpy; without, on others.
func BenchmarkGISTAIteration(b *testing.B) {
	benchmarkIterations(b, func(s Settings) solver.Solver { return GISTA{s} })
}

func BenchmarkADMMIteration(b *testing.B) {
	benchmarkIterations(b, func(s Settings) solver.Solver { return ADMM{Settings: s} })
}

func benchmarkIterations(b *testing.B, of func(Settings) solver.Solver) {
	for _, d := range []int{25, 100, 500, 1000} {
		s := benchCovariance(b, d)
		for threads := 1; threads <= min(2, dense.Cores()); threads++ {
			sv := of(Settings{
				Penalty: Penalty{Rho: .01}, Gap: 1e-300, IterationLimit: benchIterations,
				Engine: dense.WithThreads(dense.Default(), threads),
			})
			b.Run(fmt.Sprintf("d=%d/threads=%d", d, threads), func(b *testing.B) {
				b.ReportAllocs()
				processor.Loop(b, func() {
					est, err := sv.Solve(b.Context(), solver.Problem{S: s})
					if err != nil || est.Iterations != benchIterations {
						b.Fatal(err, est)
					}
				})
			})
		}
	}
}

// benchCovariance is processor.Covariance, or a random one.
func benchCovariance(b *testing.B, d int) *dense.Sym {
	if values := processor.Covariance(b, d); values != nil {
		return dense.NewSym(d, values)
	}
	return randomCovariance(rand.New(rand.NewPCG(1, uint64(d))), d, d)
}
