package glad

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/gladflow/gladflow/solver/dense"
)

// awaitFrom is the d from which a kernel may take so long that cancellation
// must not wait for it.
const awaitFrom = 300

// cpu is the Engine on dense.Workspace.
//
// It has four matrices besides S (and U): the pair (theta, z) that is
// complete, and two in which the next pair grows. What runs in the background
// after a cancellation touches the latter two only, so that the pair can be
// handed out.
type cpu struct {
	shape       Shape
	s, u        *dense.Sym // u is nil unless the cell is ADMMu's
	theta, z    *dense.Sym
	next, spare *dense.Sym
	values, phi []float64
	started     bool // the pair is there
	work        *dense.Workspace
	sweep       *sweep
	k           int // complete cells

	// The argument and the result of the kernel that await runs.
	lambda float64
	failed error
	step   func()
}

var _ Engine = (*cpu)(nil)

func newCPU(p *program, s *dense.Sym, samples int, e dense.Engine, cores int) *cpu {
	d := s.Len()
	c := &cpu{
		s:     s,
		theta: dense.NewSym(d, nil), z: dense.NewSym(d, nil),
		next: dense.NewSym(d, nil), spare: dense.NewSym(d, nil),
		values: make([]float64, d), phi: make([]float64, d),
		work: dense.NewWorkspace(e, d),
	}
	if p.model.Kind == ADMMu {
		c.u = dense.NewSym(d, nil)
	}
	var cell entrywise
	c.shape, cell = describe(p, s, samples)
	c.sweep = newSweep(p, cell, d, cores)
	c.step = c.thetaKernel
	return c
}

// describe gathers what the cells know of s besides its entries; samples is M,
// or 0.
func describe(p *program, s *dense.Sym, samples int) (Shape, entrywise) {
	c := connect(s)
	shape := Shape{Dimension: s.Len(), Norm: norm(s), Context: c.context}
	if p.model.Kind == GLADPM {
		return shape, newPosteriorCell(p, s, samples, c)
	}
	return shape, &threshold{rho: p.entries[0], context: c.context}
}

// Initial implements Engine.
func (c *cpu) Initial(ctx context.Context, t float64) error {
	c.spare.CopyFrom(c.s)
	c.spare.AddDiagonal(t)
	if !c.spare.Finite() {
		return errUnits
	}
	err := c.await(ctx, func() { c.failed = c.initialKernel(t) })
	if err == nil {
		err = c.failed
	}
	if err != nil {
		return err
	}
	if !c.next.Finite() {
		return errUnits
	}
	c.next, c.theta = c.theta, c.next
	c.z.CopyFrom(c.theta)
	if c.u != nil {
		clear(c.u.Raw())
	}
	c.started, c.k = true, 0
	return nil
}

// initialKernel inverts spare into next.
func (c *cpu) initialKernel(t float64) error {
	limit := resolution(c.shape.Dimension)
	if _, ok := c.work.Inverse(c.next, c.spare); ok && norm(c.next)*norm(c.spare) < 1/limit {
		return nil
	}
	if err := c.work.Eigen(c.spare, c.values, c.next.Raw()); err != nil {
		return err
	}
	least, largest := c.values[0], c.values[len(c.values)-1]
	if least < -limit*largest || largest <= 0 || least <= limit*largest && t <= 0 {
		return fmt.Errorf("S + tI with t = %v is not positive definite: its eigenvalues go down to %v; use a model with a larger theta0_offset, or shrink S towards its diagonal", t, least)
	}
	for i, v := range c.values {
		c.phi[i] = 1 / max(v, limit*largest)
	}
	c.spare.CopyFrom(c.next) // the vectors
	c.work.Spectral(c.next, c.phi, c.spare.Raw())
	return nil
}

// Theta implements Engine.
func (c *cpu) Theta(ctx context.Context, lambda float64) error {
	y, z := c.spare.Raw(), c.z.Raw()
	for i, s := range c.s.Raw() {
		y[i] = s/lambda - z[i]
	}
	if c.u != nil {
		for i, u := range c.u.Raw() {
			y[i] += u
		}
	}
	c.lambda = lambda
	if err := c.await(ctx, c.step); err != nil {
		return err
	}
	if c.failed != nil && !c.spare.Finite() {
		return ErrRange
	}
	return c.failed
}

// thetaKernel sets next to φ of spare, which it overwrites.
func (c *cpu) thetaKernel() {
	vectors := c.spare.Raw()
	if c.failed = c.work.Eigen(c.spare, c.values, vectors); c.failed != nil {
		return
	}
	spectrum(c.phi, c.values, c.lambda)
	c.work.Spectral(c.next, c.phi, vectors)
}

// spectrum sets phi to the eigenvalues φ(y) of Θ where those of Y are y.
func spectrum(phi, values []float64, lambda float64) {
	root := 2 / math.Sqrt(lambda)
	var largest float64
	for i, y := range values {
		s := math.Hypot(y, root) // y² may overflow
		if y > 0 {
			phi[i] = 2 / lambda / (y + s) // s − y would cancel
		} else {
			phi[i] = (s - y) / 2
		}
		largest = max(largest, phi[i])
	}
	floor := resolution(len(values)) * largest
	for i, v := range phi {
		phi[i] = max(v, floor)
	}
}

// Z implements Engine.
func (c *cpu) Z(ctx context.Context, lambda float64) (float64, error) {
	z := c.z
	norm2, err := c.advance(ctx, lambda, c.spare, c.u)
	if err == nil {
		c.spare = z
	}
	return norm2, err
}

// advance does the Z step into toZ and toU, which then belong to the pair.
func (c *cpu) advance(ctx context.Context, lambda float64, toZ, toU *dense.Sym) (float64, error) {
	norm2, err := c.sweep.run(ctx, c.k+1, lambda, operands{
		theta: c.next, s: c.s, z: c.z, toZ: toZ, u: c.u, toU: toU,
	})
	if err != nil {
		return 0, err
	}
	if !finite(norm2) {
		return 0, ErrRange
	}
	c.theta, c.next = c.next, c.theta
	c.z, c.u = toZ, toU
	c.k++
	return norm2, nil
}

// await runs kernel; if ctx ends first, kernel goes on and c must not be used
// any more but for its pair.
func (c *cpu) await(ctx context.Context, kernel func()) error {
	if c.shape.Dimension >= awaitFrom {
		return dense.Await(ctx, kernel)
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	kernel()
	return nil
}

// norm is the largest absolute row sum, which no eigenvalue exceeds.
func norm(a *dense.Sym) float64 {
	var largest float64
	for i := range a.Len() {
		var sum float64
		for _, v := range a.Row(i) {
			sum += math.Abs(v)
		}
		largest = max(largest, sum)
	}
	return largest
}

// interrupted reports whether err is that of an ended context.
func interrupted(err error) bool {
	return errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
}
