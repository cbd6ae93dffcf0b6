package page

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"github.com/gladflow/gladflow/pipelines/report/layout"
)

// A Network is drawn: the variables as points, the strongest edges as lines between
// them, the larger a point the more edges it has.
type Network struct {
	// Name is what the reader chooses it by, such as a solver, if there are several.
	Name string
	// Directed says that edges lead from From to To.
	Directed bool
	// Score says what the scores of edges are, such as "partial correlation, absolute".
	Score string
	// Total is the number of edges in all, at least as many as are drawn.
	Total int
	// Shown is the number of edges that are drawn at first, up to which the reader may
	// choose; 0 leaves it to the page.
	Shown int
	// Nodes are the ends of the edges, and Edges the strongest ones, best first.
	Nodes []Node
	Edges []Edge
	// Sure are numbers on how sure every edge is.
	Sure []SureColumn
}

// A SureColumn is a number of every edge of a network.
type SureColumn struct {
	// Name is what it is, such as edge_probability.
	Name   string
	Values []float64
}

// A Node is a variable.
type Node struct {
	Name string
	// Degree is the number of its edges in the whole network.
	Degree int
	// Regulator says that it was listed as one.
	Regulator bool
}

// An Edge joins two nodes, by their positions in Network.Nodes.
type Edge struct {
	From, To int
	Score    float64
	// Sign is +1 or -1, 0 where it is not known.
	Sign int
	// Known says whether a known network has the edge.
	Known Known
}

// Known is what a known network says of an edge.
type Known int

// What a known network says.
const (
	Unknown Known = iota // nothing, or there is none
	Right                // it is an edge
	Wrong                // it is none
)

// MaxEdges is the number of edges of a network that the page has, to draw and to list. Of
// several networks of a section each has its share of it, or 300.
const MaxEdges = 20_000

// maxHeat is the number of variables of a heat map: more are finer than a screen.
const maxHeat = 150

// mostDrawn is the number of edges that the page has of each of so many networks.
func mostDrawn(networks int) int { return max(300, MaxEdges/networks) }

// maxLabel is the number of characters that are kept of a name.
const maxLabel = 120

// HeatSection is the section of the heat maps of the networks of the section before.
func HeatSection() Section {
	return Section{Title: "Heat map", Heat: true, Notes: []string{
		"Variables stand side by side that are strongly connected: each connected component is clustered by average linkage of the scores of its edges, and of the rows that its clusters allow the one is shown in which neighbours have the largest scores. " +
			"The largest component comes first.",
	}}
}

// MarkRegulators marks the nodes of these names.
func (n *Network) MarkRegulators(names []string) {
	listed := make(map[string]bool, len(names))
	for _, name := range names {
		listed[name] = true
	}
	for k := range n.Nodes {
		n.Nodes[k].Regulator = listed[n.Nodes[k].Name]
	}
}

// A networksView is what the script is given of the networks of a section.
type networksView struct {
	Chosen int `json:"chosen"`
	// Names are those of the nodes of all networks.
	Names    []string      `json:"names"`
	Networks []networkView `json:"networks"`
}

// A networkView is a network as the script is given it: with the places of its nodes.
type networkView struct {
	Name     string `json:"name"`
	Directed bool   `json:"directed,omitempty"`
	Score    string `json:"score"`
	Total    int    `json:"total"`
	Shown    int    `json:"shown,omitempty"`
	// Nodes are the names of the nodes, as positions in networksView.Names.
	Nodes   []int `json:"nodes"`
	Degrees []int `json:"degrees"`
	// Regulators are the positions of those nodes that are.
	Regulators []int `json:"regulators,omitempty"`
	// Layouts are places for drawings of few edges and of more, of all last.
	Layouts []layoutView `json:"layouts"`
	// Edges are two ends, sign and what is known of every edge; Scores are theirs.
	Edges  []int   `json:"edges"`
	Scores numbers `json:"scores"`
	// Sure are numbers on how sure every edge is.
	Sure []sureView `json:"sure,omitempty"`
	// Row are the nodes of the heat map in the order of its rows.
	Row []int `json:"row"`
}

// A layoutView is the places of nodes in a drawing of at most so many edges: a drawing of few
// is no picture in the places that many give.
type layoutView struct {
	Edges int `json:"edges"`
	// Places are x, y and the component of every node, in thousandths of an edge; each
	// component lies about the origin.
	Places []int `json:"places"`
}

// layouts are those of a network.
func (n Network) layouts() []layoutView {
	var list []layoutView
	for _, most := range []int{300, 2000, len(n.Edges)} {
		if most < len(n.Edges) || most == len(n.Edges) && (len(list) == 0 || list[len(list)-1].Edges < most) {
			list = append(list, n.first(most).layout())
		}
	}
	return list
}

// layout is that of all edges.
func (n Network) layout() layoutView {
	v := layoutView{Edges: len(n.Edges), Places: []int{}}
	ends := make([][2]int, len(n.Edges))
	for k, e := range n.Edges {
		ends[k] = [2]int{e.From, e.To}
	}
	places, components := layout.Of(len(n.Nodes), ends)
	for k, p := range places {
		v.Places = append(v.Places, thousandths(p.X), thousandths(p.Y), components[k])
	}
	return v
}

type sureView struct {
	Name   string  `json:"name"`
	Values numbers `json:"values"`
}

// first is the network of the first edges, which are the strongest, and of their ends.
func (n Network) first(most int) Network {
	if len(n.Edges) <= most {
		return n
	}
	n.Edges = n.Edges[:most]
	last := 0
	for _, e := range n.Edges {
		last = max(last, e.From, e.To)
	}
	n.Nodes = n.Nodes[:last+1] // in the order of the edges
	sure := n.Sure
	n.Sure = nil
	for _, c := range sure {
		n.Sure = append(n.Sure, SureColumn{c.Name, c.Values[:most]})
	}
	return n
}

// networksData is what is drawn of the networks of a section, of which one is chosen.
func networksData(chosen int, networks []Network) networksView {
	all := networksView{Chosen: chosen, Names: []string{}}
	known := make(map[string]int)
	for _, n := range networks {
		n = n.first(mostDrawn(len(networks)))
		v := networkView{
			Name: Short(n.Name, maxLabel), Directed: n.Directed, Score: Short(n.Score, maxLabel), Total: n.Total, Shown: n.Shown,
			Nodes: []int{}, Degrees: []int{}, Layouts: n.layouts(), Edges: []int{}, Scores: numbers{}, Row: n.row(),
		}
		for _, e := range n.Edges {
			v.Edges = append(v.Edges, e.From, e.To, e.Sign, int(e.Known))
			v.Scores = append(v.Scores, e.Score)
		}
		for _, c := range n.Sure {
			v.Sure = append(v.Sure, sureView{Short(strings.ReplaceAll(c.Name, "_", " "), maxLabel), c.Values})
		}
		for k, node := range n.Nodes {
			at, there := known[node.Name]
			if !there {
				at = len(all.Names)
				known[node.Name] = at
				all.Names = append(all.Names, Short(node.Name, maxLabel))
			}
			v.Nodes = append(v.Nodes, at)
			v.Degrees = append(v.Degrees, node.Degree)
			if node.Regulator {
				v.Regulators = append(v.Regulators, k)
			}
		}
		all.Networks = append(all.Networks, v)
	}
	return all
}

// row are the nodes of the heat map in its order: those whose edges have the largest sum of
// scores, by clusters.
func (n Network) row() []int {
	low, high := math.Inf(1), math.Inf(-1)
	for _, e := range n.Edges {
		low, high = min(low, e.Score), max(high, e.Score)
	}
	low = min(low, 0) // scores below zero are not strong
	weight := func(e Edge) float64 {
		if w := (e.Score - low) / (high - low); finite(w) {
			return max(w, 1e-9)
		}
		return 1 // all scores are zero
	}
	strength := make([]float64, len(n.Nodes))
	nodes := make([]int, len(n.Nodes))
	for k := range nodes {
		nodes[k] = k
	}
	for _, e := range n.Edges {
		strength[e.From] += weight(e)
		strength[e.To] += weight(e)
	}
	slices.SortStableFunc(nodes, func(a, b int) int { return cmp.Compare(strength[b], strength[a]) })
	nodes = nodes[:min(len(nodes), maxHeat)]
	at := make(map[int]int, len(nodes))
	for k, i := range nodes {
		at[i] = k
	}
	var ends [][2]int
	var weights []float64
	for _, e := range n.Edges {
		i, there := at[e.From]
		j, too := at[e.To]
		if there && too {
			ends, weights = append(ends, [2]int{i, j}), append(weights, weight(e))
		}
	}
	row := layout.Order(len(nodes), ends, weights)
	for k, i := range row {
		row[k] = nodes[i]
	}
	return row
}

func thousandths(v float64) int { return int(math.Round(1000 * v)) }
