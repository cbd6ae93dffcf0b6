package arrowio

import "slices"

// A Confidence says how sure the edges of a list are: a number for every edge, in the
// order of the list. What is not known is nil, and no column of the list. Every number is
// finite.
type Confidence struct {
	// EdgeProbability is that of an edge by the model of a solver, from 0 to 1.
	EdgeProbability []float64
	// SelectionProbability is the share of half samples in which the pair is selected,
	// and SignConsistency the share of these in which its sign is that of the edge, 0
	// where it was never selected.
	SelectionProbability, SignConsistency []float64
	// PValue is that of no partial correlation, and QValue the smallest false discovery
	// rate at which the pair is kept.
	PValue, QValue []float64
	// Lower and Upper bound the confidence interval of the partial correlation, from −1
	// to 1.
	Lower, Upper []float64
}

// Columns of lists of edges that say how sure these are.
const (
	EdgeProbability      = "edge_probability"
	SelectionProbability = "selection_probability"
	SignConsistency      = "sign_consistency"
	PValue               = "p_value"
	QValue               = "q_value"
	Lower                = "lower"
	Upper                = "upper"
)

// ConfidenceColumns are the names of the columns of a Confidence, in the order of a file.
func ConfidenceColumns() []string {
	return []string{EdgeProbability, SelectionProbability, SignConsistency, PValue, QValue, Lower, Upper}
}

// Column is where the numbers of a column stand, nil for a name of another.
func (c *Confidence) Column(name string) *[]float64 {
	switch name {
	case EdgeProbability:
		return &c.EdgeProbability
	case SelectionProbability:
		return &c.SelectionProbability
	case SignConsistency:
		return &c.SignConsistency
	case PValue:
		return &c.PValue
	case QValue:
		return &c.QValue
	case Lower:
		return &c.Lower
	case Upper:
		return &c.Upper
	}
	return nil
}

// Columns are those that are known, to stand after the others of a list.
func (c Confidence) Columns() []Column {
	var columns []Column
	for _, name := range ConfidenceColumns() {
		if values := *c.Column(name); values != nil {
			columns = append(columns, Column{name, values})
		}
	}
	return columns
}

// isConfidentTable says whether the columns of a list are named as those of lists that
// this package writes, so that others with the names of ConfidenceColumns hold these.
func isConfidentTable(names []string) bool {
	for _, name := range []string{"source", "target", "score", "sign"} {
		if !slices.Contains(names, name) {
			return false
		}
	}
	return true
}
