package job

// A NetworkResult is a network in short. Of a ranking, and where regulators are known, it
// is that of the best pairs: as many as the reference has edges or, without one, as there
// are variables.
type NetworkResult struct {
	// Edges is the number of edges in it.
	Edges int `json:"edges"`
	// Strongest are the edges of the highest scores, ten at most, the best first.
	Strongest []EdgeResult `json:"strongest"`
	// Hubs are the variables with most edges, five at most, of those with two or more.
	Hubs []NamedCount `json:"hubs,omitempty"`
	// Components counts the connected components of two variables and more, Largest the
	// variables of the largest one, Isolated those without an edge.
	Components int `json:"components"`
	Largest    int `json:"largest"`
	Isolated   int `json:"isolated"`
}

// An EdgeResult is an edge.
type EdgeResult struct {
	Source string `json:"source"`
	Target string `json:"target"`
	Score  Float  `json:"score"`
	// Sign is −1, 0 or 1.
	Sign int `json:"sign"`
	// Confidence says how sure the edge is, by the names of the columns of its list, such as
	// edge_probability; nil where that is not known.
	Confidence map[string]Float `json:"confidence,omitempty"`
}

// Bounds of a NetworkResult.
const (
	MostStrongest = 10
	MostHubs      = 5
)
