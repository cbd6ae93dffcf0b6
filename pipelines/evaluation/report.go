package evaluation

import (
	"fmt"
	"path/filepath"

	"github.com/gladflow/gladflow/arrowio"
	"github.com/gladflow/gladflow/pipelines/job"
	"github.com/gladflow/gladflow/pipelines/metric"
	"github.com/gladflow/gladflow/pipelines/progress"
	"github.com/gladflow/gladflow/pipelines/report/page"
)

// strongest are lines of a list, the first or the best ones, as links between names;
// at most limit pairs, each once. Lines with an end that is no name are left out.
// Scores are those of the list or, without any, the share of the list that comes at or
// after a line.
func strongest(l metric.List, names []string, limit int) *page.Strongest {
	index := make(map[string]int, len(names))
	for i, name := range names {
		index[name] = i
	}
	s := page.NewStrongest(len(names), 0)
	seen := make(map[[2]int]bool)
	for _, k := range l.Order() {
		i, a := index[l.Source[k]]
		j, b := index[l.Target[k]]
		pair := [2]int{i, j}
		if l.Undirected && i > j {
			pair = [2]int{j, i}
		}
		if !a || !b || i == j || seen[pair] {
			continue
		}
		if len(seen) == limit {
			break
		}
		seen[pair] = true
		score := float64(len(l.Source)-k) / float64(len(l.Source))
		if l.Score != nil {
			score = l.Score[k]
		}
		s.Add(page.Link{I: pair[0], J: pair[1], Score: score})
	}
	return s
}

// reportPage is the page of an evaluation.
func reportPage(r *Result, p *metric.Population, l metric.List, ranking metric.Ranking, names []string) page.Page {
	name := filepath.Base(r.Evaluation.EdgeList)
	if r.Evaluation.EdgeList == job.Stdin {
		name = "standard input"
	}
	some := strongest(l, names, max(p.Positives, page.MaxEdges))
	network := some.Network(names, page.KnownBy(p, !l.Undirected))
	network.Directed, network.Score, network.Shown = !l.Undirected, "score", p.Positives
	if l.Score == nil {
		network.Score = "place in the list"
	}
	few := strongest(l, names, p.Positives)
	series := fmt.Sprintf("%s (first %d)", name, few.Total())
	by := "the order of its lines"
	if r.RankedBy == job.RankScore {
		by = "its scores"
	}
	return page.Page{
		Kind:     "Evaluation",
		Title:    name,
		Summary:  []string{progress.Count(r.Lines, "line"), fmt.Sprintf("%d of %d pairs listed", r.Listed, r.Reference.Pairs), progress.Count(r.Reference.Positives, "known edge")},
		Warnings: r.Warnings,
		Sections: []page.Section{
			{
				Title: "Results", Table: resultsTable(name, r),
				Notes: []string{
					"Scored on the population " + r.Reference.Text + ".",
					fmt.Sprintf("The list is ranked by %s. Pairs that it lacks tie last.", by),
				},
			},
			{Title: "Network", Networks: []page.Network{network}},
			page.HeatSection(),
			{Title: "Curves", Charts: page.RankingCharts(p.Chance(), []page.Curve{{Name: name, Curves: ranking.Curves()}})},
			{
				Title:  "Degrees",
				Charts: []page.Chart{page.DegreeChart([]page.Degree{{Name: series, Degrees: few.Degrees(), Like: name}, page.ReferenceDegrees(p, len(names))})},
				Notes:  []string{"Of the list as many pairs are counted as the reference has edges in the population, so that the two compare."},
			},
			{Title: "How to repeat this", Record: &page.Record{
				Command: r.Evaluation.Command(),
				Facts: []page.Fact{
					{Name: "gladflow", Value: r.Version},
					{Name: "Edge list", Value: r.Evaluation.EdgeList}, {Name: "Its SHA-256", Value: r.SHA256},
					{Name: "Reference", Value: r.Reference.Path}, {Name: "Its SHA-256", Value: r.Reference.SHA256},
				},
			}},
		},
	}
}

// resultsTable is the figures of the list, in a row.
func resultsTable(name string, r *Result) *page.Table {
	t := &page.Table{Caption: "How well the list ranks the known edges", Columns: []page.Column{{Title: "list"}}}
	row := []page.Cell{page.Words(name)}
	t.Columns = append(t.Columns, page.MetricColumns(metric.OfRankings())...)
	for _, m := range metric.OfRankings() {
		row = append(row, page.Number(float64(r.Metrics.Get(m.Key)), m.Format))
	}
	for _, c := range []struct {
		title, hint string
		count       int
	}{
		{"pairs", "that are scored", r.Reference.Pairs}, {"known edges", "among them", r.Reference.Positives},
		{"listed", "pairs that the list ranks", r.Listed}, {"outside", "lines whose pair is not scored", r.Outside}, {"repeated", "lines whose pair stood there before", r.Repeated},
	} {
		t.Columns = append(t.Columns, page.Column{Title: c.title, Hint: c.hint, Number: true})
		row = append(row, page.Count(c.count))
	}
	t.Rows = [][]page.Cell{row}
	return t
}

// redacted is e without what URLs may hold of secrets.
func redacted(e job.Evaluation) job.Evaluation {
	job.Redact(&e, arrowio.Redacted)
	return e
}
