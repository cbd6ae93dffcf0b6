package covariance_test

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/gladflow/gladflow/solver/covariance"
	"github.com/gladflow/gladflow/solver/dense"
)

// dependent is the correlation of m samples of d variables, some of which are made of others.
func dependent(t testing.TB, rng *rand.Rand, m, d int, shrinkage float64, make func(x []float64)) *dense.Sym {
	t.Helper()
	rows := append([]float64(nil), dependentRows(rng, m, d, make)...)
	r, err := covariance.Estimate(context.Background(), covariance.NewTable(rows, d), d, covariance.Settings{Method: covariance.Pearson, Shrinkage: shrinkage})
	if err != nil {
		t.Fatal(err)
	}
	return r.S
}

func dependentRows(rng *rand.Rand, m, d int, of func(x []float64)) []float64 {
	rows := make([]float64, m*d)
	for i := range m {
		x := rows[i*d : (i+1)*d]
		for j := range x {
			x[j] = rng.NormFloat64() + .3*x[max(0, j-1)]
		}
		of(x)
	}
	return rows
}

// Totals, shares of a whole and rounded sums are found and named, with nothing beside them;
// tables without any have none.
func TestDependencies(t *testing.T) {
	const d = 12
	for name, c := range map[string]struct {
		samples   int
		shrinkage float64
		of        func(x []float64)
		want      [][]int
		count     int
	}{
		"none":        {100, 0, func([]float64) {}, nil, 0},
		"few samples": {14, 0, func([]float64) {}, nil, 0},
		"no more":     {12, 0, func(x []float64) { x[3] = x[1] + x[7] }, nil, 0},
		"total first": {40, 0, func(x []float64) { x[0] = x[4] + x[9] }, [][]int{{0, 4, 9}}, 1},
		"total last":  {40, 0, func(x []float64) { x[11] = 100*x[4] + x[9] - 50*x[2] + 7 }, [][]int{{2, 4, 9, 11}}, 1},
		"rounded":     {200, 0, func(x []float64) { x[5] = math.Round(100*(x[1]-x[2])) / 100 }, [][]int{{1, 2, 5}}, 1},
		"shrunk":      {200, .2, func(x []float64) { x[5] = x[1] - x[2] }, [][]int{{1, 2, 5}}, 1},
		"two":         {40, 0, func(x []float64) { x[5], x[10] = x[1]-x[2], x[3]+x[4]+x[8] }, [][]int{{1, 2, 5}, {3, 4, 8, 10}}, 2},
		"five of many": {60, 0, func(x []float64) {
			copy(x[6:], []float64{x[0] + x[1], x[2] + x[3], x[4] + x[5], x[0] - x[5], x[1] - x[4], x[2] - x[0]})
		}, [][]int{{0, 1, 6}, {2, 3, 7}}, 6},
		"compositional": {60, 0, func(x []float64) {
			sum := 0.0
			for j := range x {
				x[j] = math.Exp(x[j])
				sum += x[j]
			}
			for j := range x {
				x[j] /= sum
			}
		}, [][]int{{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}}, 1},
	} {
		s := dependent(t, rand.New(rand.NewPCG(5, 6)), c.samples, d, c.shrinkage, c.of)
		got, count, err := covariance.Dependencies(t.Context(), s, c.samples, c.shrinkage, nil, dense.Gonum{}, 2)
		if err != nil || count != c.count || len(got) != len(c.want) {
			t.Errorf("%s: %v of %d, %v", name, got, count, err)
			continue
		}
		for k, g := range got {
			if !slices.Equal(g.Variables, c.want[k]) || g.Left > 2e-4 {
				t.Errorf("%s: %+v, want %v", name, g, c.want[k])
			}
		}
	}
	s := dependent(t, rand.New(rand.NewPCG(5, 6)), 40, d, 0, func(x []float64) { x[5] = x[1] - x[2] })
	skip := make([]bool, d)
	skip[2] = true
	if got, count, err := covariance.Dependencies(t.Context(), s, 40, 0, skip, dense.Gonum{}, 5); count != 0 || err != nil {
		t.Errorf("without one of the group %v of %d, %v", got, count, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, err := covariance.Dependencies(ctx, s, 40, 0, nil, dense.Gonum{}, 5); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

// A sum of any variables, of any sizes, is found wherever it stands.
func TestSumIsFound(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		d := rapid.IntRange(4, 25).Draw(r, "d")
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(r, "seed"), 2))
		group := rng.Perm(d)[:rapid.IntRange(3, d-1).Draw(r, "group")]
		s := dependent(t, rng, 4*d+20, d, 0, func(x []float64) {
			x[group[0]] = 0
			for k, j := range group[1:] {
				x[group[0]] += float64(k%3+1) * x[j]
			}
		})
		got, count, err := covariance.Dependencies(t.Context(), s, 4*d+20, 0, nil, dense.Gonum{}, 5)
		slices.Sort(group)
		if err != nil || count != 1 || !slices.Equal(got[0].Variables, group) {
			r.Fatalf("found %+v of %d, want %v (%v)", got, count, group, err)
		}
	})
}
