package glasso

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/gladflow/gladflow/solver"
	"github.com/gladflow/gladflow/solver/dense"
)

// all are the four solvers.
func all(s Settings) map[string]solver.Solver {
	m := certified(s)
	m["am"] = AM{Settings: s}
	return m
}

// randomCovariance is of m samples of d correlated variables; m ≤ d makes it
// singular.
func randomCovariance(rng *rand.Rand, d, m int) *dense.Sym {
	rows := make([][]float64, m)
	for k := range rows {
		rows[k] = make([]float64, d)
		var common float64
		for j := range rows[k] {
			if j%3 == 0 {
				common = rng.NormFloat64()
			}
			rows[k][j] = rng.NormFloat64() + common
		}
	}
	return covarianceOf(rows, 0)
}

func drawCovariance(t *rapid.T) *dense.Sym {
	d := rapid.IntRange(2, 9).Draw(t, "d")
	m := rapid.IntRange(3, 20).Draw(t, "m")
	return randomCovariance(rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1)), d, m)
}

func drawPenalty(t *rapid.T, s *dense.Sym) Penalty {
	scale := s.Trace() / float64(s.Len())
	return Penalty{
		Rho:      scale * rapid.Float64Range(0.02, 1).Draw(t, "rho"),
		Diagonal: rapid.Bool().Draw(t, "diagonal"),
	}
}

func solveDrawn(t *rapid.T, sv solver.Solver, s *dense.Sym) *solver.Estimate {
	est, err := sv.Solve(context.Background(), solver.Problem{S: s})
	if err != nil {
		t.Fatal(err)
	}
	return est
}

// TestOptimal checks every solver's own certificate against a computation from
// the definitions: Θ positive definite, the objective, the KKT conditions, and
// a gap that is not below the truth.
func TestOptimal(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := drawCovariance(t)
		pen := drawPenalty(t, s)
		best := math.Inf(1)
		ests := map[string]*solver.Estimate{}
		for name, sv := range certified(Settings{Penalty: pen, Gap: 1e-9}) {
			est := solveDrawn(t, sv, s)
			ests[name] = est
			best = math.Min(best, est.Objective)
			d := s.Len()
			logdet, ok := dense.NewWorkspace(dense.Gonum{}, d).LogDet(est.Precision, make([]float64, d*d))
			if !ok || est.Precision.Asymmetry() != 0 {
				t.Fatalf("%s: Θ is not symmetric positive definite", name)
			}
			objective := s.Dot(est.Precision) - logdet
			for i := range d {
				for j, v := range est.Precision.Row(i) {
					if i != j || pen.Diagonal {
						objective += pen.Rho * math.Abs(v)
					}
				}
			}
			if math.Abs(objective-est.Objective) > 1e-11*(math.Abs(objective)+float64(d)) {
				t.Errorf("%s: objective %v, by definition %v", name, est.Objective, objective)
			}
			if est.Status != solver.Converged || est.RelativeGap() > 1e-9 {
				t.Errorf("%s: %v with relative gap %v", name, est.Status, est.RelativeGap())
			}
			// W moves by no more than W·√(2·gap).
			if limit := s.Trace() * math.Sqrt(2*est.DualityGap+1e-12); est.KKTResidual > limit {
				t.Errorf("%s: KKT residual %v at gap %v", name, est.KKTResidual, est.DualityGap)
			}
		}
		for name, est := range ests {
			if est.Objective-best > est.DualityGap+1e-12*(math.Abs(best)+1) {
				t.Errorf("%s: objective is %v above another solver's, its gap says at most %v", name, est.Objective-best, est.DualityGap)
			}
		}
	})
}

// TestPermutation: permuting the variables permutes the solution.
func TestPermutation(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := drawCovariance(t)
		set := Settings{Penalty: drawPenalty(t, s), Gap: 1e-8}
		order := make([]int, s.Len())
		for i := range order {
			order[i] = i
		}
		order = rapid.Permutation(order).Draw(t, "order")
		same := func(name string, sv solver.Solver, tolerance func(a, b *solver.Estimate, i, j int) float64) {
			a, b := solveDrawn(t, sv, s), solveDrawn(t, sv, s.Submatrix(order))
			for i, oi := range order {
				for j, oj := range order {
					if d := math.Abs(a.Precision.At(oi, oj) - b.Precision.At(i, j)); d > tolerance(a, b, i, j) {
						t.Fatalf("%s: Θ%d%d moves by %v under a permutation", name, i, j, d)
					}
				}
			}
		}
		for name, sv := range certified(set) {
			same(name, sv, func(a, b *solver.Estimate, i, j int) float64 {
				return slack(a, order[i], order[j]) + slack(b, i, j)
			})
		}
		// The textbook iterations are equivariant step by step.
		set.IterationLimit = 20
		rounding := func(a, _ *solver.Estimate, i, j int) float64 { return 1e-10 * a.Precision.Trace() }
		same("am", AM{Settings: set}, rounding)
		same("textbook admm", ADMM{Settings: set, Lambda: 1}, rounding)
	})
}

// TestUnits: changing the units of the variables, with penalties to match,
// changes the units of Θ and nothing else, over twelve orders of magnitude.
func TestUnits(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := drawCovariance(t)
		pen := drawPenalty(t, s)
		d := s.Len()
		scale := make([]float64, d)
		for i := range scale {
			scale[i] = math.Pow(10, rapid.Float64Range(-6, 6).Draw(t, "scale"))
		}
		scaled, matrix := s.Clone(), dense.NewSym(d, nil)
		for i := range d {
			for j := range d {
				matrix.Set(i, j, pen.Rho*scale[i]*scale[j])
			}
		}
		rescaled(scaled, scale, false)
		a := certified(Settings{Penalty: pen, Gap: 1e-10})
		b := certified(Settings{Penalty: Penalty{Matrix: matrix, Diagonal: pen.Diagonal}, Gap: 1e-10})
		for name := range a {
			x, y := solveDrawn(t, a[name], s), solveDrawn(t, b[name], scaled)
			if x.Status != y.Status {
				t.Errorf("%s: %v and %v", name, x.Status, y.Status)
			}
			for i := range d {
				for j := range d {
					v := y.Precision.At(i, j) * scale[i] * scale[j]
					if diff := math.Abs(v - x.Precision.At(i, j)); diff > slack(x, i, j)+slack(y, i, j)*scale[i]*scale[j] {
						t.Fatalf("%s: Θ%d%d is %v in the old units, was %v", name, i, j, v, x.Precision.At(i, j))
					}
				}
			}
		}
	})
}

// TestComponents: the components of |Sij| > ρij are those of the solution.
func TestComponents(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := drawCovariance(t)
		pen := drawPenalty(t, s)
		est := solveDrawn(t, BCD{Settings{Penalty: pen, Gap: 1e-12}}, s)
		label := make([]int, s.Len())
		for k, comp := range components(s, pen) {
			for _, i := range comp {
				label[i] = k
			}
		}
		for i := range label {
			for j := range label {
				if label[i] != label[j] && est.Precision.At(i, j) != 0 {
					t.Errorf("an edge joins the components of %d and %d", i, j)
				}
			}
		}
	})
}

// TestClosedForms: a penalty above every covariance leaves the diagonal, no
// penalty gives S⁻¹, and two variables have a formula.
func TestClosedForms(t *testing.T) {
	s := covarianceOf(irisRows(0, 150), 0)
	inverse := dense.NewSym(4, nil)
	dense.NewWorkspace(dense.Gonum{}, 4).Inverse(inverse, s)
	pair := dense.NewSym(2, []float64{2, 0.7, 0.7, 1})
	w := 0.7 - 0.2 // W12 of the pair at ρ = 0.2
	det := 2*1 - w*w
	want := dense.NewSym(2, []float64{1 / det, -w / det, -w / det, 2 / det})
	for name := range certified(Settings{}) {
		at := func(s *dense.Sym, p Penalty) *dense.Sym {
			return mustSolve(t, certified(Settings{Penalty: p, Gap: 1e-14})[name], s).Precision
		}
		if d := maxDifference(at(s, Penalty{}), inverse); d > 1e-10 {
			t.Errorf("%s: ρ = 0 is off S⁻¹ by %v", name, d)
		}
		for _, diagonal := range []bool{false, true} {
			theta := at(s, Penalty{Rho: 2, Diagonal: diagonal})
			for i := range 4 {
				v := s.At(i, i)
				if diagonal {
					v += 2
				}
				for j := range 4 {
					if got := theta.At(i, j); i != j && got != 0 || i == j && math.Abs(got*v-1) > 1e-15 {
						t.Errorf("%s: Θ%d%d = %v above every covariance", name, i, j, got)
					}
				}
			}
		}
		if d := maxDifference(at(pair, Penalty{Rho: 0.2}), want); d > 1e-6 { // √gap
			t.Errorf("%s: two variables are off by %v", name, d)
		}
	}
}

// TestMatrixPenalty: a constant matrix is that number, and an infinite wish
// (a large entry) forbids an edge.
func TestMatrixPenalty(t *testing.T) {
	s := covarianceOf(irisRows(0, 150), 0)
	m := dense.NewSym(4, nil)
	for i := range 4 {
		for j := range 4 {
			m.Set(i, j, 0.1)
		}
	}
	for name := range certified(Settings{}) {
		number := mustSolve(t, certified(Settings{Penalty: Penalty{Rho: 0.1}, Gap: 1e-12})[name], s)
		matrix := mustSolve(t, certified(Settings{Penalty: Penalty{Matrix: m}, Gap: 1e-12})[name], s)
		if d := math.Abs(number.Objective - matrix.Objective); d > 1e-11 {
			t.Errorf("%s: a constant matrix changes the objective by %v", name, d)
		}
		forbid := m.Clone()
		forbid.Set(0, 2, 1e9)
		est := mustSolve(t, certified(Settings{Penalty: Penalty{Matrix: forbid}, Gap: 1e-9})[name], s)
		if est.Precision.At(0, 2) != 0 {
			t.Errorf("%s: the forbidden edge is %v", name, est.Precision.At(0, 2))
		}
	}
}

// TestUnboundedProblem: without a penalty a singular S has no solution.
func TestUnboundedProblem(t *testing.T) {
	s := covarianceOf(mazumderHastie, 1)
	for name, sv := range certified(Settings{}) {
		est, err := sv.Solve(t.Context(), solver.Problem{S: s})
		if err != nil {
			t.Fatal(err)
		}
		if est.Status != solver.Unbounded || !math.IsInf(est.DualityGap, 1) {
			t.Errorf("%s: %v with gap %v, want unbounded", name, est.Status, est.DualityGap)
		}
		if _, ok := dense.NewWorkspace(dense.Gonum{}, 5).LogDet(est.Precision, make([]float64, 25)); !ok {
			t.Errorf("%s: Θ is not positive definite", name)
		}
	}
}

// TestInterrupted: whatever the moment, a cancelled solver returns a positive
// definite Θ, soon, and a gap that is true.
func TestInterrupted(t *testing.T) {
	s := randomCovariance(rand.New(rand.NewPCG(4, 4)), 320, 40)
	pen := Penalty{Rho: 0.2} // one component, whose reference takes no seconds
	reference := mustSolve(t, BCD{Settings{Penalty: pen, Gap: 1e-8}}, s)
	solvers := all(Settings{Penalty: pen, Gap: 1e-12})
	solvers["textbook admm"] = ADMM{Settings: Settings{Penalty: pen, Gap: 1e-12}, Lambda: 1}
	for name, sv := range solvers {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, wait := range []time.Duration{-1, 0, 30 * time.Millisecond, 150 * time.Millisecond} {
				ctx, cancel := context.WithTimeout(t.Context(), wait)
				est, err := sv.Solve(ctx, solver.Problem{S: s})
				cancel()
				if err != nil {
					t.Fatal(err)
				}
				if est.Status != solver.Interrupted && est.Status != solver.Converged {
					t.Errorf("after %v: %v", wait, est.Status)
				}
				if _, ok := dense.NewWorkspace(dense.Gonum{}, 320).LogDet(est.Precision, make([]float64, 320*320)); !ok {
					t.Fatalf("after %v: Θ is not positive definite", wait)
				}
				if math.IsNaN(est.Objective) || math.IsNaN(est.DualityGap) || est.DualityGap < 0 {
					t.Errorf("after %v: objective %v, gap %v", wait, est.Objective, est.DualityGap)
				}
				if name != "am" && est.Objective-est.DualityGap > reference.Objective+1e-9 {
					t.Errorf("after %v: the lower bound %v exceeds the optimum %v", wait, est.Objective-est.DualityGap, reference.Objective)
				}
			}
		})
	}
}

// TestWarmStart: starting from a neighbour's solution changes nothing but the
// work.
func TestWarmStart(t *testing.T) {
	s := randomCovariance(rand.New(rand.NewPCG(2, 2)), 40, 25)
	for name := range all(Settings{}) {
		at := func(rho float64, from *solver.Estimate) *solver.Estimate {
			return mustSolve(t, all(Settings{Penalty: Penalty{Rho: rho}, Gap: 1e-9, Initial: from})[name], s)
		}
		cold := at(0.2, nil)
		warm := at(0.2, at(0.22, nil))
		again := at(0.2, cold)
		if d := math.Abs(cold.Objective - warm.Objective); d > cold.DualityGap+warm.DualityGap {
			t.Errorf("%s: objectives %v and %v", name, cold.Objective, warm.Objective)
		}
		if again.Iterations > cold.Iterations/2+4 {
			t.Errorf("%s: %d iterations from the solution itself, %d from nothing", name, again.Iterations, cold.Iterations)
		}
	}
}

// TestInterruptedWarmStart: cancelled before its first step, a solver returns
// where it was told to start.
func TestInterruptedWarmStart(t *testing.T) {
	s := randomCovariance(rand.New(rand.NewPCG(6, 6)), 12, 30)
	set := Settings{Penalty: Penalty{Rho: 0.1}, Gap: 1e-9}
	from := mustSolve(t, BCD{set}, s)
	set.Initial, set.Gap = from, 1e-300
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for name, sv := range certified(set) {
		est, err := sv.Solve(ctx, solver.Problem{S: s})
		if err != nil {
			t.Fatal(err)
		}
		if est.Status != solver.Interrupted || est.Objective > from.Objective+1e-9 {
			t.Errorf("%s: %v at objective %v, started from %v", name, est.Status, est.Objective, from.Objective)
		}
	}
}

// TestDeterministic: the same problem gives the same bits, components solved
// in parallel included.
func TestDeterministic(t *testing.T) {
	s := randomCovariance(rand.New(rand.NewPCG(3, 3)), 60, 30)
	for name, sv := range all(Settings{Penalty: Penalty{Rho: 0.6}}) {
		a, b := mustSolve(t, sv, s), mustSolve(t, sv, s)
		if maxDifference(a.Precision, b.Precision) != 0 || a.Objective != b.Objective || a.DualityGap != b.DualityGap {
			t.Errorf("%s: two runs differ", name)
		}
	}
}

func TestRefuses(t *testing.T) {
	good := dense.Identity(3)
	nan := dense.Identity(3)
	nan.Set(0, 1, math.NaN())
	flat := dense.Identity(3)
	flat.Set(2, 2, 0)
	for name, c := range map[string]struct {
		s   *dense.Sym
		set Settings
	}{
		"no covariance":     {nil, Settings{}},
		"NaN":               {nan, Settings{}},
		"no variance":       {flat, Settings{}},
		"negative penalty":  {good, Settings{Penalty: Penalty{Rho: -1}}},
		"NaN penalty":       {good, Settings{Penalty: Penalty{Rho: math.NaN()}}},
		"penalty of size 2": {good, Settings{Penalty: Penalty{Matrix: dense.Identity(2)}}},
		"negative gap":      {good, Settings{Gap: -1}},
		"negative limit":    {good, Settings{IterationLimit: -1}},
		"initial of size 2": {good, Settings{Initial: &solver.Estimate{Precision: dense.Identity(2)}}},
	} {
		for solverName, sv := range all(c.set) {
			if _, err := sv.Solve(t.Context(), solver.Problem{S: c.s}); err == nil {
				t.Errorf("%s, %s: no error", solverName, name)
			}
		}
	}
	for _, lambda := range []float64{-1, math.NaN(), math.Inf(1)} {
		if _, err := (AM{Lambda: lambda}).Solve(t.Context(), solver.Problem{S: good}); err == nil {
			t.Errorf("am: λ = %v is accepted", lambda)
		}
		if _, err := (ADMM{Lambda: lambda}).Solve(t.Context(), solver.Problem{S: good}); err == nil {
			t.Errorf("admm: λ = %v is accepted", lambda)
		}
	}
}
