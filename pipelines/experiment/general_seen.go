package experiment

import (
	"slices"
	"strings"
	"unicode"

	"github.com/gladflow/gladflow/pipelines/simulate"
	"github.com/gladflow/gladflow/solver/glad"
)

// mixedGraphs are the kinds of graphs that simulate.Mixed draws: cards of models that were
// trained on it name none.
func mixedGraphs() []string {
	return []string{
		simulate.GraphErdosRenyi, simulate.GraphGrid, simulate.GraphScaleFree,
		simulate.GraphHub, simulate.GraphBlock, simulate.GraphBand,
	}
}

// seenGraph says whether the card of a model names a kind of graph as one that it was trained
// on.
func seenGraph(c glad.Card, graph string) bool {
	if strings.HasPrefix(c.Family, "mixed graphs") {
		return slices.Contains(mixedGraphs(), graph)
	}
	words := strings.FieldsFunc(c.Family, func(r rune) bool { return !unicode.IsLetter(r) && r != '-' })
	return slices.Contains(words, graph)
}

// seenSize says whether d, and M where the card says any, lie within those that a model was
// trained on.
func seenSize(c glad.Card, s Size) bool {
	mixture := len(c.Dimension) == 1 && strings.Contains(c.Family, "sizes up to")
	least := 0
	if len(c.Dimension) > 0 && !mixture {
		least = slices.Min(c.Dimension)
	}
	return len(c.Dimension) > 0 && s.Dimension >= least && s.Dimension <= slices.Max(c.Dimension) &&
		(len(c.Samples) == 0 || s.Samples >= slices.Min(c.Samples) && s.Samples <= slices.Max(c.Samples))
}
