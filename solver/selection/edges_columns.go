package selection

import (
	"context"
	"errors"
	"math"
	"time"

	"github.com/gladflow/gladflow/solver/covariance"
	"github.com/gladflow/gladflow/solver/glasso"
)

// EdgesOfColumns is Edges for an S of which only parts are ever held: one pass over the pairs
// keeps those of largest |Sij|, which have the connected components of every penalty that is
// tried. admit, if set, is asked before components are solved, and its error is returned.
//
// A penalty with about n pairs above it is tried first, then others until n is between the
// numbers of edges of two, and then those between these. The same penalty as Edges finds is
// found where one alone has n edges, up to how many have.
func EdgesOfColumns(ctx context.Context, x *covariance.Columns, n int, s Settings, admit func(components [][]int) error) (*Choice, error) {
	d := x.Len()
	if n < 1 || float64(n) > float64(d)*float64(d-1)/2 {
		return nil, errors.New("there are fewer pairs than edges asked for, or no edges are")
	}
	c := &Choice{}
	search := columnsSearch{x: x, n: n, s: s, c: c, admit: admit}
	for keep := 8 * (n + d); ; keep *= 8 {
		if err := search.list(ctx, keep); err != nil {
			return c.interrupted(ctx, err)
		}
		enough, err := search.run(ctx)
		if err != nil {
			return c.interrupted(ctx, err)
		}
		if enough || search.floor == 0 { // those listed are all there are
			return c, nil
		}
		*c = Choice{}
	}
}

// A columnsSearch looks for n edges.
type columnsSearch struct {
	x       *covariance.Columns
	n       int
	s       Settings
	c       *Choice
	admit   func(components [][]int) error
	entries []covariance.Entry
	floor   float64 // all above it are listed
}

// list keeps so many entries.
func (q *columnsSearch) list(ctx context.Context, keep int) (err error) {
	q.entries, q.floor, err = q.x.Largest(ctx, keep, func(done float64) {
		q.s.report(math.NaN(), "%.0f %% of the pairs", 100*done)
	})
	if err == nil && len(q.entries) == 0 && q.floor == 0 {
		err = errors.New("no two variables are related")
	}
	return err
}

// at is the penalty with k of the pairs above it, or all.
func (q *columnsSearch) at(k int) float64 {
	return math.Abs(q.entries[min(max(k, 0), len(q.entries)-1)].Value)
}

// run looks among the penalties that have the entries listed above them, and reports whether
// there are as many edges among these.
func (q *columnsSearch) run(ctx context.Context) (enough bool, err error) {
	if len(q.entries) == 0 { // more tie than are listed
		return false, nil
	}
	k := q.n
	rho := q.at(k)
	edges, err := q.solve(ctx, rho)
	if err != nil {
		return false, err
	}
	low, high, few, many := rho, rho, edges, edges // few at high, many at low
	for step := q.n/4 + 1; many < q.n; step *= 2 {
		if k >= len(q.entries)-1 {
			return false, nil
		}
		k += step
		high, few = low, many
		low = q.at(k)
		if many, err = q.solve(ctx, low); err != nil {
			return false, err
		}
	}
	for step := q.n/4 + 1; few > q.n; step *= 2 {
		low, many = high, few
		if k -= step; k < 0 {
			high, few = q.at(0), 0 // no pair is above
			break
		}
		high = q.at(k)
		if few, err = q.solve(ctx, high); err != nil {
			return false, err
		}
	}
	const finest = 1e-7
	for round := 0; few < q.n && q.n < many && high-low > finest*high; round++ {
		share := float64(many-q.n) / float64(many-few)
		if round%3 == 2 { // where the number is far from a line
			share = 0.5
		}
		share = math.Max(0.05, math.Min(0.95, share))
		middle := low * math.Pow(high/low, share)
		edges, err := q.solve(ctx, middle)
		if err != nil {
			return false, err
		}
		if edges <= q.n {
			high, few = middle, edges
		} else {
			low, many = middle, edges
		}
	}
	return true, nil
}

// solve is the number of edges at a penalty.
func (q *columnsSearch) solve(ctx context.Context, rho float64) (int, error) {
	started := time.Now()
	joined := covariance.NewForest(q.x.Len())
	for _, e := range q.entries {
		if math.Abs(e.Value) < rho {
			break
		}
		joined.Join(int(e.I), int(e.J))
	}
	components := joined.Components()
	if q.admit != nil {
		if err := q.admit(components); err != nil {
			return 0, err
		}
	}
	est, err := glasso.BCD{Settings: glasso.Settings{
		Penalty: glasso.Penalty{Rho: rho, Diagonal: q.s.Diagonal}, Gap: q.s.gap(DefaultGap), IterationLimit: q.s.IterationLimit, Engine: q.s.engine(),
	}}.SolveParts(ctx, q.x, components)
	if err == nil {
		err = ctx.Err()
	}
	if err != nil {
		return 0, err
	}
	edges := est.Edges()
	point := newPoint(rho)
	point.note(est)
	point.Edges, point.Criterion = float64(edges), math.Abs(float64(edges-q.n))
	point.Elapsed = time.Since(started)
	q.c.insert(point)
	q.s.report(math.NaN(), "penalty %.4g, %d edges", rho, edges)
	return edges, nil
}

var _ glasso.Parts = (*covariance.Columns)(nil)
