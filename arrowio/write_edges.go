package arrowio

import (
	"cmp"
	"slices"
)

// An Edge is a row of an edge list.
type Edge struct {
	// Source and Target are the names of the variables.
	Source, Target string
	// Score ranks the edge, highest first: |Θij|/√(ΘiiΘjj) unless the run's
	// metadata say otherwise.
	Score float64
	// Precision is Θij, in the units of S⁻¹.
	Precision float64
	// PartialCorrelation is −Θij/√(ΘiiΘjj). Its sign is the column sign.
	PartialCorrelation float64
}

// CompareEdges orders edges by descending score, and ties by names, so that
// a file does not depend on the order in which a solver found them.
func CompareEdges(a, b Edge) int {
	if c := cmp.Compare(b.Score, a.Score); c != 0 {
		return c
	}
	return cmp.Or(cmp.Compare(a.Source, b.Source), cmp.Compare(a.Target, b.Target))
}

// Columns of lists of edges that readers know again.
const (
	columnPrecision = "precision"
	columnPartial   = "partial_correlation"
	columnSign      = "sign"
)

// WriteEdges writes EdgeColumns in one of EdgeFormats. Metadata and the care taken
// are those of WriteTable.
func WriteEdges(path, format string, edges []Edge, metadata map[string]string) error {
	return EdgeFormats().write(path, format, EdgeColumns(edges), metadata)
}

// EdgeColumns are the columns source, target (utf8), score, precision,
// partial_correlation (float64) and sign (int8: −1, 0 or 1), highest score
// first and ties by name, whatever the order of edges, which stays as it is. Those of a
// Confidence, in the same order, may stand after them.
func EdgeColumns(edges []Edge) []Column {
	if !slices.IsSortedFunc(edges, CompareEdges) {
		edges = slices.Clone(edges)
		slices.SortFunc(edges, CompareEdges)
	}
	n := len(edges)
	source, target := make([]string, n), make([]string, n)
	score, precision, partial := make([]float64, n), make([]float64, n), make([]float64, n)
	sign := make([]int8, n)
	for i, e := range edges {
		source[i], target[i] = e.Source, e.Target
		score[i], precision[i], partial[i] = e.Score, e.Precision, e.PartialCorrelation
		switch {
		case e.PartialCorrelation > 0:
			sign[i] = 1
		case e.PartialCorrelation < 0:
			sign[i] = -1
		}
	}
	return []Column{
		{"source", source}, {"target", target}, {"score", score},
		{columnPrecision, precision}, {columnPartial, partial}, {columnSign, sign},
	}
}
