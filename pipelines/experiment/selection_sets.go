package experiment

import (
	"context"
	"fmt"
	"math"

	"github.com/gladflow/gladflow/pipelines/benchmark"
	"github.com/gladflow/gladflow/pipelines/metric"
	"github.com/gladflow/gladflow/solver"
)

// knownTables are the graphs of every rule on the tables with known networks that Run.Sets
// names, a row a table; t has them too.
func (r *Run) knownTables(ctx context.Context, rules []selector, t *table) (Section, error) {
	sets, err := benchmark.Sets(r.Sets, r.Root)
	if err != nil {
		return Section{}, err
	}
	names := append(ruleNames(rules), truthRule)
	section := Section{Title: "Tables with known networks: F1 / FDR (edges among the pairs that are scored)", Rows: [][]string{append([]string{"table", "d", "M", "true edges of pairs"}, names...)}}
	engine := r.engineOfOne()
	for i, s := range sets {
		r.at(float64(i)/float64(len(sets)), "%s", s.Name)
		s.Undirected = "true" // as estimates are
		known, err := s.Open(ctx, 0, 0)
		if err != nil {
			return Section{}, fmt.Errorf("%s: %w", s.Name, err)
		}
		d := len(known.Data.Names)
		p, from, err := resampled(ctx, known.Data.Rows(), d, engine)
		if err != nil {
			return Section{}, fmt.Errorf("%s: %w", s.Name, err)
		}
		graphs, err := r.tryRules(ctx, p, from, rules, engine, func(est *solver.Estimate) (metric.Confusion, error) {
			return known.Judge.Support(func(i, j int) bool { return est.Support.At(i, j) != 0 }), nil
		})
		if err != nil {
			return Section{}, fmt.Errorf("%s: %w", s.Name, err)
		}
		truth := known.Judge.Population
		row := []string{s.Name, fmt.Sprint(d), fmt.Sprint(p.Samples), fmt.Sprintf("%d of %d", truth.Positives, len(truth.Pairs))}
		for k, g := range graphs {
			row = append(row, fmt.Sprintf("%.3f / %.2f (%.0f)", g.f1, g.fdr, g.edges))
			t.add(s.Name, names[k], d, p.Samples, 1, g.f1, math.NaN(), g.fdr, math.NaN(), g.edges/float64(truth.Positives), empty(g), g.seconds/graphs[1].seconds)
		}
		section.Rows = append(section.Rows, row)
	}
	return section, nil
}

func empty(g chosenGraph) float64 {
	if g.empty {
		return 1
	}
	return 0
}
