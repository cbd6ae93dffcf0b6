package recovery

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/gladflow/gladflow/pipelines/job"
	"github.com/gladflow/gladflow/solver"
	"github.com/gladflow/gladflow/solver/glad"
)

// checkEdgeHead refuses what only a model with an edge head can do, and takes the head away
// where regulators are known: edges then start at regulators, of which it knows nothing.
func (r *run) checkEdgeHead() error {
	if r.model == nil {
		return nil
	}
	why := "the model " + r.model.Name + " gives no probability of an edge; leave this out, or take a model that does, see gladflow models"
	if r.job.Regulators != "" {
		r.model.Edge, r.model.EdgeRange = glad.Network{}, nil
		why = "where regulators are known, edges have no probability; leave this out"
	}
	if r.model.HasEdgeHead() {
		return nil
	}
	if r.job.FDR != 0 {
		return job.Errorf("fdr", "%s", why)
	}
	if r.job.Score == job.ScoreProbability {
		return job.Errorf("score", "%s", why)
	}
	return nil
}

// likely makes the support of an estimate by the probabilities of edges, where the solver's
// model gives them. It is not within the solver's time limit: those of an iterate that was
// interrupted are computed too.
func (r *run) likely(ctx context.Context, entry solverEntry, p solver.Problem, found *finding) (err error) {
	est := found.estimate
	if est == nil || !entry.takesModel || !r.model.HasEdgeHead() {
		return nil
	}
	if est.Probability == nil {
		var familiar bool
		if est.Probability, familiar, err = r.model.EdgeProbability(ctx, r.engine, p, est.Precision, est.Support); err != nil {
			return err
		}
		est.Unfamiliar = !familiar
	}
	found.probability, found.score = est.Probability, r.job.Score
	if est.Unfamiliar {
		r.warnOfUnfamiliar()
	}
	if found.score == "" {
		found.score = job.ScoreProbability
		if est.Unfamiliar {
			found.score = job.ScorePartialCorrelation
		}
	}
	if !est.Unfamiliar || r.job.FDR != 0 || r.job.Score == job.ScoreProbability {
		_, expected := est.KeepLikely(r.fdr())
		share := job.Float(expected)
		found.expectedFalse = &share
	}
	est.Unfamiliar = found.score == job.ScorePartialCorrelation // what Score goes by
	return nil
}

// warnOfUnfamiliar says that probabilities of edges may be far off.
func (r *run) warnOfUnfamiliar() {
	text := "the table is unlike the simulated ones that glad's probabilities of edges were fitted to, and they may be far off"
	switch {
	case r.job.Score == job.ScoreProbability:
	case r.job.FDR != 0:
		text += "; edges are ranked by partial correlation"
	default:
		text += "; edges are ranked by partial correlation and kept by the model's threshold, unless --score probability says otherwise"
	}
	r.result.Warnings = append(r.result.Warnings, text)
}

// warnOfLikely says why GLAD's graph is empty or joins more than a third of all pairs, and
// what to do.
func (r *run) warnOfLikely(entry solverEntry, found *finding, edges int) {
	d := r.blockLen()
	pairs := d * (d - 1) / 2
	if !entry.takesModel || r.regulators != nil || pairs == 0 {
		return
	}
	list := fmt.Sprintf("list the strongest pairs (edges top:%d)", someEdges(d))
	switch {
	case edges == 0 && found.expectedFalse != nil:
		most := 0.0
		for i := range d {
			most = math.Max(most, slices.Max(found.probability.Row(i)))
		}
		r.warn("%s has no edge: the likeliest pair has a probability of %.2g, and of the pairs kept a share of %v may be false; raise fdr, or %s and trust single ones little", entry.Name, most, r.fdr(), list)
	case edges == 0:
		r.warn("%s has no edge: all entries of its matrix are below the threshold of the model %s; %s, or take another model", entry.Name, r.model.Name, list)
	case 3*edges > pairs && found.expectedFalse != nil:
		r.warn("%s joins %d of %d pairs, more than a third: so many are likely; lower fdr, or %s", entry.Name, edges, pairs, list)
	case 3*edges > pairs:
		r.warn("%s joins %d of %d pairs, more than a third: it estimates every entry, however small; %s", entry.Name, edges, pairs, list)
	}
}

// fdr is the expected share of false edges that the job bounds.
func (r *run) fdr() float64 { return cmp.Or(r.job.FDR, solver.DefaultFDR) }

// givesProbabilities says whether GLAD's list of edges has probabilities.
func givesProbabilities(j job.Job) bool {
	m, err := OpenModel("model", Resolved(j).Model, nil)
	return err == nil && m.HasEdgeHead()
}
