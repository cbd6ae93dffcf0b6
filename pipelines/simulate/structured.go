package simulate

import (
	"math"
	"math/rand/v2"
)

// Grid joins d variables with their neighbours on a square lattice: ⌈√d⌉
// columns, filled row by row, so that the last row may be shorter. Variable i
// stands in row i/columns.
func Grid(d int) Graph {
	g := Graph{Nodes: max(d, 0)}
	columns := int(math.Ceil(math.Sqrt(float64(g.Nodes))))
	for i := range g.Nodes {
		if right := i + 1; right%columns != 0 && right < d {
			g.Edges = append(g.Edges, [2]int{i, right})
		}
		if below := i + columns; below < d {
			g.Edges = append(g.Edges, [2]int{i, below})
		}
	}
	return g
}

// Band joins variables i and j where |i − j| ≤ bandwidth.
func Band(d, bandwidth int) Graph {
	g := Graph{Nodes: max(d, 0)}
	for i := range g.Nodes {
		for j := i + 1; j < d && j-i <= bandwidth; j++ {
			g.Edges = append(g.Edges, [2]int{i, j})
		}
	}
	return g
}

// Hubs splits d variables into groups of consecutive ones, whose sizes differ by
// one at most, and joins the first of each group with the others of it.
func Hubs(d, groups int) Graph {
	g := Graph{Nodes: max(d, 0)}
	eachGroup(g.Nodes, groups, func(first, end int) {
		for j := first + 1; j < end; j++ {
			g.Edges = append(g.Edges, [2]int{first, j})
		}
	})
	return g
}

// Blocks splits d variables into groups as Hubs does and joins every pair of a
// group with probability p, independently; pairs of two groups are never joined.
func Blocks(rng *rand.Rand, d, groups int, p float64) Graph {
	g := Graph{Nodes: max(d, 0)}
	eachGroup(g.Nodes, groups, func(first, end int) {
		for _, e := range ErdosRenyi(rng, end-first, p).Edges {
			g.Edges = append(g.Edges, [2]int{first + e[0], first + e[1]})
		}
	})
	return g
}

// eachGroup calls f with the bounds of groups groups of d variables.
func eachGroup(d, groups int, f func(first, end int)) {
	for k := range groups {
		f(k*d/groups, (k+1)*d/groups)
	}
}
