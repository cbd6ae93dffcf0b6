package genes

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
)

// A Network is who regulates whom: one that is known, or a random one.
type Network struct {
	// Names are those of the genes.
	Names []string
	// Edges may be self-loops. One with the sign 0 is made an activation or a
	// repression when a Model is drawn. No pair stands there twice in one direction.
	Edges []Edge
}

// NewNetwork makes a network of edges between names, in order of their appearance
// and after those of genes. Edges of one direction and different signs become one
// with the sign 0, and so do those with a sign other than 1 and -1. The three lists
// are of one length.
func NewNetwork(genes, source, target []string, sign []int8) *Network {
	n := &Network{}
	at := make(map[string]int)
	index := func(name string) int {
		i, ok := at[name]
		if !ok {
			i = len(n.Names)
			at[name] = i
			n.Names = append(n.Names, name)
		}
		return i
	}
	for _, name := range genes {
		index(name)
	}
	known := make(map[[2]int]int)
	for k, name := range source {
		e := Edge{index(name), index(target[k]), sign[k]}
		if e.Sign != 1 && e.Sign != -1 {
			e.Sign = 0
		}
		pair := [2]int{e.Source, e.Target}
		if i, ok := known[pair]; ok {
			if n.Edges[i].Sign != e.Sign {
				n.Edges[i].Sign = 0
			}
			continue
		}
		known[pair] = len(n.Edges)
		n.Edges = append(n.Edges, e)
	}
	return n
}

// RandomNetwork draws a scale-free acyclic network of genes, at least 4, of which
// regulators may regulate others, at least 1: a gene has 1 + Poisson(links−1)
// regulators, and one with many targets is likelier to get more. A third of the
// regulators are inputs. Names are g1, g2, …, in random order.
func RandomNetwork(rng *rand.Rand, genes, regulators int, links float64) (*Network, error) {
	switch {
	case genes < FewestGenes:
		return nil, fmt.Errorf("%d genes are too few; give at least %d", genes, FewestGenes)
	case regulators < 1 || regulators >= genes:
		return nil, fmt.Errorf("%d regulators of %d genes make no network; give from 1 to %d", regulators, genes, genes-1)
	case !(links >= 1) || links > float64(regulators):
		return nil, fmt.Errorf("%v regulators of a gene are too few or more than there are; give from 1 to %d", links, regulators)
	}
	net := renumber(rng, growHubs(rng, hubGrowth{
		genes: genes, regulators: regulators, inputs: max(1, regulators/3), links: links, initial: 1,
	}), regulators, false)
	n := &Network{Names: geneNames(genes)}
	for j, parents := range net.parents {
		for _, i := range parents {
			n.Edges = append(n.Edges, Edge{Source: i, Target: j})
		}
	}
	return n, nil
}

// Ways to grow a sub-network.
const (
	// Neighbours adds one gene at a time that touches those chosen.
	Neighbours = "neighbours"
	// Clusters adds such a gene with all its neighbours.
	Clusters = "clusters"
)

// Subnetwork draws a connected part of genes from the network and keeps all edges
// between them, as SynTReN does (Van den Bulcke et al., BMC Bioinformatics 7:43,
// 2006): from a random gene on, by Neighbours or Clusters. The last cluster is cut
// where there would be too many genes. It starts in a part that is large enough; if
// there is none the error says how large the largest is.
func (n *Network) Subnetwork(rng *rand.Rand, genes int, how string) (*Network, error) {
	if how != Neighbours && how != Clusters {
		return nil, fmt.Errorf("%q is no way to grow a sub-network; choose %s or %s", how, Neighbours, Clusters)
	}
	neighbours := make([][]int, len(n.Names))
	for _, e := range n.Edges {
		if e.Source != e.Target {
			neighbours[e.Source] = append(neighbours[e.Source], e.Target)
			neighbours[e.Target] = append(neighbours[e.Target], e.Source)
		}
	}
	var seeds []int
	largest := 0
	for _, part := range parts(neighbours) {
		largest = max(largest, len(part))
		if len(part) >= genes {
			seeds = append(seeds, part...)
		}
	}
	if genes < 1 || len(seeds) == 0 {
		return nil, fmt.Errorf("%d genes cannot be drawn; the largest connected part of the network has %d", genes, largest)
	}
	chosen, border := make(map[int]bool), make(map[int]bool)
	add := func(i int) {
		if len(chosen) == genes || chosen[i] {
			return
		}
		chosen[i] = true
		delete(border, i)
		for _, j := range neighbours[i] {
			if !chosen[j] {
				border[j] = true
			}
		}
	}
	next := pick(rng, seeds...)
	for {
		add(next)
		if how == Clusters {
			around := slices.Clone(neighbours[next])
			rng.Shuffle(len(around), func(a, b int) { around[a], around[b] = around[b], around[a] })
			for _, j := range around {
				add(j)
			}
		}
		if len(chosen) == genes {
			break
		}
		next = pick(rng, slices.Sorted(maps.Keys(border))...)
	}
	return n.only(slices.Sorted(maps.Keys(chosen))), nil
}

// only is the network between the genes of an ascending list.
func (n *Network) only(list []int) *Network {
	part := &Network{}
	at := make(map[int]int)
	for k, i := range list {
		at[i] = k
		part.Names = append(part.Names, n.Names[i])
	}
	for _, e := range n.Edges {
		source, first := at[e.Source]
		target, second := at[e.Target]
		if first && second {
			part.Edges = append(part.Edges, Edge{source, target, e.Sign})
		}
	}
	return part
}

// parts are the connected parts of a graph.
func parts(neighbours [][]int) [][]int {
	var all [][]int
	seen := make([]bool, len(neighbours))
	for i := range neighbours {
		if seen[i] {
			continue
		}
		seen[i] = true
		part := []int{i}
		for k := 0; k < len(part); k++ {
			for _, j := range neighbours[part[k]] {
				if !seen[j] {
					seen[j] = true
					part = append(part, j)
				}
			}
		}
		all = append(all, part)
	}
	return all
}
