package benchmark

import (
	"fmt"
	"math"
	"path/filepath"

	"github.com/gladflow/gladflow/pipelines/metric"
	"github.com/gladflow/gladflow/pipelines/progress"
	"github.com/gladflow/gladflow/pipelines/report/page"
)

// page is what the page shows.
func (r *Result) page() page.Page {
	p := page.Page{
		Kind:  "Benchmark",
		Title: filepath.Base(r.Benchmark.Sets),
		Summary: []string{
			progress.Count(len(r.Sets), "set"), progress.Count(len(r.Groups), "group"), progress.Count(len(r.Overall.Solvers), "solver"),
			page.Figure(float64(r.Seconds), "%.1f") + " s",
		},
		Error: r.Error,
	}
	for _, s := range r.Sets {
		for _, w := range s.Warnings {
			p.Warnings = append(p.Warnings, s.Name+": "+w)
		}
	}
	if len(r.Overall.Solvers) > 0 {
		p.Sections = append(p.Sections, r.overallSection())
		for _, m := range r.metrics() {
			p.Sections = append(p.Sections, r.metricSection(m))
		}
	}
	p.Sections = append(p.Sections, r.setsSection(), r.recordSection())
	return p
}

// metrics are those that are printed.
func (r *Result) metrics() []metric.Metric {
	var list []metric.Metric
	for _, m := range metric.OfRankings() {
		for _, key := range r.Benchmark.Metrics {
			if m.Key == key {
				list = append(list, m)
			}
		}
	}
	return list
}

// overallSection is a row for every solver, over all.
func (r *Result) overallSection() page.Section {
	solvers, of, are := r.Overview()
	caption := "Means over the " + are
	switch {
	case of == 1:
		caption = "Figures on the set"
	case are == "groups":
		caption += ", each with the same weight"
	}
	t := page.Table{Caption: caption, Columns: []page.Column{{Title: "solver"}}}
	for _, m := range r.metrics() {
		t.Columns = append(t.Columns,
			page.Column{Title: m.Title, Number: true, Best: page.Higher},
			page.Column{Title: "less " + r.Benchmark.Baseline + "'s", Number: true, Hint: "difference from the baseline, paired, with its standard error"},
			page.Column{Title: "wins", Number: true, Hint: are + " in which it is above the baseline"},
		)
	}
	for _, s := range solvers {
		row := []page.Cell{page.Words(s.Solver)}
		for _, m := range r.metrics() {
			f := figure(s.Figures, m.Key)
			if s.Solver == r.Benchmark.Baseline || f.Of == 0 {
				row = append(row, page.Number(float64(f.Value), m.Format), page.Number(math.NaN(), ""), page.Number(math.NaN(), ""))
				continue
			}
			row = append(row, page.Number(float64(f.Value), m.Format), page.Difference(float64(f.Difference), float64(f.DifferenceError), m.Format), page.Cell{Text: fmt.Sprintf("%d of %d", f.Wins, f.Of), Value: float64(f.Wins)})
		}
		t.Rows = append(t.Rows, row)
	}
	return page.Section{
		Title: "Results", Table: &t,
		Notes: []string{
			"Differences are those from " + r.Benchmark.Baseline + ", with standard errors: on a set by bootstrap over the sources of its network, over sets and groups s/√n. A solver that has no figure on one of the groups has no mean.",
		},
	}
}

// A measured thing is a set, or a group of several.
type measured struct {
	name    string
	figures func(solver, key string) Figure
}

// measured are the sets, or where there are more groups than one, the groups.
func (r *Result) measured() (list []measured, are string) {
	if len(r.Groups) > 1 {
		for _, g := range r.Groups {
			list = append(list, measured{g.Group, r.group(g)})
		}
		return list, "group"
	}
	for _, s := range r.Sets {
		list = append(list, measured{s.Name, s.figure})
	}
	return list, "set"
}

// group are the figures of a group: means, and of a group of one set those of the set,
// which have standard errors.
func (r *Result) group(g Summary) func(solver, key string) Figure {
	if g.Of == 1 {
		for _, s := range r.Sets {
			if s.Group == g.Group {
				return s.figure
			}
		}
	}
	return func(solver, key string) Figure {
		for _, s := range g.Solvers {
			if s.Solver == solver {
				return figure(s.Figures, key)
			}
		}
		return figure(nil, key)
	}
}

// figure is that of a metric of a solver on the set.
func (s *SetResult) figure(solver, key string) Figure {
	for _, f := range s.Solvers {
		if f.Solver == solver {
			return figure(f.Figures, key)
		}
	}
	return figure(nil, key)
}

// metricSection is one metric: drawn by group, and a table of the sets.
func (r *Result) metricSection(m metric.Metric) page.Section {
	rows, are := r.measured()
	value := page.Comparison{Title: m.Title, X: m.Title, Y: are}
	less := page.Comparison{Title: "Difference from " + r.Benchmark.Baseline, X: m.Title + " less " + r.Benchmark.Baseline + "'s", Y: are, Zero: true}
	for _, row := range rows {
		value.Rows, less.Rows = append(value.Rows, row.name), append(less.Rows, row.name)
	}
	t := page.Table{Caption: m.Title + " on every set", Across: true, Columns: []page.Column{
		{Title: "set"}, {Title: "group"}, {Title: "samples", Number: true}, {Title: "variables", Number: true}, {Title: "edges", Number: true},
	}}
	for _, s := range r.Overall.Solvers {
		t.Columns = append(t.Columns, page.Column{Title: s.Solver, Number: true, Best: page.Higher})
		a, b := page.Dots{Name: s.Solver}, page.Dots{Name: s.Solver}
		for _, row := range rows {
			f := row.figures(s.Solver, m.Key)
			a.Values, a.Errors = append(a.Values, float64(f.Value)), append(a.Errors, float64(f.StandardError))
			b.Values, b.Errors = append(b.Values, float64(f.Difference)), append(b.Errors, float64(f.DifferenceError))
		}
		value.Series = append(value.Series, a)
		if s.Solver != r.Benchmark.Baseline {
			less.Series = append(less.Series, b)
		}
	}
	for _, s := range r.Sets {
		row := []page.Cell{page.Words(s.Name), page.Words(s.Group), page.Count(s.Samples), page.Count(s.Variables), page.Count(s.Reference.Positives)}
		for _, of := range r.Overall.Solvers {
			row = append(row, page.Number(float64(s.figure(of.Solver, m.Key).Value), m.Format))
		}
		t.Rows = append(t.Rows, row)
	}
	return page.Section{
		Title: m.Title, Table: &t, TableLast: true, Comparisons: []page.Comparison{value, less},
		Notes: []string{"Bars are standard errors: of a group of one set by bootstrap over the sources, of others over the sets. The best figure of a set is bold."},
	}
}

// setsSection is what was scored on every set, and what has failed.
func (r *Result) setsSection() page.Section {
	t := page.Table{Caption: "What was scored", Columns: []page.Column{
		{Title: "set"}, {Title: "population"}, {Title: "seconds", Number: true, Hint: "of all solvers, also those of earlier runs"}, {Title: "SHA-256"},
	}}
	var notes []string
	for _, s := range r.Sets {
		seconds := 0.0
		for _, f := range s.Solvers {
			if f.Seconds.IsFinite() {
				seconds += float64(f.Seconds)
			}
			if f.Error != "" {
				notes = append(notes, s.Name+", "+f.Solver+": "+f.Error)
			}
		}
		if s.Error != "" {
			notes = append(notes, s.Name+": "+s.Error)
		}
		t.Rows = append(t.Rows, []page.Cell{page.Words(s.Name), page.Words(s.Reference.Text), page.Number(seconds, "%.1f"), page.Words(s.SHA256)})
	}
	return page.Section{Title: "Sets", Table: &t, Notes: notes}
}

// recordSection is what was done, and how to repeat it.
func (r *Result) recordSection() page.Section {
	b := r.Benchmark
	return page.Section{Title: "How to repeat this", Record: &page.Record{
		Command: b.Command(Facts()),
		Facts: []page.Fact{
			{Name: "gladflow", Value: r.Version}, {Name: "Baseline", Value: b.Baseline},
			{Name: "Bootstrap samples", Value: string(b.Resamples)}, {Name: "Seed", Value: fmt.Sprint(b.Seed)},
		},
		Files: page.Files(r.Files),
	}}
}
