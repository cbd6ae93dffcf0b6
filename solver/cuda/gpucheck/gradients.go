//go:build cuda

package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/gladflow/gladflow/solver"
	"github.com/gladflow/gladflow/solver/cuda"
	"github.com/gladflow/gladflow/solver/cuda/driver"
	"github.com/gladflow/gladflow/solver/dense"
	"github.com/gladflow/gladflow/solver/glad"
)

// gradientAgreement is by how much losses and gradients may be off the CPU's, of the loss
// and of the length of the gradient.
const gradientAgreement = 1e-9

// gradients compares losses and their derivatives with the CPU's, and measures training.
func (c *check) gradients() {
	c.backend(func(b *cuda.Backend) {
		c.gradientsAgainstCPU(b)
		c.gradientBatches(b)
		c.steps(b)
	})
}

// example is sparse with its truth, the precision of the chain.
func (c *check) example(d, m int) solver.Example {
	truth := dense.NewSym(d, nil)
	for i := range d {
		truth.Set(i, i, 1)
		if i > 0 {
			truth.Set(i, i-1, -0.6)
			truth.Set(i-1, i-1, 1.36)
		}
	}
	p := c.sparse(d, m)
	return solver.Example{S: p.S, Samples: p.Samples, Truth: truth}
}

// differentiator opens one and calls f.
func differentiator(m *glad.Model, b glad.Backend, f func(g *glad.Differentiator)) {
	g := got(glad.NewDifferentiator(m, b))
	defer func() { must(g.Close()) }()
	f(g)
}

// differentiate is a training step: the losses and gradients of examples. The error is one
// of the model; that the time is over it panics with.
func (c *check) differentiate(g *glad.Differentiator, m *glad.Model, loss glad.Loss, examples ...solver.Example) (losses []float64, gradients [][]float64, err error) {
	losses = make([]float64, len(examples))
	for range examples {
		gradients = append(gradients, make([]float64, m.Parameters()))
	}
	err = g.Gradients(c.ctx, examples, loss, 1/float64(len(examples)), losses, gradients)
	if c.ctx.Err() != nil {
		panic(c.ctx.Err())
	}
	return losses, gradients, err
}

// between is the distance of two gradients, of the length of the second.
func between(got, want []float64) float64 {
	var sum, length float64
	for i, v := range want {
		sum += (got[i] - v) * (got[i] - v)
		length += v * v
	}
	if sum == 0 {
		return 0
	}
	return math.Sqrt(sum / length)
}

// shortened is a model of fewer iterations.
func shortened(m *glad.Model, iterations int) *glad.Model {
	m = m.Clone()
	m.Iterations = min(m.Iterations, iterations)
	m.Cells = m.Cells[:min(len(m.Cells), m.Iterations)]
	must(m.Validate())
	return m
}

// gradientsAgainstCPU runs every model on one example of many sizes.
func (c *check) gradientsAgainstCPU(b *cuda.Backend) {
	c.table("gradients against the CPU", "model", "cells", "d", "loss", "loss off by", "gradient off by", "same bits", "check")
	sizes := []int{1, 2, 31, 33, 100}
	if c.quick {
		sizes = []int{1, 17}
	}
	for i, m := range c.models() {
		if c.quick && !slices.Contains(shapes, m.Name) {
			continue // one of the same shapes does
		}
		for k, d := range sizes {
			loss := glad.Loss{On: glad.LossOnZ, Gamma: 0.9}
			if (i+k)%2 == 1 {
				loss = glad.Loss{On: glad.LossOnTheta, Gamma: 1, Relative: true}
			}
			c.gradientAgainstCPU(b, m, c.example(d, 2*d+10), loss)
		}
	}
	if c.quick {
		return
	}
	for _, name := range []string{"general", "er-d100-m100-literal"} {
		m := shortened(builtin(name), 4)
		for _, d := range []int{500, 1000} {
			// The CPU takes 40 products of matrices for a cell, on one core.
			if takes := time.Duration(4*40*2*d*d*d/5) * time.Nanosecond; c.due(fmt.Sprintf("gradients of %s, d=%d", name, d), takes) {
				c.gradientAgainstCPU(b, m, c.example(d, 2*d), glad.Loss{On: glad.LossOnZ, Gamma: 0.9})
			}
		}
	}
}

// gradientAgainstCPU runs one example twice.
func (c *check) gradientAgainstCPU(b *cuda.Backend, m *glad.Model, e solver.Example, loss glad.Loss) {
	d := e.S.Len()
	c.try(fmt.Sprintf("the gradient of %s, d=%d", m.Name, d), func() {
		var losses [3][]float64
		var gradients [3][][]float64
		var errs [3]error
		differentiator(m, nil, func(g *glad.Differentiator) { losses[2], gradients[2], errs[2] = c.differentiate(g, m, loss, e) })
		differentiator(m, b, func(g *glad.Differentiator) {
			for round := range 2 {
				losses[round], gradients[round], errs[round] = c.differentiate(g, m, loss, e)
			}
		})
		if errs[2] != nil { // then the device has to fail too
			c.row(m.Name, m.Iterations, d, loss.On, "", "", "", c.verdict(errs[0] != nil, "the gradient of %s, d=%d: the CPU says %v", m.Name, d, errs[2]))
			return
		}
		must(errors.Join(errs[:]...))
		same := losses[0][0] == losses[1][0] && slices.Equal(gradients[0][0], gradients[1][0])
		f, g := math.Abs(losses[0][0]/losses[2][0]-1), between(gradients[0][0], gradients[2][0])
		c.row(m.Name, m.Iterations, d, loss.On, f, g, same, c.verdict(f <= gradientAgreement && g <= gradientAgreement && same,
			"%s, d=%d: the loss on %s is off by %.2g, the gradient by %.2g, the same bits again: %v", m.Name, d, loss.On, f, g, same))
	})
}

// gradientBatches runs examples of several dimensions together.
func (c *check) gradientBatches(b *cuda.Backend) {
	c.table("gradients of batches against the CPU", "model", "examples", "d", "loss off by", "gradient off by", "check")
	n, sizes := 16, []int{20, 33, 100, 7}
	if c.quick {
		n, sizes = 4, []int{10, 7}
	}
	var examples []solver.Example
	for i := range n {
		examples = append(examples, c.example(sizes[i%len(sizes)], 60+i))
	}
	loss := glad.Loss{On: glad.LossOnZ, Gamma: 0.9}
	for _, m := range append(c.made(), builtin("general"), builtin("er-d100-m100-literal")) {
		c.try("gradients of a batch of "+m.Name, func() {
			var losses [2][]float64
			var gradients [2][][]float64
			for i, backend := range []glad.Backend{nil, b} {
				differentiator(m, backend, func(g *glad.Differentiator) {
					var err error
					losses[i], gradients[i], err = c.differentiate(g, m, loss, examples...)
					must(err)
				})
			}
			var e, f float64
			for i, want := range losses[0] {
				e, f = max(e, math.Abs(losses[1][i]/want-1)), max(f, between(gradients[1][i], gradients[0][i]))
			}
			c.row(m.Name, n, fmt.Sprint(sizes), e, f, c.verdict(e <= gradientAgreement && f <= gradientAgreement,
				"a batch of %s: the loss is off by %.2g, the gradient by %.2g", m.Name, e, f))
		})
	}
}

// mostOfCPU is how long the CPU's time for one example may take.
const mostOfCPU = time.Minute

// steps measures training steps: losses and gradients of some examples together.
func (c *check) steps(b *cuda.Backend) {
	c.table("training steps", "model", "cells", "d", "examples", "step", "per example", "CPU, one example", "GB taken", "check")
	dimensions, counts := []int{100, 1000}, []int{4, 16}
	if c.quick {
		dimensions, counts = []int{12}, []int{2}
	}
	loss := glad.Loss{On: glad.LossOnZ, Gamma: 0.9}
	for _, name := range []string{"general", "er-d100-m100-literal"} {
		m := builtin(name)
		if c.quick {
			m = shortened(m, 3)
		}
		for _, d := range dimensions {
			if c.largest > 0 && d > c.largest {
				continue
			}
			what := fmt.Sprintf("training steps of %s, d=%d", name, d)
			if !c.due(what, time.Duration(d)*time.Duration(d)*100*time.Microsecond+time.Second) {
				continue
			}
			c.try(what, func() {
				var examples []solver.Example
				for range slices.Max(counts) {
					examples = append(examples, c.example(d, 2*d))
				}
				cpu := "-"
				if c.due("the CPU's time for "+what, mostOfCPU) {
					cpu = c.onCPU(m, loss, examples[0])
				}
				for _, n := range counts {
					c.trainingStep(b, m, loss, examples[:n], cpu)
				}
			})
		}
	}
}

// onCPU is the CPU's time for one example, in words.
func (c *check) onCPU(m *glad.Model, loss glad.Loss, e solver.Example) (took string) {
	differentiator(m, nil, func(g *glad.Differentiator) {
		ctx, cancel := context.WithTimeout(c.ctx, mostOfCPU)
		defer cancel()
		gradient := make([]float64, m.Parameters())
		began := time.Now()
		_, err := g.Gradient(ctx, e, loss, 1, gradient)
		switch {
		case c.ctx.Err() != nil:
			panic(c.ctx.Err())
		case errors.Is(err, context.DeadlineExceeded):
			took = "> " + mostOfCPU.String()
		default:
			must(err)
			took = fmt.Sprintf("%.3f ms", time.Since(began).Seconds()*1e3)
		}
	})
	return took
}

// trainingStep measures a step, after one in which memory is taken and the libraries load
// their kernels.
func (c *check) trainingStep(b *cuda.Backend, m *glad.Model, loss glad.Loss, examples []solver.Example, cpu string) {
	k := got(driver.Use(c.device))
	defer func() { must(k.Close()) }()
	before := k.Allocated()
	differentiator(m, b, func(g *glad.Differentiator) {
		var took []time.Duration
		finite := true
		repeats := 4
		if c.quick {
			repeats = 2
		}
		for range repeats {
			began := time.Now()
			losses, gradients, err := c.differentiate(g, m, loss, examples...)
			must(err)
			took = append(took, time.Since(began))
			for _, v := range append(gradients, losses) {
				finite = finite && !slices.ContainsFunc(v, func(x float64) bool { return math.IsNaN(x) || math.IsInf(x, 0) })
			}
		}
		taken := k.Allocated() - before
		took = took[1:]
		slices.Sort(took)
		step, n, d := took[len(took)/2], len(examples), examples[0].S.Len()
		c.row(m.Name, m.Iterations, d, n, step, step/time.Duration(n), cpu, float64(taken)/1e9,
			c.verdict(finite && taken > 0, "a training step of %s, d=%d: a number is not finite, or the device has taken %d bytes", m.Name, d, taken))
	})
}
