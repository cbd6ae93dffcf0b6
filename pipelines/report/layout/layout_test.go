package layout_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/gladflow/gladflow/pipelines/report/layout"
)

// A star lies about its hub, and a path along a line; all places are finite and no two
// are one.
func TestLayout(t *testing.T) {
	star := make([][2]int, 12)
	for i := range star {
		star[i] = [2]int{0, i + 1}
	}
	p, _ := layout.Of(13, star)
	for i := 1; i < 13; i++ {
		if r := math.Hypot(p[i].X-p[0].X, p[i].Y-p[0].Y); r < 0.8 || r > 2 {
			t.Errorf("leaf %d of a star is %v from its hub", i, r)
		}
	}
	path := [][2]int{{0, 1}, {1, 2}, {2, 3}, {3, 4}}
	p, _ = layout.Of(5, path)
	if w, h := math.Abs(p[4].X-p[0].X), math.Abs(p[4].Y-p[0].Y); w < 3.5 || h > 0.5 {
		t.Errorf("the ends of a path are %v and %v apart", w, h)
	}
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 40).Draw(t, "n")
		var edges [][2]int
		for range rapid.IntRange(0, 80).Draw(t, "edges") {
			edges = append(edges, [2]int{rapid.IntRange(0, n-1).Draw(t, "from"), rapid.IntRange(0, n-1).Draw(t, "to")})
		}
		p, component := layout.Of(n, edges)
		for _, e := range edges {
			if component[e[0]] != component[e[1]] {
				t.Fatalf("edge %v lies between components", e)
			}
		}
		for i, a := range p {
			if math.IsNaN(a.X + a.Y) {
				t.Fatalf("node %d is at %v", i, a)
			}
			for j, b := range p[:i] {
				if component[i] == component[j] && math.Hypot(a.X-b.X, a.Y-b.Y) < 1e-3 {
					t.Fatalf("nodes %d and %d are at one place", i, j)
				}
			}
		}
	})
}

// attached is a graph of n nodes in which each joins an earlier one, hubs above all, and
// some others besides.
func attached(n, others int) [][2]int {
	rng := rand.New(rand.NewPCG(3, uint64(n)))
	ends := []int{0}
	var edges [][2]int
	for i := 1; i < n; i++ {
		j := ends[rng.IntN(len(ends))]
		edges = append(edges, [2]int{i, j})
		ends = append(ends, i, j)
	}
	for range others {
		edges = append(edges, [2]int{rng.IntN(n), rng.IntN(n)})
	}
	return edges
}

// Of thousands of nodes, too, neighbours are near each other, no two nodes are at one place,
// and the places are the same again.
func TestLargeLayout(t *testing.T) {
	const n = 1200
	edges := attached(n, 600)
	p, component := layout.Of(n, edges)
	if again, _ := layout.Of(n, edges); !slices.Equal(p, again) {
		t.Error("the places are others the second time")
	}
	far := func(i, j int) float64 { return math.Hypot(p[i].X-p[j].X, p[i].Y-p[j].Y) }
	var joined, any float64
	rng := rand.New(rand.NewPCG(1, 1))
	for _, e := range edges {
		joined += far(e[0], e[1]) / float64(len(edges))
		any += far(rng.IntN(n), rng.IntN(n)) / float64(len(edges))
	}
	if component[0] != component[n-1] || !(joined < any/1.6) {
		t.Errorf("neighbours are %v apart, any two nodes %v", joined, any)
	}
	close := 0
	for i := range n {
		if math.IsNaN(p[i].X + p[i].Y) {
			t.Fatalf("node %d is at %v", i, p[i])
		}
		for j := range i {
			if far(i, j) < 0.2 {
				close++
			}
		}
	}
	if close > n/50 {
		t.Errorf("%d pairs of nodes overlap", close)
	}
}

// Components lie beside each other, none within another, in about the shape asked for.
func TestShelve(t *testing.T) {
	edges := [][2]int{{0, 1}, {1, 2}, {2, 3}, {4, 5}, {6, 7}, {7, 8}, {8, 6}}
	p, component := layout.Of(9, edges)
	width, height := layout.Shelve(p, component, 1.5)
	for i := range p {
		if p[i].X < 0 || p[i].Y < 0 || p[i].X > width || p[i].Y > height {
			t.Errorf("node %d at %v is out of %v by %v", i, p[i], width, height)
		}
		for j := range i {
			if component[i] != component[j] && math.Hypot(p[i].X-p[j].X, p[i].Y-p[j].Y) < 0.8 {
				t.Errorf("nodes %d and %d of two components are near each other", i, j)
			}
		}
	}
	if w, h := layout.Shelve(nil, nil, 1); w != 0 || h != 0 {
		t.Errorf("nothing is %v by %v", w, h)
	}
}

func BenchmarkLargeLayout(b *testing.B) {
	edges := attached(2000, 1000)
	for b.Loop() {
		layout.Of(2000, edges)
	}
}
