package recovery

import (
	"fmt"

	"github.com/gladflow/gladflow/arrowio"
	"github.com/gladflow/gladflow/pipelines/job"
	"github.com/gladflow/gladflow/pipelines/report/page"
)

// penaltySection shows how the penalty was chosen, if it was: the criterion, with its
// standard errors where it has them, and the number of edges, by penalty.
func (p *reportPage) penaltySection() []page.Section {
	q := p.result.Penalty
	if q == nil || len(q.Path) < 2 {
		return nil
	}
	name := "extended BIC"
	switch q.Criterion {
	case "bic":
		name = "BIC"
	case "held_out":
		name = "log-likelihood of a held-out sample"
	case "instability":
		name = "instability"
	}
	value := func(at job.PathPoint) float64 {
		if q.Criterion == "" { // before there were several
			return float64(at.EBIC)
		}
		return float64(at.Criterion)
	}
	criterion, edges := page.Series{Name: name}, page.Series{Name: "edges"}
	chosen := page.Series{Name: "chosen"}
	var high, low page.Series
	for _, at := range q.Path {
		x, y := float64(at.Penalty), value(at)
		criterion.X, criterion.Y = append(criterion.X, x), append(criterion.Y, y)
		edges.X, edges.Y = append(edges.X, x), append(edges.Y, float64(at.Edges))
		if at.Chosen {
			chosen.X, chosen.Y = append(chosen.X, x), append(chosen.Y, y)
		}
		if e := float64(at.CriterionError); e > 0 {
			high.X, high.Y = append(high.X, x), append(high.Y, y+e)
			low.X, low.Y = append(low.X, x), append(low.Y, y-e)
		}
	}
	first := page.Chart{Title: "Criterion", X: "penalty", Y: name, LogX: true, SwitchX: true, Dots: true, Low: true, Series: []page.Series{criterion}}
	if high.X != nil {
		high.Name, low.Name = "one standard error", "one standard error"
		first.Series = append(first.Series, high, low)
	}
	if chosen.X != nil {
		first.Series = append(first.Series, chosen)
	}
	if t := q.Threshold; t != nil && q.Criterion == "instability" {
		first.Rule, first.RuleName = float64(*t), "largest instability allowed"
	}
	rho := page.Figure(float64(q.Rho), "%.4g")
	text := fmt.Sprintf("The penalty is %s: %s.", rho, q.How)
	if q.How == "" {
		text = fmt.Sprintf("The %s is best at the penalty %s, of %d that were tried.", name, rho, len(q.Path))
	}
	if q.TimeLimitReached {
		text += " Smaller penalties were not tried, for the time limit was reached."
	}
	return []page.Section{{
		Title: "Penalty", Text: []string{text},
		Charts: []page.Chart{first, {Title: "Edges", X: "penalty", Y: "edges", LogX: true, SwitchX: true, Dots: true, Series: []page.Series{edges}}},
	}}
}

// stabilitySection shows how often the edges drawn are selected in half samples, by their
// score, where solvers were run on these.
func (p *reportPage) stabilitySection() []page.Section {
	chart := page.Chart{Title: "Selection probability by score", X: "score", Y: "selected in so many half samples, share", Scatter: true}
	for _, s := range p.result.Solvers {
		k := p.kept[s.Name]
		if k == nil {
			continue
		}
		for _, c := range k.network.Sure {
			if c.Name != arrowio.SelectionProbability {
				continue
			}
			line := page.Series{Name: s.Name}
			for i, e := range k.network.Edges {
				line.X, line.Y = append(line.X, e.Score), append(line.Y, c.Values[i])
			}
			chart.Series = append(chart.Series, line)
		}
	}
	if chart.Series == nil {
		return nil
	}
	return []page.Section{{Title: "Stability", Charts: []page.Chart{chart}, Notes: []string{
		"Of the edges that may be drawn above. One of a high score that few half samples select hangs on single samples.",
	}}}
}
