package experiment

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/gladflow/gladflow/pipelines/metric"
	"github.com/gladflow/gladflow/pipelines/report"
	"github.com/gladflow/gladflow/pipelines/simulate"
	tables "github.com/gladflow/gladflow/pipelines/table"
	"github.com/gladflow/gladflow/pipelines/tune"
	"github.com/gladflow/gladflow/solver"
	"github.com/gladflow/gladflow/solver/association"
	"github.com/gladflow/gladflow/solver/covariance"
	"github.com/gladflow/gladflow/solver/dense"
)

func correlationChoice() Experiment {
	return Experiment{
		Name:  "correlation",
		Title: "Pearson's correlation or that of normal scores, on tables with heavy tails and outliers",
		Run:   runCorrelation,
	}
}

// A distortion is what has happened to Gaussian samples.
type distortion struct {
	name string
	of   func(rng *rand.Rand, rows []float64, d int)
}

func distortions() []distortion {
	each := func(f func(v float64) float64) func(*rand.Rand, []float64, int) {
		return func(_ *rand.Rand, rows []float64, _ int) {
			for i, v := range rows {
				rows[i] = f(v)
			}
		}
	}
	student := func(degrees int) func(*rand.Rand, []float64, int) {
		return func(rng *rand.Rand, rows []float64, d int) {
			for row := range slices.Chunk(rows, d) {
				var square float64
				for range degrees {
					z := rng.NormFloat64()
					square += z * z
				}
				for j := range row {
					row[j] /= math.Sqrt(square / float64(degrees))
				}
			}
		}
	}
	return []distortion{
		{"none", each(func(v float64) float64 { return v })},
		{"t, 10 degrees of freedom", student(10)},
		{"t, 5 degrees of freedom", student(5)},
		{"t, 3 degrees of freedom", student(3)},
		{"uniform", each(func(v float64) float64 { return math.Erf(v / math.Sqrt2) })},
		{"exponential", each(math.Exp)},
		{"cube", each(func(v float64) float64 { return v * v * v })},
		{"4 rows 8 times as large", func(_ *rand.Rand, rows []float64, d int) {
			for i := range 4 * d {
				rows[i] *= 8
			}
		}},
		{"1 % of cells 15 deviations off", func(rng *rand.Rand, rows []float64, _ int) {
			for i := range rows {
				if rng.IntN(100) == 0 {
					rows[i] += 15 * float64(2*rng.IntN(2)-1)
				}
			}
		}},
	}
}

// The shrinkage of the partial correlations that pairs are ranked by: one for all, so that
// nothing but the correlation differs.
const rankedShrinkage = 0.3

// tried is what one table shows: average precision by Pearson, by normal scores and by
// what auto takes.
type tried struct {
	pearson, scores, auto float64
	heavy                 float64 // share of the variables
	ranks                 bool    // what auto takes
}

func runCorrelation(ctx context.Context, r *Run) (*Report, error) {
	const d = 50
	n := choose(r, 24, 4)
	sizes := choose(r, []int{40, 100, 500}, []int{100})
	family := simulate.Family{Graph: simulate.GraphErdosRenyi, Dimension: d, Density: 3.0 / d, SmallestEigenvalue: 0.3}
	graphs := r.random("correlation graphs", family.String())
	cases := make([]solver.Example, n)
	for i := range cases {
		var err error
		if cases[i].Truth, err = family.Precision(graphs); err != nil {
			return nil, err
		}
	}
	t := newTable("distortion", "samples", "pearson", "normal_scores", "auto", "gain", "gain_error", "auto_gain", "auto_gain_error", "heavy_share", "auto_ranks")
	main := [][]string{{"samples are", "M", "Pearson", "normal scores", "gain", "auto", "gain of auto", "heavy tails", "auto takes ranks"}}
	f := report.Figure{Title: "Average precision by the correlation", Columns: len(sizes)}
	for i, m := range sizes {
		panel := report.Bars{Title: fmt.Sprintf("M = %d", m), Y: "average precision", Low: 0, High: 1}
		for k, c := range distortions() {
			r.at((float64(i)+float64(k)/float64(len(distortions())))/float64(len(sizes)), "M=%d, %s", m, c.name)
			results, err := tune.Each(ctx, cases, r.Workers, func(k int, e solver.Example) (tried, error) {
				return r.tryCorrelations(ctx, e.Truth, m, c, r.random("correlation samples", fmt.Sprintf("%s, M=%d, graph %d", c.name, m, k)))
			})
			if err != nil {
				return nil, err
			}
			var pearson, scores, auto, gain, autoGain, share []float64
			ranks := 0
			for _, v := range results {
				pearson, scores, auto = append(pearson, v.pearson), append(scores, v.scores), append(auto, v.auto)
				gain, autoGain, share = append(gain, v.scores-v.pearson), append(autoGain, v.auto-v.pearson), append(share, v.heavy)
				if v.ranks {
					ranks++
				}
			}
			p, _ := metric.MeanAndError(pearson)
			s, _ := metric.MeanAndError(scores)
			a, _ := metric.MeanAndError(auto)
			g, ge := metric.MeanAndError(gain)
			ag, age := metric.MeanAndError(autoGain)
			h, _ := metric.MeanAndError(share)
			t.add(c.name, m, p, s, a, g, ge, ag, age, h, ranks)
			main = append(main, []string{
				c.name, fmt.Sprint(m), fmt.Sprintf("%.3f", p), fmt.Sprintf("%.3f", s), signed(g, ge), fmt.Sprintf("%.3f", a), signed(ag, age),
				fmt.Sprintf("%.0f %%", 100*h), fmt.Sprintf("%d of %d", ranks, n),
			})
			panel.Groups = append(panel.Groups, c.name)
			appendBar(&panel, "Pearson", p, math.NaN())
			appendBar(&panel, "normal scores", s, math.NaN())
			appendBar(&panel, "auto", a, math.NaN())
		}
		f.Panels = append(f.Panels, panel)
	}
	return &Report{
		Setting: fmt.Sprintf("er graphs of %d variables with 3 neighbours, smallest eigenvalue 0.3, %d of each; pairs ranked by partial correlations of the correlation shrunk by %v; population: all pairs", d, n, rankedShrinkage),
		Columns: t.done(), Figure: f, Main: main,
		Paragraph: fmt.Sprintf("`--correlation auto` takes normal scores where at least %.0f %% of the variables have a kurtosis above %d. Gains are over Pearson's correlation, paired by graph. What ranks cost on Gaussian samples is little beside what they gain where cells are wrong or variables are skewed.",
			100*tables.HeavyShare, tables.Heavy),
	}, nil
}

// signed is a difference of average precision with its standard error.
func signed(v, se float64) string {
	sign := "+"
	if v < 0 {
		sign = "−"
	}
	return fmt.Sprintf("%s%.3f ± %.3f", sign, math.Abs(v), se)
}

// tryCorrelations draws samples, distorts them and ranks by each correlation.
func (r *Run) tryCorrelations(ctx context.Context, truth *dense.Sym, m int, c distortion, rng *rand.Rand) (tried, error) {
	d := truth.Len()
	standard, err := simulate.Standardize(truth)
	if err != nil {
		return tried{}, err
	}
	rows, err := simulate.Samples(ctx, rng, standard, m)
	if err != nil {
		return tried{}, err
	}
	c.of(rng, rows, d)
	method, heavy := tables.AutoCorrelation(rows, d)
	v := tried{heavy: float64(heavy) / float64(d), ranks: method == covariance.NormalScores}
	for _, of := range []struct {
		method covariance.Method
		to     *float64
	}{{covariance.Pearson, &v.pearson}, {covariance.NormalScores, &v.scores}} {
		estimated, err := covariance.Estimate(ctx, covariance.NewTable(slices.Clone(rows), d), d, covariance.Settings{Method: of.method, Engine: r.Engine})
		if err != nil {
			return tried{}, err
		}
		score := dense.NewSym(d, nil)
		if _, err := (association.Scorer{Engine: r.Engine}).PartialCorrelation(ctx, score, estimated.S, rankedShrinkage); err != nil {
			return tried{}, err
		}
		rank, err := rankOf(score, truth)
		if err != nil {
			return tried{}, err
		}
		if *of.to = rank.AveragePrecision; method == of.method {
			v.auto = rank.AveragePrecision
		}
	}
	return v, nil
}
