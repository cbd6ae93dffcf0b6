package training

import (
	"context"
	"math"

	"github.com/gladflow/gladflow/pipelines/metric"
	"github.com/gladflow/gladflow/pipelines/simulate/genes"
	"github.com/gladflow/gladflow/solver/covariance"
	"github.com/gladflow/gladflow/solver/dense"
	"github.com/gladflow/gladflow/solver/glad/train"
)

// regulatedFamily says what regulated draws, for people.
const regulatedFamily = "simulated gene expression: scale-free networks of 120 genes, 30 listed regulators, 40 to 500 samples"

// regulated draws tables of simulated gene expression whose regulators are known, as
// genes.DrawRegulated does: the k-th from PCG(seed, purpose<<32 | k).
func regulated(ctx context.Context, seed int, purpose uint64, n int, engine dense.Engine) ([]train.Regulated, error) {
	tables := make([]train.Regulated, n)
	err := dense.Each(ctx, n, dense.Threads(engine), func(_, k int) error {
		set, err := genes.DrawRegulated(stream(seed, purpose, uint64(k)))
		if err != nil {
			return err
		}
		d := len(set.Names)
		r, err := covariance.Estimate(ctx, covariance.NewTable(set.Values, d), d, covariance.Settings{Engine: engine})
		if err != nil {
			return err
		}
		tables[k] = train.Regulated{R: r.S, Samples: set.Rows, Regulators: set.Regulators, Edge: set.FromRegulators()}
		return nil
	})
	return tables, err
}

// rankingOf is how scores rank the pairs of a table.
func rankingOf(e train.Regulated, scores []float64) (metric.Ranking, error) {
	var ranked []float64
	var edges []bool
	e.Pairs(func(at, _, _ int) { ranked, edges = append(ranked, scores[at]), append(edges, e.Edge[at]) })
	return metric.Rank(ranked, edges)
}

// magnitude is |scores|.
func magnitude(scores []float64) []float64 {
	sizes := make([]float64, len(scores))
	for i, v := range scores {
		sizes[i] = math.Abs(v)
	}
	return sizes
}
