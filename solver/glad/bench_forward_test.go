package glad

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/gladflow/gladflow/solver/dense"
	"github.com/gladflow/gladflow/solver/internal/processor"
)

// BenchmarkForward is a solve with the literal model of K = 30 cells, on one thread and
// on two. With GLADFLOW_BENCH_DATA, a folder that pipelines/peers/iterations.py wrote, it is
// that of the covariances there, which the same file times in numpy and PyTorch;
// without, of others. processor-ns/op is the time on all processors.
func BenchmarkForward(b *testing.B) {
	model, err := Builtin("er-d100-m100-literal")
	if err != nil {
		b.Fatal(err)
	}
	for _, d := range []int{25, 100, 500, 1000} {
		s := benchCovariance(b, d)
		for threads := 1; threads <= min(2, dense.Cores()); threads++ {
			b.Run(fmt.Sprintf("d=%d/threads=%d", d, threads), func(b *testing.B) {
				sv := Solver{Model: model, Backend: CPU{Engine: dense.WithThreads(dense.Default(), threads)}}
				b.ReportAllocs()
				processor.Loop(b, func() { solve(b, sv, s) })
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
