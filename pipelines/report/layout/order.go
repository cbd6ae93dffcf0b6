package layout

import (
	"cmp"
	"slices"
)

// Order puts the nodes of a graph in a row, so that those that belong together stand side by
// side, as the rows of a heat map do. weights are those of the edges, not negative; of two
// edges between the same nodes the larger one counts, and nodes without an edge have weight 0.
//
// Nodes are clustered by average linkage of 1 - weight (Sokal and Michener, 1958), every
// connected component by itself, and of all the rows that the tree of clusters allows the one is
// taken whose neighbours have the largest sum of weights (Bar-Joseph, Gifford and Jaakkola, Fast
// optimal leaf ordering for hierarchical clustering, 2001). The largest component comes first,
// and nodes without an edge last. It takes time of order nodes³: it is for some hundred nodes.
// The same graph gets the same row.
func Order(nodes int, edges [][2]int, weights []float64) []int {
	near := make([]float64, nodes*nodes)
	for k, e := range edges {
		if i, j := e[0], e[1]; i != j {
			w := max(near[i*nodes+j], weights[k])
			near[i*nodes+j], near[j*nodes+i] = w, w
		}
	}
	trees := linked(nodes, slices.Clone(near))
	slices.SortStableFunc(trees, func(a, b *cluster) int {
		return cmp.Or(cmp.Compare(len(b.leaves), len(a.leaves)), cmp.Compare(a.first, b.first))
	})
	leaf := &leaves{nodes: nodes, near: near, best: make([]float64, nodes*nodes)}
	row := make([]int, 0, nodes)
	for _, t := range trees {
		row = append(row, leaf.order(t)...)
	}
	return row
}

// A cluster is a tree whose leaves are nodes.
type cluster struct {
	left, right *cluster // nil of a node
	leaves      []int
	first       int // the smallest of them
}

// linked joins the two clusters of the largest mean weight until none is positive. near is
// changed.
func linked(nodes int, near []float64) []*cluster {
	list := make([]*cluster, nodes)
	for i := range list {
		list[i] = &cluster{leaves: []int{i}, first: i}
	}
	for {
		a, b, most := -1, -1, 0.0
		for i, c := range list {
			if c == nil {
				continue
			}
			row := near[i*nodes : (i+1)*nodes]
			for j := i + 1; j < nodes; j++ {
				if list[j] != nil && row[j] > most {
					a, b, most = i, j, row[j]
				}
			}
		}
		if a < 0 {
			return slices.DeleteFunc(list, func(c *cluster) bool { return c == nil })
		}
		p, q := float64(len(list[a].leaves)), float64(len(list[b].leaves))
		for j := range list {
			mean := (p*near[a*nodes+j] + q*near[b*nodes+j]) / (p + q)
			near[a*nodes+j], near[j*nodes+a] = mean, mean
		}
		list[a] = &cluster{left: list[a], right: list[b], leaves: slices.Concat(list[a].leaves, list[b].leaves), first: list[a].first}
		list[b] = nil
	}
}

// leaves orders the leaves of trees.
type leaves struct {
	nodes int
	near  []float64
	// best is, for two leaves, the largest sum of weights of neighbours in a row that begins
	// with one and ends with the other, of the smallest cluster that has both.
	best []float64
}

// order is the best row of a cluster, with the smaller end first.
func (l *leaves) order(c *cluster) []int {
	if c.left == nil {
		return c.leaves
	}
	l.sum(c)
	from, to, most := -1, -1, -1.0
	for _, i := range c.left.leaves {
		for _, j := range c.right.leaves {
			if v := l.best[i*l.nodes+j]; v > most {
				from, to, most = i, j, v
			}
		}
	}
	row := l.trace(c, from, to, make([]int, 0, len(c.leaves)))
	if row[0] > row[len(row)-1] {
		slices.Reverse(row)
	}
	return row
}

// sum fills best for the leaves of a cluster.
func (l *leaves) sum(c *cluster) {
	if c.left == nil {
		return
	}
	l.sum(c.left)
	l.sum(c.right)
	reach := make([]float64, l.nodes) // the row up to the first of the right cluster
	for _, i := range c.left.leaves {
		for _, k := range c.right.leaves {
			reach[k] = -1
			for _, m := range c.left.across(i) {
				reach[k] = max(reach[k], l.best[i*l.nodes+m]+l.near[m*l.nodes+k])
			}
		}
		for _, j := range c.right.leaves {
			most := -1.0
			for _, k := range c.right.across(j) {
				most = max(most, reach[k]+l.best[k*l.nodes+j])
			}
			l.best[i*l.nodes+j], l.best[j*l.nodes+i] = most, most
		}
	}
}

// across are the leaves at which a row of the cluster may begin that ends with leaf i.
func (c *cluster) across(i int) []int {
	switch {
	case c.left == nil:
		return c.leaves
	case slices.Contains(c.left.leaves, i):
		return c.right.leaves
	}
	return c.left.leaves
}

// trace appends the best row of a cluster that begins with leaf i and ends with leaf j.
func (l *leaves) trace(c *cluster, i, j int, row []int) []int {
	if c.left == nil {
		return append(row, i)
	}
	first, second := c.left, c.right
	if !slices.Contains(first.leaves, i) {
		first, second = second, first
	}
	m, k, most := -1, -1, -1.0
	for _, a := range first.across(i) {
		for _, b := range second.across(j) {
			if v := l.best[i*l.nodes+a] + l.near[a*l.nodes+b] + l.best[b*l.nodes+j]; v > most {
				m, k, most = a, b, v
			}
		}
	}
	return l.trace(second, k, j, l.trace(first, i, m, row))
}
