package glad

import (
	"context"
	"fmt"

	"github.com/gladflow/gladflow/solver/dense"
)

// iterates are the Iterates of CPU, on a dense.Workspace.
//
// They have four matrices besides S (and U): the pair that is complete, and two
// in which the next pair grows. What runs in the background after a
// cancellation touches the latter two only, so that the pair can be handed out.
type iterates struct {
	shape       Shape
	s, u        *dense.Sym // u is nil unless the cell is ADMMu's
	pair        struct{ theta, z *dense.Sym }
	next, spare *dense.Sym
	values, phi []float64
	work        *dense.Workspace
	sweep       *sweep
	k           int // complete cells

	// keep says that the Θ step leaves the eigenvalues and eigenvectors of Y in values
	// and spare.
	keep bool

	// The argument and the result of the kernel that await runs.
	lambda float64
	failed error
	step   func()
}

var _ Iterates = (*iterates)(nil)

// newIterates returns memory for d×d covariances; load gives it one.
func (s *cpuSession) newIterates(d, cores int) *iterates {
	c := &iterates{
		next: dense.NewSym(d, nil), spare: dense.NewSym(d, nil),
		values: make([]float64, d), phi: make([]float64, d),
		work:  dense.NewWorkspace(s.engine, d),
		sweep: newSweep(s.networks, nil, d, cores),
	}
	c.pair.theta, c.pair.z = dense.NewSym(d, nil), dense.NewSym(d, nil)
	if s.plan.Kind == ADMMu {
		c.u = dense.NewSym(d, nil)
	}
	c.step = c.thetaKernel
	return c
}

// load makes c the iterates of a covariance; samples is M, or 0.
func (c *iterates) load(s *cpuSession, a *dense.Sym, samples int) {
	of := s.plan.Prepare(a, samples)
	c.s = a
	c.shape = of.Shape
	if s.plan.Kind == GLADPM {
		c.sweep.cell = newPosteriorCell(s.plan, s.networks, a, of)
	} else {
		c.sweep.cell = &paperCell{rho: s.networks[0], constants: constants{context: of.Shape.Context}}
	}
}

// Shape implements Cells.
func (c *iterates) Shape() Shape { return c.shape }

// Initial implements Cells.
func (c *iterates) Initial(ctx context.Context, t float64) error {
	c.spare.CopyFrom(c.s)
	c.spare.AddDiagonal(t)
	if !c.spare.Finite() {
		return ErrUnits
	}
	err := c.await(ctx, func() { c.failed = c.initialKernel(t) })
	if err == nil {
		err = c.failed
	}
	if err != nil {
		return err
	}
	if !c.next.Finite() {
		return ErrUnits
	}
	c.next, c.pair.theta = c.pair.theta, c.next
	c.pair.z.CopyFrom(c.pair.theta)
	if c.u != nil {
		clear(c.u.Raw())
	}
	c.k = 0
	return nil
}

// initialKernel inverts spare into next.
func (c *iterates) initialKernel(t float64) error {
	limit := Resolution(c.shape.Dimension)
	if _, ok := c.work.Inverse(c.next, c.spare); ok && norm(c.next)*norm(c.spare) < 1/limit {
		return nil
	}
	if err := c.work.Eigen(c.spare, c.values, c.next.Raw()); err != nil {
		return err
	}
	least, largest := c.values[0], c.values[len(c.values)-1]
	if err := CheckStart(t, least, largest, c.shape.Dimension); err != nil {
		return err
	}
	for i, v := range c.values {
		c.phi[i] = 1 / max(v, limit*largest)
	}
	c.spare.CopyFrom(c.next) // the vectors
	c.work.Spectral(c.next, c.phi, c.spare.Raw())
	return nil
}

// Cell implements Cells.
func (c *iterates) Cell(ctx context.Context, lambda float64) (float64, error) {
	if err := c.thetaStep(ctx, lambda); err != nil {
		return 0, err
	}
	z := c.pair.z
	norm2, err := c.advance(ctx, lambda, c.spare, c.u)
	if err == nil {
		c.spare = z
	}
	return norm2, err
}

// advance does the Z step into toZ and toU, which then belong to the pair.
func (c *iterates) advance(ctx context.Context, lambda float64, toZ, toU *dense.Sym) (float64, error) {
	norm2, err := c.sweep.run(ctx, c.k+1, lambda, operands{
		theta: c.next, s: c.s, z: c.pair.z, toZ: toZ, u: c.u, toU: toU,
	})
	if err != nil {
		return 0, err
	}
	if !finite(norm2) {
		return 0, ErrRange
	}
	c.pair.theta, c.next = c.next, c.pair.theta
	c.pair.z, c.u = toZ, toU
	c.k++
	return norm2, nil
}

// Pair implements Iterates.
func (c *iterates) Pair() (theta, z *dense.Sym, err error) { return c.pair.theta, c.pair.z, nil }

// Definite implements Iterates.
func (c *iterates) Definite() (bool, error) {
	a := c.pair.z.Clone()
	a.AddDiagonal(-Resolution(c.shape.Dimension) * norm(c.pair.z))
	_, ok := c.work.LogDet(a, a.Raw())
	return ok, nil
}

// await runs kernel; if ctx ends first, kernel goes on and c must not be used
// any more but for its pair.
func (c *iterates) await(ctx context.Context, kernel func()) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	return dense.AwaitLong(ctx, c.shape.Dimension, kernel)
}

// CheckStart is the error of Cells.Initial where S + tI, d×d with eigenvalues from least
// to largest, is not positive definite, nor singular by no more than rounding with t > 0.
func CheckStart(t, least, largest float64, d int) error {
	limit := Resolution(d)
	if least < -limit*largest || largest <= 0 || least <= limit*largest && t <= 0 {
		return startError(fmt.Sprintf("the matrix S + tI with t = %v is not positive definite: its eigenvalues go down to %v; use a model with a larger theta0_offset, or shrink S towards its diagonal", t, least))
	}
	return nil
}

// A startError is that of CheckStart.
type startError string

func (e startError) Error() string { return string(e) }
