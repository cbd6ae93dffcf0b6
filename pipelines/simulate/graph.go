package simulate

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/gladflow/gladflow/solver/dense"
)

// A Graph is which of d variables are joined.
type Graph struct {
	// Nodes is d.
	Nodes int
	// Edges are distinct pairs i < j, in ascending order.
	Edges [][2]int
}

// ScaleFree grows a graph of d variables by preferential attachment (Barabási and
// Albert, Science 286:509, 1999): after links+1 variables, all joined with each
// other, every further one is joined to links earlier ones, drawn without
// replacement in proportion to their degree plus one. A few hubs with many
// neighbours appear, as regulators do in gene networks; with links = 1 the graph is
// a tree, below 1 it has no edges.
func ScaleFree(rng *rand.Rand, d, links int) Graph {
	g := Graph{Nodes: max(d, 0)}
	// A variable stands in lottery once, and once more for each of its edges.
	var lottery []int
	for j := range g.Nodes {
		var chosen []int
		if j <= links {
			for i := range j {
				chosen = append(chosen, i)
			}
		}
		for len(chosen) < min(j, links) {
			if i := lottery[rng.IntN(len(lottery))]; !slices.Contains(chosen, i) {
				chosen = append(chosen, i)
			}
		}
		for _, i := range chosen {
			g.Edges = append(g.Edges, [2]int{i, j})
			lottery = append(lottery, i, j)
		}
		lottery = append(lottery, j)
	}
	g.sort()
	return g
}

// ErdosRenyi joins every pair of d variables with probability p, independently.
func ErdosRenyi(rng *rand.Rand, d int, p float64) Graph {
	g := Graph{Nodes: max(d, 0)}
	for i := range g.Nodes {
		for j := i + 1; j < g.Nodes; j++ {
			if rng.Float64() < p {
				g.Edges = append(g.Edges, [2]int{i, j})
			}
		}
	}
	return g
}

func (g *Graph) sort() {
	slices.SortFunc(g.Edges, func(a, b [2]int) int {
		return slices.Compare(a[:], b[:])
	})
}

// A WeightFunc draws the weight of one edge.
type WeightFunc func(rng *rand.Rand) float64

// Uniform draws from [low, high).
func Uniform(low, high float64) WeightFunc {
	return func(rng *rand.Rand) float64 { return low + (high-low)*rng.Float64() }
}

// SignedUniform draws a size from [low, high) and a sign, each as likely.
func SignedUniform(low, high float64) WeightFunc {
	size := Uniform(low, high)
	return func(rng *rand.Rand) float64 {
		v := size(rng)
		if rng.Uint64()&1 == 0 {
			return -v
		}
		return v
	}
}

// Weights returns the d×d symmetric matrix with a draw of weight at every edge,
// in the order of g.Edges, and zeros elsewhere, the diagonal included. It panics
// where an edge is not a pair of two of the graph's variables.
func (g Graph) Weights(rng *rand.Rand, weight WeightFunc) *dense.Sym {
	w := dense.NewSym(g.Nodes, nil)
	for _, e := range g.Edges {
		if e[0] == e[1] {
			panic(fmt.Sprintf("simulate: variable %d is joined with itself", e[0]))
		}
		w.Set(e[0], e[1], weight(rng))
	}
	return w
}
