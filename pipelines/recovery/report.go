package recovery

import (
	"fmt"
	"path/filepath"
	"slices"

	"github.com/gladflow/gladflow/pipelines/job"
	"github.com/gladflow/gladflow/pipelines/metric"
	"github.com/gladflow/gladflow/pipelines/output"
	"github.com/gladflow/gladflow/pipelines/report/page"
)

// A reportPage is the page of a run: the one that Job.Report asks for, while the run goes
// on, or that of a finished run.
type reportPage struct {
	file       *output.File // nil for a finished run, and where only the host wants the page
	result     *job.Result
	population *metric.Population // nil without a reference
	kept       map[string]*kept
	// known is what the reference says of pairs; nil without one.
	known func(i, j int) page.Known
	// missing are sentences on what a finished run does not have any more.
	missing []string
}

// kept is what the page shows of one solver besides its result.
type kept struct {
	network page.Network
	// series is the solver with what its degrees are of.
	series  string
	degrees []int
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

// add keeps what a solver has found, as far as it is shown. regulators are the names of
// those that are known.
func (p *reportPage) add(res job.SolverResult, links *page.Strongest, score string, regulators []string) {
	directed := p.result.Regulators != nil
	k := &kept{network: links.Network(p.result.Variables, p.known), series: res.Name, degrees: links.Degrees()}
	if res.Ranking || directed {
		k.series = fmt.Sprintf("%s (first %d)", res.Name, links.Total())
	}
	k.network.Name, k.network.Score, k.network.Directed = res.Name, score, directed
	if directed {
		k.network.MarkRegulators(regulators)
	}
	if ref := p.result.Reference; ref != nil {
		k.network.Shown = ref.Positives
	}
	p.kept[res.Name] = k
}

// writeReport writes the page of what there is, also of a run that has failed. It
// comes before run.json, which lists it, and does not list itself.
func (r *run) writeReport() error {
	if r.page == nil {
		return nil
	}
	shown := r.page.page()
	if r.host.Reported != nil {
		r.host.Reported(shown)
	}
	if r.page.file == nil {
		return nil
	}
	written, err := r.page.file.Write(shown.Encode)
	if err != nil {
		return err
	}
	written.Name = output.Beside(r.job.Out, r.job.ReportPath())
	r.result.Files = append(r.result.Files, written)
	return nil
}

// solved are the solvers whose network there is, in order.
func (p *reportPage) solved() []string {
	var names []string
	for _, s := range p.result.Solvers {
		if p.kept[s.Name] != nil {
			names = append(names, s.Name)
		}
	}
	return names
}

// page is what is shown.
func (p *reportPage) page() page.Page {
	shown := page.Page{
		Kind:     "Recovery",
		Title:    filepath.Base(p.result.Input.Path),
		Summary:  p.summary(),
		Error:    p.result.Error,
		Warnings: slices.Concat(p.result.Warnings, p.missing),
	}
	if p.result.Input.Path == job.Stdin {
		shown.Title = "Samples from standard input"
		if p.result.Input.Streamed {
			shown.Title = "Samples streamed by the caller"
		}
	}
	shown.Sections = append(shown.Sections, p.resultsSection())
	solved := p.solved()
	if len(solved) > 0 {
		shown.Sections = append(shown.Sections, p.networkSection(solved), page.HeatSection())
		shown.Sections = append(shown.Sections, p.curvesSection()...)
		shown.Sections = append(shown.Sections, p.degreesSection(solved))
	}
	shown.Sections = append(shown.Sections, slices.Concat(p.convergenceSection(), p.penaltySection(), p.stabilitySection())...)
	shown.Sections = append(shown.Sections, p.recordSection())
	return shown
}
