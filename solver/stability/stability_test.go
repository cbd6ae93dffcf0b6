package stability

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"
)

func TestHalves(t *testing.T) {
	for _, m := range []int{8, 9, 31} {
		seen := make(map[string]bool)
		for b := range 20 {
			first, second := Halves(m, b, 7)
			if len(first) != m/2 || len(second) != m/2 || !slices.IsSorted(first) || !slices.IsSorted(second) {
				t.Fatalf("%v and %v of %d", first, second, m)
			}
			all := slices.Sorted(slices.Values(slices.Concat(first, second)))
			if len(slices.Compact(all)) != 2*(m/2) || all[0] < 0 || all[len(all)-1] >= m {
				t.Errorf("%v and %v of %d", first, second, m)
			}
			again, _ := Halves(m, b, 7)
			if !slices.Equal(first, again) {
				t.Error("other halves for the same seed")
			}
			if other, _ := Halves(m, b, 8); m > 20 && slices.Equal(first, other) {
				t.Error("the same halves for another seed")
			}
			if m > 20 && seen[fmt.Sprint(first)] {
				t.Error("two pairs of the same halves")
			}
			seen[fmt.Sprint(first)] = true
		}
	}
}

// parity selects the edges whose number divides the sum of the rows, the sign by the
// parity of the least row.
func parity(edges int) Select {
	return func(_ context.Context, _ int, rows []int, pick func(int, int8)) error {
		sum := 0
		for _, r := range rows {
			sum += r
		}
		for e := range edges {
			if sum%(e+1) == 0 {
				pick(e, int8(1-2*(rows[0]%2)))
			}
		}
		return nil
	}
}

// Counts are those of going through the halves one after the other, whatever the number of
// workers.
func TestCounts(t *testing.T) {
	const m, pairs, edges = 21, 40, 12
	times, up := make([]int, edges), make([]int, edges)
	selected := 0
	for b := range pairs {
		first, second := Halves(m, b, 3)
		for _, rows := range [2][]int{first, second} {
			parity(edges)(t.Context(), 0, rows, func(e int, sign int8) {
				times[e]++
				selected++
				if sign > 0 {
					up[e]++
				}
			})
		}
	}
	for _, workers := range []int{0, 1, 2, 4, 100} {
		last := 0
		c, err := Run(t.Context(), Settings{Samples: m, Pairs: pairs, Edges: edges, Seed: 3, Workers: workers, Done: func(n int) {
			if n != last+1 {
				t.Errorf("%d after %d", n, last)
			}
			last = n
		}}, parity(edges))
		if err != nil || last != pairs || c.Halves() != 2*pairs || c.Mean() != float64(selected)/(2*pairs) {
			t.Fatalf("%v: %d of %d, mean %v", err, last, pairs, c.Mean())
		}
		often := 0
		for e := range edges {
			n := float64(times[e])
			if c.Times(e) != times[e] || c.Probability(e) != n/(2*pairs) {
				t.Errorf("edge %d: %d times, want %d", e, c.Times(e), times[e])
			}
			if n > 0 && (c.Consistency(e, 1) != float64(up[e])/n || c.Consistency(e, -1) != (n-float64(up[e]))/n || c.Consistency(e, 0) < 0.5) {
				t.Errorf("edge %d: consistency %v, %v, %v", e, c.Consistency(e, 1), c.Consistency(e, -1), c.Consistency(e, 0))
			}
			if times[e] >= pairs {
				often++
			}
		}
		if c.AtLeast(pairs) != often {
			t.Errorf("%d are selected by half of the halves, want %d", c.AtLeast(pairs), often)
		}
	}
}

// What is done when the context ends is counted in whole pairs of halves, and a failure is
// returned.
func TestInterruptions(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	s := Settings{Samples: 20, Pairs: 1000, Edges: 3, Workers: 2, Done: func(n int) {
		if n == 5 {
			cancel()
		}
	}}
	c, err := Run(ctx, s, func(ctx context.Context, _ int, _ []int, pick func(int, int8)) error {
		pick(1, 1)
		select {
		case <-ctx.Done():
		case <-time.After(time.Millisecond):
		}
		return nil
	})
	if !errors.Is(err, context.Canceled) || c.Halves() != 10 || c.Times(1) != 10 || c.Probability(1) != 1 || c.Mean() != 1 {
		t.Errorf("%v: %d halves, %d times", err, c.Halves(), c.Times(1))
	}
	broken := errors.New("broken")
	if c, err := Run(t.Context(), s, func(context.Context, int, []int, func(int, int8)) error { return broken }); c != nil || !errors.Is(err, broken) {
		t.Errorf("%v, %v", c, err)
	}
	for _, bad := range []Settings{{Samples: 7, Pairs: 1, Edges: 1}, {Samples: 8, Edges: 1}, {Samples: 8, Pairs: MostPairs + 1, Edges: 1}, {Samples: 8, Pairs: 1}} {
		if _, err := Run(t.Context(), bad, parity(1)); err == nil {
			t.Errorf("%+v is accepted", bad)
		}
	}
	none := Counts{times: make([]uint16, 1), positive: make([]uint16, 1)}
	if none.Mean() != 0 || none.Probability(0) != 0 || none.Bounds().At(1) != (Bound{1, 1, 1}) {
		t.Error("nothing was counted")
	}
}
