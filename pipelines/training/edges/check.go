package edges

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/gladflow/gladflow/pipelines/metric"
	"github.com/gladflow/gladflow/pipelines/progress"
	"github.com/gladflow/gladflow/pipelines/simulate"
	"github.com/gladflow/gladflow/solver"
	"github.com/gladflow/gladflow/solver/dense"
	"github.com/gladflow/gladflow/solver/glad/card"
)

// kinds are the networks that heads are checked on: the defaults of simulate, er with two
// densities, and variables on unequal scales.
func kinds() []simulate.Family {
	var list []simulate.Family
	for _, g := range simulate.Graphs() {
		f := simulate.Family{Graph: g, ScaleSpread: 0.5}
		if g == simulate.GraphErdosRenyi {
			sparse := f
			sparse.Density, f.Density = 0.02, 0.1
			list = append(list, sparse)
		}
		list = append(list, f)
	}
	return list
}

// checkedSizes are the d and M of the tables.
func checkedSizes() [][2]int {
	return [][2]int{{50, 25}, {100, 100}, {100, 1000}, {200, 1000}, {400, 200}}
}

// A tally is what is counted on one table.
type tally struct {
	edges, kept, wrong         int
	reliability                metric.Reliability
	aupr, partial, correlation float64 // NaN without edges
}

// check fills in how the head does on networks of every kind.
func (r *run) check(ctx context.Context, c *card.Edges) error {
	report := progress.Begin(r.tell, progress.Solving, "")
	families, sizes := kinds(), r.sizes
	perKind := len(sizes) * r.Checks
	all := len(families) * perKind
	tallies := make([]tally, all)
	var done atomic.Int64
	err := dense.Each(ctx, all, r.Workers, func(_, k int) (err error) {
		f := families[k/perKind]
		size := sizes[k%perKind/r.Checks]
		f.Dimension = size[0]
		tallies[k], err = r.tally(ctx, f, size[1], k)
		n := done.Add(1)
		report.Report(float64(n)/float64(all), "checking on "+progress.Count(int(n), "table"))
		return err
	})
	if err != nil {
		return err
	}
	var text []string
	for _, s := range sizes {
		text = append(text, fmt.Sprintf("(%d,%d)", s[0], s[1]))
	}
	c.Checked = fmt.Sprintf("%s of each (d,M) of %s, weights U[-1,1), smallest eigenvalue 1, scales exp U(-.5,.5)", progress.Count(r.Checks, "table"), strings.Join(text, " "))
	for k, f := range families {
		c.Families = append(c.Families, figures(f, tallies[k*perKind:(k+1)*perKind]))
	}
	report.Done(progress.Count(all, "table") + " checked")
	return nil
}

// tally draws table k, runs the model on it and counts.
func (r *run) tally(ctx context.Context, f simulate.Family, m, k int) (t tally, err error) {
	rng := r.stream(checkingStream, k)
	e := solver.Example{Samples: m}
	if e.Truth, err = f.Precision(rng); err != nil {
		return t, err
	}
	if e.S, err = simulate.Correlation(ctx, rng, e.Truth, m); err != nil {
		return t, err
	}
	est, err := r.solve(ctx, e.Problem(), true)
	if err != nil {
		return t, err
	}
	threshold := solver.LikelyThreshold(est.Probability, solver.DefaultFDR)
	var positive []bool
	var p, partial, correlation []float64
	for i := range f.Dimension {
		for j := i + 1; j < f.Dimension; j++ {
			v, edge := est.Probability.At(i, j), e.Truth.At(i, j) != 0
			if err := t.reliability.Add(v, edge); err != nil {
				return t, err
			}
			if edge {
				t.edges++
			}
			if v >= threshold {
				t.kept++
				if !edge {
					t.wrong++
				}
			}
			positive = append(positive, edge)
			p = append(p, v)
			partial = append(partial, math.Abs(est.PartialCorrelation(i, j)))
			correlation = append(correlation, math.Abs(e.S.At(i, j)))
		}
	}
	t.aupr, t.partial, t.correlation = math.NaN(), math.NaN(), math.NaN()
	if t.edges == 0 || t.edges == len(p) {
		return t, nil
	}
	for _, s := range []struct {
		scores []float64
		to     *float64
	}{{p, &t.aupr}, {partial, &t.partial}, {correlation, &t.correlation}} {
		ranking, err := metric.Rank(s.scores, positive)
		if err != nil {
			return t, err
		}
		*s.to = ranking.AveragePrecision
	}
	return t, nil
}

// figures sums up the tables of a family.
func figures(f simulate.Family, tallies []tally) card.EdgeFigures {
	name := f.Graph
	if f.Density > 0 {
		name = fmt.Sprintf("%s p=%v", f.Graph, f.Density)
	}
	x := card.EdgeFigures{Family: name, Seen: slices.Contains(simulate.PairsGraphs(), f.Graph), Tables: len(tallies)}
	var ranked, wrong float64
	var all metric.Reliability
	for _, t := range tallies {
		all.Merge(&t.reliability)
		x.Edges += t.edges
		x.Kept += t.kept
		wrong += float64(t.wrong)
		if !math.IsNaN(t.aupr) {
			ranked++
			x.AUPR += t.aupr
			x.AUPRPartial += t.partial
			x.AUPRCorrelation += t.correlation
		}
	}
	x.Pairs = all.Pairs()
	share := float64(x.Edges) / float64(x.Pairs)
	x.Brier, x.Constant = all.Brier(), share*(1-share)
	x.FalseShare = wrong / math.Max(1, float64(x.Kept))
	ranked = math.Max(1, ranked)
	x.AUPR, x.AUPRPartial, x.AUPRCorrelation = x.AUPR/ranked, x.AUPRPartial/ranked, x.AUPRCorrelation/ranked
	for _, b := range all.Bins() {
		if b.Pairs == 0 {
			b.Said, b.Held = 0, 0 // not NaN, which no file holds
		}
		x.Counts, x.Said, x.Held = append(x.Counts, b.Pairs), append(x.Said, b.Said), append(x.Held, b.Held)
	}
	return x
}
