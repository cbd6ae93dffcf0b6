package recovery

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/gladflow/gladflow/arrowio"
	"github.com/gladflow/gladflow/pipelines/job"
	"github.com/gladflow/gladflow/pipelines/table"
	"github.com/gladflow/gladflow/solver"
	"github.com/gladflow/gladflow/solver/association"
)

// openRegulators finds the regulators of the job among the variables.
func (r *run) openRegulators(ctx context.Context) error {
	path := r.job.Regulators
	if path == "" {
		return nil
	}
	const field = "regulators"
	list, err := arrowio.ReadNames(ctx, path, r.host.Lists())
	if err != nil {
		return table.FieldError(field, err)
	}
	listed := table.Positions(list.Names)
	for i, name := range r.table.Names {
		if _, ok := listed[name]; ok {
			r.regulators = append(r.regulators, i)
		}
	}
	found := len(r.regulators)
	r.result.Regulators = &job.RegulatorsResult{Path: arrowio.Redacted(path), SHA256: list.SHA256, Listed: len(list.Names), Found: found}
	if found == 0 {
		return job.Errorf(field, "%s: none of its %d names is a variable of the table; check that both use the same identifiers", arrowio.Redacted(path), len(list.Names))
	}
	if missing := len(list.Names) - found; missing > 0 {
		r.result.Warnings = append(r.result.Warnings, fmt.Sprintf("%d of the %d regulators listed are no variables of the table, and were left out", missing, len(list.Names)))
	}
	return nil
}

// block is the problem that solvers with a precision matrix are given: that of the
// regulators, where they are known.
func (r *run) block(p solver.Problem) solver.Problem {
	if r.regulators == nil {
		return p
	}
	return solver.Problem{S: p.S.Submatrix(r.regulators), Samples: p.Samples}
}

// blockLen is the number of variables in it.
func (r *run) blockLen() int {
	if r.regulators == nil {
		return len(r.table.Names)
	}
	return len(r.regulators)
}

// ofBlock are the elements of all that belong to its variables.
func ofBlock[T any](r *run, all []T) []T {
	if r.regulators == nil {
		return all
	}
	some := make([]T, len(r.regulators))
	for k, i := range r.regulators {
		some[k] = all[i]
	}
	return some
}

func (r *run) blockNames() []string       { return ofBlock(r, r.table.Names) }
func (r *run) blockDeviations() []float64 { return ofBlock(r, r.result.StandardDeviations) }

// regulate ranks the pairs of a regulator and another variable by the precision matrix of
// the regulators: Θ gives the coefficients B of every variable's regression on the
// regulators, and the score is w1·z(|R|) + w2·z(|B|), z being standardised over all pairs.
func (r *run) regulate(ctx context.Context, entry solverEntry, est *solver.Estimate, c rankingConfig) (*ranking, error) {
	correlation := c.correlation()
	theta := est.Precision
	if !r.table.Standardised() {
		theta = theta.Clone()
		for k, i := range r.regulators {
			for l := range k + 1 {
				theta.Set(k, l, theta.At(k, l)*math.Sqrt(c.problem.S.At(i, i))*math.Sqrt(c.problem.S.At(r.regulators[l], r.regulators[l])))
			}
		}
	}
	b, err := c.scorer().Coefficients(ctx, theta, correlation, r.regulators)
	if err != nil {
		return nil, err
	}
	sign := slices.Clone(b)
	score := entry.weights(c.solverConfig).Blend(b, correlation, r.regulators)
	return &ranking{sources: r.regulators, score: score, sign: sign}, nil
}

// lassoWeights are those of |R| and |B| in the scores of the classical solvers where
// regulators are known. Simulated tables of gene expression are what they were fitted to,
// with the penalty that ebic chooses: TestLassoWeights.
var lassoWeights = association.Weights{Correlation: 1.04, Coefficient: 0.94}

// weights are those of a solver: GLAD's are the model's, or equal if it was not trained on
// regulators.
func (s solverEntry) weights(c solverConfig) association.Weights {
	switch {
	case !s.takesModel:
		return lassoWeights
	case c.model.Regulators != nil:
		return *c.model.Regulators
	}
	return association.Weights{Correlation: 1, Coefficient: 1}
}
