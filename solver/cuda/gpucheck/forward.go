//go:build cuda

package main

import (
	"fmt"
	"slices"
	"time"

	"github.com/gladflow/gladflow/solver"
	"github.com/gladflow/gladflow/solver/cuda"
	"github.com/gladflow/gladflow/solver/glad"
)

// agreement is by how much Θ and Z may be off the CPU's, of their largest entry.
const agreement = 1e-8

// backend opens the device and calls f.
func (c *check) backend(f func(b *cuda.Backend)) {
	b := got(cuda.New(c.device))
	defer func() {
		if err := b.Close(); err != nil {
			c.verdict(false, "the backend is closed: %v", err)
		}
	}()
	f(b)
}

// forward compares whole forward passes with the CPU's.
func (c *check) forward() {
	c.backend(func(b *cuda.Backend) {
		c.againstCPU(b)
		c.batches(b)
		c.cells(b)
	})
}

func (c *check) models() []*glad.Model {
	var all []*glad.Model
	for _, name := range glad.BuiltinNames() {
		all = append(all, builtin(name))
	}
	return append(all, c.made()...)
}

// againstCPU runs every model on problems of many sizes.
func (c *check) againstCPU(b *cuda.Backend) {
	c.table("forward passes against the CPU", "model", "data", "d", "Θ step", "Θ off by", "Z off by", "same bits", "largest κ", "polar, eigen", "check")
	sizes := []int{1, 2, 31, 33, 100, 500, 1000}
	if c.quick {
		sizes = []int{1, 17}
	}
	for _, m := range c.models() {
		for _, d := range sizes {
			if d > 100 && !slices.Contains(shapes, m.Name) || d == 1000 && m.Kind == glad.ADMMu || c.quick && d == 1 && !slices.Contains(shapes, m.Name) {
				continue // one of the same shapes does
			}
			for _, data := range []string{"sparse", "factors"} {
				if data == "factors" && (d < 10 || c.quick && m.Name != "general") {
					continue
				}
				what := fmt.Sprintf("%s, %s, d=%d", m.Name, data, d)
				if !c.due(what, time.Duration(d)*time.Duration(d)*time.Duration(d)*5*time.Nanosecond) {
					continue
				}
				p := c.sparse(d, 2*d+10)
				if data == "factors" {
					p = c.factored(d, d/2+5)
				}
				c.try(what, func() {
					want, err := glad.Solver{Model: m}.Solve(c.ctx, p)
					if c.ctx.Err() != nil {
						panic(c.ctx.Err())
					}
					if err != nil {
						// Then the device has to fail too.
						_, also := glad.Solver{Model: m, Backend: b}.Solve(c.ctx, p)
						c.row(m.Name, data, d, "auto", "", "", "", "", "", c.verdict(also != nil, "%s: the CPU says %v", what, err))
						return
					}
					for _, how := range []string{"eigen", "polar"} {
						c.against(b, m, p, want, data, how)
					}
				})
			}
		}
	}
	must(b.SetMethod("auto"))
}

// against runs one problem twice by one method.
func (c *check) against(b *cuda.Backend, m *glad.Model, p solver.Problem, want *solver.Estimate, data, how string) {
	must(b.SetMethod(how))
	var condition float64
	var polar, eigen int
	b.Observe(func(s cuda.ThetaStep) {
		condition = max(condition, s.Condition)
		if s.Eigen {
			eigen++
		} else {
			polar++
		}
	})
	defer b.Observe(nil)
	one := c.solve(b, m, p)[0]
	steps := fmt.Sprintf("%d, %d", polar, eigen)
	two := c.solve(b, m, p)[0]
	same := slices.Equal(one.Precision.Raw(), two.Precision.Raw()) && slices.Equal(one.Support.Raw(), two.Support.Raw())
	e, f := apart(one.Precision.Raw(), want.Precision.Raw()), apart(one.Support.Raw(), want.Support.Raw())
	ok := e <= agreement && f <= agreement && same && one.Status == want.Status && one.Iterations == want.Iterations
	d := p.S.Len()
	c.row(m.Name, data, d, how, e, f, same, condition, steps, c.verdict(ok,
		"%s, %s, d=%d by %s: Θ is off by %.2g, Z by %.2g, the same bits again: %v, %v after %d, the CPU %v after %d", m.Name, data, d, how, e, f, same, one.Status, one.Iterations, want.Status, want.Iterations))
}

// batches runs problems of several dimensions together.
func (c *check) batches(b *cuda.Backend) {
	c.table("batches against the CPU", "model", "problems", "d", "Θ off by", "Z off by", "check")
	n, sizes := 40, []int{20, 33, 100, 7}
	if c.quick {
		n, sizes = 4, []int{10, 7}
	}
	var problems []solver.Problem
	for i := range n {
		problems = append(problems, c.sparse(sizes[i%len(sizes)], 60+i))
	}
	for _, m := range append(c.made(), builtin("general"), builtin("er-d100-m100-literal")) {
		c.try("a batch of "+m.Name, func() {
			want := c.solve(glad.CPU{}, m, problems...)
			all := c.solve(b, m, problems...)
			var e, f float64
			for i, est := range all {
				e, f = max(e, apart(est.Precision.Raw(), want[i].Precision.Raw())), max(f, apart(est.Support.Raw(), want[i].Support.Raw()))
			}
			c.row(m.Name, n, fmt.Sprint(sizes), e, f, c.verdict(e <= agreement && f <= agreement, "a batch of %s: Θ is off by %.2g, Z by %.2g", m.Name, e, f))
		})
	}
}

// cells shows what the Θ step does in every cell.
func (c *check) cells(b *cuda.Backend) {
	d := 1000
	if c.quick {
		d = 20
	}
	for _, name := range []string{"general", "er-d100-m100-literal"} {
		for _, data := range []string{"sparse", "factors"} {
			p := c.sparse(d, d/2)
			if data == "factors" {
				p = c.factored(d, d/3)
			}
			c.table(fmt.Sprintf("Θ steps of %s, %s, d=%d", name, data, d), "cell", "κ", "method", "iterations", "products", "‖W−I‖F", "time")
			must(b.SetMethod("polar"))
			b.Observe(c.step)
			c.try(name+", "+data, func() { c.solve(b, builtin(name), p) })
			b.Observe(nil)
			must(b.SetMethod("auto"))
		}
	}
}

func (c *check) step(s cuda.ThetaStep) {
	how := "polar"
	if s.Eigen {
		how = "eigen"
		if s.Iterations > 0 {
			how = "polar, then eigen"
		}
	}
	c.row(s.Cell, s.Condition, how, s.Iterations, s.Products, s.Residual, s.Elapsed)
}

// solve runs problems on a backend. That the time is over, when estimates are not
// complete, it panics with.
func (c *check) solve(b glad.Backend, m *glad.Model, problems ...solver.Problem) []*solver.Estimate {
	s := glad.Solver{Model: m, Backend: b}
	var all []*solver.Estimate
	var err error
	if len(problems) == 1 {
		all = make([]*solver.Estimate, 1)
		all[0], err = s.Solve(c.ctx, problems[0])
	} else {
		all, err = s.SolveAll(c.ctx, problems)
	}
	if c.ctx.Err() != nil {
		panic(c.ctx.Err())
	}
	must(err)
	return all
}
