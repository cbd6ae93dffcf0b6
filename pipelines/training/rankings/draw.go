package rankings

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync/atomic"

	"github.com/gladflow/gladflow/pipelines/progress"
	"github.com/gladflow/gladflow/pipelines/simulate/genes"
	"github.com/gladflow/gladflow/solver/association"
	"github.com/gladflow/gladflow/solver/association/ranking"
	"github.com/gladflow/gladflow/solver/association/ranking/train"
	"github.com/gladflow/gladflow/solver/dense"
)

// The streams of the random numbers: see Run.
const (
	trainingStream = 1
	fittingStream  = 2
	checkingStream = 3
)

// draw draws the k-th set of a stream; more of what belongs to it may be drawn from
// the generator.
func (r *run) draw(stream uint64, k int) (*genes.Set, *rand.Rand, error) {
	rng := rand.New(rand.NewPCG(uint64(r.Seed), stream<<32|uint64(k)))
	draw := genes.DrawMixture
	if r.Regulators {
		draw = genes.DrawListed
	}
	s, err := draw(rng)
	return s, rng, err
}

// features are those of a set. The engine is pure Go, so that results depend on no
// library.
func (r *run) features(ctx context.Context, s *genes.Set) (*ranking.Features, error) {
	var regulators []int
	if r.Regulators {
		regulators = s.Regulators
	}
	return ranking.Compute(ctx, dense.Gonum{}, s.Values, len(s.Names), regulators, r.inputs(), r.contexts())
}

// A pair is two genes, the first below the second, or a regulator and another gene.
type pair struct{ i, j int }

// pairsOf are the pairs of a set that count, edges apart from the others.
func (r *run) pairsOf(s *genes.Set) (edges, others []pair) {
	if r.Regulators {
		return directedPairs(s)
	}
	d := len(s.Names)
	edge := make([]bool, d*d)
	for _, e := range s.Edges {
		edge[min(e.Source, e.Target)*d+max(e.Source, e.Target)] = true
	}
	for i := range d - s.Background {
		for j := i + 1; j < d-s.Background; j++ {
			if edge[i*d+j] {
				edges = append(edges, pair{i, j})
			} else {
				others = append(others, pair{i, j})
			}
		}
	}
	return edges, others
}

// directedPairs are those from a regulator.
func directedPairs(s *genes.Set) (edges, others []pair) {
	d := len(s.Names)
	edge := s.FromRegulators()
	for k, i := range s.Regulators {
		for j := range d - s.Background {
			switch {
			case edge[k*d+j]:
				edges = append(edges, pair{i, j})
			case j != i:
				others = append(others, pair{i, j})
			}
		}
	}
	return edges, others
}

// some are at most n of all, drawn without replacement.
func some(rng *rand.Rand, all []pair, n int) []pair {
	rng.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	return all[:min(n, len(all))]
}

// examples draws the tables to learn from.
func (r *run) examples(ctx context.Context) ([]train.Table, error) {
	tables := make([]train.Table, r.Networks)
	err := r.each(ctx, r.Networks, "", func(k int) error {
		s, rng, err := r.draw(trainingStream, k)
		if err != nil {
			return err
		}
		f, err := r.features(ctx, s)
		if err != nil {
			return fmt.Errorf("%s, %d×%d: %w", s.Family, s.Rows, len(s.Names), err)
		}
		edges, others := r.pairsOf(s)
		edges, others = some(rng, edges, r.Edges), some(rng, others, r.Others)
		t := train.Table{Inputs: make([]float64, 0, (len(edges)+len(others))*r.width)}
		for n, p := range append(edges, others...) {
			t.Inputs = append(f.Append(t.Inputs, p.i, p.j, bound), f.Context...)
			t.Edge = append(t.Edge, n < len(edges))
		}
		tables[k] = t
		return nil
	})
	return tables, err
}

// A scored is a set that the model has scored.
type scored struct {
	train.Scored
	family string
	// spectral are the scores of the solver spectral.
	spectral []float64
	// blend are the sums of z(|R|) and z(|B|), see ridge; nil without regulators.
	blend []float64
}

// scored draws sets of a stream and scores all pairs of them that count.
func (r *run) scored(ctx context.Context, m *ranking.Model, stream uint64, n int) ([]scored, error) {
	sets := make([]scored, n)
	purpose := map[uint64]string{fittingStream: " to fit probabilities", checkingStream: " to check them"}[stream]
	err := r.each(ctx, n, purpose, func(k int) error {
		s, _, err := r.draw(stream, k)
		if err != nil {
			return err
		}
		f, err := r.features(ctx, s)
		if err != nil {
			return err
		}
		score, blend, err := scorers(ctx, m, f)
		if err != nil {
			return err
		}
		edges, others := r.pairsOf(s)
		t := scored{family: s.Family, Scored: train.Scored{Variables: f.Candidates(), Samples: f.Samples}}
		spectral := f.Of(ranking.LogarithmCLR)
		for n, p := range append(edges, others...) {
			t.Scores = append(t.Scores, score(p.i, p.j))
			t.Edge = append(t.Edge, n < len(edges))
			t.spectral = append(t.spectral, spectral.At(p.i, p.j))
			if blend != nil {
				t.blend = append(t.blend, blend(p.i, p.j))
			}
		}
		sets[k] = t
		return nil
	})
	return sets, err
}

// scorers are the score of m of a pair, and where regulators are known that of the sum of
// z(|R|) and z(|B|), B being the coefficients of ridge regressions as the model sees them.
func scorers(ctx context.Context, m *ranking.Model, f *ranking.Features) (score, blend func(i, j int) float64, err error) {
	if !m.Directed() {
		scores, err := m.Apply(ctx, f, 1)
		if err != nil {
			return nil, nil, err
		}
		return scores.At, nil, nil
	}
	scores, err := m.ApplyDirected(ctx, f, 1)
	if err != nil {
		return nil, nil, err
	}
	r := association.FromRegulators(f.Correlation, f.Regulators)
	association.StandardiseDirected(r, f.Regulators, f.Variables)
	at := make([]int, f.Variables)
	for k, i := range f.Regulators {
		at[i] = k * f.Variables
	}
	score = func(i, j int) float64 { return scores[at[i]+j] }
	blend = func(i, j int) float64 { return r[at[i]+j] + f.OfRegulators(ranking.Coefficient)[at[i]+j] }
	return score, blend, nil
}

// each calls f for 0 ≤ k < n on all workers and reports progress.
func (r *run) each(ctx context.Context, n int, purpose string, f func(k int) error) error {
	report := progress.Begin(r.tell, progress.Simulating, "")
	var done atomic.Int64
	err := dense.Each(ctx, n, r.workers(), func(_, k int) error {
		if err := f(k); err != nil {
			return err
		}
		now := done.Add(1)
		report.Report(float64(now)/float64(n), fmt.Sprintf("%d of %d networks%s", now, n, purpose))
		return nil
	})
	if err == nil {
		report.Done(progress.Count(n, "network") + purpose)
	}
	return err
}
