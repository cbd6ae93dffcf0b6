package tune

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/gladflow/gladflow/pipelines/metric"
	"github.com/gladflow/gladflow/pipelines/simulate"
	"github.com/gladflow/gladflow/solver"
	"github.com/gladflow/gladflow/solver/dense"
)

// small are validation graphs that take milliseconds.
func small(t testing.TB, n, d, m int) []solver.Example {
	t.Helper()
	rng := rand.New(rand.NewPCG(7, 11))
	f := simulate.Family{Graph: simulate.GraphErdosRenyi, Dimension: d, Density: 0.2, WeightLow: 0.5, WeightHigh: 1}
	cases := make([]solver.Example, n)
	for i := range cases {
		theta, err := f.Precision(rng)
		if err != nil {
			t.Fatal(err)
		}
		s, err := simulate.Covariance(t.Context(), rng, theta, m)
		if err != nil {
			t.Fatal(err)
		}
		cases[i] = solver.Example{S: s, Truth: theta, Samples: m}
	}
	return cases
}

func TestGoldenFindsTheMinimum(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		low := rapid.Float64Range(-5, 5).Draw(t, "low")
		high := low + rapid.Float64Range(0.1, 10).Draw(t, "width")
		at := low + rapid.Float64Range(0, 1).Draw(t, "minimum")*(high-low)
		steep := rapid.Float64Range(0.1, 10).Draw(t, "steepness")
		const tolerance = 1e-3
		best, least, calls := 0.0, math.Inf(1), 0
		err := golden(low, high, tolerance, func(x float64) (float64, error) {
			if x < low || x > high {
				t.Fatalf("%v lies outside [%v, %v]", x, low, high)
			}
			calls++
			// Unimodal and not symmetric.
			v := (x - at) * (x - at)
			if x > at {
				v *= steep
			}
			if v < least {
				best, least = x, v
			}
			return v, nil
		})
		if err != nil || math.Abs(best-at) > tolerance {
			t.Errorf("found %v, want %v within %v (%v)", best, at, tolerance, err)
		}
		// Each call but the first two shrinks the interval by the golden ratio.
		if want := 3 + math.Ceil(math.Log((high-low)/tolerance)/math.Log(math.Phi)); float64(calls) > want {
			t.Errorf("%d calls, want at most %v", calls, want)
		}
	})
}

// The minimum of a known function of log ρ may lie outside the grid.
func TestSearchLeavesTheGridForTheMinimum(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s, err := Settings{Low: 0.05, High: 0.5, Points: 6, Tolerance: 0.01}.resolved()
		if err != nil {
			t.Fatal(err)
		}
		at := rapid.Float64Range(0.01, 2).Draw(t, "minimum")
		try := func(rho float64, refined bool) (Point, error) {
			x := math.Log(rho / at)
			return Point{Rho: rho, Value: x * x, Refined: refined}, nil
		}
		winner, err := s.grid(try)
		if err == nil {
			winner, err = s.refine(winner, try)
		}
		if err != nil || math.Abs(math.Log(winner.Rho/at)) > s.Tolerance {
			t.Errorf("found ρ %v, want %v (%v)", winner.Rho, at, err)
		}
	})
}

func TestGraphicalLassoAgreesWithBruteForce(t *testing.T) {
	cases := small(t, 5, 12, 60)
	r, err := GraphicalLasso(t.Context(), cases, Settings{Low: 0.03, High: 0.5, Points: 6})
	if err != nil {
		t.Fatal(err)
	}
	least, at := math.Inf(1), 0.0
	for rho := 0.01; rho < 1; rho *= 1.01 {
		z, err := LassoEstimates(t.Context(), cases, rho, Settings{})
		if err != nil {
			t.Fatal(err)
		}
		var n metric.NMSE
		for i := range z {
			if err := n.Add(z[i], cases[i].Truth); err != nil {
				t.Fatal(err)
			}
		}
		if v, _, _ := n.Decibels(); v < least {
			least, at = v, rho
		}
	}
	// Both are within a per cent or two of the minimum of a smooth function, and
	// solved to a gap of 1e-4.
	if math.Abs(r.Best.Value-least) > 5e-3 || math.Abs(math.Log(r.Best.Rho/at)) > 0.1 {
		t.Errorf("%v dB at ρ %v, brute force %v dB at %v", r.Best.Value, r.Best.Rho, least, at)
	}
	if r.Cases != 5 || !(r.Best.StandardError > 0) {
		t.Errorf("%d cases, standard error %v", r.Cases, r.Best.StandardError)
	}
	for _, p := range r.Points {
		if p.Value < r.Best.Value {
			t.Errorf("%v is better than the winner %v", p, r.Best)
		}
	}
}

func TestADMMAgreesWithBruteForce(t *testing.T) {
	cases := small(t, 4, 10, 40)
	s := ADMMSettings{Lambdas: []float64{0.5, 2}, Iterations: []int{9, 1, 3}, Settings: Settings{Diagonal: true, Low: 0.02, High: 0.4, Points: 5, Tolerance: 0.01}}
	r, err := ADMM(t.Context(), cases, s)
	if err != nil {
		t.Fatal(err)
	}
	least := math.Inf(1)
	for rho := 0.005; rho < 2; rho *= 1.01 {
		for _, lambda := range s.Lambdas {
			for _, k := range s.Iterations {
				p := Point{Rho: rho, Lambda: lambda, Iterations: k, Diagonal: true}
				z, err := ADMMEstimates(t.Context(), cases, p, s)
				if err != nil {
					t.Fatal(err)
				}
				if p, err = evaluate(p, NMSE, z, cases); err != nil {
					t.Fatal(err)
				}
				least = min(least, p.Value)
			}
		}
	}
	if r.Best.Value > least+5e-3 {
		t.Errorf("%v, brute force %v dB", r.Best, least)
	}
	// The point can be repeated.
	z, err := ADMMEstimates(t.Context(), cases, r.Best, s)
	if err != nil {
		t.Fatal(err)
	}
	if p, err := evaluate(r.Best, NMSE, z, cases); err != nil || p != r.Best {
		t.Errorf("repeated: %v, %v; was %v", p, err, r.Best)
	}
}

func TestWorkersDoNotChangeTheResult(t *testing.T) {
	cases := small(t, 6, 10, 30)
	for _, o := range []Objective{NMSE, StrictSuccess} {
		var want *Result
		for _, workers := range []int{1, 2, 5} {
			s := Settings{Objective: o, Workers: workers, Points: 4, Tolerance: 0.1}
			lasso, err := GraphicalLasso(t.Context(), cases, s)
			if err != nil {
				t.Fatal(err)
			}
			admm, err := ADMM(t.Context(), cases, ADMMSettings{Settings: s, Lambdas: []float64{1}, Iterations: []int{2, 4}})
			if err != nil {
				t.Fatal(err)
			}
			lasso.Points = append(lasso.Points, admm.Points...)
			if want == nil {
				want = lasso
			}
			if !reflect.DeepEqual(lasso, want) {
				t.Errorf("%s: %d workers find %v, one finds %v", o, workers, lasso.Best, want.Best)
			}
		}
	}
}

// strictRate is the share of successes with τ, by definition.
func strictRate(t interface{ Fatal(...any) }, estimates []*dense.Sym, cases []solver.Example, tau float64) float64 {
	n := 0.0
	for i, z := range estimates {
		ok, err := metric.SuccessStrict(Sparsified(z, tau), cases[i].Truth)
		if err != nil {
			t.Fatal(err)
		}
		if ok {
			n++
		}
	}
	return n / float64(len(estimates))
}

func TestThresholdIsTheBestOfAll(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
		noise := rapid.Float64Range(0, 0.6).Draw(t, "noise")
		d := rapid.IntRange(2, 5).Draw(t, "d")
		n := rapid.IntRange(1, 8).Draw(t, "graphs")
		var cases []solver.Example
		var estimates []*dense.Sym
		taus := []float64{0}
		for range n {
			truth := dense.Identity(d)
			for i := range d {
				for j := range i {
					if rng.Float64() < 0.4 {
						truth.Set(i, j, math.Copysign(0.5+rng.Float64()/2, rng.Float64()-0.5))
					}
				}
			}
			z := truth.Clone()
			for i := range d {
				for j := range i {
					z.Set(i, j, math.Round(20*(z.At(i, j)+noise*rng.NormFloat64()))/20) // with ties
					taus = append(taus, math.Abs(z.At(i, j)), math.Abs(z.At(i, j))+1e-9)
				}
			}
			cases, estimates = append(cases, solver.Example{S: dense.Identity(d), Truth: truth}), append(estimates, z)
		}
		r, err := Threshold(estimates, cases)
		if err != nil {
			t.Fatal(err)
		}
		if got := strictRate(t, estimates, cases, r.Threshold); got != r.Success {
			t.Errorf("threshold %v succeeds in %v, said %v", r.Threshold, got, r.Success)
		}
		for _, tau := range taus {
			if v := strictRate(t, estimates, cases, tau); v > r.Success {
				t.Errorf("threshold %v succeeds in %v, the one found, %v, in %v", tau, v, r.Threshold, r.Success)
			}
		}
	})
}

func TestStrictSuccessIsTuned(t *testing.T) {
	// Strong edges and many samples: a penalty and a threshold exist at which
	// every graph is right.
	cases := small(t, 6, 8, 3000)
	r, err := GraphicalLasso(t.Context(), cases, Settings{Objective: StrictSuccess})
	if err != nil {
		t.Fatal(err)
	}
	z, err := LassoEstimates(t.Context(), cases, r.Best.Rho, Settings{})
	if err != nil {
		t.Fatal(err)
	}
	if got := strictRate(t, z, cases, r.Best.Threshold); got < 0.99 || got != r.Best.Value {
		t.Errorf("%v; repeated %v", r.Best, got)
	}
}

func TestRefuses(t *testing.T) {
	good := small(t, 1, 4, 10)
	for name, c := range map[string]struct {
		cases []solver.Example
		s     Settings
	}{
		"no cases":          {nil, Settings{}},
		"no S":              {[]solver.Example{{Truth: dense.Identity(2)}}, Settings{}},
		"no truth":          {[]solver.Example{{S: dense.Identity(2)}}, Settings{}},
		"another size":      {[]solver.Example{{S: dense.Identity(2), Truth: dense.Identity(3)}}, Settings{}},
		"unknown objective": {good, Settings{Objective: "auc"}},
		"negative ρ":        {good, Settings{Low: -1, High: 1}},
		"empty range":       {good, Settings{Low: 1, High: 1}},
		"two points":        {good, Settings{Points: 2}},
		"no tolerance":      {good, Settings{Tolerance: math.NaN()}},
	} {
		if _, err := GraphicalLasso(t.Context(), c.cases, c.s); err == nil {
			t.Errorf("%s: the graphical lasso accepts it", name)
		}
		if _, err := ADMM(t.Context(), c.cases, ADMMSettings{Settings: c.s}); err == nil {
			t.Errorf("%s: ADMM accepts it", name)
		}
	}
	if _, err := ADMM(t.Context(), good, ADMMSettings{Iterations: []int{0, 1}}); err == nil {
		t.Error("no iterations are accepted")
	}
	if _, err := Threshold(nil, nil); err == nil {
		t.Error("a threshold of no estimates is found")
	}
	if _, err := Threshold([]*dense.Sym{dense.NewSym(4, slices.Repeat([]float64{math.NaN()}, 16))}, good); err == nil {
		t.Error("a threshold of NaN is found")
	}
}

func TestCancelled(t *testing.T) {
	cases := small(t, 3, 8, 20)
	ctx, cancel := context.WithCancel(t.Context())
	s := Settings{OnPoint: func(Point) { cancel() }}
	if _, err := GraphicalLasso(ctx, cases, s); !errors.Is(err, context.Canceled) {
		t.Errorf("the graphical lasso: %v", err)
	}
	if _, err := ADMM(ctx, cases, ADMMSettings{}); !errors.Is(err, context.Canceled) {
		t.Errorf("ADMM: %v", err)
	}
}
