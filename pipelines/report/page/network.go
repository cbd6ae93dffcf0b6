package page

import (
	"cmp"
	"slices"
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

// MaxEdges is the number of edges of a network that are drawn: more are no picture.
const MaxEdges = 300

// maxLabel is the number of characters that are kept of a name.
const maxLabel = 120

// A Link is an edge between variables, by their numbers.
type Link struct {
	I, J  int
	Score float64
	Sign  int
}

// Strongest keeps the strongest links of those that it is given, in any order: the
// highest scores and, of equal ones, the smallest I and then J. MaxEdges of them are
// drawn. See NewStrongest.
type Strongest struct {
	variables int
	limit     int    // 0 for a network of all links
	keep      int    // the length of the heap at most
	heap      []Link // the weakest first
	degrees   []int  // of all links
	total     int
}

// NewStrongest returns one for so many variables, whose network is that of the limit
// strongest links or, if limit is 0, of all.
func NewStrongest(variables, limit int) *Strongest {
	s := &Strongest{variables: variables, limit: limit, keep: MaxEdges, degrees: make([]int, variables)}
	if limit > 0 {
		s.keep = limit
	}
	return s
}

// Total is the number of links in the network.
func (s *Strongest) Total() int {
	if s.limit > 0 {
		return len(s.heap)
	}
	return s.total
}

// Degrees are those of the variables in the network.
func (s *Strongest) Degrees() []int {
	if s.limit == 0 {
		return s.degrees
	}
	degrees := make([]int, s.variables)
	for _, l := range s.heap {
		degrees[l.I]++
		degrees[l.J]++
	}
	return degrees
}

func compareLinks(a, b Link) int {
	return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.I, b.I), cmp.Compare(a.J, b.J))
}

// Add takes a link. Its score is not NaN.
func (s *Strongest) Add(l Link) {
	s.total++
	s.degrees[l.I]++
	s.degrees[l.J]++
	n := len(s.heap)
	switch {
	case n < s.keep:
		s.heap = append(s.heap, l)
		for k := n; k > 0 && compareLinks(s.heap[k], s.heap[(k-1)/2]) > 0; k = (k - 1) / 2 {
			s.heap[k], s.heap[(k-1)/2] = s.heap[(k-1)/2], s.heap[k]
		}
	case compareLinks(l, s.heap[0]) < 0:
		s.heap[0] = l
		s.sink()
	}
}

// sink puts the first of the heap where it belongs.
func (s *Strongest) sink() {
	for k := 0; ; {
		weakest := k
		for _, child := range [2]int{2*k + 1, 2*k + 2} {
			if child < len(s.heap) && compareLinks(s.heap[child], s.heap[weakest]) > 0 {
				weakest = child
			}
		}
		if weakest == k {
			return
		}
		s.heap[k], s.heap[weakest] = s.heap[weakest], s.heap[k]
		k = weakest
	}
}

// Network is the network of the links, of variables of these names. known, if it is
// not nil, says of every link that is drawn what a known network says.
func (s *Strongest) Network(names []string, known func(i, j int) Known) Network {
	links := slices.Clone(s.heap)
	slices.SortFunc(links, compareLinks)
	links = links[:min(len(links), MaxEdges)]
	degrees := s.Degrees()
	n := Network{Total: s.Total()}
	at := make(map[int]int)
	node := func(variable int) int {
		k, ok := at[variable]
		if !ok {
			k = len(n.Nodes)
			at[variable] = k
			n.Nodes = append(n.Nodes, Node{Name: names[variable], Degree: degrees[variable]})
		}
		return k
	}
	for _, l := range links {
		e := Edge{From: node(l.I), To: node(l.J), Score: l.Score, Sign: l.Sign}
		if known != nil {
			e.Known = known(l.I, l.J)
		}
		n.Edges = append(n.Edges, e)
	}
	return n
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
	Chosen   int           `json:"chosen"`
	Networks []networkView `json:"networks"`
}

// A networkView is a network as the script is given it: with the places of its nodes.
type networkView struct {
	Name     string   `json:"name"`
	Directed bool     `json:"directed,omitempty"`
	Score    string   `json:"score"`
	Total    int      `json:"total"`
	Shown    int      `json:"shown,omitempty"`
	Names    []string `json:"names"`
	Degrees  []int    `json:"degrees"`
	// Regulators are the positions of those nodes that are.
	Regulators []int `json:"regulators,omitempty"`
	// Places are x, y and the component of every node, in thousandths of an edge; each
	// component lies about the origin.
	Places []int `json:"places"`
	// Edges are two ends, sign and what is known of every edge; Scores are theirs.
	Edges  []int   `json:"edges"`
	Scores numbers `json:"scores"`
}

func networksData(networks []Network) []networkView {
	views := make([]networkView, len(networks))
	for i, n := range networks {
		if len(n.Edges) > MaxEdges {
			n.Edges = n.Edges[:MaxEdges]
		}
		v := networkView{
			Name: Short(n.Name, maxLabel), Directed: n.Directed, Score: Short(n.Score, maxLabel), Total: n.Total, Shown: n.Shown,
			Names: []string{}, Degrees: []int{}, Places: []int{}, Edges: []int{}, Scores: numbers{},
		}
		ends := make([][2]int, len(n.Edges))
		for k, e := range n.Edges {
			ends[k] = [2]int{e.From, e.To}
			v.Edges = append(v.Edges, e.From, e.To, e.Sign, int(e.Known))
			v.Scores = append(v.Scores, e.Score)
		}
		places, components := layout(len(n.Nodes), ends)
		for k, node := range n.Nodes {
			v.Names = append(v.Names, Short(node.Name, maxLabel))
			v.Degrees = append(v.Degrees, node.Degree)
			v.Places = append(v.Places, thousandths(places[k].x), thousandths(places[k].y), components[k])
			if node.Regulator {
				v.Regulators = append(v.Regulators, k)
			}
		}
		views[i] = v
	}
	return views
}
