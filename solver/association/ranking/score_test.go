package ranking_test

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"
	"pgregory.net/rapid"

	"github.com/gladflow/gladflow/solver/association/ranking"
	"github.com/gladflow/gladflow/solver/dense"
)

func builtin(t testing.TB) *ranking.Model {
	t.Helper()
	m, err := ranking.Builtin(ranking.DefaultModelName)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// samples of d variables of which each follows the one before.
func samples(seed uint64, n, d int) []float64 {
	rng := rand.New(rand.NewPCG(seed, 1))
	rows := make([]float64, n*d)
	for i := range rows {
		rows[i] = rng.NormFloat64()
		if i%d > 0 {
			rows[i] += 0.8 * rows[i-1]
		}
	}
	return rows
}

func scores(t testing.TB, m *ranking.Model, rows []float64, d int) *dense.Sym {
	t.Helper()
	f, err := m.Features(context.Background(), dense.Gonum{}, rows, d, nil)
	if err != nil {
		t.Fatal(err)
	}
	s, err := m.Apply(context.Background(), f, 0)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// The score is the mean of the networks' outputs at standardised inputs, as the type
// Network says.
func TestScoreIsTheNetworks(t *testing.T) {
	const n, d = 60, 9
	m, rows := builtin(t), samples(2, 60, 9)
	f, err := m.Features(t.Context(), dense.Gonum{}, rows, d, nil)
	if err != nil {
		t.Fatal(err)
	}
	got, err := m.Apply(t.Context(), f, 1)
	if err != nil {
		t.Fatal(err)
	}
	for i := range d {
		for j := range i {
			x := append(f.Append(nil, i, j, m.Bound), f.Context...)
			for k := range x {
				x[k] = (x[k] - m.Mean[k]) / m.Deviation[k]
			}
			var want float64
			for _, net := range m.Networks {
				y := net.OutputBias
				for u, w := range net.Weights {
					y += net.Output[u] * max(0, net.Bias[u]+mat.Dot(mat.NewVecDense(len(w), w), mat.NewVecDense(len(x), x)))
				}
				want += y / float64(len(m.Networks))
			}
			if math.Abs(got.At(i, j)-want) > 1e-9 {
				t.Errorf("the score of %d and %d is %v, want %v", i, j, got.At(i, j), want)
			}
		}
		if got.At(i, i) != 0 {
			t.Errorf("a variable has the score %v with itself", got.At(i, i))
		}
	}
	if f.Samples != n || math.Abs(f.Context[0]-math.Log(n)) > 1e-15 || math.Abs(f.Context[1]-math.Log(d)) > 1e-15 {
		t.Errorf("%d samples, context %v", f.Samples, f.Context)
	}
}

// Inputs are clipped, symmetric, and standardised where they are said to be.
func TestFeatures(t *testing.T) {
	const d = 12
	f, err := ranking.Compute(t.Context(), dense.Gonum{}, samples(3, 80, d), d, nil, ranking.Inputs(), ranking.Contexts())
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []ranking.Input{ranking.Correlation, ranking.Power, ranking.Partial} {
		var sum, squares float64
		for i := range d {
			for j := range i {
				v := f.Of(name).At(i, j)
				sum += v
				squares += v * v
			}
		}
		const pairs = d * (d - 1) / 2
		if math.Abs(sum/pairs) > 1e-12 || math.Abs(squares/pairs-1) > 1e-12 {
			t.Errorf("%s: mean %v, mean square %v", name, sum/pairs, squares/pairs)
		}
	}
	for k, name := range ranking.Inputs() {
		for i := range d {
			for j := range d {
				x := f.Append(nil, i, j, 1)
				if v := f.Of(name).At(i, j); x[k] != max(-1, min(1, v)) || v != f.Of(name).At(j, i) {
					t.Errorf("%s of %d and %d: %v, clipped %v", name, i, j, v, x[k])
				}
			}
		}
	}
	if f.Of("nothing") != nil {
		t.Error("there is an input called nothing")
	}
	// Neighbours in the chain are what every input ranks highest of variable 5.
	for _, name := range ranking.Inputs() {
		m := f.Of(name)
		for j := range d {
			if j != 4 && j != 5 && j != 6 && m.At(5, j) >= max(m.At(5, 4), m.At(5, 6)) {
				t.Errorf("%s puts 5 and %d before 5 and its neighbours", name, j)
			}
		}
	}
}

// Scores go with their variables, and depend on the ranks of the samples only.
func TestScoreProperties(t *testing.T) {
	m := builtin(t)
	rapid.Check(t, func(t *rapid.T) {
		n, d := rapid.IntRange(5, 40).Draw(t, "samples"), rapid.IntRange(3, 9).Draw(t, "variables")
		seed := rapid.Uint64().Draw(t, "seed")
		rows := samples(seed, n, d)
		rng := rand.New(rand.NewPCG(seed, 2))
		order := rng.Perm(d)
		other := make([]float64, len(rows))
		for k := range n {
			for j, from := range order {
				other[k*d+j] = math.Exp(rows[k*d+from]) // increasing
			}
		}
		f, err := m.Features(context.Background(), dense.Gonum{}, rows, d, nil)
		if err != nil {
			t.Fatal(err)
		}
		g, err := m.Features(context.Background(), dense.Gonum{}, other, d, nil)
		if err != nil {
			t.Fatal(err)
		}
		a, err := m.Apply(context.Background(), f, 1)
		if err != nil {
			t.Fatal(err)
		}
		b, err := m.Apply(context.Background(), g, 2)
		if err != nil {
			t.Fatal(err)
		}
		for i := range d {
			for j := range d {
				// An eigenvalue 0 comes out as up to 1e-15, and 1e-15 to the 0.35 is 6e-6.
				if x, y := a.At(order[i], order[j]), b.At(i, j); math.Abs(x-y) > 1e-4*(1+math.Abs(x)) {
					t.Fatalf("%v becomes %v", x, y)
				}
			}
		}
	})
}

// Edges of a chain rank above the other pairs, and their probabilities are higher.
func TestScoreOfAChain(t *testing.T) {
	const n, d = 300, 40
	s := scores(t, builtin(t), samples(4, n, d), d)
	p := builtin(t).Probability
	wrong := 0
	for i := range d {
		for j := range i - 1 {
			if s.At(i, j) >= s.At(i, i-1) {
				wrong++
			}
		}
	}
	if wrong > d {
		t.Errorf("%d other pairs rank above an edge", wrong)
	}
	if edge, other := p.Of(s.At(20, 19), d, n), p.Of(s.At(30, 5), d, n); edge < 0.5 || other > 0.1 {
		t.Errorf("probabilities %v and %v", edge, other)
	}
}

func TestComputeRefuses(t *testing.T) {
	m := builtin(t)
	rows := samples(1, 10, 3)
	rows[4] = math.NaN()
	if _, err := m.Features(t.Context(), dense.Gonum{}, rows, 3, nil); err == nil {
		t.Error("NaN is accepted")
	}
	constant := make([]float64, 30)
	if _, err := m.Features(t.Context(), dense.Gonum{}, constant, 3, nil); err == nil {
		t.Error("constants are accepted")
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := m.Features(ctx, dense.Gonum{}, samples(1, 10, 3), 3, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	if _, err := ranking.Compute(t.Context(), dense.Gonum{}, samples(1, 10, 3), 3, nil, []ranking.Input{"x"}, nil); err == nil {
		t.Error("an unknown input is computed")
	}
	if _, err := ranking.Compute(t.Context(), dense.Gonum{}, samples(1, 10, 3), 3, nil, nil, []ranking.Context{"x"}); err == nil {
		t.Error("an unknown context is computed")
	}
}

// BenchmarkScore is the ranking of a table of 1000 variables and 500 samples, on
// one thread.
func BenchmarkScore(b *testing.B) {
	const n, d = 500, 1000
	m, rows := builtin(b), samples(5, n, d)
	engine := dense.WithThreads(dense.Default(), 1)
	for b.Loop() {
		f, err := m.Features(b.Context(), engine, rows, d, nil)
		if err != nil {
			b.Fatal(err)
		}
		if _, err := m.Apply(b.Context(), f, 1); err != nil {
			b.Fatal(err)
		}
	}
}
