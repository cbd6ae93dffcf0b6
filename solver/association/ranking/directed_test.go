package ranking_test

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/stat"
	"pgregory.net/rapid"

	"github.com/gladflow/gladflow/solver/association"
	"github.com/gladflow/gladflow/solver/association/ranking"
	"github.com/gladflow/gladflow/solver/dense"
)

func directed(t testing.TB) *ranking.Model {
	t.Helper()
	m, err := ranking.Builtin(ranking.RegulatorsModelName)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// The inputs of regulators are |B| of a ridge regression on normal scores, standardised
// over all pairs, those of the target and those of the regulator.
func TestDirectedInputs(t *testing.T) {
	const d = 9
	regulators := []int{1, 2, 4, 7}
	f, err := ranking.Compute(t.Context(), dense.Gonum{}, samples(6, 50, d), d, regulators, ranking.DirectedInputs(), ranking.DirectedContexts())
	if err != nil {
		t.Fatal(err)
	}
	if f.Candidates() != 4 || len(f.Context) != 1 || f.Context[0] != math.Log(4) || f.Of(ranking.Coefficient) != nil || f.OfRegulators("nothing") != nil {
		t.Errorf("%d candidates, context %v", f.Candidates(), f.Context)
	}
	b, definite, err := association.Scorer{}.Ridge(t.Context(), f.Correlation, regulators, 0.1)
	if err != nil || !definite {
		t.Fatal(definite, err)
	}
	over := map[ranking.Input]func(sameRegulator, sameTarget bool) bool{
		ranking.Coefficient:            func(_, _ bool) bool { return true },
		ranking.CoefficientOfTarget:    func(_, target bool) bool { return target },
		ranking.CoefficientOfRegulator: func(regulator, _ bool) bool { return regulator },
	}
	for n, name := range ranking.DirectedInputs() {
		got := f.OfRegulators(name)
		for k, i := range regulators {
			for j := range d {
				if i == j {
					continue
				}
				var with []float64
				for l, other := range regulators {
					for target := range d {
						if other != target && over[name](k == l, j == target) {
							with = append(with, math.Abs(b[l*d+target]))
						}
					}
				}
				mean, sd := stat.PopMeanStdDev(with, nil)
				want := (math.Abs(b[k*d+j]) - mean) / sd
				if math.Abs(got[k*d+j]-want) > 1e-9 {
					t.Errorf("%s of %d → %d is %v, want %v", name, i, j, got[k*d+j], want)
				}
				if x := f.Append(nil, i, j, 0.5); x[n] != max(-0.5, min(0.5, got[k*d+j])) {
					t.Errorf("%s of %d → %d is appended as %v", name, i, j, x[n])
				}
			}
		}
	}
}

// Scores go with their variables, whatever their order, and depend on ranks only: a change
// of units, or any increasing one, is not seen. A regulator has none with itself.
func TestDirectedScoreProperties(t *testing.T) {
	m := directed(t)
	rapid.Check(t, func(t *rapid.T) {
		// With few samples all ranks may agree, and then scores of equal pairs differ by rounding.
		n, d := rapid.IntRange(12, 40).Draw(t, "samples"), rapid.IntRange(2, 9).Draw(t, "variables")
		p := rapid.IntRange(1, d).Draw(t, "regulators")
		seed := rapid.Uint64().Draw(t, "seed")
		rows := samples(seed, n, d)
		rng := rand.New(rand.NewPCG(seed, 2))
		order := rng.Perm(d) // of variable j in the other table the place in this
		other := make([]float64, len(rows))
		for k := range n {
			for j, from := range order {
				other[k*d+j] = 1e3 * math.Exp(rows[k*d+from])
			}
		}
		listed := rng.Perm(d)[:p]
		slices.Sort(listed)
		var moved []int
		for j, from := range order {
			if slices.Contains(listed, from) {
				moved = append(moved, j)
			}
		}
		score := func(rows []float64, regulators []int, threads int) []float64 {
			f, err := m.Features(context.Background(), dense.Gonum{}, rows, d, regulators)
			if err != nil {
				t.Fatal(err)
			}
			s, err := m.ApplyDirected(context.Background(), f, threads)
			if err != nil {
				t.Fatal(err)
			}
			return s
		}
		a, b := score(rows, listed, 1), score(other, moved, 2)
		for k, j := range moved {
			from := slices.Index(listed, order[j])
			for target := range d {
				x, y := a[from*d+order[target]], b[k*d+target]
				if target == j && y != 0 {
					t.Fatalf("a regulator has the score %v with itself", y)
				}
				// See TestScoreProperties.
				if !(math.Abs(x-y) <= 1e-4*(1+math.Abs(x))) {
					t.Fatalf("%v becomes %v", x, y)
				}
			}
		}
	})
}

// Of a chain of which every fourth variable is listed, edges rank above other pairs and are
// likely; in noise, where no regulator has a target, pairs are not.
func TestDirectedScoreOfAChain(t *testing.T) {
	const n, d = 300, 40
	m := directed(t)
	rows := samples(4, n, d)
	var regulators []int
	for i := 0; i < d; i += 4 {
		regulators = append(regulators, i)
	}
	probabilities := func(rows []float64) func(i, j int) float64 {
		f, err := m.Features(t.Context(), dense.Gonum{}, rows, d, regulators)
		if err != nil {
			t.Fatal(err)
		}
		s, err := m.ApplyDirected(t.Context(), f, 0)
		if err != nil {
			t.Fatal(err)
		}
		return func(i, j int) float64 {
			return m.Probability.Of(s[slices.Index(regulators, i)*d+j], f.Candidates(), n)
		}
	}
	chain := probabilities(rows)
	rng := rand.New(rand.NewPCG(5, 5))
	for i := range rows {
		rows[i] = rng.NormFloat64()
	}
	noise := probabilities(rows)
	wrong := 0
	var edge, none float64 // the mean probabilities of an edge, and of a pair in noise
	for _, i := range regulators[1:] {
		for j := range d {
			if j != i && (j < i-1 || j > i+1) && chain(i, j) >= chain(i, i+1) {
				wrong++
			}
			if j != i {
				none += noise(i, j) / float64((d-1)*(len(regulators)-1))
			}
		}
		edge += chain(i, i+1) / float64(len(regulators)-1)
	}
	if wrong > 5 || !(edge > 0.5) || !(none < 0.2) {
		t.Errorf("%d other pairs rank above an edge; probabilities %v of an edge, %v in noise", wrong, edge, none)
	}
}

func TestDirectedRefused(t *testing.T) {
	m := directed(t)
	rows := samples(1, 10, 3)
	if _, err := m.Features(t.Context(), dense.Gonum{}, rows, 3, nil); err == nil || !strings.Contains(err.Error(), "none are known") {
		t.Errorf("%v", err)
	}
	if _, err := ranking.Compute(t.Context(), dense.Gonum{}, rows, 3, nil, ranking.DirectedInputs(), nil); err == nil || !strings.Contains(err.Error(), "none are known") {
		t.Errorf("%v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	f, err := m.Features(ctx, dense.Gonum{}, rows, 3, []int{0, 2})
	if err != nil {
		t.Fatal(err)
	}
	cancel()
	if _, err := m.Features(ctx, dense.Gonum{}, rows, 3, []int{0, 2}); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	if _, err := m.ApplyDirected(ctx, f, 1); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}

// What a directed model is, its inputs and contexts say.
func TestDirected(t *testing.T) {
	for _, name := range ranking.BuiltinNames() {
		m, err := ranking.Builtin(name)
		if err != nil {
			t.Fatal(err)
		}
		if m.Directed() != (name == ranking.RegulatorsModelName) {
			t.Errorf("%s is directed: %v", name, m.Directed())
		}
		m.Inputs = []ranking.Input{ranking.Correlation}
		m.Context = ranking.DirectedContexts()
		if !m.Directed() {
			t.Errorf("%v needs no regulators", m.Context)
		}
	}
}
