package glad_test

import (
	"context"
	"errors"
	"math"
	"sync"
	"sync/atomic"

	"gonum.org/v1/gonum/mat"

	"github.com/gladflow/gladflow/solver"
	"github.com/gladflow/gladflow/solver/dense"
	"github.com/gladflow/gladflow/solver/glad"
)

// naiveBackend evaluates the equations entry by entry, on the matrices of gonum,
// and goes back by central differences. Of package glad it uses what another
// package can. Like a device it takes the problems of one dimension together:
// a step is launched when all of them have asked for it.
type naiveBackend struct {
	launches, open atomic.Int64
	// forward leaves out the adjoint.
	forward bool
	// failure is returned, if it is not nil, by Open (when is 0), Initial, the
	// second cell or Pair.
	failure error
	when    int
}

func (b *naiveBackend) fails(when int) error {
	if b.failure != nil && b.when == when {
		return b.failure
	}
	return nil
}

func (b *naiveBackend) Name() string { return "naive" }

func (b *naiveBackend) Open(p *glad.Plan) (glad.Session, error) {
	if err := b.fails(0); err != nil {
		return nil, err
	}
	b.open.Add(1)
	s := &naiveSession{backend: b, plan: p}
	if b.forward {
		return struct{ glad.Session }{s}, nil
	}
	return s, nil
}

type naiveSession struct {
	backend *naiveBackend
	plan    *glad.Plan
}

func (s *naiveSession) Close() error {
	s.backend.open.Add(-1)
	return nil
}

// model reads the plan: it is the model of the session with other values.
func (s *naiveSession) model(values []float64) *glad.Model {
	m := &glad.Model{Kind: s.plan.Kind, Iterations: s.plan.Iterations}
	for _, e := range s.plan.Entries {
		n, at := glad.Network{Inputs: e.Network.Inputs}, e.At
		below := len(n.Inputs)
		for _, l := range e.Network.Layers {
			to := glad.Layer{Activation: l.Activation, Scale: l.Scale}
			units := len(l.Bias)
			for u := range units {
				to.Weights = append(to.Weights, values[at+u*below:at+(u+1)*below])
			}
			at += units * below
			to.Bias = values[at : at+units]
			at += units
			n.Layers = append(n.Layers, to)
			below = units
		}
		if m.Kind == glad.GLADPM {
			m.Cells = append(m.Cells, glad.PosteriorMean{Step: values[e.Step], Network: n})
		} else {
			m.Rho = n
		}
	}
	return m
}

func (s *naiveSession) Run(ctx context.Context, problems []solver.Problem, f func(int, glad.Iterates) error) error {
	return s.each(ctx, problems, func(i int, c *naiveCells) error { return f(i, c) })
}

func (s *naiveSession) Differentiate(ctx context.Context, examples []solver.Example, loss glad.Loss, weights []float64, f func(int, glad.Adjoint) error) error {
	var problems []solver.Problem
	for _, e := range examples {
		problems = append(problems, e.Problem())
	}
	return s.each(ctx, problems, func(i int, c *naiveCells) error {
		c.truth, c.lossOf, c.weight = matrix(examples[i].Truth), loss, weights[i]
		return f(i, c)
	})
}

// each runs f for all problems of a dimension at once, and one dimension after
// the other.
func (s *naiveSession) each(ctx context.Context, problems []solver.Problem, f func(int, *naiveCells) error) error {
	errs := make([]error, len(problems))
	for _, group := range glad.ByDimension(problems) {
		m := &meeting{active: len(group), launches: &s.backend.launches}
		m.all = sync.NewCond(&m.mutex)
		var done sync.WaitGroup
		for _, i := range group {
			done.Go(func() {
				defer m.leave()
				errs[i] = f(i, newNaiveCells(s, m, problems[i]))
			})
		}
		done.Wait()
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	return errors.Join(errs...)
}

// A meeting launches the jobs of its members together.
type meeting struct {
	mutex    sync.Mutex
	all      *sync.Cond
	active   int // members that have not left
	jobs     []func()
	round    int
	launches *atomic.Int64
}

// do runs job, together with those of all other members.
func (m *meeting) do(job func()) {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	round := m.round
	m.jobs = append(m.jobs, job)
	m.launch()
	for round == m.round {
		m.all.Wait()
	}
}

func (m *meeting) leave() {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	m.active--
	m.launch()
}

func (m *meeting) launch() {
	if len(m.jobs) == 0 || len(m.jobs) < m.active {
		return
	}
	for _, job := range m.jobs {
		job()
	}
	m.jobs = nil
	m.round++
	m.launches.Add(1)
	m.all.Broadcast()
}

// naiveCells are Iterates and an Adjoint. The state before each cell, from 1, and
// after the last is kept.
type naiveCells struct {
	session          *naiveSession
	meeting          *meeting
	s                *mat.SymDense
	context, samples float64
	offset           float64
	theta            *mat.Dense
	zs, us           []*mat.Dense

	truth    *mat.Dense
	lossOf   glad.Loss
	weight   float64
	total    float64
	byZ, byU *mat.Dense
	gradient []float64
}

func newNaiveCells(s *naiveSession, m *meeting, p solver.Problem) *naiveCells {
	d := p.S.Len()
	c := &naiveCells{
		session: s, meeting: m, s: mat.NewSymDense(d, p.S.Clone().Raw()), samples: float64(p.Samples),
		byZ: mat.NewDense(d, d, nil), byU: mat.NewDense(d, d, nil), gradient: make([]float64, len(s.plan.Values)),
	}
	c.context = glad.NaiveContext(c.s)
	return c
}

func matrix(a *dense.Sym) *mat.Dense { return mat.NewDense(a.Len(), a.Len(), a.Clone().Raw()) }

func symmetric(a *mat.Dense) *dense.Sym {
	d, _ := a.Dims()
	s := dense.NewSym(d, nil)
	for i := range d {
		for j := range i + 1 {
			s.Set(i, j, a.At(i, j))
		}
	}
	return s
}

// rowSum is the largest absolute row sum.
func rowSum(a mat.Matrix) float64 { return mat.Norm(a, math.Inf(1)) }

func (c *naiveCells) Shape() glad.Shape {
	return glad.Shape{Dimension: c.s.SymmetricDim(), Norm: rowSum(c.s), Context: c.context, Table: glad.NaiveTable(c.s, c.samples)}
}

func (c *naiveCells) inverse(t float64) *mat.Dense {
	d := c.s.SymmetricDim()
	shifted := mat.DenseCopyOf(c.s)
	for i := range d {
		shifted.Set(i, i, shifted.At(i, i)+t)
	}
	inverse := mat.NewDense(d, d, nil)
	if err := inverse.Inverse(shifted); err != nil {
		panic(err)
	}
	return inverse
}

func (c *naiveCells) Initial(ctx context.Context, t float64) error {
	if err := errors.Join(ctx.Err(), c.session.backend.fails(1)); err != nil {
		return err
	}
	c.meeting.do(func() {
		d := c.s.SymmetricDim()
		c.offset, c.theta = t, c.inverse(t)
		c.zs, c.us = []*mat.Dense{c.theta}, []*mat.Dense{mat.NewDense(d, d, nil)}
	})
	return nil
}

// cell is cell k from 1.
func (c *naiveCells) cell(m *glad.Model, k int, z, u *mat.Dense, lambda float64) (theta, toZ, toU *mat.Dense) {
	return glad.NaiveCell(m, k, c.s, z, u, lambda, c.context, c.samples)
}

func (c *naiveCells) Cell(ctx context.Context, lambda float64) (norm2 float64, err error) {
	k := len(c.zs)
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	if err := c.session.backend.fails(2); err != nil && k == 2 {
		return 0, err
	}
	c.meeting.do(func() {
		theta, z, u := c.cell(c.session.model(c.session.plan.Values), k, c.zs[k-1], c.us[k-1], lambda)
		c.theta, c.zs, c.us = theta, append(c.zs, z), append(c.us, u)
		norm2 = distance2(z, theta)
	})
	return norm2, nil
}

func distance2(a, b *mat.Dense) float64 {
	var off mat.Dense
	off.Sub(a, b)
	return math.Pow(mat.Norm(&off, 2), 2)
}

func (c *naiveCells) Pair() (theta, z *dense.Sym, err error) {
	return symmetric(c.theta), symmetric(c.zs[len(c.zs)-1]), c.session.backend.fails(3)
}

func (c *naiveCells) Definite() (bool, error) {
	z := symmetric(c.zs[len(c.zs)-1])
	d := z.Len()
	a := mat.NewSymDense(d, z.Raw())
	delta := 16 * float64(d) * 0x1p-52 * rowSum(a)
	for i := range d {
		a.SetSym(i, i, a.At(i, i)-delta)
	}
	var factor mat.Cholesky
	return factor.Factorize(a), nil
}

// step is that of central differences.
const step = 1e-5

// difference is the derivative of f, which looks at x.
func difference(x *float64, f func() float64) float64 {
	at := *x
	*x = at + step
	above := f()
	*x = at - step
	below := f()
	*x = at
	return (above - below) / (2 * step)
}

// byMatrix sets to to the derivatives of f by the single entries of a symmetric
// matrix, which f looks at.
func byMatrix(to, a *mat.Dense, f func() float64) {
	d, _ := a.Dims()
	x, raw := 0.0, mat.DenseCopyOf(a)
	for i := range d {
		for j := range i + 1 {
			by := difference(&x, func() float64 {
				a.Set(i, j, raw.At(i, j)+x)
				a.Set(j, i, raw.At(i, j)+x)
				return f()
			})
			a.Copy(raw)
			if i != j {
				by /= 2
			}
			to.Set(i, j, by)
			to.Set(j, i, by)
		}
	}
}

func dot(a, b *mat.Dense) float64 {
	var product mat.Dense
	product.MulElem(a, b)
	return mat.Sum(&product)
}

func (c *naiveCells) AdjointCell(ctx context.Context, k int, lambda, byNorm2, byLambda float64) (float64, error) {
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	c.meeting.do(func() {
		plan := c.session.plan
		values := append([]float64(nil), plan.Values...)
		z, u := mat.DenseCopyOf(c.zs[k-1]), mat.DenseCopyOf(c.us[k-1])
		weight := c.weight * math.Pow(c.lossOf.Gamma, float64(plan.Iterations-k))
		share := func(theta, toZ *mat.Dense) float64 {
			if c.lossOf.On == glad.LossOnTheta {
				toZ = theta
			}
			return weight * distance2(toZ, c.truth)
		}
		// What of the loss comes through this cell, with fixed derivatives by
		// what it returns.
		f := func() float64 {
			theta, toZ, toU := c.cell(c.session.model(values), k, z, u, lambda)
			return dot(c.byZ, toZ) + dot(c.byU, toU) + byNorm2*distance2(toZ, theta) + share(theta, toZ)
		}
		theta, toZ, _ := c.cell(c.session.model(values), k, z, u, lambda)
		c.total += share(theta, toZ)
		byLambda += difference(&lambda, f)
		for i := range plan.Lambda {
			c.gradient[i] += difference(&values[i], f)
		}
		d := c.s.SymmetricDim()
		byZ, byU := mat.NewDense(d, d, nil), mat.NewDense(d, d, nil)
		byMatrix(byZ, z, f)
		if plan.Kind == glad.ADMMu {
			byMatrix(byU, u, f)
		}
		c.byZ, c.byU = byZ, byU
	})
	return byLambda, nil
}

func (c *naiveCells) AdjointInitial(_ context.Context, gradient []float64) (float64, error) {
	t := c.offset
	c.gradient[len(c.gradient)-1] += difference(&t, func() float64 { return dot(c.byZ, c.inverse(t)) })
	for i, v := range c.gradient {
		gradient[i] += v
	}
	return c.total, nil
}
