package recovery

import (
	"cmp"
	"context"
	"fmt"
	"math"

	"github.com/gladflow/gladflow/pipelines/job"
	"github.com/gladflow/gladflow/solver"
	"github.com/gladflow/gladflow/solver/selection"
)

// Names of rules that choose the penalty.
const (
	refit = "refit"
	ebic  = "ebic"
	bic   = "bic"
	cv    = "cv"
	stars = "stars"
	ric   = "ric"
)

// EBIC is the rule by which benchmarks choose, which have no use for any other: they rank
// pairs, and compare with what was published.
const EBIC = ebic

// gammaRules are those that job.Job's select_gamma is about, resampleRules those of
// select_resamples and select_seed.
func gammaRules() []string    { return []string{refit, ebic} }
func resampleRules() []string { return []string{stars, cv, ric} }

func refitRule() penaltyRule {
	return penaltyRule{
		PenaltyInfo: PenaltyInfo{Name: refit, Title: "the extended BIC of the graph fitted again"},
		choose: func(ctx context.Context, r *run, p solver.Problem) (float64, error) {
			gamma := cmp.Or(r.job.SelectGamma, selection.DefaultRefitGamma)
			return r.choose(ctx, refit, &job.PenaltyResult{Criterion: ebic, Gamma: pointer(gamma)}, func(ctx context.Context, s selection.Settings) (*selection.Choice, error) {
				return selection.Refit(ctx, p, s)
			}, func(c *selection.Choice) string {
				return fmt.Sprintf("the least extended BIC (γ = %.3g) of the graphs of %d penalties, each fitted again", gamma, len(c.Path))
			})
		},
		memory:     pathMemory,
		work:       func(t shape) work { return t.path(t.few(6)) },
		neighbours: func(t shape) float64 { return t.few(6) },
	}
}

func ebicRule() penaltyRule {
	return penaltyRule{
		PenaltyInfo: PenaltyInfo{Name: ebic, Title: "the extended BIC"},
		choose: func(ctx context.Context, r *run, p solver.Problem) (float64, error) {
			gamma := cmp.Or(r.job.SelectGamma, selection.DefaultGamma)
			return r.choose(ctx, ebic, &job.PenaltyResult{Criterion: ebic, Gamma: pointer(gamma)}, func(ctx context.Context, s selection.Settings) (*selection.Choice, error) {
				return selection.EBIC(ctx, p, s)
			}, func(c *selection.Choice) string {
				return fmt.Sprintf("the least extended BIC (γ = %.3g) of %d penalties", gamma, len(c.Path))
			})
		},
		memory:     pathMemory,
		work:       func(t shape) work { return t.path(t.few(6)) },
		neighbours: func(t shape) float64 { return t.few(6) },
	}
}

func bicRule() penaltyRule {
	return penaltyRule{
		PenaltyInfo: PenaltyInfo{Name: bic, Title: "the BIC"},
		choose: func(ctx context.Context, r *run, p solver.Problem) (float64, error) {
			return r.choose(ctx, bic, &job.PenaltyResult{Criterion: bic}, func(ctx context.Context, s selection.Settings) (*selection.Choice, error) {
				s.BIC = true
				return selection.EBIC(ctx, p, s)
			}, func(c *selection.Choice) string {
				return fmt.Sprintf("the least BIC of %d penalties", len(c.Path))
			})
		},
		memory:     pathMemory,
		work:       func(t shape) work { return t.path(t.few(4)) },
		neighbours: func(t shape) float64 { return t.few(4) },
	}
}

func cvRule() penaltyRule {
	return penaltyRule{
		PenaltyInfo: PenaltyInfo{Name: cv, Title: "held-out likelihood", NeedsSamples: true},
		choose: func(ctx context.Context, r *run, _ solver.Problem) (float64, error) {
			return r.choose(ctx, cv, &job.PenaltyResult{Criterion: "held_out"}, func(ctx context.Context, s selection.Settings) (*selection.Choice, error) {
				s.Gap = math.Max(s.Gap, selection.LooseGap)
				return selection.HeldOut(ctx, r.resampler, r.regulators, s)
			}, func(c *selection.Choice) string {
				return fmt.Sprintf("the largest of %d penalties within one standard error of the best held-out likelihood (%.4g), with %d folds", len(c.Path), c.Path[c.Best].Penalty, c.Resamples)
			})
		},
		memory: func(c solverConfig, d int) int64 {
			return c.lanesMemory(cmp.Or(c.job.SelectResamples, selection.DefaultFolds), d)
		},
		// Prediction asks for more than twice as many neighbours as edges are paid for.
		work: func(t shape) work {
			k := math.Min(2*t.related, math.Min(0.66*t.m, t.d-1))
			return t.path(k).times(t.folds(selection.DefaultFolds))
		},
		neighbours: func(t shape) float64 { return math.Min(t.related, math.Min(t.m/2, t.d-1)) },
	}
}

func starsRule() penaltyRule {
	return penaltyRule{
		PenaltyInfo: PenaltyInfo{Name: stars, Title: "the stability of the graph", NeedsSamples: true},
		choose: func(ctx context.Context, r *run, _ solver.Problem) (float64, error) {
			threshold := cmp.Or(r.job.SelectThreshold, selection.DefaultThreshold)
			return r.choose(ctx, stars, &job.PenaltyResult{Criterion: "instability", Threshold: pointer(threshold)}, func(ctx context.Context, s selection.Settings) (*selection.Choice, error) {
				s.Gap = math.Max(s.Gap, selection.LooseGap)
				return selection.StARS(ctx, r.resampler, r.regulators, s)
			}, func(c *selection.Choice) string {
				return fmt.Sprintf("the smallest of %d penalties whose graph is stable (instability %.2g, at most %.3g) over %d subsamples of %d samples",
					len(c.Path), c.Path[c.Chosen].Criterion, threshold, c.Path[c.Chosen].Resamples, c.Size)
			})
		},
		// Two lanes to the end, and one for every thread.
		memory: func(c solverConfig, d int) int64 { return c.lanesMemory(4, d) },
		// Two follow the path, the others three penalties.
		work:       func(t shape) work { return t.path(t.few(6)).times(2 + t.folds(selection.DefaultSubsamples)/3) },
		neighbours: func(t shape) float64 { return t.few(6) },
	}
}

func ricRule() penaltyRule {
	return penaltyRule{
		PenaltyInfo: PenaltyInfo{Name: ric, Title: "permuted samples", NeedsSamples: true},
		choose: func(ctx context.Context, r *run, _ solver.Problem) (float64, error) {
			return r.choose(ctx, ric, &job.PenaltyResult{}, func(ctx context.Context, s selection.Settings) (*selection.Choice, error) {
				return selection.Rotation(ctx, r.resampler, r.regulators, s)
			}, func(c *selection.Choice) string {
				return fmt.Sprintf("the smallest penalty that leaves no edge where the samples of every variable are permuted, in %d permutations", c.Resamples)
			})
		},
		memory: func(c solverConfig, d int) int64 { return c.lanesMemory(2, d) },
		work: func(t shape) work {
			return work{products: t.m * t.d * t.d}.times(t.folds(selection.DefaultPermutations))
		},
		neighbours: func(t shape) float64 { return t.few(6) },
	}
}

// edgesRule is that of a number of edges.
func edgesRule(n int) penaltyRule {
	const name = "edges"
	return penaltyRule{
		PenaltyInfo: PenaltyInfo{Name: name, Title: "the number of edges"},
		choose: func(ctx context.Context, r *run, p solver.Problem) (float64, error) {
			if d := r.blockLen(); n > d*(d-1)/2 {
				return 0, job.Errorf("penalty", "%d variables have %d pairs, and %d edges are asked for; ask for fewer", d, d*(d-1)/2, n)
			}
			return r.choose(ctx, name, &job.PenaltyResult{}, func(ctx context.Context, s selection.Settings) (*selection.Choice, error) {
				s.Gap = r.job.Gap // that of the solvers, which are to have these edges
				if r.columns != nil {
					return selection.EdgesOfColumns(ctx, r.columns, n, s, r.admitComponents)
				}
				return selection.Edges(ctx, p, n, s)
			}, func(c *selection.Choice) string { return nearestEdges(c, n) })
		},
		memory:     pathMemory,
		work:       func(t shape) work { return t.path(2 * float64(t.edges) / t.d).times(3) }, // it is halved at the end
		neighbours: func(t shape) float64 { return 2 * float64(t.edges) / t.d },
	}
}

// nearestEdges says how near a number of edges was reached.
func nearestEdges(c *selection.Choice, n int) string {
	at := c.Path[c.Chosen]
	if int(at.Edges) == n {
		return fmt.Sprintf("the graphical lasso has %d edges", n)
	}
	text := fmt.Sprintf("the graphical lasso has %.0f edges, the nearest to %d", at.Edges, n)
	for _, q := range c.Path {
		if q.Criterion == at.Criterion && q.Edges != at.Edges {
			return text + fmt.Sprintf(" (%.0f, at %.4g, is as near; the fewer are taken)", q.Edges, q.Penalty)
		}
	}
	return text + ", for several come in at one penalty"
}

func pointer(v float64) *job.Float {
	f := job.Float(v)
	return &f
}

// pathMemory is BCD, the estimate before, from which it starts: in the units of the block, its
// factor and its inverse.
func pathMemory(c solverConfig, d int) int64 { return bcdEntry().memory(c, d) + 5*matrix(d) }

// lanesMemory is that of so many covariances with their estimates, of which as many as there
// are threads are solved at a time.
func (c solverConfig) lanesMemory(lanes, d int) int64 {
	return int64(lanes)*3*matrix(d) + int64(min(lanes, threadsOf(c)))*pathMemory(c, d)
}
