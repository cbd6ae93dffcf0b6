package recovery

import (
	"context"

	"github.com/gladflow/gladflow/pipelines/job"
	"github.com/gladflow/gladflow/solver/association"
)

func clrEntry() solverEntry {
	return solverEntry{
		SolverInfo: job.SolverInfo{
			Name: "clr", Title: "context likelihood of relatedness", Ranking: true,
			Description: "ranks pairs by how far their mutual information stands out among that of either variable",
		},
		needsSamples: true,
		usesSamples:  true,
		ranks:        func(job.Job) bool { return true },
		marginal:     true,
		memory: func(c solverConfig, d int) int64 {
			return association.MutualInformationMemory(c.samples, d) + 2*matrix(d)
		},
		work: func(_ solverConfig, t shape) work { return t.pairs(20 * t.m) },
		rank: func(ctx context.Context, c rankingConfig) (*ranking, error) {
			score, err := c.scorer().MutualInformation(ctx, c.rows, c.problem.S.Len())
			if err != nil {
				return nil, err
			}
			return undirected(score, c.correlation()), c.scorer().CLR(ctx, score, score)
		},
	}
}
