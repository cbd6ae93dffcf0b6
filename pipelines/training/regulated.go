package training

import (
	"context"
	"math/rand/v2"

	"github.com/gladflow/gladflow/pipelines/metric"
	"github.com/gladflow/gladflow/pipelines/simulate/genes"
	"github.com/gladflow/gladflow/solver/association"
	"github.com/gladflow/gladflow/solver/covariance"
	"github.com/gladflow/gladflow/solver/dense"
	"github.com/gladflow/gladflow/solver/glad"
	"github.com/gladflow/gladflow/solver/glad/train"
)

// regulated draws tables of simulated expression whose regulators are known, the k-th from
// PCG(seed, stream<<32 | k), as genes.DrawRegulated draws them.
func regulated(ctx context.Context, seed, stream uint64, n int, engine dense.Engine) ([]train.Regulated, error) {
	tables := make([]train.Regulated, n)
	err := dense.Each(ctx, n, dense.Threads(engine), func(_, k int) error {
		set, err := genes.DrawRegulated(rand.New(rand.NewPCG(seed, stream<<32|uint64(k))))
		if err != nil {
			return err
		}
		d := len(set.Names)
		r, err := covariance.Estimate(ctx, covariance.NewTable(set.Values, d), d, covariance.Settings{Engine: engine})
		if err != nil {
			return err
		}
		e := train.Regulated{R: r.S, Samples: set.Rows, Regulators: set.Regulators, Edge: make([]bool, len(set.Regulators)*d)}
		number := make(map[int]int)
		for k, i := range set.Regulators {
			number[i] = k
		}
		for _, edge := range set.Edges {
			e.Edge[number[edge.Source]*d+edge.Target] = true
		}
		tables[k] = e
		return nil
	})
	return tables, err
}

// averagePrecision is that of the pairs of a regulator and another variable by |score|.
func averagePrecision(e train.Regulated, score []float64) (auroc, precision float64, err error) {
	d := e.R.Len()
	var scores []float64
	var edges []bool
	for k, i := range e.Regulators {
		for j := range d {
			if j != i {
				v := score[k*d+j]
				scores, edges = append(scores, max(v, -v)), append(edges, e.Edge[k*d+j])
			}
		}
	}
	ranking, err := metric.Rank(scores, edges)
	return ranking.AUROC, ranking.AveragePrecision, err
}

// coefficients are B of a table by a model.
func coefficients(ctx context.Context, m *glad.Model, e train.Regulated, engine dense.Engine) ([]float64, error) {
	est, err := glad.Solver{Model: m, Backend: glad.CPU{Engine: engine}}.Solve(ctx, e.Problem())
	if err != nil {
		return nil, err
	}
	return association.Scorer{Engine: engine}.Coefficients(ctx, est.Precision, e.R, e.Regulators)
}
