package selection_test

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gladflow/gladflow/pipelines/simulate"
	"github.com/gladflow/gladflow/solver/covariance"
	"github.com/gladflow/gladflow/solver/dense"
	"github.com/gladflow/gladflow/solver/internal/published"
	"github.com/gladflow/gladflow/solver/selection"
)

// BenchmarkHeldOut is cross-validation of a table of 100 samples of 50 variables.
func BenchmarkHeldOut(b *testing.B) {
	_, from := simulated(b, 50, 100)
	for b.Loop() {
		if _, err := selection.HeldOut(b.Context(), from, nil, selection.Settings{}); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkStARS is that of 71 samples of 500 variables, simulated, and the 500 most variable
// genes of riboflavin from the folder that GLADFLOW_DATA names.
func BenchmarkStARS(b *testing.B) {
	run := func(b *testing.B, from *covariance.Resampler) {
		var c *selection.Choice
		var err error
		for b.Loop() {
			if c, err = selection.StARS(b.Context(), from, nil, selection.Settings{}); err != nil {
				b.Fatal(err)
			}
		}
		b.ReportMetric(c.Path[c.Chosen].Edges, "edges")
	}
	b.Run("simulated/d=500", func(b *testing.B) {
		_, from := simulated(b, 500, 71)
		run(b, from)
	})
	b.Run("riboflavin/d=500", func(b *testing.B) {
		rows, d := published.Read(b, "riboflavin/riboflavin_71x4088.tsv.gz", 2)
		rows, d = mostVariable(rows, d, 500)
		_, from := resampled(b, rows, d)
		run(b, from)
	})
}

// simulated is a table of a small-world graph.
func simulated(tb testing.TB, d, m int) (*covariance.Result, *covariance.Resampler) {
	tb.Helper()
	rng := rand.New(rand.NewPCG(7, 11))
	theta, err := simulate.Family{Graph: simulate.GraphSmallWorld, Dimension: d, SmallestEigenvalue: 0.3}.Precision(rng)
	if err != nil {
		tb.Fatal(err)
	}
	rows, err := simulate.Samples(tb.Context(), rng, theta, m)
	if err != nil {
		tb.Fatal(err)
	}
	return resampled(tb, rows, d)
}

func resampled(tb testing.TB, rows []float64, d int) (*covariance.Result, *covariance.Resampler) {
	tb.Helper()
	whole, err := covariance.Estimate(tb.Context(), covariance.NewTable(rows, d), d, covariance.Settings{})
	if err != nil {
		tb.Fatal(err)
	}
	return whole, &covariance.Resampler{Rows: rows, D: d, Whole: whole}
}

// mostVariable are the n columns of largest variance.
func mostVariable(rows []float64, d, n int) ([]float64, int) {
	variances := covariance.WeightedVariances(rows, d, nil)
	order := make([]int, d)
	for j := range order {
		order[j] = j
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(variances[b], variances[a]) })
	var some []float64
	for row := range slices.Chunk(rows, d) {
		for _, j := range order[:n] {
			some = append(some, row[j])
		}
	}
	return some, n
}

// best is the fastest linear algebra of this machine.
func best(tb testing.TB) dense.Engine {
	tb.Helper()
	engine, err := dense.Open("auto")
	if err != nil {
		tb.Fatal(err)
	}
	return engine
}
