package recovery

import (
	"context"

	"github.com/gladflow/gladflow/pipelines/job"
	"github.com/gladflow/gladflow/solver/association"
	"github.com/gladflow/gladflow/solver/covariance"
	"github.com/gladflow/gladflow/solver/dense"
)

func expressionEntry() solverEntry {
	return solverEntry{
		SolverInfo: job.SolverInfo{
			Name: "expression", Title: "learned ranking", Ranking: true,
			Description: "ranks pairs by a small network over association scores, trained on simulated gene expression, and gives the probability of an edge under our simulations",
		},
		needsSamples: true, usesSamples: true,
		takesRankingModel: true,
		probability:       true,
		ranks:             func(job.Job) bool { return true },
		memory: func(c solverConfig, d int) int64 { // R, the decomposition, inputs, scores, and neighbours in order
			return c.estimateMemory(d, covariance.NormalScores) + association.MutualInformationMemory(c.samples, d) +
				int64(4+len(c.learned.Inputs)+eigenMatrices)*matrix(d)
		},
		rank: func(ctx context.Context, c rankingConfig) (*ranking, error) {
			d := c.problem.S.Len()
			f, err := c.learned.Features(ctx, c.engine, c.rows, d)
			if err != nil {
				return nil, err
			}
			score, err := c.learned.Apply(ctx, f, dense.Threads(c.engine))
			if err != nil {
				return nil, err
			}
			probability := func(score float64) float64 {
				return c.learned.Probability.Of(score, f.Variables, f.Samples)
			}
			found := undirected(score, f.Correlation)
			found.probability = probability
			return found, nil
		},
	}
}
