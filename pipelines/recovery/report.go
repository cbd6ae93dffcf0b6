package recovery

import (
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
}

// kept is what the page shows of one solver besides its result.
type kept struct {
	network    page.Network
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
func (p *reportPage) add(r *run, est *solver.Estimate, ranking metric.Ranking, h *history, name string) {
	names := r.table.Names
	strongest := page.NewStrongest(len(names))
	for i := range names {
		row := est.Support.Row(i)
		for j := i + 1; j < len(names); j++ {
			if row[j] == 0 {
				continue
			}
			c := est.PartialCorrelation(i, j)
			strongest.Add(page.Link{I: i, J: j, Score: est.Score(i, j), Sign: sign(c)})
		}
	}
	k := &kept{network: strongest.Network(names, r.known()), degrees: strongest.Degrees}
	k.network.Name, k.network.Score = name, "absolute partial correlation"
	if r.population != nil {
		k.curves = ranking.Curves()
	}
	if h != nil {
		k.iterations = h.iterations()
	}
	p.kept[name] = k
}

func sign(v float64) int {
	switch {
	case v > 0:
		return 1
	case v < 0:
		return -1
	}
	return 0
}

// known is what the reference says of pairs; nil without one.
func (r *run) known() func(i, j int) page.Known {
	if r.population == nil {
		return nil
	}
	return page.KnownBy(r.population)
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
	written.Name = r.reportName()
	r.result.Files = append(r.result.Files, written)
	return nil
}

// reportName is that of the page in run.json: relative to the folder of the run if it
// lies there, and the job's otherwise.
func (r *run) reportName() string {
	if r.job.Out != "" {
		if name, err := filepath.Rel(r.job.Out, r.job.Report); err == nil && filepath.IsLocal(name) {
			return filepath.ToSlash(name)
		}
	}
	return r.job.Report
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
