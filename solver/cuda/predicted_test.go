//go:build cuda

package cuda

import (
	"math/rand/v2"
	"os"
	"testing"

	"github.com/gladflow/gladflow/solver"
	"github.com/gladflow/gladflow/solver/glad"
)

// The multiplications and additions of one half of a symmetric product, as
// batch.product does it in strips.
func halfProduct(d int) float64 {
	var sum float64
	for from := 0; from < d; from += stripWidth {
		sum += 2 * float64(d-from) * float64(min(stripWidth, d-from)) * float64(d)
	}
	return sum
}

// Strips add what lies beside the diagonal to the d³ of a half product: half a strip for
// every column.
func TestHalfProduct(t *testing.T) {
	for _, d := range []int{4 * stripWidth, 20 * stripWidth} {
		n := float64(d)
		if got, want := halfProduct(d), n*n*(n+stripWidth); got != want {
			t.Errorf("d = %d: %g operations, want %g", d, got, want)
		}
	}
}

// The products of a pass are counted on the emulated driver, which computes what a card
// would; from them come the times of docs/gpu.md, for a card that multiplies at assumed
// rates. The first inverse takes d³ operations besides. With GLADFLOW_LONG=1 also for
// larger matrices and expression data.
func TestPredictedTimes(t *testing.T) {
	const rate = 50e12 // operations a second
	long := os.Getenv("GLADFLOW_LONG") != ""
	d := 200
	if long {
		d = 1000
	}
	// As many samples as variables, as the literal model was trained with.
	random := func() solver.Problem { return sampled(rand.New(rand.NewPCG(3, 3)), d, d) }
	genes := func() solver.Problem { return expression(t) }
	b := opened(t)
	b.method = byPolar
	for _, c := range []struct {
		model, data string
		problem     func() solver.Problem
		long        bool
	}{
		{"general-1", "a chain", random, false},
		{"er-d100-m100-literal", "a chain", random, false},
		{"general-1", "E. coli", genes, true},
		{"er-d100-m100-literal", "E. coli", genes, true},
	} {
		if c.long && !long {
			continue
		}
		var products, cells int
		var worst float64
		b.Observe(func(s ThetaStep) {
			if s.Eigen {
				t.Errorf("%s, %s: cell %d is no polar iteration; κ is %.1e", c.model, c.data, s.Cell, s.Condition)
			}
			if want := 5*s.Iterations - 2; s.Products != want {
				t.Errorf("%s, %s: cell %d has %d products in %d iterations, want %d", c.model, c.data, s.Cell, s.Products, s.Iterations, want)
			}
			products, cells, worst = products+s.Products, cells+1, max(worst, s.Condition)
		})
		p := c.problem()
		if _, err := (glad.Solver{Model: model(t, c.model), Backend: b}).Solve(t.Context(), p); err != nil {
			t.Fatal(err)
		}
		b.Observe(nil)
		t.Logf("%s, %s, d = %d, M = %d: %d cells, κ up to %.1e, %d products", c.model, c.data, p.S.Len(), p.Samples, cells, worst, products)
		for _, n := range []int{5000, 10000, 20000} {
			size := float64(n)
			t.Logf("  predicted for d = %5d at %.0f TFLOP/s: %.3g s", n, rate/1e12, (float64(products)*halfProduct(n)+size*size*size)/rate)
		}
	}
}
