package recovery

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/gladflow/gladflow/pipelines/job"
	"github.com/gladflow/gladflow/solver"
	"github.com/gladflow/gladflow/solver/covariance"
	"github.com/gladflow/gladflow/solver/dense"
	"github.com/gladflow/gladflow/solver/glasso"
)

// A halver runs a solver on some of the samples as it was run on all of them, and says which
// pairs of variables it selects: those of the support, at the penalty or the bound of false
// edges of the whole table, or of a ranking the best ones.
type halver struct {
	run     *run
	entry   solverEntry
	penalty glasso.Penalty
	// byProbability says that GLAD's pairs are those that the probability of an edge keeps.
	byProbability bool
	// most is how many pairs of a ranking are selected.
	most int
	// engines are those of the workers: one thread each, so that their number changes no bit.
	engines []dense.Engine
}

// ranks says that pairs are ranked and the best ones taken.
func (h *halver) ranks() bool { return h.run.ranks(h.entry) }

// pairs is the number of pairs of variables.
func (h *halver) pairs() int {
	d := len(h.run.table.Names)
	if h.run.regulators != nil {
		return len(h.run.regulators) * (d - 1)
	}
	return d * (d - 1) / 2
}

// number is the place of a pair among pairs: of variables i < j, or of a source, by its
// number among the regulators, and a variable.
func (h *halver) number(i, j int) int {
	d := len(h.run.table.Names)
	if h.run.regulators != nil {
		n, _ := slices.BinarySearch(h.run.regulators, i)
		if j > i {
			j--
		}
		return n*(d-1) + j
	}
	i, j = min(i, j), max(i, j)
	return i*(2*d-i-1)/2 + j - i - 1
}

// choose is what the samples at rows select: a stability.Select.
func (h *halver) choose(ctx context.Context, worker int, rows []int, pick func(pair int, sign int8)) error {
	r, engine := h.run, h.engines[worker]
	s, err := r.resampler.Estimate(ctx, rows, engine)
	if err != nil {
		return err
	}
	c := r.configuration(h.penalty, nil)
	c.engine = engine
	if !h.entry.onGPU {
		c.gpu = nil
	}
	all, spent := r.resampler.Samples(), r.resampler.Settings.Spent
	p := solver.Problem{S: s, Samples: max(2, (r.result.Input.Samples+spent)*len(rows)/all-spent)}
	c.samples = p.Samples
	if h.entry.Ranking {
		found, err := h.rank(ctx, c, p, rows)
		if err != nil {
			return err
		}
		h.best(found, pick)
		return nil
	}
	if h.entry.takesModel && r.job.Adapt != "" {
		c.adapting = func(c solverConfig) solver.Solver {
			a := &adapting{solverConfig: c, standardised: r.table.Standardised(), result: new(job.AdaptedResult), report: func(float64, string) {}}
			if holdsOut(r.job) {
				a.samples = h.samples(rows)
			}
			return a
		}
	}
	est, err := h.entry.build(c).Solve(ctx, r.block(p))
	if err != nil {
		return err
	}
	if h.ranks() {
		found, err := r.regulate(ctx, h.entry, est, rankingConfig{solverConfig: c, problem: p})
		if err != nil {
			return err
		}
		h.best(found, pick)
		return nil
	}
	if h.byProbability {
		if est.Probability == nil {
			if est.Probability, _, err = r.model.EdgeProbability(ctx, engine, p, est.Precision, est.Support); err != nil {
				return err
			}
		}
		est.KeepLikely(r.fdr())
	}
	for i := range est.Precision.Len() {
		for j := i + 1; j < est.Precision.Len(); j++ {
			if est.IsEdge(i, j) {
				pick(h.number(i, j), signOf(est.PartialCorrelation(i, j)))
			}
		}
	}
	return nil
}

// samples are those at rows, one after the other, means of theirs in place of missing
// values.
func (h *halver) samples(rows []int) []float64 {
	from := h.run.resampler
	taken := make([]float64, 0, len(rows)*from.D)
	for _, i := range rows {
		taken = append(taken, from.Rows[i*from.D:(i+1)*from.D]...)
	}
	if from.Treatment == nil {
		return taken
	}
	for j := range from.D {
		var n, mean float64
		for k := j; k < len(taken); k += from.D {
			if v := taken[k]; v == v {
				n++
				mean += (v - mean) / n
			}
		}
		for k := j; k < len(taken); k += from.D {
			if taken[k] != taken[k] {
				taken[k] = mean
			}
		}
	}
	return taken
}

// rank ranks the pairs. Variables that do not vary in the half have none that is ranked.
func (h *halver) rank(ctx context.Context, c solverConfig, p solver.Problem, rows []int) (*ranking, error) {
	d := p.S.Len()
	config := rankingConfig{solverConfig: c, problem: p, regulators: h.run.regulators}
	if h.run.samples == nil {
		return h.rankIn(ctx, config)
	}
	config.rows = h.samples(rows)
	var varying []int
	for j, v := range covariance.Variances(config.rows, d) {
		if v > 0 {
			varying = append(varying, j)
		}
	}
	if len(varying) == d {
		return h.rankIn(ctx, config)
	}
	all := &ranking{score: make([]float64, d*d), sign: make([]float64, d*d), sources: h.run.regulators}
	if all.sources != nil {
		all.score, all.sign = all.score[:len(all.sources)*d], all.sign[:len(all.sources)*d]
	}
	for k := range all.score {
		all.score[k] = math.Inf(-1)
	}
	part := config
	part.problem.S = p.S.Submatrix(varying)
	part.rows = make([]float64, 0, len(rows)*len(varying))
	for row := config.rows; len(row) > 0; row = row[d:] {
		for _, j := range varying {
			part.rows = append(part.rows, row[j])
		}
	}
	if part.regulators != nil {
		part.regulators = nil
		for k, j := range varying {
			if slices.Contains(h.run.regulators, j) {
				part.regulators = append(part.regulators, k)
			}
		}
	}
	if len(varying) < 2 || h.run.regulators != nil && len(part.regulators) == 0 {
		return all, nil
	}
	found, err := h.rankIn(ctx, part)
	if err != nil {
		return nil, err
	}
	found.each(len(varying), func(i, j int, score float64, sign int8) {
		i, j = varying[i], varying[j]
		if all.sources != nil {
			i, _ = slices.BinarySearch(all.sources, i)
		} else {
			all.score[j*d+i], all.sign[j*d+i] = score, float64(sign)
		}
		all.score[i*d+j], all.sign[i*d+j] = score, float64(sign)
	})
	return all, nil
}

// rankIn ranks, from the regulators of the configuration where there are any.
func (h *halver) rankIn(ctx context.Context, c rankingConfig) (*ranking, error) {
	found, err := h.entry.rank(ctx, c)
	if err == nil && c.regulators != nil && found.sources == nil {
		found = found.from(c.regulators, c.problem.S.Len())
	}
	return found, err
}

// best selects the best pairs of a ranking: those whose score is above that of the first one
// too many, so that pairs that tie there are left out.
func (h *halver) best(k *ranking, pick func(pair int, sign int8)) {
	d := len(h.run.table.Names)
	top := make([]float64, 0, 2*(h.most+1))
	cut := math.Inf(-1)
	shorten := func() {
		slices.SortFunc(top, func(a, b float64) int { return cmp.Compare(b, a) })
		if len(top) > h.most {
			top = top[:h.most+1]
			cut = top[h.most]
		}
	}
	k.each(d, func(_, _ int, score float64, _ int8) {
		if score > cut {
			if top = append(top, score); len(top) == cap(top) {
				shorten()
			}
		}
	})
	shorten()
	k.each(d, func(i, j int, score float64, sign int8) {
		if score > cut {
			pick(h.number(i, j), sign)
		}
	})
}
