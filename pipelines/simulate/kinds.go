package simulate

import (
	"fmt"
	"math/rand/v2"
	"slices"
)

// Graphs of a Family.
const (
	GraphErdosRenyi = "er"
	GraphGrid       = "grid"
	GraphScaleFree  = "scale-free"
	GraphHub        = "hub"
	GraphBlock      = "block"
	GraphBand       = "band"
	GraphSmallWorld = "small-world"
	GraphEmpty      = "empty"
)

// A Kind is a kind of graph, for people.
type Kind struct {
	// Name is what Family.Graph calls it.
	Name string
	// Description is half a sentence; it names options as flags.
	Description string
}

// A kind is a Kind with what a Family makes of it.
type kind struct {
	Kind
	// resolve sets the fields that the graph has to those of f, or their
	// defaults; nil if it has none.
	resolve func(f Family, r *Family)
	// text has these fields for Family.String; nil if there are none.
	text func(r Family) string
	// draw draws a graph of a family that is resolved.
	draw func(rng *rand.Rand, r Family) Graph
}

// kinds lists the kinds of graphs. Another is a line here and its function.
func kinds() []kind {
	density := func(byDefault float64) func(Family, *Family) {
		return func(f Family, r *Family) { r.Density = orDefault(f.Density, byDefault) }
	}
	groups := func(f Family, r *Family) { r.Groups = orDefault(f.Groups, max(1, f.Dimension/20)) }
	return []kind{
		{
			Kind:    Kind{GraphErdosRenyi, "every pair is joined with probability --density"},
			resolve: density(0.1),
			text:    func(r Family) string { return fmt.Sprintf("p=%v", r.Density) },
			draw:    func(rng *rand.Rand, r Family) Graph { return ErdosRenyi(rng, r.Dimension, r.Density) },
		},
		{
			Kind: Kind{GraphGrid, "neighbours on a square lattice"},
			draw: func(_ *rand.Rand, r Family) Graph { return Grid(r.Dimension) },
		},
		{
			Kind:    Kind{GraphScaleFree, "new variables join --links others, mostly those with many neighbours"},
			resolve: func(f Family, r *Family) { r.Links = orDefault(f.Links, 1) },
			text:    func(r Family) string { return fmt.Sprintf("links=%d", r.Links) },
			draw:    func(rng *rand.Rand, r Family) Graph { return ScaleFree(rng, r.Dimension, r.Links) },
		},
		{
			Kind:    Kind{GraphHub, "stars, --groups of them"},
			resolve: groups,
			text:    func(r Family) string { return fmt.Sprintf("groups=%d", r.Groups) },
			draw:    func(_ *rand.Rand, r Family) Graph { return Hubs(r.Dimension, r.Groups) },
		},
		{
			Kind:    Kind{GraphBlock, "pairs within one of --groups are joined with probability --density"},
			resolve: func(f Family, r *Family) { density(0.3)(f, r); groups(f, r) },
			text:    func(r Family) string { return fmt.Sprintf("groups=%d p=%v", r.Groups, r.Density) },
			draw:    func(rng *rand.Rand, r Family) Graph { return Blocks(rng, r.Dimension, r.Groups, r.Density) },
		},
		{
			Kind:    Kind{GraphBand, "variables up to --bandwidth apart are joined"},
			resolve: func(f Family, r *Family) { r.Bandwidth = orDefault(f.Bandwidth, 2) },
			text:    func(r Family) string { return fmt.Sprintf("bandwidth=%d", r.Bandwidth) },
			draw:    func(_ *rand.Rand, r Family) Graph { return Band(r.Dimension, r.Bandwidth) },
		},
		{
			Kind: Kind{GraphSmallWorld, "a ring of --neighbours each, and --rewiring of the edges led elsewhere"},
			resolve: func(f Family, r *Family) {
				most := max(0, f.Dimension-1) / 2 * 2
				r.Neighbours = orDefault(f.Neighbours, min(4, most))
				r.Rewiring = orDefault(f.Rewiring, 0.1)
			},
			text: func(r Family) string { return fmt.Sprintf("neighbours=%d rewiring=%v", r.Neighbours, r.Rewiring) },
			draw: func(rng *rand.Rand, r Family) Graph {
				return SmallWorld(rng, r.Dimension, r.Neighbours, r.Rewiring)
			},
		},
		{
			Kind: Kind{GraphEmpty, "no pair is joined: pure noise"},
			// Weights that are not drawn are no part of the distribution.
			resolve: func(_ Family, r *Family) { r.WeightLow, r.WeightHigh, r.Symmetrisation = 0, 0, "" },
			draw:    func(_ *rand.Rand, r Family) Graph { return Graph{Nodes: r.Dimension} },
		},
	}
}

func kindNamed(name string) (kind, bool) {
	all := kinds()
	at := slices.IndexFunc(all, func(k kind) bool { return k.Name == name })
	if at < 0 {
		return kind{}, false
	}
	return all[at], true
}

// Kinds describes the kinds of graphs there are.
func Kinds() []Kind {
	var list []Kind
	for _, k := range kinds() {
		list = append(list, k.Kind)
	}
	return list
}

// Graphs are the names that Family.Graph takes.
func Graphs() []string {
	var names []string
	for _, k := range kinds() {
		names = append(names, k.Name)
	}
	return names
}
