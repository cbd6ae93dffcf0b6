package page

import (
	"cmp"
	"slices"
)

// A Link is an edge between variables, by their numbers.
type Link struct {
	I, J  int
	Score float64
	Sign  int
}

// Strongest keeps the strongest links of those that it is given, in any order: the
// highest scores and, of equal ones, the smallest I and then J. A page has
// MaxEdges of them. See NewStrongest.
type Strongest struct {
	variables int
	limit     int     // 0 for a network of all links
	keep      int     // the length of the heap at most
	heap      []Link  // the weakest first
	degrees   []int   // of all links
	parents   []int32 // of a forest of the connected components of all links
	total     int
	sure      []Sure
}

// A Sure is a number on how sure a link is.
type Sure struct {
	// Name is what it is, such as edge_probability.
	Name string
	// Of is that of a link.
	Of func(Link) float64
}

// NewStrongest returns one for so many variables, whose network is that of the limit
// strongest links or, if limit is 0, of all. What is known of how sure links are is shown
// of those that are drawn.
func NewStrongest(variables, limit int, sure ...Sure) *Strongest {
	s := &Strongest{variables: variables, limit: limit, keep: MaxEdges, sure: sure}
	if limit > 0 {
		s.keep = limit
		return s
	}
	s.degrees, s.parents = make([]int, variables), forest(variables)
	return s
}

// forest is one of single nodes.
func forest(nodes int) []int32 {
	parents := make([]int32, nodes)
	for i := range parents {
		parents[i] = int32(i)
	}
	return parents
}

// root is that of the tree of node i, whose path to it is halved.
func root(parents []int32, i int) int32 {
	k := int32(i)
	for parents[k] != k {
		parents[k] = parents[parents[k]]
		k = parents[k]
	}
	return k
}

// join makes one tree of those of two nodes.
func join(parents []int32, i, j int) {
	a, b := root(parents, i), root(parents, j)
	parents[max(a, b)] = min(a, b)
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

// Parts are the number of connected components of two variables and more in the network,
// the number of variables in the largest, and that of variables without a link.
func (s *Strongest) Parts() (components, largest, isolated int) {
	parents := s.parents
	if s.limit > 0 {
		parents = forest(s.variables)
		for _, l := range s.heap {
			join(parents, l.I, l.J)
		}
	}
	sizes := make([]int, s.variables)
	for i := range sizes {
		sizes[root(parents, i)]++
	}
	for _, n := range sizes {
		switch {
		case n == 1:
			isolated++
		case n > 1:
			components++
			largest = max(largest, n)
		}
	}
	return components, largest, isolated
}

// Sure is what is known of how sure links are.
func (s *Strongest) Sure() []Sure { return s.sure }

// Links are the strongest ones, the best first: all that the network has, or those that may
// be drawn.
func (s *Strongest) Links() []Link {
	links := slices.Clone(s.heap)
	slices.SortFunc(links, compareLinks)
	return links
}

func compareLinks(a, b Link) int {
	return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.I, b.I), cmp.Compare(a.J, b.J))
}

// Add takes a link. Its score is not NaN.
func (s *Strongest) Add(l Link) {
	s.total++
	if s.limit == 0 {
		s.degrees[l.I]++
		s.degrees[l.J]++
		join(s.parents, l.I, l.J)
	}
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
	links := s.Links()
	links = links[:min(len(links), MaxEdges)]
	degrees := s.Degrees()
	n := Network{Total: s.Total()}
	for _, c := range s.sure {
		column := SureColumn{c.Name, make([]float64, len(links))}
		for k, l := range links {
			column.Values[k] = c.Of(l)
		}
		n.Sure = append(n.Sure, column)
	}
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
