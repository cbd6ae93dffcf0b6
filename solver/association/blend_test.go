package association_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gladflow/gladflow/solver/association"
	"github.com/gladflow/gladflow/solver/covariance"
)

// drawn is a table whose edges follow from the scores by known weights.
func drawn(t *testing.T, seed uint64, w association.Weights) association.Labelled {
	const d = 60
	rng := rand.New(rand.NewPCG(seed, 3))
	l := association.Labelled{R: correlation(t, samples(40, d, seed), d, covariance.Pearson)}
	for i := range 20 {
		l.Regulators = append(l.Regulators, 3*i)
	}
	l.B = make([]float64, len(l.Regulators)*d)
	for i := range l.B {
		l.B[i] = rng.NormFloat64()
	}
	score := w.Blend(slices.Clone(l.B), l.R, l.Regulators)
	for k, i := range l.Regulators {
		for j := range d {
			chance := 1 / (1 + math.Exp(1.5-score[k*d+j]))
			l.Edge = append(l.Edge, i != j && rng.Float64() < chance)
		}
	}
	return l
}

// Weights are found again from the edges that they have drawn: 20 tables of 1180 pairs
// leave an error of about 0.02.
func TestFitWeights(t *testing.T) {
	want := association.Weights{Correlation: 0.8, Coefficient: 1.2}
	var tables []association.Labelled
	for seed := range uint64(20) {
		tables = append(tables, drawn(t, seed, want))
	}
	got, err := association.FitWeights(t.Context(), tables)
	if err != nil || math.Abs(got.Correlation-want.Correlation) > 0.08 || math.Abs(got.Coefficient-want.Coefficient) > 0.08 {
		t.Errorf("%+v, %v", got, err)
	}
}

// Scores that separate the edges have no finite weights.
func TestFitWeightsOfSeparated(t *testing.T) {
	l := drawn(t, 1, association.Weights{Coefficient: 1})
	score := association.Weights{Coefficient: 1}.Blend(slices.Clone(l.B), l.R, l.Regulators)
	for i := range l.Edge {
		l.Edge[i] = score[i] > 1
	}
	if w, err := association.FitWeights(t.Context(), []association.Labelled{l}); !errors.Is(err, association.ErrNoFit) {
		t.Errorf("%+v, %v", w, err)
	}
}
