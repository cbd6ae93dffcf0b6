package glasso

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/gladflow/gladflow/solver"
	"github.com/gladflow/gladflow/solver/dense"
)

// partsOf gives parts of an S that is held.
type partsOf struct{ *dense.Sym }

func (p partsOf) Variance(i int) float64 { return p.At(i, i) }

func (p partsOf) Submatrix(ctx context.Context, idx []int) (*dense.Sym, error) {
	return p.Sym.Submatrix(idx), ctx.Err()
}

// Solved by parts or whole, the solution is one, whichever components are joined.
func TestParts(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := drawCovariance(t)
		pen := drawPenalty(t, s)
		b := BCD{Settings{Penalty: pen, Gap: 1e-9}}
		whole := solveDrawn(t, b, s)
		comps := components(s, pen)
		if len(comps) > 1 && rapid.Bool().Draw(t, "join") {
			comps[0] = append(comps[0], comps[1]...)
			slices.Sort(comps[0])
			comps = slices.Delete(comps, 1, 2)
		}
		est, err := b.SolveParts(t.Context(), partsOf{s}, comps)
		if err != nil {
			t.Fatal(err)
		}
		if est.Precision != nil || est.Support != nil || est.Len() != s.Len() || est.Status != whole.Status || est.Iterations != whole.Iterations {
			t.Fatalf("%+v, and whole %+v", est, whole)
		}
		near := func(a, b float64) bool { return math.Abs(a-b) <= 1e-12*math.Max(1, math.Abs(b)) }
		if !near(est.Objective, whole.Objective) || !near(est.DualityGap, whole.DualityGap) || !near(est.KKTResidual, whole.KKTResidual) || !near(est.RelativeGap(), whole.RelativeGap()) {
			t.Errorf("objective %v, gap %v, residual %v; whole %v, %v, %v", est.Objective, est.DualityGap, est.KKTResidual, whole.Objective, whole.DualityGap, whole.KKTResidual)
		}
		if est.Edges() != whole.Edges() || est.NonZeros() != whole.NonZeros() {
			t.Errorf("%d edges, %d of the whole", est.Edges(), whole.Edges())
		}
		for i := range s.Len() {
			for j := range s.Len() {
				if a, b := est.Sparse.At(i, j), whole.Precision.At(i, j); a != b || i != j && est.IsEdge(i, j) != whole.IsEdge(i, j) || i != j && est.Score(i, j) != whole.Score(i, j) {
					t.Fatalf("Θ%d%d is %v, of the whole %v", i, j, a, b)
				}
			}
		}
	})
}

// An interruption before anything has begun leaves an estimate whose gap is true.
func TestPartsEnd(t *testing.T) {
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	rapid.Check(t, func(t *rapid.T) {
		s := drawCovariance(t)
		pen := drawPenalty(t, s)
		best := solveDrawn(t, BCD{Settings{Penalty: pen, Gap: 1e-9}}, s)
		est, err := BCD{Settings{Penalty: pen}}.SolveParts(ended, partsOf{s}, components(s, pen))
		if err != nil {
			t.Fatal(err)
		}
		d := float64(s.Len())
		if !(est.DualityGap >= 0) || math.IsInf(est.DualityGap, 0) || est.Objective-best.Objective > est.DualityGap+1e-9*d || est.Objective < best.Objective-1e-6*d {
			t.Errorf("objective %v with the gap %v; the least is %v", est.Objective, est.DualityGap, best.Objective)
		}
		if est.NonZeros() != 0 || est.Sparse.Diagonal()[0] <= 0 {
			t.Error("not a diagonal matrix")
		}
		if largest := len(components(s, pen)[0]); largest > 1 != (est.Status == solver.Interrupted) {
			t.Errorf("%v with a component of %d", est.Status, largest)
		}
	})
}

func TestPartsRefuse(t *testing.T) {
	s := randomCovariance(rand.New(rand.NewPCG(1, 1)), 4, 9)
	good := BCD{Settings{Penalty: Penalty{Rho: 0.1}}}
	whole := [][]int{{0, 1, 2, 3}}
	for name, c := range map[string]struct {
		b     BCD
		comps [][]int
	}{
		"matrix":   {BCD{Settings{Penalty: Penalty{Matrix: s}}}, whole},
		"initial":  {BCD{Settings{Initial: &solver.Estimate{Precision: s}}}, whole},
		"penalty":  {BCD{Settings{Penalty: Penalty{Rho: math.NaN()}}}, whole},
		"missing":  {good, [][]int{{0, 1}, {3}}},
		"twice":    {good, [][]int{{0, 1, 2, 3}, {3}}},
		"order":    {good, [][]int{{0, 2, 1, 3}}},
		"too many": {good, [][]int{{0, 1, 2, 3, 4}}},
	} {
		if est, err := c.b.SolveParts(t.Context(), partsOf{s}, c.comps); err == nil {
			t.Errorf("%s: %+v", name, est)
		}
	}
	none := errors.New("no room")
	if _, err := good.SolveParts(t.Context(), failing{partsOf{s}, none}, whole); !errors.Is(err, none) {
		t.Errorf("%v, want that of the parts", err)
	}
}

type failing struct {
	partsOf
	err error
}

func (f failing) Submatrix(context.Context, []int) (*dense.Sym, error) { return nil, f.err }
