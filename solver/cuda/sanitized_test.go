//go:build cuda

package cuda

import (
	"math/rand/v2"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/gladflow/gladflow/solver"
	"github.com/gladflow/gladflow/solver/cuda/internal/emulator"
	"github.com/gladflow/gladflow/solver/dense"
	"github.com/gladflow/gladflow/solver/glad"
)

// sanitizedFolder names the sanitized build to the process that runs on it.
const sanitizedFolder = "GLADFLOW_TEST_SANITIZED"

const sanitizedEnd = "all was done under the sanitizers"

// Kernels and libraries stay within their memory, and shift, convert and index as C++
// allows, as AddressSanitizer and UndefinedBehaviorSanitizer see it.
func TestSanitized(t *testing.T) {
	if folder := os.Getenv(sanitizedFolder); folder != "" {
		t.Setenv("GLADFLOW_CUDA_PATH", folder)
		underSanitizers(t)
		return
	}
	if os.Getenv("GLADFLOW_CUDA_TEST") == "device" {
		t.Skip("this test needs the emulated driver")
	}
	folder := emulator.Build(t, emulator.Sanitized())
	child := exec.Command(os.Args[0], "-test.run=^TestSanitized$", "-test.count=1", "-test.v")
	child.Env = append(append(os.Environ(), sanitizedFolder+"="+folder), emulator.Sanitizers(t)...)
	text, err := child.CombinedOutput()
	if err != nil || !strings.Contains(string(text), sanitizedEnd) || strings.Contains(string(text), "runtime error") {
		t.Fatalf("%v\n%s", err, text)
	}
}

// underSanitizers runs every model on small and odd sizes, batches, and the engine.
func underSanitizers(t *testing.T) {
	b, err := New(0)
	if err != nil {
		t.Fatal(err)
	}
	same := func(m *glad.Model, problems ...solver.Problem) {
		t.Helper()
		want, err := glad.Solver{Model: m}.SolveAll(t.Context(), problems)
		if err != nil {
			t.Fatal(err)
		}
		got, err := glad.Solver{Model: m, Backend: b}.SolveAll(t.Context(), problems)
		if err != nil {
			t.Fatal(err)
		}
		for i, w := range want {
			if e := distance(got[i].Support, w.Support); !(e < tolerance) {
				t.Errorf("%s, method %d, d = %d: Z is off by %.2g", m.Name, b.method, problems[i].S.Len(), e)
			}
		}
	}
	r := rand.New(rand.NewPCG(13, 13))
	shapes := shapeSet{}
	for _, name := range glad.BuiltinNames() {
		m := *model(t, name)
		m.Iterations = min(m.Iterations, 3)
		m.Cells = m.Cells[:min(len(m.Cells), 3)]
		for _, b.method = range []method{byEigen, byPolar} {
			for _, d := range []int{1, 2, 33} {
				same(&m, sampled(r, d, 2*d+10))
			}
			var batch []solver.Problem
			for i := range 5 {
				batch = append(batch, sampled(r, []int{33, 7}[i%2], 50))
			}
			same(&m, batch...)
		}
		b.method = automatic
		if !shapes.add(&m) {
			continue
		}
		for _, d := range []int{1, 33} {
			examples := []solver.Example{example(r, d, 50), example(r, d, 50), example(r, 7, 50)}
			loss := glad.Loss{On: glad.LossOnZ, Gamma: 0.9}
			_, want := gradientsOf(t, &m, nil, examples, loss)
			_, got := gradientsOf(t, &m, b, examples, loss)
			for i, w := range want {
				if e := off(got[i], w); !(e < tolerance) {
					t.Errorf("%s, d = %d: the gradient is off by %.2g", m.Name, d, e)
				}
			}
		}
	}

	n := 257 // what is smaller stays on the CPU
	e, s := b.Engine(nil), sampled(r, n, 2*n).S
	w := dense.NewWorkspace(e, n)
	if _, ok := w.Inverse(dense.NewSym(n, nil), s); !ok {
		t.Error("not positive definite")
	}
	if err := w.LogDetProx(dense.NewSym(n, nil), s, 0.7, 0, nil, make([]float64, n), nil); err != nil {
		t.Error(err)
	}
	c := make([]float64, n*n)
	e.Gemm(false, true, n, n, n, 1, s.Raw(), n, s.Raw(), n, 0, c, n)
	e.Syrk(false, n, n, 1, s.Raw(), n, 0, c, n)
	if !e.Cholesky(n, s.Clone().Raw()) || !e.Eigen(n, s.Clone().Raw(), make([]float64, n), &dense.Scratch{}) {
		t.Error("it has no factors")
	}
	if err := b.Close(); err != nil {
		t.Error(err)
	}
	t.Log(sanitizedEnd)
}
