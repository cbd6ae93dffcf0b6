package recovery

import (
	"context"

	"github.com/gladflow/gladflow/pipelines/job"
	"github.com/gladflow/gladflow/solver/covariance"
)

func spearmanEntry() solverEntry {
	return solverEntry{
		SolverInfo: job.SolverInfo{
			Name: "spearman", Title: "absolute rank correlation", Ranking: true,
			Description: "ranks pairs by Spearman's |r|; sees monotone dependence, whatever the scale",
		},
		needsSamples: true,
		usesSamples:  true,
		ranks:        func(job.Job) bool { return true },
		marginal:     true,
		memory: func(c solverConfig, d int) int64 {
			return c.estimateMemory(d, covariance.Spearman) + matrix(d)
		},
		work: func(_ solverConfig, t shape) work { return work{products: t.m * t.d * t.d}.plus(t.pairs(10)) },
		rank: func(ctx context.Context, c rankingConfig) (*ranking, error) {
			r, err := c.estimate(ctx, covariance.Spearman)
			if err != nil {
				return nil, err
			}
			return undirected(absolute(r), r), nil
		},
	}
}

// estimateMemory is what it takes to estimate a correlation of the samples, the result
// among it.
func (c solverConfig) estimateMemory(d int, m covariance.Method) int64 {
	return covariance.Memory(d) + int64(c.samples)*covariance.SampleMemory(d, covariance.Settings{Method: m})
}
