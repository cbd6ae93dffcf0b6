package recovery

import (
	"cmp"
	"slices"

	"github.com/gladflow/gladflow/pipelines/job"
	"github.com/gladflow/gladflow/pipelines/report/page"
)

// links are the edges that a solver has found, and what their scores are.
func (r *run) links(found *finding) (links *page.Strongest, score string) {
	var sure []page.Sure
	for _, c := range found.sure() {
		sure = append(sure, page.Sure{Name: c.name, Of: func(l page.Link) float64 { return c.of(l.I, l.J, l.Score) }})
	}
	d := len(r.table.Names)
	if k := found.ranking; k != nil {
		// A ranking has all pairs.
		links = page.NewStrongest(d, r.mostRanked(), sure...)
		k.each(d, func(i, j int, score float64, sign int8) {
			links.Add(page.Link{I: i, J: j, Score: score, Sign: int(sign)})
		})
		return links, "score"
	}
	est := found.estimate
	links = page.NewStrongest(d, 0, sure...)
	est.EachEdge(func(i, j int) {
		links.Add(page.Link{I: i, J: j, Score: est.Score(i, j), Sign: int(signOf(est.PartialCorrelation(i, j)))})
	})
	if found.score == job.ScoreProbability {
		return links, "probability of an edge"
	}
	return links, "absolute partial correlation"
}

// mostRanked is how many pairs of a ranking are its network.
func (r *run) mostRanked() int {
	limit := len(r.table.Names)
	if r.population != nil {
		limit = r.population.Positives
	}
	return min(limit, job.MostRanked)
}

// networkResult is a network of variables of these names in short.
func networkResult(links *page.Strongest, names []string) *job.NetworkResult {
	n := &job.NetworkResult{Edges: links.Total(), Strongest: []job.EdgeResult{}}
	n.Components, n.Largest, n.Isolated = links.Parts()
	best := links.Links()
	for _, l := range best[:min(len(best), job.MostStrongest)] {
		e := job.EdgeResult{Source: names[l.I], Target: names[l.J], Score: job.Float(l.Score), Sign: l.Sign}
		for _, c := range links.Sure() {
			if e.Confidence == nil {
				e.Confidence = make(map[string]job.Float)
			}
			e.Confidence[c.Name] = job.Float(c.Of(l))
		}
		n.Strongest = append(n.Strongest, e)
	}
	degrees := links.Degrees()
	var hubs []int
	for i, k := range degrees {
		if k > 1 {
			hubs = append(hubs, i)
		}
	}
	slices.SortStableFunc(hubs, func(a, b int) int { return cmp.Compare(degrees[b], degrees[a]) })
	for _, i := range hubs[:min(len(hubs), job.MostHubs)] {
		n.Hubs = append(n.Hubs, job.NamedCount{Name: names[i], Count: degrees[i]})
	}
	return n
}
