package recovery

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/gladflow/gladflow/pipelines/job"
	"github.com/gladflow/gladflow/pipelines/simulate/genes"
	"github.com/gladflow/gladflow/solver"
	"github.com/gladflow/gladflow/solver/association"
	"github.com/gladflow/gladflow/solver/covariance"
)

// The weights of the classical solvers are those fitted to 20 simulated tables, with the
// block's penalty chosen by ebic.
func TestLassoWeights(t *testing.T) {
	const seed, tables = 1, 20
	labelled := make([]association.Labelled, tables)
	for k := range labelled {
		set, err := genes.DrawRegulated(rand.New(rand.NewPCG(seed, 16<<32|uint64(k))))
		if err != nil {
			t.Fatal(err)
		}
		d := len(set.Names)
		s, err := covariance.Estimate(t.Context(), covariance.NewTable(set.Values, d), d, covariance.Settings{})
		if err != nil {
			t.Fatal(err)
		}
		r := newRun(job.Job{Solvers: []string{"bcd"}, Penalty: ebic}, Host{})
		if err := r.openEngine(t.Context()); err != nil {
			t.Fatal(err)
		}
		block := solver.Problem{S: s.S.Submatrix(set.Regulators), Samples: set.Rows}
		penalty, err := r.choosePenalty(t.Context(), block, penaltyRules())
		if err != nil {
			t.Fatal(err)
		}
		est, err := find("bcd").build(r.configuration(penalty, nil)).Solve(t.Context(), block)
		if err != nil {
			t.Fatal(err)
		}
		b, err := association.Scorer{}.Coefficients(t.Context(), est.Precision, s.S, set.Regulators)
		if err != nil {
			t.Fatal(err)
		}
		labelled[k] = association.Labelled{B: b, R: s.S, Regulators: set.Regulators, Edge: set.FromRegulators()}
	}
	w, err := association.FitWeights(t.Context(), labelled)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%+v", w)
	if math.Abs(w.Correlation-lassoWeights.Correlation) > 0.01 || math.Abs(w.Coefficient-lassoWeights.Coefficient) > 0.01 {
		t.Errorf("the weights are %+v, and these say %+v", lassoWeights, w)
	}
}
