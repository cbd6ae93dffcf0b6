package card

import "slices"

// Edges says where an edge head comes from, and how well its probabilities hold.
type Edges struct {
	// Command repeats the training of the head.
	Command string `json:"command,omitempty"`
	// Family says on what networks it was trained.
	Family string `json:"family,omitempty"`
	// Tables and Pairs count what it was trained on.
	Tables int `json:"tables,omitempty"`
	Pairs  int `json:"pairs,omitempty"`
	// Epochs is how often the pairs were seen, Seed that of tables and first weights.
	Epochs int    `json:"epochs,omitempty"`
	Seed   uint64 `json:"seed,omitempty"`
	// Loss is what was minimised, Validation its value on other tables of the same kind.
	Loss       string  `json:"loss,omitempty"`
	Validation float64 `json:"validation,omitempty"`
	// Checked says what Families were checked on: networks that are no part of the training.
	Checked  string        `json:"checked,omitempty"`
	Families []EdgeFigures `json:"families,omitempty"`
}

// EdgeFigures say how probabilities of edges do on networks of one kind.
type EdgeFigures struct {
	Family string `json:"family"`
	// Seen says whether the training had networks of this kind.
	Seen bool `json:"seen"`
	// Tables, Pairs and Edges count what was checked.
	Tables int `json:"tables"`
	Pairs  int `json:"pairs"`
	Edges  int `json:"edges"`
	// Brier is the mean of (probability − edge)² over pairs, Constant that of the share of
	// edges in its place.
	Brier    float64 `json:"brier"`
	Constant float64 `json:"constant"`
	// AUPR are average precisions, means over tables that have edges: of the probability, of
	// the absolute partial correlation, and of the absolute correlation.
	AUPR            float64 `json:"aupr,omitempty"`
	AUPRPartial     float64 `json:"aupr_partial,omitempty"`
	AUPRCorrelation float64 `json:"aupr_correlation,omitempty"`
	// Kept is the number of pairs kept at an expected share of false edges of .2, FalseShare
	// the share of them that are no edges.
	Kept       int     `json:"kept"`
	FalseShare float64 `json:"false_share"`
	// The pairs whose probabilities are in each tenth of [0, 1]: how many there are, the mean
	// of their probabilities, and the share of them that are edges.
	Counts []int     `json:"counts"`
	Said   []float64 `json:"said"`
	Held   []float64 `json:"held"`
}

// Clone returns a copy that shares nothing with e.
func (e *Edges) Clone() *Edges {
	if e == nil {
		return nil
	}
	c := *e
	c.Families = slices.Clone(e.Families)
	for i := range c.Families {
		f := &c.Families[i]
		f.Counts, f.Said, f.Held = slices.Clone(f.Counts), slices.Clone(f.Said), slices.Clone(f.Held)
	}
	return &c
}
