package recovery

import (
	"context"
	"errors"
	"math"
	"slices"
	"time"

	"github.com/gladflow/gladflow/solver"
	"github.com/gladflow/gladflow/solver/association"
	"github.com/gladflow/gladflow/solver/covariance"
	"github.com/gladflow/gladflow/solver/dense"
)

// A ranking is what a solver has found that ranks pairs of variables.
type ranking struct {
	// sources are the variables at which edges start, ascending; nil for undirected pairs
	// of all d variables.
	sources []int
	// score is that of source number k and variable j at k·d + j, higher is better; of
	// undirected pairs d×d and symmetric. Nothing is scored with itself.
	score []float64
	// sign has entries with the signs of the influences, laid out as score.
	sign []float64
	// probability is that of an edge of some score; nil where the solver has none.
	probability func(score float64) float64
	elapsed     time.Duration
}

// undirected is the ranking of all pairs.
func undirected(score, sign *dense.Sym) *ranking {
	return &ranking{score: score.Raw(), sign: sign.Raw()}
}

// from is the part of an undirected ranking that starts at regulators.
func (k *ranking) from(regulators []int, d int) *ranking {
	directed := *k
	directed.sources = regulators
	directed.score = association.FromRegulators(dense.NewSym(d, k.score), regulators)
	directed.sign = association.FromRegulators(dense.NewSym(d, k.sign), regulators)
	return &directed
}

// scorer is the score of variables i and j, of the better direction in an undirected
// population. A pair that no source starts comes last.
func (k *ranking) scorer(d int, undirected bool) func(i, j int) float64 {
	if k.sources == nil {
		return func(i, j int) float64 { return k.score[i*d+j] }
	}
	at := make([]int, d)
	for n, i := range k.sources {
		at[i] = n + 1
	}
	directed := func(i, j int) float64 {
		if at[i] == 0 {
			return math.Inf(-1)
		}
		return k.score[(at[i]-1)*d+j]
	}
	if undirected {
		return func(i, j int) float64 { return max(directed(i, j), directed(j, i)) }
	}
	return directed
}

// signOf is the sign of the pair from i to j of d variables.
func (k *ranking) signOf(i, j, d int) int8 {
	if k.sources != nil {
		i, _ = slices.BinarySearch(k.sources, i)
	}
	return signOf(k.sign[i*d+j])
}

// pairs is the number of pairs of d variables.
func (k *ranking) pairs(d int) int {
	if k.sources == nil {
		return d * (d - 1) / 2
	}
	return len(k.sources) * (d - 1)
}

// each calls f with every pair of d variables, from the source to the target.
func (k *ranking) each(d int, f func(i, j int, score float64, sign int8)) {
	if k.sources == nil {
		for i := range d {
			for j := i + 1; j < d; j++ {
				f(i, j, k.score[i*d+j], signOf(k.sign[i*d+j]))
			}
		}
		return
	}
	for n, i := range k.sources {
		for j := range d {
			if j != i {
				f(i, j, k.score[n*d+j], signOf(k.sign[n*d+j]))
			}
		}
	}
}

// A rankingConfig is what a run gives to the solvers that rank.
type rankingConfig struct {
	solverConfig
	problem solver.Problem
	// rows are the samples, one after the other; nil for a covariance.
	rows []float64
	// regulators are the variables at which edges start; nil for undirected pairs. A
	// solver that ranks all pairs need not look at them.
	regulators []int
}

// scorer computes with the engine of the run.
func (c rankingConfig) scorer() association.Scorer { return association.Scorer{Engine: c.engine} }

// estimate is the correlation of the samples by a method; of a covariance its own.
func (c rankingConfig) estimate(ctx context.Context, m covariance.Method) (*dense.Sym, error) {
	if c.rows == nil {
		return c.correlation(), nil
	}
	d := c.problem.S.Len()
	r, err := covariance.Estimate(ctx, covariance.NewTable(c.rows, d), d, covariance.Settings{Method: m, Engine: c.engine})
	if err != nil {
		return nil, err
	}
	return r.S, nil
}

// ranked is the correlation that Job.RankingCorrelation asks for.
func (c rankingConfig) ranked(ctx context.Context) (*dense.Sym, error) {
	m, err := covariance.ParseMethod(c.job.RankingCorrelation)
	if err != nil {
		return nil, err
	}
	return c.estimate(ctx, m)
}

// correlation is S, standardised where it is a covariance.
func (c rankingConfig) correlation() *dense.Sym {
	s := c.problem.S.Clone()
	d := s.Len()
	root := make([]float64, d)
	for i := range d {
		root[i] = math.Sqrt(s.At(i, i))
	}
	for i := range d {
		for j := range i {
			s.Set(i, j, s.At(i, j)/root[j]/root[i])
		}
		s.Set(i, i, 1)
	}
	return s
}

// absolute is |r| of every pair.
func absolute(r *dense.Sym) *dense.Sym {
	a := r.Clone()
	for i, v := range a.Raw() {
		a.Raw()[i] = math.Abs(v)
	}
	return a
}

// errNotRanked is that of a solver that ranks and was not given the time.
var errNotRanked = errors.New("the time limit was reached; a ranking has no result before its end, so give it more time")

// attemptRanking ranks pairs: see attempt.
func (r *run) attemptRanking(ctx context.Context, p solver.Problem, entry solverEntry, c solverConfig) (found *ranking, stack []byte, err error) {
	start := time.Now()
	caught := dense.Catch(func() {
		found, err = entry.rank(ctx, rankingConfig{solverConfig: c, problem: p, rows: r.samples, regulators: r.regulators})
		if err == nil && r.regulators != nil && found.sources == nil {
			found = found.from(r.regulators, p.S.Len())
		}
	})
	if caught != nil {
		return nil, []byte(caught.Error()), panicked{caught.Unwrap()}
	}
	if errors.Is(err, context.DeadlineExceeded) {
		err = errNotRanked
	}
	if err == nil {
		found.elapsed = time.Since(start)
	}
	return found, nil, err
}
