package simulate

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func checkSorted(t *rapid.T, g Graph, d int) {
	if g.Nodes != d {
		t.Fatalf("%d variables, want %d", g.Nodes, d)
	}
	checkEdges(t, g)
}

func degrees(g Graph) []int {
	n := make([]int, g.Nodes)
	for _, e := range g.Edges {
		n[e[0]]++
		n[e[1]]++
	}
	return n
}

func TestGrid(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := rapid.IntRange(0, 150).Draw(t, "d")
		g := Grid(d)
		checkSorted(t, g, d)
		if d == 0 {
			return
		}
		if most := slices.Max(degrees(g)); most > 4 {
			t.Errorf("a variable has %d neighbours", most)
		}
		if !connected(g) {
			t.Error("the lattice is not connected")
		}
		// Neighbours are those at distance 1 of the places (row, column).
		columns := int(math.Ceil(math.Sqrt(float64(d))))
		var want int
		for i := range d {
			for j := range i {
				if di, dj := i/columns-j/columns, i%columns-j%columns; di*di+dj*dj == 1 {
					want++
					if !slices.Contains(g.Edges, [2]int{j, i}) {
						t.Errorf("%d and %d are not joined", j, i)
					}
				}
			}
		}
		if len(g.Edges) != want {
			t.Errorf("%d edges, want %d", len(g.Edges), want)
		}
	})
	// A full n×n lattice has 2n(n−1) edges.
	if n := len(Grid(36).Edges); n != 60 {
		t.Errorf("a 6×6 lattice has %d edges, want 60", n)
	}
}

func TestBand(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := rapid.IntRange(0, 60).Draw(t, "d")
		b := rapid.IntRange(0, 70).Draw(t, "bandwidth")
		g := Band(d, b)
		checkSorted(t, g, d)
		for i, n := range degrees(g) {
			if want := min(i, b) + min(d-1-i, b); n != want {
				t.Errorf("variable %d has %d neighbours, want %d", i, n, want)
			}
		}
		for _, e := range g.Edges {
			if e[1]-e[0] > b {
				t.Errorf("edge %v is wider than %d", e, b)
			}
		}
	})
}

func TestSmallWorld(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := rapid.IntRange(1, 60).Draw(t, "d")
		k := 2 * rapid.IntRange(0, (d-1)/2).Draw(t, "half of neighbours")
		p := rapid.Float64Range(0, 1).Draw(t, "rewiring")
		g := SmallWorld(seeded(rapid.Uint64().Draw(t, "seed")), d, k, p)
		checkSorted(t, g, d)
		// Rewiring keeps edges, and each variable those that start there.
		if len(g.Edges) != d*k/2 {
			t.Errorf("%d edges, want %d", len(g.Edges), d*k/2)
		}
		for i, n := range degrees(g) {
			if n < k/2 {
				t.Errorf("variable %d has %d neighbours, and %d edges start there", i, n, k/2)
			}
		}
		for _, e := range SmallWorld(seeded(1), d, k, 0).Edges {
			if apart := min(e[1]-e[0], d-e[1]+e[0]); apart > k/2 {
				t.Errorf("edge %v of the ring is %d long", e, apart)
			}
		}
	})
	const d, k, p = 1000, 6, 0.2
	long := 0.0
	for _, e := range SmallWorld(seeded(2), d, k, p).Edges {
		if min(e[1]-e[0], d-e[1]+e[0]) > k/2 {
			long++
		}
	}
	// Of those that a rewired edge may be led to, 6 in 1000 at most are near.
	n := float64(d * k / 2)
	if sd := math.Sqrt(n * p * (1 - p)); math.Abs(long-n*p) > 5*sd {
		t.Errorf("%v edges left the ring, want %v ± %v", long, n*p, sd)
	}
}

func TestHubs(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := rapid.IntRange(1, 100).Draw(t, "d")
		groups := rapid.IntRange(1, d).Draw(t, "groups")
		g := Hubs(d, groups)
		checkSorted(t, g, d)
		// A forest of stars: as many edges as variables that are not centres,
		// each of which has the one neighbour.
		if len(g.Edges) != d-groups {
			t.Fatalf("%d edges, want %d", len(g.Edges), d-groups)
		}
		sizes := make(map[int]int)
		for _, e := range g.Edges {
			sizes[e[0]]++
		}
		degree := degrees(g)
		for _, e := range g.Edges {
			if degree[e[1]] != 1 {
				t.Errorf("variable %d of a star has %d neighbours", e[1], degree[e[1]])
			}
		}
		for centre, n := range sizes {
			if n+1 < d/groups || n+1 > (d+groups-1)/groups {
				t.Errorf("the group of %d has %d variables out of %d in %d groups", centre, n+1, d, groups)
			}
		}
	})
}

func TestBlocks(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := rapid.IntRange(1, 60).Draw(t, "d")
		groups := rapid.IntRange(1, d).Draw(t, "groups")
		p := rapid.Float64Range(0, 1).Draw(t, "p")
		g := Blocks(seeded(rapid.Uint64().Draw(t, "seed")), d, groups, p)
		checkSorted(t, g, d)
		full := Blocks(seeded(0), d, groups, 1)
		for _, e := range g.Edges {
			if !slices.Contains(full.Edges, e) {
				t.Errorf("edge %v leaves its block", e)
			}
		}
		// All joined, the blocks are cliques: each variable has a whole group.
		for i, n := range degrees(full) {
			if n+1 < d/groups || n+1 > (d+groups-1)/groups {
				t.Errorf("variable %d is in a block of %d out of %d in %d", i, n+1, d, groups)
			}
		}
	})
	const d, groups, p = 400, 4, 0.3
	pairs := float64(groups * 100 * 99 / 2)
	n := float64(len(Blocks(seeded(3), d, groups, p).Edges))
	if sd := math.Sqrt(pairs * p * (1 - p)); math.Abs(n-pairs*p) > 5*sd {
		t.Errorf("%v edges, want %v ± %v", n, pairs*p, sd)
	}
}
