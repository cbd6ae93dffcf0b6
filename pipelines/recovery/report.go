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
func (p *reportPage) add(r *run, links *page.Strongest, score string, ranking metric.Ranking, h *history, res job.SolverResult) {
	k := &kept{network: links.Network(r.table.Names, p.known), series: res.Name, degrees: links.Degrees()}
	if r.ranks(find(res.Name)) {
		k.series = fmt.Sprintf("%s (first %d)", res.Name, links.Total())
	}
	k.network.Name, k.network.Score, k.network.Directed = res.Name, score, r.regulators != nil
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
	p.kept[res.Name] = k
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
	written.Name = output.Beside(r.job.Out, r.job.ReportPath())
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
