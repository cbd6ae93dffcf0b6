package dream5

import (
	"github.com/gladflow/gladflow/pipelines/job"
	"github.com/gladflow/gladflow/pipelines/metric"
)

// compare fills the figures of all solvers, with the differences from the baselines.
func (r *run) compare() {
	kinds := populations()
	for i := range r.result.Solvers {
		s := &r.result.Solvers[i]
		for k, f := range s.figures {
			for _, m := range metric.OfRankings() {
				figure := Figure{
					Population: kinds[k].name, Metric: m.Key,
					Value: job.Float(f.Value(m.Key)), StandardError: job.Float(f.StandardError(m.Key)),
				}
				for _, name := range r.Baselines {
					base := r.baseline(name, *s, kinds[k].kind)
					if base == nil || base == s {
						continue
					}
					d, e := f.Minus(base.figures[k], m.Key)
					figure.Minus = append(figure.Minus, Difference{name, job.Float(d), job.Float(e)})
				}
				s.Figures = append(s.Figures, figure)
			}
		}
	}
}

// baseline is the solver of a name that s is compared with; nil if there is none. It was
// given the list of regulators if s was. If there is no such, on labelled pairs, which
// start at regulators anyway, it is the other; on all pairs the list alone is worth more
// than any solver.
func (r *run) baseline(name string, s SolverResult, kind metric.Kind) *SolverResult {
	var other *SolverResult
	for i := range r.result.Solvers {
		b := &r.result.Solvers[i]
		switch {
		case b.Solver != name || b.figures == nil:
		case b.Regulators == s.Regulators:
			return b
		case kind == metric.Labelled:
			other = b
		}
	}
	return other
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
