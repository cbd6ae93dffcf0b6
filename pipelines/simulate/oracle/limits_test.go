package oracle

import (
	"context"
	"math"
	"slices"
	"testing"

	"github.com/gladflow/gladflow/pipelines/simulate"
	"github.com/gladflow/gladflow/solver/dense"
)

// An independent program found −14.45 ± .09 dB for this family at M = 100 (griddy
// Gibbs on 81 points, 100 networks).
func TestPosteriorMeanReachesTheLimit(t *testing.T) {
	const d, p, m, graphs, want, wantError = 39, 0.05, 100, 24, -14.45, 0.09
	f := simulate.Family{Graph: "er", Dimension: d, Density: p}
	squared, norm := make([]float64, graphs), make([]float64, graphs)
	each(graphs, func(k int) {
		theta, s := example(t, f, m, 20260001, uint64(k))
		mean, _, err := PosteriorMean(context.Background(), seeded(99, uint64(k)), s, m,
			slices.Repeat([]float64{theta.At(0, 0)}, d), p, Options{Sweeps: 100})
		if err != nil {
			t.Error(err)
			return
		}
		for i, v := range theta.Raw() {
			e := v - mean.Raw()[i]
			squared[k] += e * e
			norm[k] += v * v
		}
	})
	var a, b, logs, spread float64
	for k := range graphs {
		a += squared[k]
		b += norm[k]
		logs += 10 * math.Log10(squared[k]/norm[k]) / graphs
	}
	for k := range graphs {
		spread += math.Pow(10*math.Log10(squared[k]/norm[k])-logs, 2)
	}
	got, se := 10*math.Log10(a/b), math.Sqrt(spread/(graphs*(graphs-1)))
	t.Logf("NMSE %.2f ± %.2f dB", got, se)
	if math.Abs(got-want) > 3*math.Hypot(se, wantError) {
		t.Errorf("NMSE %.2f ± %.2f dB, want %v ± %v", got, se, want, wantError)
	}
}

// Sij is sufficient for θij given the others, so ranking by the odds is about as
// good as by the score test, which is computed another way: from the covariance
// that the matrix without the entry has. No estimate from S alone does better.
func TestCeiling(t *testing.T) {
	const d, p, m, graphs = 39, 0.05, 100, 40
	f := simulate.Family{Graph: "er", Dimension: d, Density: p}
	var ceiling, test, correlation float64
	for k := range uint64(graphs) {
		theta, s := example(t, f, m, 20260002, k)
		score, err := Ceiling(s, m, theta, p)
		if err != nil {
			t.Fatal(err)
		}
		tests, correlations := dense.NewSym(d, nil), dense.NewSym(d, nil)
		space, without, w := dense.NewWorkspace(dense.Gonum{}, d), theta.Clone(), dense.NewSym(d, nil)
		for i := range d {
			for j := range i {
				without.Set(i, j, 0)
				if _, ok := space.Inverse(w, without); !ok {
					t.Fatal("the matrix without one entry is not definite")
				}
				without.Set(i, j, theta.At(i, j))
				u := w.At(i, j)
				tests.Set(i, j, math.Abs(s.At(i, j)-u)/math.Sqrt(w.At(i, i)*w.At(j, j)+u*u))
				correlations.Set(i, j, math.Abs(s.At(i, j))/math.Sqrt(s.At(i, i)*s.At(j, j)))
			}
		}
		ceiling += area(theta, score) / graphs
		test += area(theta, tests) / graphs
		correlation += area(theta, correlations) / graphs
	}
	t.Logf("AUC: ceiling %.4f, score test %.4f, |correlation| %.4f", ceiling, test, correlation)
	if math.Abs(ceiling-test) > 0.004 {
		t.Errorf("the ceiling's AUC is %.4f, the score test's %.4f", ceiling, test)
	}
	if ceiling < correlation {
		t.Errorf("the ceiling's AUC is %.4f, that of |correlation| %.4f", ceiling, correlation)
	}
}

// area is the probability that an edge scores above a pair that is none.
func area(theta, score *dense.Sym) float64 {
	var edges, others []float64
	for i := range theta.Len() {
		for j := range i {
			if theta.At(i, j) != 0 {
				edges = append(edges, score.At(i, j))
			} else {
				others = append(others, score.At(i, j))
			}
		}
	}
	slices.Sort(others)
	var above float64
	for _, v := range edges {
		n, _ := slices.BinarySearch(others, v)
		above += float64(n)
	}
	return above / float64(len(edges)*len(others))
}
