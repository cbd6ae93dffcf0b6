package inference

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/gladflow/gladflow/solver"
	"github.com/gladflow/gladflow/solver/covariance"
	"github.com/gladflow/gladflow/solver/dense"
)

// near compares with a relative error of 1e-9.
func near(t *testing.T, what string, got, want float64) {
	t.Helper()
	if !(math.Abs(got-want) <= 1e-9*math.Max(1, math.Abs(want))) {
		t.Errorf("%s is %v, want %v", what, got, want)
	}
}

// pair is the covariance of two variables with deviations 3 and 1e-6.
func pair(r float64) *dense.Sym {
	return dense.NewSym(2, []float64{9, 3e-6 * r, 3e-6 * r, 1e-12})
}

// Of two variables the partial correlation is the correlation.
func TestPartialCorrelationsOfTwo(t *testing.T) {
	for _, r := range []float64{0, 0.3, -0.6, 0.999} {
		const m = 17
		tests, err := PartialCorrelations(t.Context(), solver.Problem{S: pair(r), Samples: m}, Settings{})
		if err != nil {
			t.Fatal(err)
		}
		near(t, "r", tests.Estimate(0, 1), r)
		statistic := math.Abs(r) * math.Sqrt((m-2)/(1-r*r))
		near(t, "p", tests.P(1, 0), 2*distuv.StudentsT{Sigma: 1, Nu: m - 2}.Survival(statistic))
		near(t, "q", tests.Q(0, 1), tests.P(0, 1))
		lower, upper := tests.Interval(0, 1, 0.9)
		half := 1.6448536269514722 / math.Sqrt(m-3)
		near(t, "lower", lower, math.Tanh(math.Atanh(r)-half))
		near(t, "upper", upper, math.Tanh(math.Atanh(r)+half))
	}
}

// Of three variables it is (r12 − r13·r23)/√((1−r13²)(1−r23²)).
func TestPartialCorrelationsOfThree(t *testing.T) {
	s := dense.NewSym(3, []float64{1, 0.5, 0.4, 0.5, 1, -0.2, 0.4, -0.2, 1})
	tests, err := PartialCorrelations(t.Context(), solver.Problem{S: s, Samples: 30}, Settings{})
	if err != nil {
		t.Fatal(err)
	}
	near(t, "r12.3", tests.Estimate(0, 1), (0.5+0.4*0.2)/math.Sqrt((1-0.16)*(1-0.04)))
	near(t, "r13.2", tests.Estimate(2, 0), (0.4+0.5*0.2)/math.Sqrt((1-0.25)*(1-0.04)))
}

// Of two variables the graphical lasso has W12 = sign(r)·max(|r|−ρ, 0) and Θ = W⁻¹.
func TestDesparsifiedOfTwo(t *testing.T) {
	const m = 40
	rho := math.Sqrt(math.Log(2) / m)
	for _, r := range []float64{0, 0.05, 0.5, -0.9} {
		tests, err := Desparsified(t.Context(), solver.Problem{S: pair(r), Samples: m}, Settings{})
		if err != nil {
			t.Fatal(err)
		}
		w := math.Copysign(math.Max(math.Abs(r)-rho, 0), r)
		a, b := 1/(1-w*w), -w/(1-w*w)
		tii, tij := 2*a-(a*a+b*b+2*a*b*r), 2*b-(2*a*b+r*(a*a+b*b))
		const gap = 1e-5 // of the solver
		if got := tests.Estimate(0, 1); math.Abs(got+tij/tii) > gap {
			t.Errorf("r=%v: the estimate is %v, want %v", r, got, -tij/tii)
		}
		statistic := math.Abs(tij) / math.Sqrt((a*a+b*b)/m)
		if got := tests.P(0, 1); math.Abs(got-2*distuv.UnitNormal.Survival(statistic)) > gap {
			t.Errorf("r=%v: p is %v", r, got)
		}
		lower, upper := tests.Interval(0, 1, 0.95)
		z, half := math.Atanh(-tij/tii), 1.959963985/math.Sqrt(m)
		if math.Abs(lower-math.Tanh(z-half)) > gap || math.Abs(upper-math.Tanh(z+half)) > gap {
			t.Errorf("r=%v: the interval is %v to %v", r, lower, upper)
		}
		if degree := tests.Degree; (degree == 1) != (w != 0) || tests.Penalty != rho {
			t.Errorf("r=%v: degree %d, penalty %v", r, degree, tests.Penalty)
		}
	}
}

// The definition: the largest k with p(k) ≤ qk/n.
func TestBenjaminiHochberg(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 5))
	p := make([]float64, 60)
	for i := range p {
		p[i] = math.Round(100*math.Pow(rng.Float64(), 3)) / 100 // with ties
	}
	slices.Sort(p)
	q := BenjaminiHochberg(p)
	for level := 0.004; level < 1; level += 0.013 {
		kept := 0
		for k, v := range p {
			if v <= level*float64(k+1)/float64(len(p)) {
				kept = k + 1
			}
		}
		got := 0
		for _, v := range q {
			if v <= level {
				got++
			}
		}
		if got != kept {
			t.Errorf("%d are kept at %v, want %d", got, level, kept)
		}
	}
}

// samples are m samples of a chain of d variables with partial correlations of −0.4.
func samples(rng *rand.Rand, d, m int) []float64 {
	rows := make([]float64, 0, m*d)
	// A first-order autoregression: its precision matrix is tridiagonal.
	for range m {
		x := rng.NormFloat64()
		for range d {
			rows = append(rows, x)
			x = -0.5*x + math.Sqrt(0.75)*rng.NormFloat64()
		}
	}
	return rows
}

// estimated is the correlation of samples.
func estimated(t *testing.T, rows []float64, d int) solver.Problem {
	t.Helper()
	r, err := covariance.Estimate(t.Context(), covariance.NewTable(rows, d), d, covariance.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	return solver.Problem{S: r.S, Samples: len(rows) / d}
}

// The p-values of pairs without a partial correlation are uniform, exactly so for the
// classical test, and intervals cover the truth.
func TestUniformity(t *testing.T) {
	for name, c := range map[string]struct {
		test       func(context.Context, solver.Problem, Settings) (*Tests, error)
		d, m, runs int
		// The least and the largest share of p ≤ 0.05.
		least, most float64
	}{
		// The standard error is about 0.002 over tables.
		"partial correlations": {PartialCorrelations, 15, 24, 400, 0.044, 0.056},
		// It is conservative here.
		"de-sparsified, M < d": {Desparsified, 60, 40, 8, 0.003, 0.056},
		"de-sparsified, M > d": {Desparsified, 40, 400, 16, 0.01, 0.056},
	} {
		rng := rand.New(rand.NewPCG(11, 11))
		var small, all, covered, edges, nulls float64
		for range c.runs {
			tests, err := c.test(t.Context(), estimated(t, samples(rng, c.d, c.m), c.d), Settings{})
			if err != nil {
				t.Fatal(err)
			}
			for i := range c.d {
				for j := range i {
					lower, upper := tests.Interval(i, j, 0.95)
					p, q := tests.P(i, j), tests.Q(i, j)
					if !(p >= 0 && p <= q && q <= 1 && lower >= -1 && upper <= 1 && lower <= upper) {
						t.Fatalf("%s: p %v, q %v, %v to %v", name, p, q, lower, upper)
					}
					if i-j == 1 {
						edges++
						truth := -0.5 / (1 + 0.25) // −Θij/√(ΘiiΘjj) inside the chain
						if i == 1 || i == c.d-1 {
							truth = -0.5 / math.Sqrt(1+0.25)
						}
						if lower <= truth && truth <= upper {
							covered++
						}
						continue
					}
					nulls++
					if p <= 0.05 {
						small++
					}
					if p <= 0.5 {
						all++
					}
				}
			}
		}
		size, half, cover := small/nulls, all/nulls, covered/edges
		t.Logf("%s: size %.4f, p ≤ .5 %.4f, coverage %.3f of %v edges", name, size, half, cover, edges)
		if size < c.least || size > c.most || half > 0.52 {
			t.Errorf("%s: %.4f of the p-values are at most .05, and %.4f at most .5", name, size, half)
		}
		if cover < 0.91 {
			t.Errorf("%s: intervals of 95 %% cover %.3f", name, cover)
		}
	}
}

// Tests do not depend on units, nor on the order of the variables.
func TestEquivariance(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 9))
	const d, m = 9, 50
	p := estimated(t, samples(rng, d, m), d)
	order := rng.Perm(d)
	other := dense.NewSym(d, nil)
	for i := range d {
		for j := range d {
			other.Set(i, j, p.S.At(order[i], order[j])*math.Pow(10, float64(i+j)/2-4))
		}
	}
	for name, test := range map[string]func(context.Context, solver.Problem, Settings) (*Tests, error){"partial": PartialCorrelations, "de-sparsified": Desparsified} {
		a, err := test(t.Context(), p, Settings{})
		if err != nil {
			t.Fatal(err)
		}
		b, err := test(t.Context(), solver.Problem{S: other, Samples: m}, Settings{})
		if err != nil {
			t.Fatal(err)
		}
		for i := range d {
			for j := range i {
				const gap = 1e-4 // of the solver
				if x, y := a.P(order[i], order[j]), b.P(i, j); math.Abs(x-y) > gap {
					t.Errorf("%s: p is %v and %v", name, x, y)
				}
			}
		}
	}
}

// What cannot be tested is refused, and variables that the others determine do no harm to
// the test that can do with them.
func TestRefusals(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 4))
	const d, m = 6, 40
	rows := samples(rng, d, m)
	for i := range m {
		rows[i*d+5] = rows[i*d] // the same variable twice
	}
	p := estimated(t, rows, d)
	if _, err := PartialCorrelations(t.Context(), p, Settings{}); !errors.Is(err, ErrSingular) {
		t.Errorf("%v", err)
	}
	tests, err := Desparsified(t.Context(), p, Settings{})
	if err != nil {
		t.Fatal(err)
	}
	if p := tests.P(0, 5); !(p < 1e-6) {
		t.Errorf("p of the same variable is %v", p)
	}
	p.Samples = d + 1
	if _, err := PartialCorrelations(t.Context(), p, Settings{}); !errors.Is(err, ErrTooFewSamples) {
		t.Errorf("%v", err)
	}
	if _, err := Desparsified(t.Context(), p, Settings{}); !errors.Is(err, ErrTooFewSamples) {
		t.Errorf("%v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	p.Samples = m
	if _, err := Desparsified(ctx, p, Settings{}); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	one, err := Desparsified(t.Context(), solver.Problem{S: dense.Identity(1), Samples: m}, Settings{})
	if err != nil || one.Crowding() != 0 {
		t.Errorf("one variable: %v", err)
	}
}
