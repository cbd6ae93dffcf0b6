package recovery

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strconv"

	"github.com/gladflow/gladflow/pipelines/job"
	"github.com/gladflow/gladflow/pipelines/progress"
	"github.com/gladflow/gladflow/solver/covariance"
	"github.com/gladflow/gladflow/solver/dense"
	"github.com/gladflow/gladflow/solver/selection"
)

// choose chooses the penalty by a rule of package selection and notes it in out. how says in
// words how it was chosen.
func (r *run) choose(ctx context.Context, name string, out *job.PenaltyResult,
	rule func(context.Context, selection.Settings) (*selection.Choice, error), how func(*selection.Choice) string) (float64, error) {
	report := r.stage(progress.Choosing, "")
	limited, cancel := r.limit(ctx)
	defer cancel()
	n := r.job.SelectResamples
	choice, err := rule(limited, selection.Settings{
		Gamma: r.job.SelectGamma, Threshold: r.job.SelectThreshold,
		Subsamples: n, Folds: n, Permutations: n, Seed: uint64(r.job.SelectSeed),
		Diagonal: r.job.PenaliseDiagonal, Gap: math.Max(r.job.Gap, selection.DefaultGap), IterationLimit: r.job.IterationLimit,
		Engine: r.engine, Progress: report.Report,
	})
	out.From, out.Rho = name, job.NaN()
	if choice != nil {
		r.noteChoice(choice, out)
	}
	nothing := new(selection.ErrNothing)
	switch {
	case ctx.Err() != nil:
		return 0, job.Interrupted(ctx)
	case errors.As(err, &nothing):
		return 0, fmt.Errorf("no penalty was solved within the time limit of %v; raise it, or give the penalty as a number", r.job.TimeLimit)
	case errors.Is(err, covariance.ErrTooFewTogether), errors.Is(err, covariance.ErrTooFewSamples):
		return 0, job.Errorf("penalty", "%s estimates from some of the samples, and there %v; choose refit or ebic, which take all", name, err)
	case err != nil && !errors.Is(err, context.DeadlineExceeded):
		return 0, err
	}
	out.TimeLimitReached = err != nil
	out.Rho, out.How = job.Float(choice.Rho), how(choice)
	if out.TimeLimitReached {
		r.warn("the time limit was reached while the penalty was chosen: %s is the choice of what was finished; raise the limit to have all of it", strconv.FormatFloat(choice.Rho, 'g', 4, 64))
	}
	if last := len(choice.Path) - 1; out.Criterion != "" && last > 0 && choice.Chosen == last && !out.TimeLimitReached {
		r.warn("the penalty chosen, %.4g, is the smallest that was tried; one below it may fit better still", choice.Rho)
	}
	report.Done("penalty " + strconv.FormatFloat(choice.Rho, 'g', 4, 64) + ": " + out.How)
	return choice.Rho, nil
}

// noteChoice takes what was tried into the result.
func (r *run) noteChoice(c *selection.Choice, out *job.PenaltyResult) {
	for i, pt := range c.Path {
		point := pathPoint(pt, out)
		point.Chosen = i == c.Chosen
		out.Path = append(out.Path, point)
	}
	out.Resamples, out.ResampleSize = c.Resamples, c.Size
	if c.Best >= 0 && c.Best != c.Chosen && c.Best < len(c.Path) {
		out.Best = pointer(c.Path[c.Best].Penalty)
	}
	for _, v := range c.Permuted {
		out.Permuted = append(out.Permuted, job.Float(v))
	}
	r.result.Penalty = out
}

func pathPoint(p selection.Point, of *job.PenaltyResult) job.PathPoint {
	out := job.PathPoint{
		Penalty:        job.Float(p.Penalty),
		Edges:          job.Float(p.Edges),
		Criterion:      job.Float(p.Criterion),
		CriterionError: job.Float(p.Error),
		LogLikelihood:  job.Float(p.LogLikelihood),
		EBIC:           job.NaN(),
		Resamples:      p.Resamples,
		Status:         p.Status.String(),
		Iterations:     p.Iterations,
		Gap:            job.Float(p.Gap),
		Seconds:        job.Float(p.Elapsed.Seconds()),
	}
	switch of.Criterion {
	case "":
		out.Criterion = job.NaN()
	case ebic:
		out.EBIC = out.Criterion
	}
	return out
}

func threadsOf(c solverConfig) int { return dense.Threads(c.engine) }

// someEdges is a number of edges that is neither few nor many on d variables: for advice.
func someEdges(d int) int { return max(1, min(2*d, d*(d-1)/12)) }

// warnOfGraph says why a graph is empty or joins more than a third of all pairs, and what to
// do about it.
func (r *run) warnOfGraph(entry solverEntry, edges int) {
	d := r.blockLen()
	pairs := d * (d - 1) / 2
	p := r.result.Penalty
	if !entry.takesPenalty || pairs == 0 || p == nil {
		return
	}
	advice := func(other string) string {
		if p.From == "matrix" {
			return "give " + other + " penalties"
		}
		return fmt.Sprintf("give a %s penalty, or a number of edges (penalty edges:%d)", other, someEdges(d))
	}
	chosen := "the penalties of the matrix are"
	if p.From != "matrix" {
		chosen = fmt.Sprintf("the penalty %.4g is", float64(p.Rho))
	}
	_, byRule := PenaltyNamed(p.From)
	switch m := r.result.Input.Samples; {
	case edges == 0 && byRule:
		other := "refit"
		if p.From == refit {
			other = "bic"
		}
		r.warn("%s has no edge: by %s, no penalty fits %d samples of %d variables better than no edge at all; %s, or choose the penalty by %s, and trust single edges little", entry.Name, p.From, m, d, advice("smaller"), other)
	case edges == 0:
		r.warn("%s has no edge: %s above every relation; %s, or have it chosen (leave the penalty out)", entry.Name, chosen, advice("smaller"))
	case 3*edges > pairs && byRule:
		r.warn("%s joins %d of %d pairs, more than a third: by %s so many are needed to explain the samples, as where variables share causes or are few; %s, or choose the penalty by ric", entry.Name, edges, pairs, p.From, advice("larger"))
	case 3*edges > pairs && p.From != "edges":
		r.warn("%s joins %d of %d pairs, more than a third: %s small; %s, or have it chosen (leave the penalty out)", entry.Name, edges, pairs, chosen, advice("larger"))
	case 3*edges > pairs:
		r.warn("%s joins %d of %d pairs, more than a third, as was asked for", entry.Name, edges, pairs)
	}
}
