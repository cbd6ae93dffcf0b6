package recovery

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/gladflow/gladflow/arrowio"
	"github.com/gladflow/gladflow/pipelines/job"
	"github.com/gladflow/gladflow/pipelines/progress"
	"github.com/gladflow/gladflow/solver/covariance"
	"github.com/gladflow/gladflow/solver/dense"
	"github.com/gladflow/gladflow/solver/glasso"
	"github.com/gladflow/gladflow/solver/stability"
)

// stabilitySeed draws the halves.
const stabilitySeed = 1

// checkStability refuses too few samples, before a solver starts.
func (r *run) checkStability() error {
	if r.job.Stability == 0 {
		return nil
	}
	if m := r.resampler.Samples(); m < stability.LeastSamples {
		return job.Errorf(r.stabilityField(), "there are %d samples, and a half of fewer than %d says nothing; %d are needed", m, stability.LeastSamples/2, stability.LeastSamples)
	}
	if len(r.table.Names) < 2 {
		return job.Errorf(r.stabilityField(), "there is one variable, and so no pair to select; leave this out")
	}
	return nil
}

// stabilityField is the field of the job that asks for halves.
func (r *run) stabilityField() string {
	if r.asked.Stability == 0 {
		return "false_edges"
	}
	return "stability"
}

// stabilise runs a solver on halves of the samples, notes how often pairs are selected, and
// keeps those that the job's bound of false edges allows. It has a time limit of its own.
func (r *run) stabilise(ctx context.Context, entry solverEntry, found *finding, penalty glasso.Penalty) (*job.StabilityResult, error) {
	if r.job.Stability == 0 {
		return nil, nil
	}
	report := r.stage(progress.Halving, entry.Name)
	h := &halver{run: r, entry: entry, penalty: penalty, byProbability: found.expectedFalse != nil}
	if h.ranks() {
		h.most = mostSelected(h.pairs())
	}
	h.engines = r.halfEngines(entry)
	limited, cancel := r.limit(ctx)
	defer cancel()
	start := time.Now()
	asked := r.job.Stability
	counts, err := stability.Run(limited, stability.Settings{
		Samples: r.resampler.Samples(), Pairs: asked, Edges: h.pairs(), Seed: stabilitySeed, Workers: len(h.engines),
		Done: func(n int) {
			report.Report(float64(n)/float64(asked), fmt.Sprintf("%d of %d pairs of halves", n, asked))
		},
	}, h.choose)
	if ctx.Err() != nil {
		return nil, job.Interrupted(ctx)
	}
	ended := errors.Is(err, context.DeadlineExceeded)
	switch {
	case errors.Is(err, covariance.ErrTooFewTogether):
		return nil, &job.Error{Field: r.stabilityField(), Reason: "half of the samples are too few for what is missing: " + err.Error(), Err: err}
	case errors.Is(err, covariance.ErrTooFewSamples):
		return nil, &job.Error{Field: r.stabilityField(), Reason: "half of the samples are too few for weights or what is regressed out: " + err.Error(), Err: err}
	case err != nil && !ended:
		return nil, err
	}
	out := &job.StabilityResult{
		Pairs: asked, Halves: counts.Halves(), HalfSamples: r.resampler.Samples() / 2, Seed: stabilitySeed, Top: h.most,
		Selected: job.Float(counts.Mean()), Candidates: h.pairs(), TimeLimitReached: ended, Seconds: job.Float(time.Since(start).Seconds()),
	}
	if counts.Halves() == 0 {
		report.Done("no time left")
		if r.job.FalseEdges > 0 {
			return nil, fmt.Errorf("no pair of halves was done within the time limit of %v, and false edges cannot be bounded; raise it", r.job.TimeLimit)
		}
		return out, nil
	}
	r.noteBounds(out, counts)
	found.more = append(found.more, h.columns(found, counts)...)
	if r.job.FalseEdges > 0 {
		r.keepStable(out, found, counts, h)
	}
	report.Done(fmt.Sprintf("%d halves, %.4g pairs selected in the mean", out.Halves, counts.Mean()))
	return out, nil
}

// mostSelected is how many of n pairs of a ranking a half selects: √(0.8·n), with which the
// bound of Meinshausen and Bühlmann is one false pair among those that nine of ten halves
// select.
func mostSelected(n int) int { return max(1, int(math.Sqrt(0.8*float64(n)))) }

// halfEngines are those of the workers: one on a GPU, else as many as the run has threads
// and memory for.
func (r *run) halfEngines(entry solverEntry) []dense.Engine {
	if entry.onGPU && r.place.GPU != nil {
		return []dense.Engine{r.engine}
	}
	engines := []dense.Engine{dense.WithThreads(r.engine, 1)}
	bytes := r.halfMemory(entry)
	for len(engines) < min(dense.Threads(r.engine), r.job.Stability) && r.memory.borrow(bytes) {
		engines = append(engines, dense.WithThreads(r.engine, 1))
	}
	return engines
}

// halfMemory is what a solver takes on a half, in bytes: S, the samples twice, and what is
// selected, at most half of the pairs.
func (r *run) halfMemory(entry solverEntry) int64 {
	d := len(r.table.Names)
	bytes := r.solverMemory(entry, r.configuration(glasso.Penalty{Matrix: r.penalties}, nil)) + 2*matrix(d)
	if r.resampler != nil {
		bytes += 8 * int64(len(r.resampler.Rows))
	}
	return bytes + 4*int64(d)*int64(d)
}

// countsMemory is what counts of every pair take, in bytes.
func (r *run) countsMemory() int64 {
	d := int64(len(r.table.Names))
	if r.regulators != nil {
		return 4 * int64(len(r.regulators)) * d
	}
	return 2 * d * d
}

// noteBounds notes how many pairs are selected often, and how many of them may be false.
func (r *run) noteBounds(out *job.StabilityResult, counts *stability.Counts) {
	bounds := counts.Bounds()
	last := 0
	for _, share := range []float64{0.6, 0.7, 0.8, 0.9, 1} {
		times := int(math.Ceil(share*float64(counts.Halves()) - 1e-9))
		if times == last {
			continue
		}
		last = times
		out.Thresholds = append(out.Thresholds, boundResult(counts, bounds, times))
	}
}

// boundResult is what is known of the pairs that so many halves and more select.
func boundResult(counts *stability.Counts, bounds stability.Bounds, times int) job.BoundResult {
	at := bounds.At(times)
	return job.BoundResult{
		Probability: job.Float(float64(times) / float64(counts.Halves())), Pairs: counts.AtLeast(times),
		WorstCase: job.Float(at.WorstCase), Unimodal: job.Float(at.Unimodal), Concave: job.Float(at.Concave),
	}
}

// keepStable takes away the edges whose bound of false edges is above the job's.
func (r *run) keepStable(out *job.StabilityResult, found *finding, counts *stability.Counts, h *halver) {
	bounds := counts.Bounds()
	least := bounds.Threshold(r.job.FalseEdges)
	if least <= counts.Halves() {
		bound := boundResult(counts, bounds, least)
		out.Kept = &bound
	} else {
		all := bounds.At(counts.Halves())
		r.result.Warnings = append(r.result.Warnings, fmt.Sprintf("%s: no edge is kept, for even those that all %d halves select may have %.3g false ones among them, more than %.4g; ask for more pairs of halves, or a larger penalty or fewer pairs",
			h.entry.Name, counts.Halves(), all.Concave, r.job.FalseEdges))
	}
	if h.entry.marginal {
		r.warn("%s: more than %.4g false edges may be left, for it sees no difference between pairs that are related and pairs that are related through others, which every half selects again and no bound counts; bcd and glad do", h.entry.Name, r.job.FalseEdges)
	}
	found.kept = func(i, j int) bool { return counts.Times(h.number(i, j)) >= least }
	if found.estimate != nil {
		found.estimate.Kept = found.kept
	}
}

// columns are those of the lists.
func (h *halver) columns(found *finding, counts *stability.Counts) []pairColumn {
	sign := func(i, j int) int8 {
		if found.ranking != nil {
			return found.ranking.signOf(i, j, len(h.run.table.Names))
		}
		return signOf(found.estimate.PartialCorrelation(i, j))
	}
	return []pairColumn{
		{arrowio.SelectionProbability, func(i, j int, _ float64) float64 { return counts.Probability(h.number(i, j)) }},
		{arrowio.SignConsistency, func(i, j int, _ float64) float64 { return counts.Consistency(h.number(i, j), sign(i, j)) }},
	}
}

// countKept counts the edges that are left.
func (r *run) countKept(entry solverEntry, found *finding, res *job.SolverResult) {
	if found.ranking != nil {
		res.Edges = r.rankedEdges(entry, found.ranking, found.kept)
	} else {
		res.Edges = found.estimate.Edges()
	}
}
