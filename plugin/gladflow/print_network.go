package main

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode"

	"github.com/gladflow/gladflow/arrowio"
	"github.com/gladflow/gladflow/pipelines/job"
	"github.com/gladflow/gladflow/pipelines/progress"
)

// fewestNetworkLines are those of a network that are printed whatever else there is: the
// network in a line, a head, and three edges.
const fewestNetworkLines = 5

// networkLines are the network of the first solver that has found one, in so many lines, or
// in fewestNetworkLines where that is less.
func networkLines(r *job.Result, most int) []string {
	k := slices.IndexFunc(r.Solvers, func(s job.SolverResult) bool { return s.Network != nil && s.Network.Edges > 0 })
	if k < 0 {
		return nil
	}
	s, n := r.Solvers[k], r.Solvers[k].Network
	of := progress.Count(n.Edges, "edge")
	if s.Ranking || r.Regulators != nil {
		of = fmt.Sprintf("of the first %s", progress.Count(n.Edges, "pair"))
	}
	parts := fmt.Sprintf("1 component of %d variables", n.Largest)
	if n.Components > 1 {
		parts = fmt.Sprintf("%d components, the largest of %d variables", n.Components, n.Largest)
	}
	facts := []string{of, parts}
	if n.Isolated > 0 {
		facts = append(facts, progress.Count(n.Isolated, "variable")+" without an edge")
	}
	var hubs []string
	for _, h := range n.Hubs {
		hubs = append(hubs, fmt.Sprintf("%s (%d)", printable(h.Name), h.Count))
	}
	if hubs != nil {
		facts = append(facts, "hubs "+strings.Join(hubs, ", "))
	}
	lines := []string{s.Name + ": " + strings.Join(facts, "; ")}
	count := min(len(n.Strongest), max(most, fewestNetworkLines)-2)
	lines = append(lines, edgesTable(s, n.Strongest[:count], r.Regulators != nil).lines()...)
	if len(lines) < most {
		lines = append(lines, "")
	}
	return lines
}

// edgesTable are edges with their score, and how sure they are.
func edgesTable(s job.SolverResult, edges []job.EdgeResult, directed bool) *textTable {
	score := "score"
	if s.Score == job.ScoreProbability {
		score = "probability"
	}
	t := &textTable{columns: []column{{"strongest of " + s.Name, left}, {"sign", right}, {score, right}}}
	sure := sureColumns(edges)
	for _, c := range sure {
		t.columns = append(t.columns, column{c.title, right})
	}
	link := " - "
	if directed {
		link = " -> "
	}
	for _, e := range edges {
		sign := map[int]string{1: "+", -1: "-"}[e.Sign]
		cells := []string{printable(e.Source) + link + printable(e.Target), sign, figure(e.Score, "%.4f")}
		for _, c := range sure {
			cells = append(cells, c.of(e))
		}
		t.add(cells...)
	}
	return t
}

// A sureColumn says how sure edges are.
type sureColumn struct {
	title string
	of    func(job.EdgeResult) string
}

// sureColumns are those that edges have. The probability is left out where it is the score,
// and a p-value where there is a q-value.
func sureColumns(edges []job.EdgeResult) []sureColumn {
	has := func(key string) bool {
		return slices.ContainsFunc(edges, func(e job.EdgeResult) bool { _, ok := e.Confidence[key]; return ok })
	}
	get := func(e job.EdgeResult, key string) job.Float {
		if v, ok := e.Confidence[key]; ok {
			return v
		}
		return job.NaN()
	}
	var columns []sureColumn
	add := func(key, title, format string) {
		columns = append(columns, sureColumn{title, func(e job.EdgeResult) string { return figure(get(e, key), format) }})
	}
	if has(arrowio.EdgeProbability) && slices.ContainsFunc(edges, func(e job.EdgeResult) bool { return e.Confidence[arrowio.EdgeProbability] != e.Score }) {
		add(arrowio.EdgeProbability, "edge probability", "%.3f")
	}
	if has(arrowio.SelectionProbability) {
		add(arrowio.SelectionProbability, "selected", "%.3f")
	}
	if has(arrowio.QValue) {
		add(arrowio.QValue, "q-value", "%.1e")
	} else if has(arrowio.PValue) {
		add(arrowio.PValue, "p-value", "%.1e")
	}
	if has(arrowio.Lower) && has(arrowio.Upper) {
		columns = append(columns, sureColumn{"interval", func(e job.EdgeResult) string {
			low, high := get(e, arrowio.Lower), get(e, arrowio.Upper)
			if math.IsNaN(float64(low)) || math.IsNaN(float64(high)) {
				return none
			}
			return figure(low, "%.3f") + " to " + figure(high, "%.3f")
		}})
	}
	return columns
}

// printable is a name that a terminal shows as it is, and in a line: what it would obey is
// a question mark, and what is long is cut.
func printable(name string) string {
	const most = 32
	runes := []rune(strings.ToValidUTF8(name, "?"))
	if len(runes) > most {
		runes = append(runes[:most-1], '…')
	}
	for i, c := range runes {
		if !unicode.IsPrint(c) {
			runes[i] = '?'
		}
	}
	return string(runes)
}
