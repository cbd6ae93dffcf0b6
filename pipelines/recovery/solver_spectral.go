package recovery

import (
	"context"

	"github.com/gladflow/gladflow/pipelines/job"
	"github.com/gladflow/gladflow/solver/association"
	"github.com/gladflow/gladflow/solver/covariance"
	"github.com/gladflow/gladflow/solver/dense"
)

func spectralEntry() solverEntry {
	return solverEntry{
		SolverInfo: job.SolverInfo{
			Name: "spectral", Title: "spectral score", Ranking: true,
			Description: "ranks pairs by the logarithm of the correlation's spectrum, and by how far they stand out; learns nothing, and mostly ranks best of those that do not",
		},
		usesSamples: true,
		ranks:       func(j job.Job) bool { return j.RankingCorrelation != covariance.Pearson.String() },
		memory: func(c solverConfig, d int) int64 { // the correlation, the decomposition, scores
			return c.estimateMemory(d, covariance.NormalScores) + int64(3+eigenMatrices)*matrix(d)
		},
		work: func(_ solverConfig, t shape) work { return t.eigen().times(2).plus(t.pairs(100)) },
		rank: func(ctx context.Context, c rankingConfig) (*ranking, error) {
			r, err := c.ranked(ctx)
			if err != nil {
				return nil, err
			}
			s := c.scorer()
			spectrum, err := s.Decompose(ctx, r)
			if err != nil {
				return nil, err
			}
			score := dense.NewSym(r.Len(), nil)
			for _, step := range []func() error{
				func() error { return spectrum.Score(ctx, score, association.Logarithm) },
				func() error { return s.Information(ctx, score, score) },
				func() error { return s.CLR(ctx, score, score) },
			} {
				if err := step(); err != nil {
					return nil, err
				}
			}
			return undirected(score, r), nil
		},
	}
}
