package simulate

import (
	"fmt"
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

// SmallWorld joins each of d variables on a ring with its neighbours/2 next ones on
// either side, and then leads each edge, with probability rewiring, from its first
// variable to another one, drawn from those that it is not joined with (Watts and
// Strogatz, Nature 393:440, 1998): few steps between any two variables, and
// neighbours that are joined with each other. The number of edges is d·neighbours/2.
// It panics if neighbours is odd, negative, or positive and not below d.
func SmallWorld(rng *rand.Rand, d, neighbours int, rewiring float64) Graph {
	g := Graph{Nodes: max(d, 0)}
	if neighbours < 0 || neighbours%2 != 0 || neighbours > 0 && neighbours >= g.Nodes {
		panic(fmt.Sprintf("simulate: %d neighbours on a ring of %d", neighbours, d))
	}
	joined := make([]bool, g.Nodes*g.Nodes)
	degree := make([]int, g.Nodes)
	set := func(i, j int, is bool) {
		by := 1
		if !is {
			by = -1
		}
		joined[i*d+j], joined[j*d+i] = is, is
		degree[i] += by
		degree[j] += by
	}
	for step := 1; step <= neighbours/2; step++ {
		for i := range d {
			set(i, (i+step)%d, true)
		}
	}
	for step := 1; step <= neighbours/2; step++ {
		for i := range d {
			if rng.Float64() >= rewiring || degree[i] == d-1 {
				continue
			}
			to := rng.IntN(d)
			for to == i || joined[i*d+to] {
				to = rng.IntN(d)
			}
			set(i, (i+step)%d, false)
			set(i, to, true)
		}
	}
	for i := range g.Nodes {
		for j := i + 1; j < d; j++ {
			if joined[i*d+j] {
				g.Edges = append(g.Edges, [2]int{i, j})
			}
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
