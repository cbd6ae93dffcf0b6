//go:build cuda

package cuda

import (
	"math/rand/v2"
	"testing"

	"github.com/gladflow/gladflow/solver/glad"
)

// An observer is told every Θ step, by the method that was set.
func TestObserve(t *testing.T) {
	b := opened(t)
	m := model(t, "general")
	p := sampled(rand.New(rand.NewPCG(21, 21)), 33, 80)
	for _, how := range []string{"eigen", "polar", "auto"} {
		if err := b.SetMethod(how); err != nil {
			t.Fatal(err)
		}
		var steps []ThetaStep
		b.Observe(func(s ThetaStep) { steps = append(steps, s) })
		if _, err := (glad.Solver{Model: m, Backend: b}).Solve(t.Context(), p); err != nil {
			t.Fatal(err)
		}
		b.Observe(nil)
		if len(steps) != m.Iterations {
			t.Fatalf("%d steps, want %d", len(steps), m.Iterations)
		}
		for i, s := range steps {
			if s.Cell != i+1 || s.Dimension != 33 || s.Problems != 1 || s.Bytes <= 0 || s.Elapsed <= 0 || !(s.Condition > 1 && s.Condition < 1e6) {
				t.Errorf("%s: step %d is %+v", how, i+1, s)
			}
			polar := how == "polar"
			if s.Eigen == polar || (s.Iterations > 0) != polar {
				t.Errorf("%s: step %d is %+v", how, i+1, s)
			}
			// Three products in the first iteration, five in those between, and five in the last.
			if polar && (s.Residual >= converged || s.Products != 5*s.Iterations-2) {
				t.Errorf("%s: step %d is %+v", how, i+1, s)
			}
		}
		if _, err := (glad.Solver{Model: m, Backend: b}).Solve(t.Context(), p); err != nil {
			t.Fatal(err)
		}
		if len(steps) != m.Iterations {
			t.Error("it is told after it has left")
		}
	}
	if b.SetMethod("newton") == nil {
		t.Error("an unknown method is taken")
	}
}
