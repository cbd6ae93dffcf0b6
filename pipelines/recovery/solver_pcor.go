package recovery

import (
	"context"
	"errors"

	"github.com/gladflow/gladflow/pipelines/job"
	"github.com/gladflow/gladflow/solver/dense"
)

// pcorShrinkage is the weight of the identity. It is that of the spectral score pc;
// E. coli's figures change little from 0.2 to 0.95.
const pcorShrinkage = 0.5

func pcorEntry() solverEntry {
	return solverEntry{
		SolverInfo: job.SolverInfo{
			Name: "pcor", Title: "shrunk partial correlation", Ranking: true,
			Description: "ranks pairs by the partial correlation of (R + I)/2: direct influences before indirect ones, at any number of samples",
		},
		memory: func(_ solverConfig, d int) int64 { return 4 * matrix(d) }, // scores, signs, the factor and what is multiplied
		work:   func(_ solverConfig, t shape) work { return t.cubes(3) },
		rank: func(ctx context.Context, c rankingConfig) (*ranking, error) {
			r := c.correlation()
			score := dense.NewSym(r.Len(), nil)
			definite, err := c.scorer().PartialCorrelation(ctx, score, r, pcorShrinkage)
			if err == nil && !definite {
				err = errors.New("the correlation is not positive semidefinite; check the input")
			}
			return undirected(score, r), err
		},
	}
}
