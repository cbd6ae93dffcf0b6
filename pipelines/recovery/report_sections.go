package recovery

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/gladflow/gladflow/pipelines/job"
	"github.com/gladflow/gladflow/pipelines/metric"
	"github.com/gladflow/gladflow/pipelines/output"
	"github.com/gladflow/gladflow/pipelines/progress"
	"github.com/gladflow/gladflow/pipelines/report/page"
)

// summary is what stands below the title of the page.
func (p *reportPage) summary() []string {
	in := p.result.Input
	facts := []string{progress.Count(in.Samples, "sample"), progress.Count(in.Variables, "variable"), progress.Count(len(p.result.Solvers), "solver")}
	if q := p.result.Penalty; q != nil && !math.IsNaN(float64(q.Rho)) {
		facts = append(facts, "penalty "+page.Figure(float64(q.Rho), "%.4g"))
	}
	return append(facts, page.Figure(float64(p.result.Seconds), "%.1f")+" s")
}

// resultsSection is the table of the solvers.
func (p *reportPage) resultsSection() page.Section {
	t := page.Table{
		Caption: "What each solver has found",
		Columns: []page.Column{{Title: "solver"}, {Title: "status"}},
	}
	metrics := metric.Table()
	if p.result.Reference == nil {
		metrics = nil
	}
	t.Columns = append(append(t.Columns, page.MetricColumns(metrics)...), []page.Column{
		{Title: "edges", Number: true, Hint: "pairs in the support, or listed of a ranking"},
		{Title: "penalty", Number: true, Hint: "ρ of the graphical lasso"},
		{Title: "objective", Number: true},
		{Title: "duality gap", Number: true, Hint: "the optimum is at most this far below the objective"},
		{Title: "iterations", Number: true}, {Title: "seconds", Number: true},
	}...)
	var notes []string
	for _, s := range p.result.Solvers {
		row := []page.Cell{page.Words(s.Name), page.Words(s.StatusText())}
		for _, m := range metrics {
			row = append(row, cell(s.Metrics.Get(m.Key), m.Format))
		}
		row = append(row, page.Count(s.Edges), cell(s.Penalty, "%.4g"), cell(s.Objective, "%.5f"), cell(s.DualityGap, "%.1e"), iterations(s), cell(s.Seconds, "%.2f"))
		t.Rows = append(t.Rows, row)
		if s.Adapted != nil {
			notes = append(notes, s.Name+": "+s.Adapted.String())
		}
		for _, sentence := range []string{s.Note, s.Error} {
			if sentence != "" {
				notes = append(notes, s.Name+": "+sentence)
			}
		}
		if key := ObjectiveOption(s.Name); key != "" {
			notes = append(notes, fmt.Sprintf("%s: its objective has a quadratic penalty besides and is not the others'; a larger --%s brings it nearer.", s.Name, job.FlagName(key)))
		}
	}
	if ref := p.result.Reference; ref != nil {
		notes = append(notes, "Scored on the population "+ref.Text+". The best figure of a column is bold.")
	}
	return page.Section{Title: "Results", Table: &t, Notes: notes}
}

// iterations is a dash for a solver without any.
func iterations(s job.SolverResult) page.Cell {
	if s.Ranking {
		return cell(job.NaN(), "")
	}
	return page.Count(s.Iterations)
}

func cell(v job.Float, format string) page.Cell {
	return page.Number(float64(v), format)
}

func (p *reportPage) networkSection(solved []string) page.Section {
	s := page.Section{Title: "Network"}
	best := math.Inf(-1)
	for i, name := range solved {
		s.Networks = append(s.Networks, p.kept[name].network)
		for _, res := range p.result.Solvers {
			if v := float64(res.Metrics.Get("aupr")); res.Name == name && v > best {
				best, s.Chosen = v, i
			}
		}
	}
	return s
}

// curvesSection is empty where there is no reference.
func (p *reportPage) curvesSection() []page.Section {
	ref := p.result.Reference
	var curves []page.Curve
	for _, s := range p.result.Solvers {
		if c := s.Curves; c != nil {
			curves = append(curves, page.Curve{Name: s.Name, Curves: metric.Curves(*c)})
		}
	}
	if ref == nil || curves == nil {
		return nil
	}
	return []page.Section{{
		Title: "Curves", Charts: page.RankingCharts(float64(ref.Positives)/float64(ref.Pairs), curves),
		Notes: []string{"Pairs ranked by score, on the population " + ref.Text + ". Of pairs that tie, the order is left to chance."},
	}}
}

// curvesResult is what the document keeps of curves: what can be seen of them.
func curvesResult(c metric.Curves) *job.CurvesResult {
	const most = 200
	fpr, tpr := page.Thinned(c.FPR, c.TPR, false, false, most)
	recall, precision := page.Thinned(c.Recall, c.Precision, true, false, most)
	return &job.CurvesResult{FPR: fpr, TPR: tpr, Recall: recall, Precision: precision}
}

func (p *reportPage) degreesSection(solved []string) page.Section {
	var networks []page.Degree
	for _, name := range solved {
		networks = append(networks, page.Degree{Name: p.kept[name].series, Degrees: p.kept[name].degrees, Like: name})
	}
	notes := []string{"Of the whole support of each solver, not only of the edges drawn above. A ranking has no support: of it the first pairs are counted."}
	if p.population != nil {
		networks = append(networks, page.ReferenceDegrees(p.population, len(p.result.Variables)))
	}
	if p.result.Regulators != nil {
		notes = []string{"Of every solver the first pairs are counted, of a regulator and its target."}
	}
	return page.Section{Title: "Degrees", Charts: []page.Chart{page.DegreeChart(networks)}, Notes: notes}
}

// convergenceSection shows how solvers came to where they stopped: by the duality gap,
// those without an objective by the distance of their two iterates. It is empty where
// no solver has iterations.
func (p *reportPage) convergenceSection() []page.Section {
	gap := page.Chart{Title: "Duality gap", X: "iteration", Y: "duality gap", LogX: true, LogY: true, SwitchX: true, RuleName: "solvers stop here"}
	objective := page.Chart{Title: "Objective above its least", X: "iteration", Y: "objective, less the least", LogX: true, LogY: true, SwitchX: true}
	distance := page.Chart{Title: "Distance of the two iterates", X: "step", Y: "‖Z − Θ‖", LogY: true, SwitchX: true, Dots: true}
	for _, res := range p.result.Solvers {
		c := res.Course
		if c == nil {
			continue
		}
		add := func(to *page.Chart, values []job.Float, less float64) {
			s := page.Series{Name: res.Name}
			for k, value := range values {
				if v := float64(value) - less; v > 0 && !math.IsInf(v, 0) && k < len(c.Iteration) {
					s.X, s.Y = append(s.X, float64(c.Iteration[k])), append(s.Y, v)
				}
			}
			if len(s.X) > 0 {
				to.Series = append(to.Series, s)
			}
		}
		if c.Target > 0 && c.Gap != nil {
			gap.Rule = c.Target
		}
		least := math.Inf(1)
		for _, v := range c.Objective {
			if v := float64(v); v < least {
				least = v
			}
		}
		add(&gap, c.Gap, 0)
		add(&objective, c.Objective, least)
		add(&distance, c.Distance, 0)
	}
	s := page.Section{Title: "Convergence"}
	if gap.Series != nil {
		s.Charts = append(s.Charts, gap)
		s.Notes = append(s.Notes, "Duality gap and objective are those of the largest connected component, which solvers solve by itself. Gaps of exactly zero cannot be shown on a logarithmic axis.")
	}
	if objective.Series != nil {
		s.Charts = append(s.Charts, objective)
	}
	if distance.Series != nil {
		s.Charts = append(s.Charts, distance)
		s.Notes = append(s.Notes, "GLAD minimises nothing and has no gap: it does a fixed number of steps, and the distance of its two iterates Θ and Z says how far they agree.")
	}
	if s.Charts == nil {
		return nil
	}
	return []page.Section{s}
}

// recordSection is what was done, and how to repeat it.
func (p *reportPage) recordSection() page.Section {
	res := p.result
	record := &page.Record{Facts: []page.Fact{{Name: "gladflow", Value: res.Version}}}
	fact := func(name, value string) {
		if value != "" {
			record.Facts = append(record.Facts, page.Fact{Name: name, Value: value})
		}
	}
	if !res.Input.Streamed {
		record.Command = res.Job.Command(Facts())
	} else {
		fact("Samples", "streamed by the caller")
	}
	fact("Input", res.Input.Path)
	fact("Input's SHA-256", res.Input.SHA256)
	if ref := res.Reference; ref != nil {
		fact("Reference", ref.Path)
		fact("Reference's SHA-256", ref.SHA256)
		fact("Population", ref.Text)
	}
	if list := res.Regulators; list != nil {
		fact("Regulators", fmt.Sprintf("%s: %d listed, %d of them variables", list.Path, list.Listed, list.Found))
		fact("Regulators' SHA-256", list.SHA256)
	}
	if q := res.Penalty; q != nil {
		fact("Penalty matrix's SHA-256", q.MatrixSHA256)
	}
	for _, s := range res.Solvers {
		if s.Model != "" {
			fact("Model of "+s.Name, s.Model)
		}
	}
	fact("Correlation", cmp.Or(res.Input.Correlation, res.Job.Correlation))
	fact("Shrinkage", page.Figure(res.Input.Shrinkage, "%.4g"))
	fact("Engine", res.Engine)
	fact("Threads", strconv.Itoa(res.Threads))
	device := res.Device
	if res.DeviceName != "" {
		device += " (" + res.DeviceName + ")"
	}
	fact("Device", device)
	fact("Device's note", res.DeviceNote)
	for _, s := range res.Solvers {
		record.Files = append(record.Files, page.Files(s.Files)...)
	}
	// The page of a finished run is that of the run, which could not list itself.
	own := output.Beside(res.Job.Out, res.Job.ReportPath())
	record.Files = append(record.Files, page.Files(slices.DeleteFunc(slices.Clone(res.Files), func(f job.WrittenFile) bool { return f.Name == own }))...)
	return page.Section{Title: "How to repeat this", Record: record}
}
