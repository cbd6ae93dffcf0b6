package dream5

import (
	"slices"

	"github.com/gladflow/gladflow/pipelines/job"
	"github.com/gladflow/gladflow/pipelines/metric"
)

// compare fills the figures of all solvers, with the differences from the baselines.
func (r *run) compare() {
	bases := make(map[string]int)
	for _, name := range r.Baselines {
		at := slices.IndexFunc(r.result.Solvers, func(s SolverResult) bool { return s.Solver == name && s.figures != nil })
		if at >= 0 {
			bases[name] = at
		}
	}
	for i := range r.result.Solvers {
		s := &r.result.Solvers[i]
		for k, f := range s.figures {
			for _, m := range metric.OfRankings() {
				figure := Figure{
					Population: r.result.Populations[k].Name, Metric: m.Key,
					Value: job.Float(f.Value(m.Key)), StandardError: job.Float(f.StandardError(m.Key)),
				}
				for _, name := range r.Baselines {
					at, ok := bases[name]
					if !ok || at == i {
						continue
					}
					d, e := f.Minus(r.result.Solvers[at].figures[k], m.Key)
					figure.Minus = append(figure.Minus, Difference{name, job.Float(d), job.Float(e)})
				}
				s.Figures = append(s.Figures, figure)
			}
		}
	}
}

// Figure returns that of a population and a metric, and whether there is one.
func (s SolverResult) Figure(population, key string) (Figure, bool) {
	for _, f := range s.Figures {
		if f.Population == population && f.Metric == key {
			return f, true
		}
	}
	return Figure{}, false
}

// Difference returns that from a baseline; NaN if there is none.
func (f Figure) Difference(baseline string) Difference {
	for _, d := range f.Minus {
		if d.Baseline == baseline {
			return d
		}
	}
	return Difference{baseline, job.NaN(), job.NaN()}
}
