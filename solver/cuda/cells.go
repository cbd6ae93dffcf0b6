//go:build cuda

package cuda

import (
	"context"
	"math"

	"github.com/gladflow/gladflow/solver/dense"
	"github.com/gladflow/gladflow/solver/glad"
)

// cells are the glad.Iterates of one problem of a batch.
type cells struct {
	*batch
	meeting *meeting
	index   int
}

var _ glad.Iterates = (*cells)(nil)

// Shape implements glad.Cells.
func (c *cells) Shape() glad.Shape { return c.prepared[c.index].Shape }

// Initial implements glad.Cells.
func (c *cells) Initial(ctx context.Context, t float64) error {
	c.meeting.do(c.index, func() { c.takeInitial(ctx, t) })
	return c.outcome(c.index)
}

// Cell implements glad.Cells.
func (c *cells) Cell(ctx context.Context, lambda float64) (float64, error) {
	c.ask(c.index, lambda)
	c.meeting.do(c.index, func() { c.takeCell(ctx) })
	return c.norm2[c.index], c.outcome(c.index)
}

// Definite implements glad.Iterates.
func (c *cells) Definite() (ok bool, err error) {
	c.whole.Lock()
	defer c.whole.Unlock()
	return c.definite(c.index)
}

// Pair implements glad.Iterates.
func (c *cells) Pair() (theta, z *dense.Sym, err error) {
	c.whole.Lock()
	defer c.whole.Unlock()
	theta, z = dense.NewSym(c.d, nil), dense.NewSym(c.d, nil)
	if err = c.fetch(theta.Raw(), c.at(c.pair.theta, c.index)); err == nil {
		err = c.fetch(z.Raw(), c.at(c.pair.z, c.index))
	}
	return theta, z, err
}

// ask sets the λ of a problem for the next cell.
func (b *batch) ask(i int, lambda float64) {
	b.whole.Lock()
	defer b.whole.Unlock()
	b.lambdas[i] = lambda
}

// outcome is the error of the last step: that of the device or the context, or that of
// the problem.
func (b *batch) outcome(i int) error {
	if b.broken != nil {
		return b.broken
	}
	return b.failed[i]
}

// takeInitial computes the first pairs.
func (b *batch) takeInitial(ctx context.Context, t float64) {
	b.whole.Lock()
	defer b.whole.Unlock()
	b.cells = 0
	b.broken = b.initial(ctx, t, b.failed)
}

// takeCell computes the next pairs. Where it fails they stay.
func (b *batch) takeCell(ctx context.Context) {
	b.whole.Lock()
	defer b.whole.Unlock()
	if b.broken = b.observed(ctx); b.broken != nil {
		return
	}
	to := workY // which is not needed any more
	if b.broken = b.zStep(ctx, b.cells+1, zStep{b.work[b.next], b.pair.z, b.u, b.work[to], b.u}, b.norm2); b.broken != nil {
		return
	}
	b.finite(b.norm2, glad.ErrRange)
	if b.broken = b.keep(ctx, to); b.broken == nil {
		b.cells++
	}
}

// finite sets the error of problems whose value is no number, if they have none.
func (b *batch) finite(values []float64, otherwise error) {
	for i, v := range values {
		if b.failed[i] == nil && (math.IsNaN(v) || math.IsInf(v, 0)) {
			b.failed[i] = otherwise
		}
	}
}

// keep makes Θ in b.next and Z in the slot z the pair of every problem that has not
// failed. Others keep theirs.
func (b *batch) keep(ctx context.Context, z int) error {
	err := b.enqueue(context.WithoutCancel(ctx), func(q *queue) {
		for i, failed := range b.failed {
			if failed != nil {
				q.copy(b.at(b.work[b.next], i), b.at(b.pair.theta, i), 8*b.size())
				q.copy(b.at(b.work[z], i), b.at(b.pair.z, i), 8*b.size())
			}
		}
		q.try(q.stream.Synchronize) // the pair is read on another stream
	})
	if err != nil {
		return err
	}
	b.pair.theta, b.work[b.next] = b.work[b.next], b.pair.theta
	b.pair.z, b.work[z] = b.work[z], b.pair.z
	return nil
}
