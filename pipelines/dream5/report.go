package dream5

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"

	"github.com/gladflow/gladflow/pipelines/comparison"
	"github.com/gladflow/gladflow/pipelines/job"
	"github.com/gladflow/gladflow/pipelines/metric"
	"github.com/gladflow/gladflow/pipelines/output"
	"github.com/gladflow/gladflow/pipelines/progress"
	"github.com/gladflow/gladflow/pipelines/report/page"
)

// A reportPage is the page that Dream5.Report asks for, while the run goes on.
type reportPage struct {
	file *output.File
	// known says what the gold standard knows of pairs, in their direction or in either.
	known      func(directed bool) func(i, j int) page.Known
	regulators []string
	networks   []page.Network
	curves     []page.Curve
	degrees    []page.Degree
}

// openReport opens the page.
func (r *run) openReport() error {
	if r.Report == "" {
		return nil
	}
	file, err := output.OpenFileIn(nil, "report", r.Report)
	if err != nil {
		return err
	}
	forth, either := page.KnownBy(r.judges[0].Population, true), page.KnownBy(r.judges[0].Population, false)
	r.report = &reportPage{file: file, regulators: slices.Sorted(maps.Keys(r.listed)), known: func(directed bool) func(i, j int) page.Known {
		if directed {
			return forth
		}
		return either
	}}
	return nil
}

func (p *reportPage) close() {
	if p != nil {
		p.file.Close()
	}
}

// add keeps what a solver has found, as far as it is shown.
func (p *reportPage) add(r *run, name string, scores *comparison.Scores) error {
	ranking, err := r.judges[0].Rank(scores)
	if err != nil {
		return err
	}
	positives := r.judges[0].Population.Positives
	links := r.links(scores, positives)
	n := links.Network(scores.Names, p.known(scores.Directed))
	n.Name, n.Directed, n.Score, n.Shown = name, scores.Directed, "score", positives
	n.MarkRegulators(p.regulators)
	p.networks = append(p.networks, n)
	p.curves = append(p.curves, page.Curve{Name: name, Curves: ranking.Curves()})
	p.degrees = append(p.degrees, page.Degree{Name: name, Degrees: links.Degrees()})
	return nil
}

// links are the strongest pairs that start at a listed gene (at any without a list). Of
// scores without a direction each pair is one.
func (r *run) links(s *comparison.Scores, most int) *page.Strongest {
	links := page.NewStrongest(len(s.Names), most)
	starts := func(i int) bool { return r.listed == nil || r.listed[s.Names[i]] }
	for i := range s.Names {
		for j := range s.Names {
			v := s.At(i, j)
			switch {
			case i == j || math.IsInf(v, -1) || !starts(i):
			case !s.Directed && j < i && starts(j): // it was there the other way round
			default:
				links.Add(page.Link{I: i, J: j, Score: v})
			}
		}
	}
	return links
}

// page is what the page shows.
func (r *run) page() page.Page {
	res := r.result
	p := page.Page{
		Kind:  "DREAM5",
		Title: "Network " + res.Network,
		Summary: []string{
			res.Title, progress.Count(res.Data.Samples, "sample"), progress.Count(res.Data.Used, "gene"),
			progress.Count(len(res.Solvers), "ranking"), page.Figure(float64(res.Seconds), "%.1f") + " s",
		},
		Error: res.Error, Warnings: res.Warnings,
		Sections: []page.Section{r.resultsSection(), r.minusSection()},
	}
	if len(r.report.networks) > 0 {
		known := r.judges[0].Population
		first := "Pairs ranked by score, on the population " + res.Populations[0].Text + "."
		p.Sections = append(p.Sections,
			page.Section{Title: "Curves", Charts: page.RankingCharts(known.Chance(), r.report.curves), Notes: []string{first}},
			page.Section{Title: "Networks", Networks: r.report.networks, Chosen: r.best()},
			page.HeatSection(),
			page.Section{
				Title:  "Degrees",
				Charts: []page.Chart{page.DegreeChart(append(r.report.degrees, page.ReferenceDegrees(known, len(r.table.Names))))},
				Notes:  []string{fmt.Sprintf("Of every ranking the first %d pairs, as many as the gold standard has edges.", known.Positives)},
			})
	}
	if len(res.Published) > 0 {
		p.Sections = append(p.Sections, r.publishedSection())
	}
	p.Sections = append(p.Sections, r.recordSection())
	return p
}

// best is the number of the ranking with the highest AUPR on the first population, of
// those that are drawn.
func (r *run) best() int {
	best, at := math.Inf(-1), 0
	for i, n := range r.report.networks {
		for _, s := range r.result.Solvers {
			if f, ok := s.Figure(r.result.Populations[0].Name, "aupr"); ok && s.Name() == n.Name && float64(f.Value) > best {
				best, at = float64(f.Value), i
			}
		}
	}
	return at
}

// resultsSection has the headline figures on every population, and draws AUPR.
func (r *run) resultsSection() page.Section {
	t := page.Table{Caption: "AUROC and AUPR on every population", Columns: []page.Column{{Title: "solver"}}}
	charts := make([]page.Comparison, len(metric.Headlines()))
	for k, m := range metric.Headlines() {
		charts[k] = page.Comparison{Title: m.Title, X: m.Title, Y: "solver"}
		for _, p := range r.result.Populations {
			charts[k].Series = append(charts[k].Series, page.Dots{Name: p.Name})
		}
	}
	var notes []string
	for _, p := range r.result.Populations {
		for _, m := range metric.Headlines() {
			t.Columns = append(t.Columns, page.Column{Title: m.Title + ", " + p.Name, Number: true, Best: page.Higher, Hint: p.Text})
		}
		notes = append(notes, p.Name+": "+p.Text+".")
	}
	t.Columns = append(t.Columns, page.Column{Title: "seconds", Number: true})
	for _, s := range r.result.Solvers {
		row := []page.Cell{page.Words(s.Name())}
		for i, p := range r.result.Populations {
			for k, m := range metric.Headlines() {
				f, ok := s.Figure(p.Name, m.Key)
				if !ok {
					f.Value, f.StandardError = job.NaN(), job.NaN()
				}
				row = append(row, page.Number(float64(f.Value), m.Format))
				dots := &charts[k].Series[i]
				dots.Values, dots.Errors = append(dots.Values, float64(f.Value)), append(dots.Errors, float64(f.StandardError))
			}
		}
		t.Rows = append(t.Rows, append(row, page.Number(float64(s.Seconds), "%.1f")))
		for k := range charts {
			charts[k].Rows = append(charts[k].Rows, s.Name())
		}
		if s.Error != "" {
			notes = append(notes, s.Name()+": "+s.Error)
		}
	}
	notes = append(notes, "Bars are standard errors by bootstrap over the regulators. Rankings that were given the list of regulators say so.")
	return page.Section{Title: "Results", Text: []string{r.result.Data.Text + "."}, Table: &t, Comparisons: charts, Notes: notes}
}

// minusSection has the differences from the baselines on the first population.
func (r *run) minusSection() page.Section {
	population := r.result.Populations[0].Name
	t := page.Table{Caption: "On the population " + population + ", with standard errors", Columns: []page.Column{{Title: "solver"}}}
	var charts []page.Comparison
	for _, m := range metric.Headlines() {
		c := page.Comparison{Title: m.Title + " less that of", X: "difference of " + m.Title, Y: "solver", Zero: true}
		for _, b := range r.Baselines {
			c.Series = append(c.Series, page.Dots{Name: b})
			t.Columns = append(t.Columns, page.Column{Title: m.Title + " less " + b + "'s", Number: true})
		}
		charts = append(charts, c)
	}
	for _, s := range r.result.Solvers {
		row := []page.Cell{page.Words(s.Name())}
		for k, m := range metric.Headlines() {
			f, _ := s.Figure(population, m.Key)
			charts[k].Rows = append(charts[k].Rows, s.Name())
			for i, b := range r.Baselines {
				d := f.Difference(b)
				row = append(row, page.Difference(float64(d.Value), float64(d.StandardError), m.Format))
				dots := &charts[k].Series[i]
				dots.Values, dots.Errors = append(dots.Values, float64(d.Value)), append(dots.Errors, float64(d.StandardError))
			}
		}
		t.Rows = append(t.Rows, row)
	}
	return page.Section{
		Title: "Differences", Table: &t, TableLast: true, Comparisons: charts,
		Notes: []string{"Differences are paired: of both rankings on the same bootstrap samples of the regulators."},
	}
}

// publishedSection has the figures of others.
func (r *run) publishedSection() page.Section {
	t := page.Table{Caption: "On the challenge's own data and its labelled pairs", Columns: []page.Column{
		{Title: "method"}, {Title: "AUROC", Number: true}, {Title: "AUPR", Number: true}, {Title: "source"}, {Title: "note"},
	}}
	for _, p := range r.result.Published {
		t.Rows = append(t.Rows, []page.Cell{page.Words(p.Method), page.Number(float64(p.AUROC), "%.3f"), page.Number(float64(p.AUPR), "%.3f"), page.Words(p.Source), page.Words(p.Note)})
	}
	s := page.Section{Title: "Published", Table: &t}
	if !r.result.Data.Whole {
		s.Text = []string{"Other data than these: the figures do not compare with those above."}
	}
	return s
}

// recordSection is what was done, and how to repeat it.
func (r *run) recordSection() page.Section {
	d, data := r.Dream5, r.result.Data
	record := &page.Record{Command: d.Command(Facts()), Files: page.Files(r.result.Files)}
	for _, f := range []page.Fact{
		{Name: "gladflow", Value: r.result.Version}, {Name: "Data", Value: data.Text},
		{Name: "Expression", Value: data.Expression}, {Name: "Its SHA-256", Value: data.ExpressionSHA256},
		{Name: "Gold standard", Value: data.Gold}, {Name: "Its SHA-256", Value: data.GoldSHA256},
		{Name: "Regulators", Value: data.Regulators}, {Name: "Their SHA-256", Value: data.RegulatorsSHA256},
		{Name: "Bootstrap samples", Value: string(d.Resamples)}, {Name: "Seed", Value: strconv.Itoa(d.Seed)},
	} {
		if f.Value != "" {
			record.Facts = append(record.Facts, f)
		}
	}
	return page.Section{Title: "How to repeat this", Record: record}
}
