package layout_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/gladflow/gladflow/pipelines/report/layout"
)

// Blocks that are strong within and weak between them come out as blocks, components by
// their size, and a chain in its order.
func TestOrder(t *testing.T) {
	// 0, 3, 6 and 1, 4, 7 are blocks with one weak link between them; 2 and 5 a pair; 8 is alone.
	edges := [][2]int{{0, 3}, {3, 6}, {0, 6}, {1, 4}, {4, 7}, {1, 7}, {6, 1}, {2, 5}}
	weights := []float64{.9, .8, .7, .9, .8, .7, .1, .9}
	got := layout.Order(9, edges, weights)
	block := []int{0, 0, 0, 1, 1, 1, 2, 2, 3}
	if got[0]%3 == 1 {
		block = []int{1, 1, 1, 0, 0, 0, 2, 2, 3}
	}
	of := map[int]int{0: 0, 3: 0, 6: 0, 1: 1, 4: 1, 7: 1, 2: 2, 5: 2, 8: 3}
	for k, i := range got {
		if of[i] != block[k] {
			t.Fatalf("the row is %v", got)
		}
	}
	// The one link between the blocks is one of neighbours.
	if at := slices.Index(got, 6); got[max(at-1, 0)] != 1 && got[at+1] != 1 {
		t.Errorf("6 and 1, which are linked, are apart in %v", got)
	}
	chain := [][2]int{{4, 2}, {2, 0}, {0, 1}, {1, 3}}
	if got, want := layout.Order(5, chain, []float64{1, 1, 1, 1}), []int{3, 1, 0, 2, 4}; !slices.Equal(got, want) {
		t.Errorf("a chain comes as %v, want %v", got, want)
	}
	if got := layout.Order(0, nil, nil); len(got) != 0 {
		t.Errorf("nothing comes as %v", got)
	}
}

// A row has every node once, does not hang on the order of the edges, and no turning of a
// cluster betters it: of few nodes, all rows that keep the two clusters of every joining
// together are looked at.
func TestOrderIsBest(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 7).Draw(t, "n")
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1)) // no two weights tie
		near := make([]float64, n*n)
		var edges [][2]int
		var weights []float64
		for i := range n {
			for j := range i {
				if rapid.Bool().Draw(t, "linked") {
					w := rng.Float64()
					edges, weights = append(edges, [2]int{i, j}), append(weights, w)
					near[i*n+j], near[j*n+i] = w, w
				}
			}
		}
		row := layout.Order(n, edges, weights)
		seen := slices.Clone(row)
		slices.Sort(seen)
		for i, k := range seen {
			if i != k || len(seen) != n {
				t.Fatalf("%d nodes come as %v", n, row)
			}
		}
		slices.Reverse(edges)
		slices.Reverse(weights)
		if again := layout.Order(n, edges, weights); !slices.Equal(row, again) {
			t.Fatalf("%v, and with edges in another order %v", row, again)
		}
		sum := func(row []int) (s float64) {
			for k := 1; k < len(row); k++ {
				s += near[row[k-1]*n+row[k]]
			}
			return s
		}
		if got, want := sum(row), bestRow(near, n, sum); math.Abs(got-want) > 1e-9 {
			t.Fatalf("the neighbours of %v have %v together, %v is possible", row, got, want)
		}
	})
}

// bestRow is the largest sum of any row that average linkage allows, by trying them all.
func bestRow(near []float64, n int, sum func([]int) float64) float64 {
	rows := make([][][]int, n) // of every cluster, all that it allows
	for i := range n {
		rows[i] = [][]int{{i}}
	}
	for {
		a, b, most := -1, -1, 0.0
		for i := range rows {
			for j := range i {
				var mean float64
				for _, p := range rows[i][0] {
					for _, q := range rows[j][0] {
						mean += near[p*n+q]
					}
				}
				if mean /= float64(len(rows[i][0]) * len(rows[j][0])); mean > most {
					a, b, most = j, i, mean
				}
			}
		}
		if a < 0 {
			break
		}
		var joined [][]int
		for _, p := range rows[a] {
			for _, q := range rows[b] {
				joined = append(joined, slices.Concat(p, q), slices.Concat(q, p))
			}
		}
		rows[a] = joined
		rows = slices.Delete(rows, b, b+1)
	}
	total := 0.0
	for _, of := range rows {
		best := 0.0
		for _, row := range of {
			best = max(best, sum(row))
		}
		total += best
	}
	return total
}

func BenchmarkOrder(b *testing.B) {
	const n = 150
	rng := rand.New(rand.NewPCG(1, 2))
	var edges [][2]int
	var weights []float64
	for i := range n {
		for j := range i {
			edges, weights = append(edges, [2]int{i, j}), append(weights, rng.Float64())
		}
	}
	for b.Loop() {
		layout.Order(n, edges, weights)
	}
}
