package genes

import (
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/gladflow/gladflow/pipelines/simulate"
)

// A network is who regulates whom.
type network struct {
	// parents are the regulators of every gene, ascending, without itself.
	parents [][]int
	// order holds every gene. Regulators come before their targets, but for
	// feedback edges.
	order []int
	// listed are the regulators, ascending.
	listed []int
	// cyclic says that feedback edges were added.
	cyclic bool
}

// A topology is a kind of random network.
type topology int

const (
	// hubs: a share of the genes are regulators, drawn by preferential attachment.
	hubs topology = iota
	// random: every pair in the order is joined with the same probability.
	random
	// attached: preferential attachment among all genes, oriented by age.
	attached
	// local: regulators are near their targets in the order, as in modules.
	local
)

// drawNetwork draws a network of d genes; feedback · d edges in any direction are
// added to the acyclic ones.
func drawNetwork(rng *rand.Rand, d int, kind topology, feedback float64) *network {
	var parents [][]int
	regulators := 0 // of hubs; 0: whoever has a target
	switch kind {
	case hubs:
		regulators = max(2, int(float64(d)*uniform(rng, .08, .45)))
		parents = drawHubs(rng, d, regulators)
	case random:
		p := min(.5, uniform(rng, .7, 2.5)*2/float64(d-1))
		parents = make([][]int, d)
		for _, e := range simulate.ErdosRenyi(rng, d, p).Edges {
			parents[e[1]] = append(parents[e[1]], e[0])
		}
	case attached:
		parents = drawAttached(rng, d, 1+rng.IntN(2))
	case local:
		parents = make([][]int, d)
		for j := 1; j < d; j++ {
			first := max(0, j-2-rng.IntN(10))
			k := 1
			if rng.Float64() < .35 {
				k = 2
			}
			for _, i := range rng.Perm(j - first)[:min(k, j-first)] {
				parents[j] = append(parents[j], first+i)
			}
		}
	}
	added := false
	if d > 10 {
		for range int(feedback * float64(d)) {
			if i, j := rng.IntN(d), rng.IntN(d); i != j {
				parents[j] = append(parents[j], i)
				added = true
			}
		}
	}
	return renumber(rng, parents, regulators, added)
}

// renumber gives the genes, which stand in topological order, random numbers. The
// first regulators of them are listed; zero lists those with a target.
func renumber(rng *rand.Rand, parents [][]int, regulators int, cyclic bool) *network {
	d := len(parents)
	net := &network{parents: make([][]int, d), order: rng.Perm(d), cyclic: cyclic}
	listed := make([]bool, d)
	for i := range regulators {
		listed[net.order[i]] = true
	}
	for j, list := range parents {
		for _, i := range list {
			listed[net.order[i]] = true
			net.parents[net.order[j]] = append(net.parents[net.order[j]], net.order[i])
		}
	}
	for j, list := range net.parents {
		slices.Sort(list)
		net.parents[j] = slices.Compact(list)
		if listed[j] {
			net.listed = append(net.listed, j)
		}
	}
	return net
}

// drawHubs draws the regulators of d genes in order, with settings as the training
// mixture has them.
func drawHubs(rng *rand.Rand, d, regulators int) [][]int {
	g := hubGrowth{genes: d, regulators: regulators, initial: uniform(rng, .3, 2)}
	g.inputs = max(1, int(float64(regulators)*uniform(rng, .2, .7)))
	g.links = uniform(rng, .9, 2.2)
	return growHubs(rng, g)
}

// A hubGrowth says how hubs grow.
type hubGrowth struct {
	genes int
	// regulators is the number of the genes that may have targets, the first ones.
	regulators int
	// inputs is the number of the genes without a regulator, the first ones.
	inputs int
	// links is the mean number of a gene's regulators, which is never below 1.
	links float64
	// initial is the weight of a regulator before its first target; each adds 1.
	initial float64
}

// growHubs draws the regulators of genes in order: one drawn is likelier to be
// drawn again, so that a few regulate many, and some end without a target.
func growHubs(rng *rand.Rand, g hubGrowth) [][]int {
	weight := slices.Repeat([]float64{g.initial}, g.regulators)
	parents := make([][]int, g.genes)
	for j := g.inputs; j < g.genes; j++ {
		k := 1
		if g.links > 1 {
			k += int(distuv.Poisson{Lambda: g.links - 1, Src: rng}.Rand())
		}
		parents[j] = weighted(rng, weight[:min(j, g.regulators)], k)
		for _, i := range parents[j] {
			weight[i]++
		}
	}
	return parents
}

// drawAttached joins every gene but the first to links earlier ones, drawn in
// proportion to their number of targets plus one.
func drawAttached(rng *rand.Rand, d, links int) [][]int {
	parents := make([][]int, d)
	weight := make([]float64, d)
	weight[0] = 1
	for j := 1; j < d; j++ {
		parents[j] = weighted(rng, weight[:j], links)
		for _, i := range parents[j] {
			weight[i]++
		}
		weight[j] = 1
	}
	return parents
}

// weighted draws min(k, len(weight)) different indices, one after the other, each
// in proportion to its weight.
func weighted(rng *rand.Rand, weight []float64, k int) []int {
	var chosen []int
	for len(chosen) < min(k, len(weight)) {
		total := 0.0
		for i, w := range weight {
			if !slices.Contains(chosen, i) {
				total += w
			}
		}
		u, last := rng.Float64()*total, -1
		for i, w := range weight {
			if slices.Contains(chosen, i) {
				continue
			}
			last = i // the rounding of u may leave it above the sum
			if u -= w; u < 0 {
				break
			}
		}
		chosen = append(chosen, last)
	}
	return chosen
}

func uniform(rng *rand.Rand, low, high float64) float64 {
	return low + (high-low)*rng.Float64()
}
