package arrowio

import (
	"cmp"
	"slices"
)

// A Ranked is a list of ranked pairs of variables, best first.
type Ranked struct {
	// Names are those of the variables.
	Names []string
	Pairs []RankedPair
	// Confidence is what is known of the pairs besides, in their order.
	Confidence Confidence
}

// A RankedPair is a row of a Ranked.
type RankedPair struct {
	// Source and Target are positions among the names.
	Source, Target int32
	// Score ranks the pair, highest first.
	Score float64
	// Sign is that of the influence: −1, 0 or 1.
	Sign int8
}

// Rank sorts pairs by descending score, ties by names, and keeps the first most of
// them. pairs are the list's from then on.
func Rank(names []string, pairs []RankedPair, most int) Ranked {
	slices.SortFunc(pairs, func(a, b RankedPair) int {
		if c := cmp.Compare(b.Score, a.Score); c != 0 {
			return c
		}
		return cmp.Or(cmp.Compare(names[a.Source], names[b.Source]), cmp.Compare(names[a.Target], names[b.Target]))
	})
	return Ranked{Names: names, Pairs: pairs[:min(most, len(pairs))]}
}

// Columns are source, target (utf8), score (float64) and sign (int8), and those of the
// Confidence.
func (r Ranked) Columns() []Column {
	n := len(r.Pairs)
	source, target := make([]string, n), make([]string, n)
	score, sign := make([]float64, n), make([]int8, n)
	for i, p := range r.Pairs {
		source[i], target[i] = r.Names[p.Source], r.Names[p.Target]
		score[i], sign[i] = p.Score, p.Sign
	}
	columns := []Column{{"source", source}, {"target", target}, {"score", score}, {columnSign, sign}}
	return append(columns, r.Confidence.Columns()...)
}
