package recovery

import (
	"context"

	"github.com/gladflow/gladflow/pipelines/job"
)

func correlationEntry() solverEntry {
	return solverEntry{
		SolverInfo: job.SolverInfo{
			Name: "correlation", Title: "absolute correlation", Ranking: true,
			Description: "ranks pairs by |r|, of whatever --correlation says; what every other ranking is compared with",
		},
		marginal: true,
		memory:   func(_ solverConfig, d int) int64 { return 2 * matrix(d) }, // scores and signs
		work:     func(_ solverConfig, t shape) work { return t.pairs(10) },
		rank: func(_ context.Context, c rankingConfig) (*ranking, error) {
			r := c.correlation()
			return undirected(absolute(r), r), nil
		},
	}
}
