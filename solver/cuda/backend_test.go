//go:build cuda

package cuda

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"testing"

	"github.com/gladflow/gladflow/solver"
	"github.com/gladflow/gladflow/solver/cuda/internal/emulator"
	"github.com/gladflow/gladflow/solver/dense"
	"github.com/gladflow/gladflow/solver/glad"
)

// opened is a backend on the emulated driver, or on a card where GLADFLOW_CUDA_TEST is
// device.
func opened(t testing.TB) *Backend {
	t.Helper()
	if os.Getenv("GLADFLOW_CUDA_TEST") != "device" {
		t.Setenv("GLADFLOW_CUDA_PATH", emulator.Build(t))
	}
	b, err := New(0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := b.Close(); err != nil {
			t.Error(err)
		}
	})
	return b
}

// sampled is a covariance of m samples of a sparse network of d variables.
func sampled(r *rand.Rand, d, m int) solver.Problem {
	x := make([]float64, m*d)
	for i := range m {
		row := x[i*d : (i+1)*d]
		for j := range row {
			row[j] = r.NormFloat64()
			if j > 0 {
				row[j] += 0.6 * row[j-1]
			}
		}
	}
	s := dense.NewSym(d, nil)
	dense.NewWorkspace(dense.Default(), d).Gram(s, 1/float64(m), x, m, 0)
	return solver.Problem{S: s, Samples: m}
}

// distance is the largest difference, of the largest entry.
func distance(got, want *dense.Sym) float64 {
	var worst, most float64
	for i, v := range want.Raw() {
		worst = max(worst, math.Abs(got.Raw()[i]-v))
		if math.IsNaN(got.Raw()[i]) {
			return math.NaN()
		}
		most = max(most, math.Abs(v))
	}
	if worst == 0 {
		return 0
	}
	return worst / most
}

const tolerance = 1e-9

func TestModelsAgreeWithTheCPU(t *testing.T) {
	b := opened(t)
	for _, name := range glad.BuiltinNames() {
		m, err := glad.Builtin(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range []int{1, 2, 31, 33, 100} {
			for _, how := range []method{byEigen, byPolar} {
				t.Run(fmt.Sprintf("%s,d=%d,%d", name, d, how), func(t *testing.T) {
					b.method = how
					p := sampled(rand.New(rand.NewPCG(uint64(d), 1)), d, 2*d+10)
					want, err := glad.Solver{Model: m}.Solve(t.Context(), p)
					if err != nil {
						t.Fatal(err)
					}
					got, err := glad.Solver{Model: m, Backend: b}.Solve(t.Context(), p)
					if err != nil {
						t.Fatal(err)
					}
					if got.Status != want.Status || got.Iterations != want.Iterations {
						t.Errorf("%v after %d, want %v after %d", got.Status, got.Iterations, want.Status, want.Iterations)
					}
					if e := distance(got.Precision, want.Precision); !(e < tolerance) {
						t.Errorf("Θ is off by %.2g", e)
					}
					if e := distance(got.Support, want.Support); !(e < tolerance) {
						t.Errorf("Z is off by %.2g", e)
					}
				})
			}
		}
	}
}
