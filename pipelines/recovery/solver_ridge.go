package recovery

import (
	"context"
	"errors"

	"github.com/gladflow/gladflow/pipelines/job"
)

// ridgeShrinkage is the weight of the identity in the regulators' correlation.
const ridgeShrinkage = 0.1

func ridgeEntry() solverEntry {
	return solverEntry{
		SolverInfo: job.SolverInfo{
			Name: "ridge", Title: "ridge regression on the regulators", Ranking: true, NeedsRegulators: true,
			Description: "ranks pairs by the coefficients of every variable's regression on the regulators that --regulators lists",
		},
		memory: func(_ solverConfig, d int) int64 { return 4 * matrix(d) }, // at most, if all are regulators
		work:   func(_ solverConfig, t shape) work { return t.cubes(3) },
		rank: func(ctx context.Context, c rankingConfig) (*ranking, error) {
			r := c.correlation()
			b, definite, err := c.scorer().Ridge(ctx, r, c.regulators, ridgeShrinkage)
			if err != nil {
				return nil, err
			}
			if !definite {
				return nil, errors.New("the correlation of the regulators is not positive semidefinite; check the input")
			}
			score := make([]float64, len(b))
			for i, v := range b {
				score[i] = max(v, -v)
			}
			return &ranking{sources: c.regulators, score: score, sign: b}, nil
		},
	}
}
