package selection

import (
	"context"
	"errors"
	"math"
	"time"

	"github.com/gladflow/gladflow/solver"
)

// Edges finds the penalty at which the graphical lasso has n edges, or nearest to that: the
// larger of two penalties that come as near. The path is followed until there are as many, and
// the last step halved until there are n or the step is no longer one, relative to the gap.
// Two edges may come in at one penalty, so that a number may not be reached; and the number of
// edges is not quite monotone in the penalty.
//
// When ctx ends first, the nearest of what is finished is returned together with ctx's error,
// or an *ErrNothing.
func Edges(ctx context.Context, p solver.Problem, n int, s Settings) (*Choice, error) {
	if err := p.Validate(); err != nil {
		return nil, err
	}
	if n < 0 {
		return nil, errors.New("the number of edges is negative")
	}
	l := newLadder(p.S)
	if float64(n) > l.pairs() {
		return nil, errors.New("there are fewer pairs than edges asked for")
	}
	c := &Choice{}
	on := newLane(p, s, s.gap(DefaultGap), s.engine())
	solve := func(rho float64) (int, error) {
		started := time.Now()
		if err := on.solve(ctx, rho); err != nil {
			return 0, err
		}
		point := newPoint(rho)
		point.note(on.last)
		edges := on.last.Edges()
		point.Edges, point.Criterion = float64(edges), math.Abs(float64(edges-n))
		point.Elapsed = time.Since(started)
		c.insert(point)
		s.report(math.NaN(), "penalty %.4g, %d edges", rho, edges)
		return edges, nil
	}
	high := l.largest
	var sparser *solver.Estimate // at high
	low := high
	for {
		edges, err := solve(low)
		if err != nil {
			return c.interrupted(ctx, err)
		}
		if edges == n {
			return c, nil
		}
		if edges > n {
			break
		}
		if low <= pathRatio*pathRatio*l.largest {
			return c, nil
		}
		high, sparser = low, on.last
		low = l.next(low)
	}
	const finest = 1e-7
	for high-low > finest*high {
		middle := math.Sqrt(high * low)
		on.last = sparser
		edges, err := solve(middle)
		switch {
		case err != nil:
			return c.interrupted(ctx, err)
		case edges == n:
			return c, nil
		case edges < n:
			high, sparser = middle, on.last
		default:
			low = middle
		}
	}
	return c, nil
}

// insert puts a point where its penalty belongs, and chooses the nearest again.
func (c *Choice) insert(p Point) {
	at := len(c.Path)
	for at > 0 && c.Path[at-1].Penalty < p.Penalty {
		at--
	}
	c.Path = append(c.Path, Point{})
	copy(c.Path[at+1:], c.Path[at:])
	c.Path[at] = p
	c.Best = 0
	for k, q := range c.Path {
		if q.Criterion < c.Path[c.Best].Criterion {
			c.Best = k
		}
	}
	c.Chosen, c.Rho = c.Best, c.Path[c.Best].Penalty
}
