//go:build cuda

package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/gladflow/gladflow/solver"
	"github.com/gladflow/gladflow/solver/cuda"
	"github.com/gladflow/gladflow/solver/cuda/driver"
	"github.com/gladflow/gladflow/solver/dense"
	"github.com/gladflow/gladflow/solver/glad"
)

// soon is when a run has ended after its context.
const soon = 200 * time.Millisecond

// faults checks what goes wrong on purpose.
func (c *check) faults() {
	c.table("faults", "what", "result", "check")
	c.try("too much memory", c.tooMuch)
	c.try("a full device", c.full)
	c.try("cancelled contexts", c.cancelled)
	c.try("sessions side by side", c.together)
}

// tooMuch asks for more than the device has.
func (c *check) tooMuch() {
	c.card(func(k *card) {
		var err error
		k.on(func() {
			bytes := 2 * k.Properties().Memory
			if _, e := k.Alloc(bytes); e != nil {
				err = e
			}
		})
		c.row("twice the memory", err, c.verdict(driver.KindOf(err) == driver.OutOfMemory, "twice the memory: %v", err))
		k.on(func() { // which goes on
			v := k.down(k.up([]float64{1, 2}), 2)
			c.row("a small piece after it", v, c.verdict(slices.Equal(v, []float64{1, 2}), "after it, 1, 2 come back as %v", v))
		})
	})
}

// full takes most of the memory, and then a problem does not fit.
func (c *check) full() {
	c.card(func(k *card) {
		const left = 300 << 20
		var held driver.Pointer
		must(k.Do(func() (err error) {
			if bytes := k.Properties().Free - left; bytes > 0 {
				held, err = k.Alloc(bytes)
			}
			return err
		}))
		defer func() { must(k.Do(func() error { return k.Free(held) })) }()
		c.backend(func(b *cuda.Backend) {
			p := solver.Problem{S: dense.Identity(3000), Samples: 10}
			_, err := glad.Solver{Backend: b}.Solve(c.ctx, p)
			c.row("d=3000 in 300 MB", err, c.verdict(driver.KindOf(err) == driver.OutOfMemory, "d=3000 in 300 MB: %v", err))
			_, err = glad.Solver{Backend: b}.Solve(c.ctx, c.sparse(20, 40))
			c.row("d=20 in it", fmt.Sprint(err), c.verdict(err == nil, "d=20 in 300 MB: %v", err))
		})
	})
}

// cancelled ends contexts in the middle of a pass.
func (c *check) cancelled() {
	d := 3000
	if c.quick {
		d = 60
	}
	p := c.sparse(d, d)
	c.backend(func(b *cuda.Backend) {
		for _, of := range []struct{ model, how string }{
			{"er-d100-m100-literal", "polar"}, {"er-d100-m100-literal", "eigen"},
			{"general", "polar"}, // which asks whether Z is positive definite when it has ended
		} {
			m, how := builtin(of.model), of.how
			must(b.SetMethod(how))
			began := time.Now()
			c.solve(b, m, p)
			whole := time.Since(began)
			for i := range 4 {
				after := whole * time.Duration(2*i+1) / 10
				ctx, cancel := context.WithTimeout(c.ctx, after)
				began := time.Now()
				est, err := glad.Solver{Model: m, Backend: b}.Solve(ctx, p)
				late := time.Since(began) - after
				ended := ctx.Err() != nil
				cancel()
				outcome := fmt.Sprint(err)
				if est != nil {
					outcome = est.Status.String()
				}
				ok := err == nil || errors.Is(err, context.DeadlineExceeded)
				if est != nil {
					ok = ok && est.Precision.Finite() && est.Support.Finite()
				}
				ok = ok && (!ended || late < soon)
				c.row(fmt.Sprintf("cancelled after %d ms, d=%d, %s, %s", after.Milliseconds(), d, of.model, how), fmt.Sprintf("returns %.1f ms later, %s", late.Seconds()*1e3, outcome),
					c.verdict(ok, "cancelled after %v it returns %v later: %v", after, late, err))
			}
		}
	})
}

// together runs two models at the same time, each with the result that it has alone.
func (c *check) together() {
	d := 700
	if c.quick {
		d = 40
	}
	models := []*glad.Model{builtin("general"), builtin("er-d100-m100-recipe")}
	problems := []solver.Problem{c.sparse(d, d), c.sparse(d+1, d)}
	c.backend(func(b *cuda.Backend) {
		var alone [2]*solver.Estimate
		for i, m := range models {
			alone[i] = c.solve(b, m, problems[i])[0]
		}
		var errs [2]error
		var all sync.WaitGroup
		for i, m := range models {
			all.Go(func() {
				for range 5 {
					est, err := glad.Solver{Model: m, Backend: b}.Solve(c.ctx, problems[i])
					if err == nil && !(slices.Equal(est.Precision.Raw(), alone[i].Precision.Raw()) && slices.Equal(est.Support.Raw(), alone[i].Support.Raw())) {
						err = errors.New("the bits are others than alone")
					}
					if err != nil {
						errs[i] = err
						return
					}
				}
			})
		}
		all.Wait()
		err := errors.Join(errs[:]...)
		c.row("two sessions side by side, 5 times", fmt.Sprint(err), c.verdict(err == nil, "two sessions side by side: %v", err))
	})
}
