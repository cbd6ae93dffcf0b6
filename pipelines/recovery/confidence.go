package recovery

import (
	"cmp"
	"slices"

	"github.com/gladflow/gladflow/arrowio"
)

// A pairColumn is a number of every pair of variables that says how sure an edge is: one
// of the columns of arrowio.Confidence.
type pairColumn struct {
	name string
	// of is that of the variables i and j, the score of whose edge is given.
	of func(i, j int, score float64) float64
}

// confidence is what the solution knows of n edges, the k-th of which is between two
// variables and has a score.
func (s *solution) confidence(n int, edge func(k int) (i, j int, score float64)) arrowio.Confidence {
	var c arrowio.Confidence
	for _, column := range s.sure {
		values := make([]float64, n)
		for k := range values {
			values[k] = column.of(edge(k))
		}
		*c.Column(column.name) = values
	}
	return c
}

// sure are the columns that are known of what a solver has found, in the order of a list.
func (f *finding) sure() []pairColumn {
	columns := slices.Clone(f.more)
	if p := f.probability; p != nil {
		columns = append(columns, pairColumn{arrowio.EdgeProbability, func(i, j int, _ float64) float64 { return p.At(i, j) }})
	}
	if k := f.ranking; k != nil && k.probability != nil {
		columns = append(columns, pairColumn{arrowio.EdgeProbability, func(_, _ int, score float64) float64 { return k.probability(score) }})
	}
	order := arrowio.ConfidenceColumns()
	slices.SortStableFunc(columns, func(a, b pairColumn) int {
		return cmp.Compare(slices.Index(order, a.name), slices.Index(order, b.name))
	})
	return columns
}
