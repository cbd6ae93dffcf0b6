// Package stability says how often pairs of variables are selected on halves of the
// samples, and how many false ones may be among those selected often: stability
// selection with complementary pairs of halves, Shah and Samworth, "Variable selection
// with error control: another look at stability selection", JRSS B 75 (2013), after
// Meinshausen and Bühlmann, "Stability selection", JRSS B 72 (2010).
//
// It estimates nothing itself: whoever calls says which pairs a half selects.
//
//	counts, err := stability.Run(ctx, stability.Settings{Samples: m, Pairs: 50, Edges: n}, halfSelects)
//	bounds := counts.Bounds()
//	for k := range n {
//		fmt.Println(counts.Probability(k), bounds.At(counts.Times(k)))
//	}
package stability

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"

	"github.com/gladflow/gladflow/solver/dense"
)

// LeastSamples is the least number of samples: a half has four then.
const LeastSamples = 8

// MostPairs is the largest number of pairs of halves.
const MostPairs = 1000

// Settings say which halves are drawn.
type Settings struct {
	// Samples is M, at least LeastSamples.
	Samples int
	// Pairs is B, the number of pairs of halves, at least 1 and at most MostPairs.
	Pairs int
	// Edges is p, the number of pairs of variables that may be selected, numbered from
	// 0.
	Edges int
	// Seed draws the halves.
	Seed uint64
	// Workers is the number of pairs of halves that are worked on at the same time.
	// Default (0): 1. The result does not depend on it.
	Workers int
	// Done, if set, is called with the number of pairs of halves that are done, one
	// call at a time.
	Done func(pairs int)
}

// Select reports the pairs of variables that the samples at rows, ascending, select, each
// once, with the sign of its influence, −1, 0 or 1. It is called by several goroutines, by
// each worker one call at a time.
type Select func(ctx context.Context, worker int, rows []int, pick func(edge int, sign int8)) error

// Run counts what the halves select. It keeps four bytes a pair of variables, and of every
// worker what a half has selected.
//
// When ctx ends first, Run returns what is known of the pairs of halves that were done,
// with ctx's error. An error of a half ends it, the first half's of those that fail.
func Run(ctx context.Context, s Settings, half Select) (*Counts, error) {
	switch {
	case s.Samples < LeastSamples:
		return nil, fmt.Errorf("stability selection needs %d samples, for a half of fewer than %d says nothing, and there are %d", LeastSamples, LeastSamples/2, s.Samples)
	case s.Pairs < 1 || s.Pairs > MostPairs:
		return nil, fmt.Errorf("stability selection takes 1 to %d pairs of halves, not %d", MostPairs, s.Pairs)
	case s.Edges < 1:
		return nil, errors.New("stability selection needs two variables")
	}
	c := &Counts{times: make([]uint16, s.Edges), positive: make([]uint16, s.Edges)}
	var lock sync.Mutex
	buffers := make([][]picked, max(1, s.Workers))
	err := dense.Each(ctx, s.Pairs, len(buffers), func(worker, b int) error {
		first, second := Halves(s.Samples, b, s.Seed)
		picks := buffers[worker][:0]
		for _, rows := range [2][]int{first, second} {
			err := half(ctx, worker, rows, func(edge int, sign int8) { picks = append(picks, picked{uint32(edge), sign}) })
			if err != nil {
				return err
			}
		}
		buffers[worker] = picks
		if err := ctx.Err(); err != nil {
			return err // a half may have been interrupted
		}
		lock.Lock()
		defer lock.Unlock()
		c.add(picks)
		if s.Done != nil {
			s.Done(c.pairs)
		}
		return nil
	})
	if ctx.Err() != nil {
		return c, ctx.Err()
	}
	if err != nil {
		return nil, err
	}
	return c, nil
}

// Halves are pair number b of halves of m samples: ⌊m/2⌋ each, none in both, ascending. Of
// an odd number one sample is in neither.
func Halves(m, b int, seed uint64) (first, second []int) {
	order := rand.New(rand.NewPCG(seed, uint64(b))).Perm(m)
	n := m / 2
	first, second = order[:n:n], order[n:2*n]
	slices.Sort(first)
	slices.Sort(second)
	return first, second
}

// picked is a pair of variables that a half has selected.
type picked struct {
	edge uint32
	sign int8
}

// Counts say how often pairs of variables were selected.
type Counts struct {
	pairs    int // of halves
	selected int // by all halves together
	times    []uint16
	positive []uint16 // times that the sign was positive
}

func (c *Counts) add(picks []picked) {
	c.pairs++
	c.selected += len(picks)
	for _, p := range picks {
		c.times[p.edge]++
		if p.sign > 0 {
			c.positive[p.edge]++
		}
	}
}

// Halves is the number of halves that were counted, 2B.
func (c *Counts) Halves() int { return 2 * c.pairs }

// Mean is the mean number of pairs of variables that a half has selected; 0 without a
// half.
func (c *Counts) Mean() float64 { return float64(c.selected) / float64(max(1, c.Halves())) }

// Times is the number of halves that have selected a pair of variables.
func (c *Counts) Times(edge int) int { return int(c.times[edge]) }

// Probability is the share of the halves that have selected a pair of variables; 0 without
// a half.
func (c *Counts) Probability(edge int) float64 {
	return float64(c.times[edge]) / float64(max(1, c.Halves()))
}

// Consistency is the share of the halves that have selected a pair of variables in which
// its sign is sign, or the more frequent one of 0; 0 where none has.
func (c *Counts) Consistency(edge int, sign int8) float64 {
	n, up := float64(c.times[edge]), float64(c.positive[edge])
	switch {
	case n == 0:
		return 0
	case sign > 0:
		return up / n
	case sign < 0:
		return (n - up) / n
	}
	return max(up, n-up) / n
}

// AtLeast is the number of pairs of variables that so many halves or more have selected.
func (c *Counts) AtLeast(times int) int {
	n := 0
	for _, t := range c.times {
		if int(t) >= times {
			n++
		}
	}
	return n
}

// Bounds are those of the expected number of false pairs.
func (c *Counts) Bounds() Bounds { return NewBounds(c.Mean(), len(c.times), c.pairs) }
