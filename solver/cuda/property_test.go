//go:build cuda

package cuda

import (
	"flag"
	"math/rand/v2"
	"os"
	"testing"

	"pgregory.net/rapid"

	"github.com/gladflow/gladflow/solver"
	"github.com/gladflow/gladflow/solver/cuda/internal/modeltest"
	"github.com/gladflow/gladflow/solver/glad"
)

// Any model gives on any sizes what it gives on the CPU, by both methods.
func TestAnyModelAndSize(t *testing.T) {
	b := opened(t)
	b.method = automatic
	draws(t, "40", "500")
	compared, all := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
		kind := rapid.SampledFrom([]glad.Kind{glad.GLAD, glad.ADMMu, glad.GLADPM}).Draw(t, "kind")
		m := modeltest.Random(r, kind)
		sizes := rapid.SliceOfN(rapid.IntRange(1, 70), 1, 2).Draw(t, "variables")
		var problems []solver.Problem
		for range rapid.IntRange(1, 5).Draw(t, "problems") {
			d := sizes[len(problems)%len(sizes)]
			p := sampled(r, d, rapid.IntRange(2, 150).Draw(t, "samples"))
			if rapid.Bool().Draw(t, "unknown") {
				p.Samples = 0
			}
			problems = append(problems, p)
		}
		want, wantErr := glad.Solver{Model: m, Backend: glad.CPU{}}.SolveAll(t.Context(), problems)
		for _, b.method = range []method{byEigen, byPolar} {
			got, err := glad.Solver{Model: m, Backend: b}.SolveAll(t.Context(), problems)
			if (err == nil) != (wantErr == nil) {
				t.Fatalf("method %d: error %v, want %v", b.method, err, wantErr)
			}
			for i, w := range want {
				all++
				if w == nil || !w.Precision.Finite() || !w.Support.Finite() {
					continue
				}
				compared++
				g := got[i]
				if g == nil || g.Status != w.Status || g.Iterations != w.Iterations {
					t.Fatalf("method %d, problem %d: %+v, want %v after %d", b.method, i, g, w.Status, w.Iterations)
				}
				if e, f := distance(g.Precision, w.Precision), distance(g.Support, w.Support); !(e < tolerance && f < tolerance) {
					t.Errorf("method %d, problem %d: Θ is off by %.2g, Z by %.2g", b.method, i, e, f)
				}
			}
		}
	})
	if t.Logf("%d of %d results were compared", compared, all); compared < all/2 {
		t.Error("most left the range of float64: the test says little")
	}
}

// draws is how many draws rapid makes, a few or with GLADFLOW_LONG many, where
// RAPID_CHECKS does not say it.
func draws(t *testing.T, few, many string) {
	t.Helper()
	if os.Getenv("RAPID_CHECKS") != "" {
		return
	}
	if os.Getenv("GLADFLOW_LONG") != "" {
		few = many
	}
	f := flag.Lookup("rapid.checks")
	before := f.Value.String()
	if err := f.Value.Set(few); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Value.Set(before) })
}
