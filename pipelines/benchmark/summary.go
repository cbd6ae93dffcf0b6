package benchmark

import (
	"math"
	"slices"

	"github.com/gladflow/gladflow/pipelines/comparison"
	"github.com/gladflow/gladflow/pipelines/job"
	"github.com/gladflow/gladflow/pipelines/metric"
)

// SolverFigures are those of one solver on one set.
type SolverFigures struct {
	Solver string `json:"solver"`
	Status string `json:"status"`
	// Error is the sentence that the solver failed with.
	Error   string    `json:"error,omitempty"`
	Seconds job.Float `json:"seconds"`
	// Reused says that the figures are of an earlier run.
	Reused bool `json:"reused,omitempty"`
	// Figures are those of metric.OfRankings; nil for a solver that has failed.
	Figures []Figure `json:"figures,omitempty"`

	figures comparison.Figures
}

// A Figure is a metric of a solver on a set, or its mean over sets or groups.
type Figure struct {
	Metric string    `json:"metric"`
	Value  job.Float `json:"value"`
	// StandardError is that of Value: by bootstrap over the sources on a set, s/√n over
	// sets or groups. NaN where there is none.
	StandardError job.Float `json:"standard_error"`
	// Difference is Value less the baseline's, paired, DifferenceError its standard
	// error. NaN where the baseline has no value.
	Difference      job.Float `json:"difference"`
	DifferenceError job.Float `json:"difference_error"`
	// Wins counts, of the Of sets or groups behind a mean, those in which the solver is
	// above the baseline. On a set Of is 1.
	Wins int `json:"wins"`
	Of   int `json:"of"`
}

// A Summary is means over sets or groups.
type Summary struct {
	// Group is the name of the group; empty for the summary over all groups.
	Group string `json:"group,omitempty"`
	// Of is the number of sets or groups.
	Of      int             `json:"of"`
	Solvers []SolverSummary `json:"solvers"`
}

// A SolverSummary is the means of one solver. One that has no value on one of the sets
// or groups has no mean: NaN, and Of is 0.
type SolverSummary struct {
	Solver  string   `json:"solver"`
	Figures []Figure `json:"figures"`
}

// Overview is what the benchmark comes to: the figures of every solver over the groups;
// where there is one group, over its sets; where there is one set, on it, with standard
// errors by bootstrap. of is the number of what they are over, and are what these are.
func (r *Result) Overview() (solvers []SolverSummary, of int, are string) {
	switch {
	case r.Overall.Of != 1:
		return r.Overall.Solvers, r.Overall.Of, "groups"
	case r.Groups[0].Of != 1:
		return r.Groups[0].Solvers, r.Groups[0].Of, "sets"
	}
	for _, f := range r.Sets[0].Solvers {
		solvers = append(solvers, SolverSummary{Solver: f.Solver, Figures: f.Figures})
	}
	return solvers, 1, "sets"
}

// solver returns the figures of one, nil if it has none.
func (s *SetResult) solver(name string) *SolverFigures {
	at := slices.IndexFunc(s.Solvers, func(f SolverFigures) bool { return f.Solver == name && f.figures.Metrics != nil })
	if at < 0 {
		return nil
	}
	return &s.Solvers[at]
}

// compare fills the figures of a solver, with the differences from the baseline.
func (s *SetResult) compare(name, baseline string) {
	f := s.solver(name)
	if f == nil {
		return
	}
	base := s.solver(baseline)
	for _, m := range metric.OfRankings() {
		figure := Figure{
			Metric: m.Key, Value: job.Float(f.figures.Value(m.Key)), StandardError: job.Float(f.figures.StandardError(m.Key)),
			Difference: job.NaN(), DifferenceError: job.NaN(), Of: 1,
		}
		if base != nil {
			d, e := f.figures.Minus(base.figures, m.Key)
			figure.Difference, figure.DifferenceError = job.Float(d), job.Float(e)
			if d > 0 {
				figure.Wins = 1
			}
		}
		f.Figures = append(f.Figures, figure)
	}
}

// figure returns that of a metric, of figures that may be nil.
func figure(figures []Figure, key string) Figure {
	for _, f := range figures {
		if f.Metric == key {
			return f
		}
	}
	return Figure{Metric: key, Value: job.NaN(), StandardError: job.NaN(), Difference: job.NaN(), DifferenceError: job.NaN()}
}

// summarise fills Groups and Overall.
func (r *Result) summarise(baseline string) {
	var groups, solvers []string
	members := make(map[string][]map[string][]Figure) // figures by solver of the sets of a group
	for _, s := range r.Sets {
		if !slices.Contains(groups, s.Group) {
			groups = append(groups, s.Group)
		}
		figures := make(map[string][]Figure)
		for _, f := range s.Solvers {
			if !slices.Contains(solvers, f.Solver) {
				solvers = append(solvers, f.Solver)
			}
			figures[f.Solver] = f.Figures
		}
		members[s.Group] = append(members[s.Group], figures)
	}
	var over []map[string][]Figure
	for _, g := range groups {
		summary := means(members[g], solvers, baseline)
		summary.Group = g
		r.Groups = append(r.Groups, summary)
		figures := make(map[string][]Figure)
		for _, s := range summary.Solvers {
			figures[s.Solver] = s.Figures
		}
		over = append(over, figures)
	}
	r.Overall = means(over, solvers, baseline)
}

// means are those over members, each the figures of solvers by their names.
func means(members []map[string][]Figure, solvers []string, baseline string) Summary {
	s := Summary{Of: len(members)}
	for _, name := range solvers {
		of := SolverSummary{Solver: name}
		for _, m := range metric.OfRankings() {
			var values, differences []float64
			f := Figure{Metric: m.Key, Of: len(members)}
			for _, member := range members {
				v := figure(member[name], m.Key)
				values = append(values, float64(v.Value))
				difference := float64(v.Value) - float64(figure(member[baseline], m.Key).Value)
				differences = append(differences, difference)
				if difference > 0 {
					f.Wins++
				}
			}
			f.Value, f.StandardError = meanAndError(values)
			f.Difference, f.DifferenceError = meanAndError(differences)
			if !f.Value.IsFinite() {
				f.Wins, f.Of = 0, 0
			}
			of.Figures = append(of.Figures, f)
		}
		s.Solvers = append(s.Solvers, of)
	}
	return s
}

func meanAndError(x []float64) (average, standardError job.Float) {
	a, e := metric.MeanAndError(x)
	if math.IsNaN(a) {
		e = math.NaN()
	}
	return job.Float(a), job.Float(e)
}
