package simulate

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/gladflow/gladflow/solver/dense"
)

func drawFamily(t *rapid.T) Family {
	f := Family{
		Graph:              rapid.SampledFrom(Graphs()).Draw(t, "graph"),
		Dimension:          rapid.IntRange(1, 40).Draw(t, "d"),
		Density:            rapid.Float64Range(0, 1).Draw(t, "density"),
		Links:              rapid.IntRange(0, 4).Draw(t, "links"),
		Bandwidth:          rapid.IntRange(0, 5).Draw(t, "bandwidth"),
		Symmetrisation:     rapid.SampledFrom([]string{"", Sym, Avg}).Draw(t, "symmetrisation"),
		SmallestEigenvalue: rapid.SampledFrom([]float64{0, 0.1, 2}).Draw(t, "smallest"),
	}
	f.Neighbours = 2 * rapid.IntRange(0, (f.Dimension-1)/2).Draw(t, "half of neighbours")
	f.Rewiring = rapid.Float64Range(0, 1).Draw(t, "rewiring")
	f.Groups = rapid.IntRange(0, f.Dimension).Draw(t, "groups")
	if rapid.Bool().Draw(t, "range") {
		f.WeightLow = rapid.Float64Range(-2, 2).Draw(t, "low")
		f.WeightHigh = f.WeightLow + rapid.Float64Range(0, 1).Draw(t, "width")
	}
	return f
}

func eigenvalues(t rapid.TB, a *dense.Sym) []float64 {
	t.Helper()
	values := make([]float64, a.Len())
	if err := dense.NewWorkspace(dense.Gonum{}, a.Len()).Eigen(a, values, make([]float64, a.Len()*a.Len())); err != nil {
		t.Fatal(err)
	}
	return values
}

func TestFamilyPrecision(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := drawFamily(t)
		seed := rapid.Uint64().Draw(t, "seed")
		theta, err := f.Precision(seeded(seed))
		if err != nil {
			t.Fatal(err)
		}
		r := f.Resolved()
		values := eigenvalues(t, theta)
		if tol := 1e-13 * (1 + values[len(values)-1]) * float64(f.Dimension); math.Abs(values[0]-r.SmallestEigenvalue) > tol {
			t.Errorf("smallest eigenvalue %v, want %v", values[0], r.SmallestEigenvalue)
		}
		g, err := f.Draw(seeded(seed))
		if err != nil {
			t.Fatal(err)
		}
		for i := range f.Dimension {
			for j := i + 1; j < f.Dimension; j++ {
				v := theta.At(i, j)
				if v != 0 && (v < r.WeightLow || v > r.WeightHigh) {
					t.Errorf("weight %v lies outside [%v, %v)", v, r.WeightLow, r.WeightHigh)
				}
				if v != 0 && !slices.Contains(g.Edges, [2]int{i, j}) {
					t.Errorf("(%d, %d) has a weight and no edge", i, j)
				}
			}
		}
		again, err := r.Precision(seeded(seed))
		if err != nil || !slices.Equal(again.Raw(), theta.Raw()) {
			t.Errorf("the resolved family and the same seed give another matrix (%v)", err)
		}
		if r != r.Resolved() || f.String() != r.String() {
			t.Error("resolving twice, or describing, depends on how defaults are written")
		}
	})
}

// A draw of [-1, 1) has variance 1/3, the mean of two 1/6, and a kurtosis of 9/5
// and 12/5 of its square.
func TestWeightDistribution(t *testing.T) {
	for _, c := range []struct {
		symmetrisation     string
		variance, kurtosis float64
	}{{Sym, 1. / 3, 9. / 5}, {Avg, 1. / 6, 12. / 5}} {
		f := Family{Graph: GraphErdosRenyi, Dimension: 200, Density: 1, Symmetrisation: c.symmetrisation}
		theta, err := f.Precision(seeded(4))
		if err != nil {
			t.Fatal(err)
		}
		var sum, squares, n float64
		for i := range f.Dimension {
			for j := range i {
				v := theta.At(i, j)
				sum += v
				squares += v * v
				n++
			}
		}
		if mean, se := sum/n, math.Sqrt(c.variance/n); math.Abs(mean) > 5*se {
			t.Errorf("%s: mean %v, want 0 ± %v", c.symmetrisation, mean, se)
		}
		se := c.variance * math.Sqrt((c.kurtosis-1)/n)
		if v := squares / n; math.Abs(v-c.variance) > 5*se {
			t.Errorf("%s: variance %v, want %v ± %v", c.symmetrisation, v, c.variance, se)
		}
	}
}

// The logarithm of scales with a spread is uniform, and partial correlations stay.
func TestScaleSpread(t *testing.T) {
	const d, spread = 400, 0.5
	f := Family{Graph: GraphBand, Dimension: d, ScaleSpread: spread}
	plain := Family{Graph: GraphBand, Dimension: d}
	a, err := f.Precision(seeded(3))
	if err != nil {
		t.Fatal(err)
	}
	b, err := plain.Precision(seeded(3))
	if err != nil {
		t.Fatal(err)
	}
	var sum, squares float64
	for i := range d {
		log := math.Log(a.At(i, i)/b.At(i, i)) / 2
		if math.Abs(log) > spread*(1+1e-12) {
			t.Errorf("variable %d has the factor exp %v", i, log)
		}
		sum += log
		squares += log * log
		for j := range i {
			got := a.At(i, j) / math.Sqrt(a.At(i, i)*a.At(j, j))
			if want := b.At(i, j) / b.At(0, 0); math.Abs(got-want) > 1e-15 {
				t.Errorf("partial correlation (%d, %d) is %v, was %v", i, j, got, want)
			}
		}
	}
	// A uniform law on ±s has variance s²/3, and its square 4s⁴/45.
	variance := spread * spread / 3
	if mean, se := sum/d, math.Sqrt(variance/d); math.Abs(mean) > 5*se {
		t.Errorf("mean of the logarithms %v, want 0 ± %v", mean, se)
	}
	if v, se := squares/d, 2*spread*spread/math.Sqrt(45*d); math.Abs(v-variance) > 5*se {
		t.Errorf("variance of the logarithms %v, want %v ± %v", v, variance, se)
	}
}

// Noise has nothing off the diagonal, whatever weights are asked for.
func TestEmpty(t *testing.T) {
	f := Family{Graph: GraphEmpty, Dimension: 7, WeightLow: 0.5, WeightHigh: 1, SmallestEigenvalue: 2}
	theta, err := f.Precision(seeded(1))
	if err != nil {
		t.Fatal(err)
	}
	want := dense.NewSym(7, nil)
	want.AddDiagonal(2)
	if !slices.Equal(theta.Raw(), want.Raw()) {
		t.Errorf("%v", theta.Raw())
	}
	if r := f.Resolved(); r != (Family{Graph: GraphEmpty, Dimension: 7, SmallestEigenvalue: 2}) {
		t.Errorf("resolved %+v", r)
	}
}

// The families that there were before draw what they drew: sums of the entries of
// Θ, weighted by their places, as printed before small-world, empty and spreads of
// scales were added.
func TestFamiliesDrawAsBefore(t *testing.T) {
	sum := func(a *dense.Sym) (s float64) {
		for i := range a.Len() {
			for j := i; j < a.Len(); j++ {
				s += float64(1+i+2*j) * a.At(i, j)
			}
		}
		return s
	}
	for graph, want := range map[string]float64{
		"er":         12598.92215774542,
		"grid":       8824.328108854897,
		"scale-free": 9103.322937629388,
		"hub":        14346.301738576558,
		"block":      10413.152136076184,
		"band":       10732.990464256958,
	} {
		theta, err := Family{Graph: graph, Dimension: 40, Symmetrisation: Avg, ScaleLow: 0.5, ScaleHigh: 2}.Precision(seeded(11))
		if err != nil {
			t.Fatal(err)
		}
		if got := sum(theta); math.Abs(got-want) > 1e-12*math.Abs(want) {
			t.Errorf("%s draws another matrix: %v, was %v", graph, got, want)
		}
	}
	for seed, want := range []float64{
		11508.121321725524, 188.82055381943297, 2508.9305801014234, 2488.5688940919263, 175.28910586656676, 81.35653624432169, 162.3575609843101, 13840.636422539492, 585.7867677733067, 71.24245390358594, 2502.267825948843, 587.9292087245674,
	} {
		e, err := Mixed(t.Context(), seeded(uint64(seed)), 60)
		if err != nil {
			t.Fatal(err)
		}
		if got := sum(e.Truth) + sum(e.S); math.Abs(got-want) > 1e-12*math.Abs(want) {
			t.Errorf("seed %d of the mixture draws another example: %v, was %v", seed, got, want)
		}
	}
}

// With scales, Θii/λ is the square of a draw, where λ is the common diagonal
// before, and partial correlations stay.
func TestScales(t *testing.T) {
	f := Family{Graph: GraphErdosRenyi, Dimension: 60}
	plain, err := f.Precision(seeded(8))
	if err != nil {
		t.Fatal(err)
	}
	f.ScaleLow, f.ScaleHigh = 0.7, 1.3
	scaled, err := f.Precision(seeded(8))
	if err != nil {
		t.Fatal(err)
	}
	var mean float64
	for i := range 60 {
		scale := math.Sqrt(scaled.At(i, i) / plain.At(i, i))
		if scale < 0.7 || scale > 1.3 {
			t.Errorf("variable %d is rescaled by %v", i, scale)
		}
		mean += scale / 60
		for j := range i {
			want := plain.At(i, j) / plain.At(0, 0)
			got := scaled.At(i, j) / math.Sqrt(scaled.At(i, i)*scaled.At(j, j))
			if math.Abs(got-want) > 1e-15 {
				t.Errorf("partial correlation (%d, %d) is %v, was %v", i, j, got, want)
			}
		}
	}
	if se := 0.6 / math.Sqrt(12*60); math.Abs(mean-1) > 5*se {
		t.Errorf("mean scale %v, want 1 ± %v", mean, se)
	}
}

func TestFamilyRefuses(t *testing.T) {
	good := Family{Graph: GraphErdosRenyi, Dimension: 5}
	if err := good.Validate(); err != nil {
		t.Fatal(err)
	}
	for field, change := range map[string]func(*Family){
		"graph":               func(f *Family) { f.Graph = "unknown" },
		"dimension":           func(f *Family) { f.Dimension = 0 },
		"density":             func(f *Family) { f.Density = 1.1 },
		"links":               func(f *Family) { f.Links = -1 },
		"groups":              func(f *Family) { f.Groups = 6 },
		"neighbours":          func(f *Family) { f.Neighbours = 6 },
		"rewiring":            func(f *Family) { f.Rewiring = math.NaN() },
		"scale_spread":        func(f *Family) { f.ScaleSpread = 10.1 },
		"bandwidth":           func(f *Family) { f.Bandwidth = -1 },
		"weight_low":          func(f *Family) { f.WeightLow = math.Inf(-1) },
		"weight_high":         func(f *Family) { f.WeightLow, f.WeightHigh = 1, 0.5 },
		"symmetrisation":      func(f *Family) { f.Symmetrisation = "mean" },
		"smallest_eigenvalue": func(f *Family) { f.SmallestEigenvalue = math.NaN() },
		"scale_low":           func(f *Family) { f.ScaleHigh = 1 },
		"scale_high":          func(f *Family) { f.ScaleLow, f.ScaleHigh = 1, 0.5 },
	} {
		f := good
		change(&f)
		var wrong *FieldError
		if err := f.Validate(); !errors.As(err, &wrong) || wrong.Field != field {
			t.Errorf("%s: %v", field, err)
		}
		if _, err := f.Precision(seeded(1)); err == nil {
			t.Errorf("%s: a wrong family is drawn from", field)
		}
	}
}

func TestFamilyString(t *testing.T) {
	for want, f := range map[string]Family{
		"er p=0.1, d=100, weights U[-1, 1) sym, smallest eigenvalue 1":                            {Graph: "er", Dimension: 100},
		"empty, d=30, smallest eigenvalue 1, variables rescaled by exp U(-0.5, 0.5)":              {Graph: "empty", Dimension: 30, ScaleSpread: 0.5},
		"small-world neighbours=4 rewiring=0.1, d=9, weights U[-1, 1) sym, smallest eigenvalue 1": {Graph: "small-world", Dimension: 9},
		"small-world neighbours=2 rewiring=1, d=4, weights U[-1, 1) sym, smallest eigenvalue 1":   {Graph: "small-world", Dimension: 4, Rewiring: 1},
		"band bandwidth=2, d=9, weights 0.4, smallest eigenvalue 1":                               {Graph: "band", Dimension: 9, WeightLow: 0.4, WeightHigh: 0.4},
		"block groups=3 p=0.3, d=60, weights U[0.5, 1) avg, smallest eigenvalue 0.1, variables rescaled by U(0.7, 1.3)": {
			Graph: "block", Dimension: 60, WeightLow: 0.5, WeightHigh: 1, Symmetrisation: "avg", SmallestEigenvalue: 0.1, ScaleLow: 0.7, ScaleHigh: 1.3,
		},
	} {
		if got := f.String(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
		if strings.Contains(f.String(), "\n") {
			t.Error("more than one line")
		}
	}
}

// The error of S falls as 1/√m: Σij Var(Sij)·m = tr(Σ)² + ‖Σ‖²_F.
func TestCovariance(t *testing.T) {
	rng := seeded(9)
	f := Family{Graph: GraphErdosRenyi, Dimension: 20}
	theta, err := f.Precision(rng)
	if err != nil {
		t.Fatal(err)
	}
	sigma := inverse(t, theta)
	want := math.Pow(sigma.Trace(), 2) + sigma.Dot(sigma)
	for _, m := range []int{100, 1600, 25600} {
		const repeats = 40
		var got float64
		for range repeats {
			s, err := Covariance(context.Background(), rng, theta, m)
			if err != nil {
				t.Fatal(err)
			}
			for k, v := range s.Raw() {
				e := v - sigma.Raw()[k]
				got += e * e * float64(m) / repeats
			}
		}
		// Its relative deviation is about √(2·2/(20·40)) = 0.07 at most.
		if math.Abs(got/want-1) > 0.3 {
			t.Errorf("m = %d: m·‖S − Σ‖² is %v, want %v", m, got, want)
		}
	}
}

func TestCovarianceIsOfTheSamples(t *testing.T) {
	ctx := context.Background()
	_, theta := network(t, 1, 15)
	rows, err := Samples(ctx, seeded(2), theta, 30)
	if err != nil {
		t.Fatal(err)
	}
	s, err := Covariance(ctx, seeded(2), theta, 30)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 15 {
		for j := range 15 {
			var want float64
			for k := range 30 {
				want += rows[k*15+i] * rows[k*15+j] / 30
			}
			if math.Abs(s.At(i, j)-want) > 1e-14*(1+math.Abs(want)) {
				t.Errorf("entry (%d, %d) is %v, want %v", i, j, s.At(i, j), want)
			}
		}
	}
	if _, err := Covariance(ctx, seeded(2), theta, 0); err == nil {
		t.Error("no samples are accepted")
	}
}

func BenchmarkCovariance(b *testing.B) {
	for _, d := range []int{100, 1000} {
		theta := dense.Identity(d)
		b.Run(map[int]string{100: "d=100", 1000: "d=1000"}[d], func(b *testing.B) {
			for b.Loop() {
				if _, err := Covariance(context.Background(), seeded(1), theta, 100); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkFamily(b *testing.B) {
	f := Family{Graph: GraphErdosRenyi, Dimension: 100}
	for b.Loop() {
		if _, err := f.Precision(seeded(1)); err != nil {
			b.Fatal(err)
		}
	}
}
