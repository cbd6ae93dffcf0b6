package genes

// FromRegulators says of every regulator and gene whether there is an edge from one to the
// other: of regulator number k and gene j at k·d + j, d being the number of genes.
func (s *Set) FromRegulators() []bool {
	d := len(s.Names)
	number := make([]int, d)
	for k, i := range s.Regulators {
		number[i] = k
	}
	edges := make([]bool, len(s.Regulators)*d)
	for _, e := range s.Edges {
		edges[number[e.Source]*d+e.Target] = true
	}
	return edges
}
