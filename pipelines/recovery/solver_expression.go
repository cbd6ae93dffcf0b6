package recovery

import (
	"context"

	"github.com/gladflow/gladflow/pipelines/job"
	"github.com/gladflow/gladflow/solver/association"
	learned "github.com/gladflow/gladflow/solver/association/ranking"
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
				int64(4+len(c.learned.Inputs)+eigenMatrices)*matrix(d) + regressionMemory(c.learned, d)
		},
		work: func(_ solverConfig, t shape) work { return t.eigen().times(4).plus(t.pairs(20*t.m + 3000)) },
		rank: func(ctx context.Context, c rankingConfig) (*ranking, error) {
			d := c.problem.S.Len()
			var regulators []int
			if c.learned.Directed() {
				regulators = c.regulators
			}
			f, err := c.learned.Features(ctx, c.engine, c.rows, d, regulators)
			if err != nil {
				return nil, err
			}
			found, err := rankLearned(ctx, c.learned, f, dense.Threads(c.engine))
			if err != nil {
				return nil, err
			}
			found.probability = func(score float64) float64 {
				return c.learned.Probability.Of(score, f.Candidates(), f.Samples)
			}
			return found, nil
		},
	}
}

// rankLearned is the ranking of the pairs that m is for.
func rankLearned(ctx context.Context, m *learned.Model, f *learned.Features, threads int) (*ranking, error) {
	if !m.Directed() {
		score, err := m.Apply(ctx, f, threads)
		if err != nil {
			return nil, err
		}
		return undirected(score, f.Correlation), nil
	}
	score, err := m.ApplyDirected(ctx, f, threads)
	if err != nil {
		return nil, err
	}
	return &ranking{sources: f.Regulators, score: score, sign: association.FromRegulators(f.Correlation, f.Regulators)}, nil
}

// regressionMemory is what a model takes besides for the regressions on the regulators: at
// most, if all variables are such, their correlation and its inverse, what is multiplied,
// the coefficients and the scores.
func regressionMemory(m *learned.Model, d int) int64 {
	if !m.Directed() {
		return 0
	}
	return 5 * matrix(d)
}
