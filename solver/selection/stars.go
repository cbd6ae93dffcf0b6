package selection

import (
	"context"
	"fmt"
	"math"
	"slices"
	"sync"
	"time"

	"github.com/gladflow/gladflow/solver"
	"github.com/gladflow/gladflow/solver/covariance"
	"github.com/gladflow/gladflow/solver/dense"
)

// StARS chooses by the stability approach to regularisation selection (Liu, Roeder and
// Wasserman, NIPS 2010): N subsamples are drawn without replacement, and with θ the share of
// them in whose graph a pair is an edge, the instability of a penalty is the mean of 2θ(1−θ)
// over all pairs. The penalty is the smallest for which it is at most Threshold here and at all
// larger ones. A subsample has SubsampleSize samples, and subsamples are drawn by Seed.
//
// Two subsamples are followed first. Their instability, times 2(1−1/N), is an estimate of that
// of N without bias, and bounds where the others have to be solved (Müller, Bonneau, Kurtz,
// "Generalized Stability Approach for Regularized Graphical Models", 2016): only where it
// crosses Threshold, and beyond until the instability of N is at most Threshold at one penalty
// and above it at the next. block are the variables that matter; nil for all.
//
// When ctx ends first, the choice by what is finished is returned together with ctx's error,
// or an *ErrNothing.
func StARS(ctx context.Context, from *covariance.Resampler, block []int, s Settings) (*Choice, error) {
	if err := checkSamples(from); err != nil {
		return nil, err
	}
	n, err := number("subsamples", s.Subsamples, DefaultSubsamples, 2)
	if err != nil {
		return nil, err
	}
	threshold := s.Threshold
	if threshold == 0 {
		threshold = DefaultThreshold
	}
	if !(threshold > 0 && threshold < 0.5) {
		return nil, fmt.Errorf("the largest instability is %v; it must lie between 0 and 0.5", s.Threshold)
	}
	m := from.Samples()
	t := &stars{from: from, block: block, set: s, n: n, threshold: threshold, choice: &Choice{Resamples: n, Size: SubsampleSize(m)}}
	t.rows = make([][]int, n)
	for k := range t.rows {
		t.rows[k] = s.subsample(m, k)
	}
	return t.choose(ctx)
}

// SubsampleSize is the number of samples in a subsample of StARS, of m: ⌊10·√m⌋ above 144
// and ⌊0.8·m⌋ else, as Liu et al. recommend for large m.
func SubsampleSize(m int) int {
	if m > 144 {
		return int(10 * math.Sqrt(float64(m)))
	}
	return int(0.8 * float64(m))
}

// subsample draws the k-th subsample of m samples, in ascending order.
func (s Settings) subsample(m, k int) []int {
	rows := s.random("subsamples", k).Perm(m)[:SubsampleSize(m)]
	slices.Sort(rows)
	return rows
}

// stars is one call of StARS.
type stars struct {
	from      *covariance.Resampler
	block     []int
	set       Settings
	n         int
	threshold float64
	rows      [][]int // of every subsample

	choice *Choice
	ladder *ladder
	pilots [2]*lane
	counts []map[int32]uint16 // by point: how many graphs have the edge, of pairs that are one
}

// lane starts that of a subsample.
func (t *stars) lane(ctx context.Context, k int, engine dense.Engine) (*lane, error) {
	s, err := t.from.Estimate(ctx, t.rows[k], engine)
	if err != nil {
		return nil, err
	}
	return newLane(solver.Problem{S: inBlock(s, t.block), Samples: len(t.rows[k])}, t.set, t.set.gap(LooseGap), engine), nil
}

func (t *stars) choose(ctx context.Context) (*Choice, error) {
	t.set.report(0, "2 of %d subsamples", t.n)
	err := t.set.each(ctx, len(t.pilots), func(k int, engine dense.Engine) (err error) {
		t.pilots[k], err = t.lane(ctx, k, engine)
		return err
	})
	if err != nil {
		return t.choice.interrupted(ctx, err)
	}
	t.ladder = newLadder(inBlock(t.from.Whole.S, t.block))
	for _, on := range t.pilots {
		t.ladder.largest = math.Max(t.ladder.largest, newLadder(on.problem.S).largest)
	}
	// One penalty beyond the crossing, to see it on both sides.
	for ended := false; !ended; {
		if ended, err = t.follow(ctx); err != nil {
			return t.choice.interrupted(ctx, err)
		}
		ended = ended || t.choice.Chosen < len(t.choice.Path)-1
	}
	for {
		from, to, ended := t.window()
		if ended {
			return t.choice, nil
		}
		if err := t.solve(ctx, from, to); err != nil {
			return t.choice.interrupted(ctx, err)
		}
		if last := len(t.choice.Path) - 1; t.choice.Chosen == last {
			if _, err := t.follow(ctx); err != nil {
				return t.choice.interrupted(ctx, err)
			}
		}
	}
}

// window are the points, from and to included, that all subsamples have still to be solved at,
// those next to the crossing; ended says that there are none.
func (t *stars) window() (from, to int, ended bool) {
	path := t.choice.Path
	from, to = t.choice.Chosen, min(t.choice.Chosen+1, len(path)-1)
	for from <= to && path[from].Resamples == t.n {
		from++
	}
	for to >= from && path[to].Resamples == t.n {
		to--
	}
	return from, to, from > to
}

// follow solves the first two subsamples at the next penalty. It says that the path has ended.
func (t *stars) follow(ctx context.Context) (bool, error) {
	path := t.choice.Path
	rho := t.ladder.largest
	if n := len(path); n > 0 {
		if last := path[n-1]; t.ladder.over(last.Penalty, last.Edges) {
			return true, nil
		}
		rho = t.ladder.next(path[n-1].Penalty)
	}
	started := time.Now()
	err := t.set.each(ctx, len(t.pilots), func(k int, engine dense.Engine) error {
		t.pilots[k].set.Engine = engine
		return t.pilots[k].solve(ctx, rho)
	})
	if err != nil {
		return false, err
	}
	point := newPoint(rho)
	t.counts = append(t.counts, make(map[int32]uint16))
	at := len(path)
	for _, on := range t.pilots {
		point.note(on.last)
		t.count(at, edgesOf(on.last.Precision))
	}
	point.Resamples, point.Elapsed = len(t.pilots), time.Since(started)
	t.choice.Path = append(path, point)
	t.judge(at)
	t.set.report(math.NaN(), "2 subsamples, penalty %.3g, %.0f edges", rho, t.choice.Path[at].Edges)
	return false, nil
}

// judge takes the counts of a point into it, and chooses again.
func (t *stars) judge(at int) {
	p := &t.choice.Path[at]
	k := float64(p.Resamples)
	var sum, edges float64
	for _, c := range t.counts[at] {
		// Sums of whole numbers, whose order does not matter.
		sum += float64(c) * (k - float64(c))
		edges += float64(c)
	}
	p.Edges = edges / k
	p.Criterion = 0
	if pairs := t.ladder.pairs(); pairs > 0 {
		p.Criterion = 2 * sum / (k * k) / pairs
	}
	if p.Resamples < t.n {
		p.Criterion *= (1 - 1/float64(t.n)) / (1 - 1/k)
	}
	t.choice.Chosen = 0
	for i, q := range t.choice.Path {
		if q.Criterion > t.threshold {
			break
		}
		t.choice.Chosen = i
	}
	t.choice.Best, t.choice.Rho = t.choice.Chosen, t.choice.Path[t.choice.Chosen].Penalty
}

// solve solves the subsamples that are missing at the points from to to. Those that are
// finished when ctx ends are counted.
func (t *stars) solve(ctx context.Context, from, to int) error {
	var mu sync.Mutex
	done := len(t.pilots)
	path := t.choice.Path
	err := t.set.each(ctx, t.n-len(t.pilots), func(i int, engine dense.Engine) error {
		started := time.Now()
		on, err := t.lane(ctx, i+len(t.pilots), engine)
		if err != nil {
			return err
		}
		found := make([][]int32, to-from+1)
		notes := make([]Point, len(found)) // of this subsample; path is shared
		for k := range found {
			notes[k] = newPoint(path[from+k].Penalty)
			if path[from+k].Resamples == t.n {
				continue
			}
			if err := on.solve(ctx, path[from+k].Penalty); err != nil {
				return err
			}
			notes[k].note(on.last)
			found[k] = edgesOf(on.last.Precision)
		}
		mu.Lock()
		defer mu.Unlock()
		for k, edges := range found {
			p := &path[from+k]
			if p.Resamples == t.n {
				continue
			}
			t.count(from+k, edges)
			p.join(notes[k])
			p.Elapsed += time.Since(started) / time.Duration(len(found))
		}
		done++
		t.set.report(float64(done)/float64(t.n), "%d of %d subsamples", done, t.n)
		return nil
	})
	for k := from; k <= to; k++ {
		path[k].Resamples = max(path[k].Resamples, done)
		t.judge(k)
	}
	return err
}

// count adds the edges of a graph.
func (t *stars) count(at int, edges []int32) {
	for _, e := range edges {
		t.counts[at][e]++
	}
}

// edgesOf are the pairs i > j of the support, as i·(i−1)/2 + j.
func edgesOf(theta *dense.Sym) []int32 {
	var edges []int32
	for i := range theta.Len() {
		for j, v := range theta.Row(i)[:i] {
			if v != 0 {
				edges = append(edges, int32(i*(i-1)/2+j))
			}
		}
	}
	return edges
}
