package selection

import (
	"context"
	"errors"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"

	"github.com/gladflow/gladflow/solver"
	"github.com/gladflow/gladflow/solver/covariance"
)

// related has samples of variables in groups that share a cause, of which some values tie.
func related(seed uint64, m, d int) []float64 {
	rng := rand.New(rand.NewPCG(seed, 5))
	rows := make([]float64, m*d)
	for i := range m {
		var cause float64
		for j := range d {
			if j%4 == 0 {
				cause = rng.NormFloat64()
			}
			rows[i*d+j] = cause + rng.NormFloat64()
		}
	}
	return rows
}

// By parts of S as many edges are found as with all of it.
func TestEdgesOfColumns(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const d = 24
		m := rapid.IntRange(10, 24).Draw(t, "samples")
		rows := related(rapid.Uint64().Draw(t, "seed"), m, d)
		set := covariance.Settings{Method: rapid.SampledFrom([]covariance.Method{covariance.Pearson, covariance.Spearman}).Draw(t, "method")}
		whole, err := covariance.Estimate(t.Context(), covariance.NewTable(rows, d), d, set)
		if err != nil {
			t.Fatal(err)
		}
		x, _, err := covariance.EstimateColumns(t.Context(), covariance.NewTable(rows, d), d, set, d)
		if err != nil {
			t.Fatal(err)
		}
		n := rapid.IntRange(1, 60).Draw(t, "edges")
		want, err := Edges(t.Context(), solver.Problem{S: whole.S}, n, Settings{})
		if err != nil {
			t.Fatal(err)
		}
		admitted := 0
		got, err := EdgesOfColumns(t.Context(), x, n, Settings{}, func(components [][]int) error {
			admitted += len(components[0])
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		// The number is not quite monotone: where one way hits it the other may come near.
		a, b := got.Path[got.Chosen], want.Path[want.Chosen]
		if a.Criterion > b.Criterion+1 || admitted == 0 {
			t.Fatalf("%d edges asked for: %v at %v, with all of S %v at %v", n, a.Edges, a.Penalty, b.Edges, b.Penalty)
		}
		for k, p := range got.Path {
			if p.Criterion < a.Criterion || k > 0 && p.Penalty > got.Path[k-1].Penalty || p.Status != solver.Converged {
				t.Fatalf("%+v is tried, and %+v chosen", p, a)
			}
		}
	})
}

func TestEdgesOfColumnsRefuse(t *testing.T) {
	const d = 12
	x, _, err := covariance.EstimateColumns(t.Context(), covariance.NewTable(related(1, 10, d), d), d, covariance.Settings{}, d)
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range []int{-1, 0, d*(d-1)/2 + 1} {
		if _, err := EdgesOfColumns(t.Context(), x, n, Settings{}, nil); err == nil {
			t.Errorf("%d edges can be had", n)
		}
	}
	none := errors.New("no room")
	if _, err := EdgesOfColumns(t.Context(), x, 5, Settings{}, func([][]int) error { return none }); !errors.Is(err, none) {
		t.Error(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	nothing := new(ErrNothing)
	if _, err := EdgesOfColumns(ctx, x, 5, Settings{}, nil); !errors.As(err, &nothing) || !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}
