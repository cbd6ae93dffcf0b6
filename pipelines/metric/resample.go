package metric

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
)

// Source is the variable that pair k of the population belongs to when sources are
// drawn, by its position in the table. Of an ordered pair it is I. Of an unordered
// pair it is the source of the first line of the reference that lists the pair as
// an edge, or else of the first that lists it; of one that is not listed, the
// variable that is the source of an edge of the reference if only one of the two
// is, and I otherwise.
func (p *Population) Source(k int) int {
	if p.sources != nil {
		return int(p.sources[k])
	}
	return int(p.Pairs[k].I)
}

// attribute fills sources.
func (p *Population) attribute(known []labelledPair) {
	regulator := make([]bool, len(p.names))
	for _, q := range known {
		regulator[q.I] = regulator[q.I] || q.positive
	}
	listed := make(map[Pair]labelledPair, len(known))
	for _, q := range known {
		pair := q.unordered()
		if before, ok := listed[pair]; !ok || q.positive && !before.positive {
			listed[pair] = q
		}
	}
	p.sources = make([]int32, len(p.Pairs))
	for k, pair := range p.Pairs {
		q, ok := listed[pair]
		switch {
		case ok:
			p.sources[k] = q.I
		case regulator[pair.J] && !regulator[pair.I]:
			p.sources[k] = pair.J
		default:
			p.sources[k] = pair.I
		}
	}
}

// A Resampling is bootstrap samples of a population: for each, as many sources as
// there are, drawn with replacement, with all of their pairs. Pairs of one regulator
// stand or fall together, so that figures vary from sample to sample as they would
// with other regulators; drawing single pairs would give errors far too small.
//
// Rankings on one Resampling are paired: sample by sample the same sources. So the
// standard error of a difference is StandardDeviation of the differences.
type Resampling struct {
	population *Population
	// draws[b][v] is how often source v was drawn in sample b.
	draws [][]int32
}

// Sources is the number of distinct sources.
func (p *Population) Sources() int {
	seen := make(map[int]struct{})
	for k := range p.Pairs {
		seen[p.Source(k)] = struct{}{}
	}
	return len(seen)
}

// Resample draws n samples with random numbers of seed. Samples without positives or
// without negatives have no figures and are drawn again. A population of fewer than
// two sources with positives varies in nothing that could be drawn: the Resampling is
// empty then, and standard errors are NaN.
func (p *Population) Resample(n int, seed uint64) *Resampling {
	r := &Resampling{population: p}
	counts := make(map[int][2]int) // of positives and negatives, by source
	for k, positive := range p.Positive {
		c := counts[p.Source(k)]
		if positive {
			c[0]++
		} else {
			c[1]++
		}
		counts[p.Source(k)] = c
	}
	sources := make([]int, 0, len(counts))
	positive := 0
	for v, c := range counts {
		sources = append(sources, v)
		if c[0] > 0 {
			positive++
		}
	}
	if positive < 2 {
		return r
	}
	slices.Sort(sources)
	rng := rand.New(rand.NewPCG(seed, 0))
	for len(r.draws) < n {
		draws := make([]int32, len(p.names))
		var drawn [2]int
		for range sources {
			v := sources[rng.IntN(len(sources))]
			draws[v]++
			drawn[0] += counts[v][0]
			drawn[1] += counts[v][1]
		}
		if drawn[0] > 0 && drawn[1] > 0 {
			r.draws = append(r.draws, draws)
		}
	}
	return r
}

// Samples is the number of samples.
func (r *Resampling) Samples() int { return len(r.draws) }

// Rank measures scores, one for each pair of the population as Population.Scores
// returns them, on every sample. It uses the processors that Go does. An error is
// that of ctx, or says that a score is NaN.
func (r *Resampling) Rank(ctx context.Context, scores []float64) ([]Ranking, error) {
	p := r.population
	if len(scores) != len(p.Pairs) {
		return nil, fmt.Errorf("%d scores for %d pairs; give one score a pair", len(scores), len(p.Pairs))
	}
	if slices.ContainsFunc(scores, math.IsNaN) {
		return nil, errors.New("a score is NaN; every pair needs a score")
	}
	o := p.ordered(scores)
	rankings := make([]Ranking, len(r.draws))
	var wait sync.WaitGroup
	workers := min(runtime.GOMAXPROCS(0), len(r.draws))
	for w := range workers {
		wait.Go(func() {
			for b := w; b < len(r.draws) && ctx.Err() == nil; b += workers {
				rankings[b] = o.rank(r.draws[b])
			}
		})
	}
	wait.Wait()
	return rankings, ctx.Err()
}

// An order is the pairs of a population from the best to the worst.
type order struct {
	source   []int32
	positive []bool
	last     []bool // of its tied group
}

func (p *Population) ordered(scores []float64) order {
	n := len(scores)
	at := make([]int32, n)
	for k := range at {
		at[k] = int32(k)
	}
	slices.SortFunc(at, func(a, b int32) int { return cmp.Compare(scores[b], scores[a]) })
	o := order{make([]int32, n), make([]bool, n), make([]bool, n)}
	for i, k := range at {
		o.source[i], o.positive[i] = int32(p.Source(int(k))), p.Positive[k]
		o.last[i] = i == n-1 || scores[at[i+1]] != scores[k]
	}
	return o
}

// rank measures the order where the pairs of source v stand draws[v] times, which
// tie with each other.
func (o order) rank(draws []int32) Ranking {
	var t tally
	for i, v := range o.source {
		if o.positive[i] {
			t.top += int(draws[v])
		}
	}
	k, m := 0, 0
	for i, v := range o.source {
		if o.positive[i] {
			k += int(draws[v])
		} else {
			m += int(draws[v])
		}
		if o.last[i] {
			t.add(k, m)
			k, m = 0, 0
		}
	}
	var r Ranking
	t.into(&r)
	return r
}

// StandardDeviation is that of x, with n − 1 for the divisor: of the figures of a
// Resampling, the standard error of the figure. It is NaN for fewer than two values.
func StandardDeviation(x []float64) float64 {
	_, se := MeanAndError(x)
	return se * math.Sqrt(float64(len(x)))
}
