package recovery

import (
	"fmt"
	"path/filepath"
	"slices"

	"github.com/gladflow/gladflow/pipelines/job"
	"github.com/gladflow/gladflow/pipelines/metric"
	"github.com/gladflow/gladflow/pipelines/output"
	"github.com/gladflow/gladflow/pipelines/report/page"
	"github.com/gladflow/gladflow/solver"
)

// A reportPage is the page that Job.Report asks for, while the run goes on.
type reportPage struct {
	file *output.File
	kept map[string]*kept
	// known is what the reference says of pairs; nil without one.
	known func(i, j int) page.Known
}

// kept is what the page shows of one solver besides its result.
type kept struct {
	network page.Network
	// series is the solver with what its degrees are of.
	series     string
	degrees    []int
	curves     metric.Curves
	iterations []solver.Iteration
}

func (p *reportPage) discard() {
	if p != nil {
		p.file.Discard()
	}
}

func (p *reportPage) close() {
	if p != nil {
		p.file.Close()
	}
}

// add keeps what a solver has found, as far as it is shown.
func (p *reportPage) add(r *run, found *finding, ranking metric.Ranking, h *history, name string) {
	k := &kept{}
	var links *page.Strongest
	if found.ranking != nil {
		links = r.rankedLinks(found.ranking)
		k.network = links.Network(r.table.Names, p.known)
		k.network.Score, k.network.Directed = "score", r.regulators != nil
		k.series = fmt.Sprintf("%s (first %d)", name, links.Total())
	} else {
		links = r.supportLinks(found.estimate)
		k.network = links.Network(r.table.Names, p.known)
		k.network.Score = "absolute partial correlation"
		if found.score == job.ScoreProbability {
			k.network.Score = "probability of an edge"
		}
		k.series = name
	}
	k.network.Name, k.degrees = name, links.Degrees()
	if r.regulators != nil {
		k.network.MarkRegulators(r.blockNames())
	}
	if r.population != nil {
		k.network.Shown = r.population.Positives
		k.curves = ranking.Curves()
	}
	if h != nil {
		k.iterations = h.iterations()
	}
	p.kept[name] = k
}

// supportLinks are the pairs of an estimate's support.
func (r *run) supportLinks(est *solver.Estimate) *page.Strongest {
	d := len(r.table.Names)
	links := page.NewStrongest(d, 0)
	for i := range d {
		for j := i + 1; j < d; j++ {
			if est.IsEdge(i, j) {
				c := est.PartialCorrelation(i, j)
				links.Add(page.Link{I: i, J: j, Score: est.Score(i, j), Sign: int(signOf(c))})
			}
		}
	}
	return links
}

// rankedLinks are the pairs of highest score, for a ranking has all: as many as the
// reference has edges or, without one, as there are variables, and 100,000 at most.
func (r *run) rankedLinks(k *ranking) *page.Strongest {
	d := len(r.table.Names)
	limit := d
	if r.population != nil {
		limit = r.population.Positives
	}
	links := page.NewStrongest(d, min(limit, 100_000))
	k.each(d, func(i, j int, score float64, sign int8) {
		links.Add(page.Link{I: i, J: j, Score: score, Sign: int(sign)})
	})
	return links
}

// writeReport writes the page of what there is, also of a run that has failed. It
// comes before run.json, which lists it, and does not list itself.
func (r *run) writeReport() error {
	if r.page == nil {
		return nil
	}
	written, err := r.page.file.Write(r.reportPage().Encode)
	if err != nil {
		return err
	}
	written.Name = output.Beside(r.job.Out, r.job.Report)
	r.result.Files = append(r.result.Files, written)
	return nil
}

// solved are the solvers whose network there is, in order.
func (r *run) solved() []string {
	var names []string
	for _, s := range r.result.Solvers {
		if r.page.kept[s.Name] != nil {
			names = append(names, s.Name)
		}
	}
	return names
}

// reportPage is what the page shows.
func (r *run) reportPage() page.Page {
	p := page.Page{
		Kind:     "Recovery",
		Title:    filepath.Base(r.result.Input.Path),
		Summary:  r.summary(),
		Error:    r.result.Error,
		Warnings: r.result.Warnings,
	}
	if r.result.Input.Path == job.Stdin {
		p.Title = "Samples from standard input"
	}
	p.Sections = append(p.Sections, r.resultsSection())
	solved := r.solved()
	if len(solved) > 0 {
		p.Sections = append(p.Sections, r.networkSection(solved))
		if r.population != nil {
			p.Sections = append(p.Sections, r.curvesSection(solved))
		}
		p.Sections = append(p.Sections, r.degreesSection(solved))
	}
	p.Sections = append(p.Sections, slices.Concat(r.convergenceSection(solved), r.penaltySection())...)
	p.Sections = append(p.Sections, r.recordSection())
	return p
}
