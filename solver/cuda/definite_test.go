//go:build cuda

package cuda

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gladflow/gladflow/solver"
	"github.com/gladflow/gladflow/solver/cuda/internal/emulator"
	"github.com/gladflow/gladflow/solver/dense"
	"github.com/gladflow/gladflow/solver/glad"
)

// holding has work of a kernel or a call wait for ever, and fails the test where that
// keeps f waiting too.
func holding(t *testing.T, control *emulator.Control, name string, f func()) {
	t.Helper()
	control.Set(t, "EMULATOR_HOLD", name)
	watch := time.AfterFunc(10*time.Second, func() {
		t.Errorf("it waits for %s, which was cancelled", name)
		control.Set(t, "EMULATOR_HOLD", "")
	})
	f()
	watch.Stop()
}

// A cancelled run ends with its last pair, and waits for none of the work that it has
// queued: that may take minutes.
func TestCancelledRunWaitsForNothing(t *testing.T) {
	control := emulated(t)
	control.CheckNothingLeft(t)
	b := opened(t)
	p := sampled(rand.New(rand.NewPCG(14, 14)), 24, 60)
	seed := 0
	for _, name := range []string{"general", "er-d100-m100-literal"} {
		// The CPU's, after two cells.
		ctx, cancel := context.WithCancel(t.Context())
		want, err := glad.Solver{Model: model(t, name)}.Trajectory(ctx, p, func(s glad.Step) {
			if s.Iteration == 2 {
				cancel()
			}
		})
		if err != nil || want.Status != solver.Interrupted || want.Iterations != 2 {
			t.Fatal(want, err)
		}
		for _, c := range []struct {
			how  method
			held string
		}{
			{byEigen, "theta_argument"}, {byEigen, "cusolverDnXsyevd"}, {byEigen, "spectral_values"},
			{byPolar, "residual"}, {byPolar, "half_difference"}, {byEigen, "sum"},
		} {
			b.method = c.how
			seed++
			control.Set(t, "EMULATOR_DEFERRED", fmt.Sprint(seed))
			ctx, cancel := context.WithCancel(t.Context())
			var got *solver.Estimate
			var err error
			solve := func() {
				got, err = glad.Solver{Model: model(t, name), Backend: b}.Trajectory(ctx, p, func(s glad.Step) {
					if s.Iteration == 2 {
						control.Set(t, "EMULATOR_HOLD", c.held)
						time.AfterFunc(30*time.Millisecond, cancel)
					}
				})
			}
			holding(t, control, "", solve)
			control.Set(t, "EMULATOR_HOLD", "")
			cancel()
			if err != nil {
				t.Fatal(err)
			}
			if got.Status != solver.Interrupted || got.Iterations != 2 {
				t.Errorf("%s, %s: %v after %d iterations", name, c.held, got.Status, got.Iterations)
			}
			if e, f := distance(got.Precision, want.Precision), distance(got.Support, want.Support); !(e < tolerance && f < tolerance) {
				t.Errorf("%s, %s: Θ is off by %.2g, Z by %.2g", name, c.held, e, f)
			}
			b.background.Wait()
		}
	}
}

// Whether Z is positive definite is told as it is, before and after a cancellation, of
// every problem of a batch, and the pair stays.
func TestDefinite(t *testing.T) {
	control := emulated(t)
	control.CheckNothingLeft(t)
	b := opened(t)
	const d = 30
	r := rand.New(rand.NewPCG(15, 15))
	var problems []solver.Problem
	for range 4 {
		problems = append(problems, sampled(r, d, 60))
	}
	of := func(last float64) []float64 { // a matrix of which the last eigenvalue may be anything
		z := sampled(r, d, 60).S
		z.AddDiagonal(1)
		for i := range d - 1 {
			z.Set(i, d-1, 0)
		}
		z.Set(d-1, d-1, last)
		return z.Raw()
	}
	margin := glad.Resolution(d)
	matrices := [][]float64{of(1), of(-1e-3), of(0), of(margin)} // the margin of the last is that of its norm, above 1
	want := []bool{true, false, false, false}
	for seed, name := range []string{"general", "general", "er-d100-m100", "er-d100-m100-literal"} {
		control.Set(t, "EMULATOR_DEFERRED", fmt.Sprint(seed+1))
		ctx, cancel := context.WithCancel(t.Context())
		var arrived atomic.Int32
		check := func(c *cells, when string) error {
			ok, err := c.Definite()
			if err == nil && ok != want[c.index] {
				err = fmt.Errorf("seed %d, problem %d, %s: positive definite is %v", seed, c.index, when, ok)
			}
			if err != nil {
				return err
			}
			_, z, err := c.Pair()
			if err == nil && !slices.Equal(z.Raw(), matrices[c.index]) {
				err = fmt.Errorf("seed %d, problem %d, %s: another Z", seed, c.index, when)
			}
			return err
		}
		step := func(c *cells, p solver.Problem) error {
			if err := c.Initial(t.Context(), 1); err != nil {
				return err
			}
			if err := b.device.Do(func() error {
				if err := c.copies.Upload(c.at(c.pair.z, c.index), matrices[c.index]); err != nil {
					return err
				}
				return c.copies.Synchronize()
			}); err != nil {
				return err
			}
			if err := check(c, "before"); err != nil {
				return err
			}
			// S is what it was.
			s := dense.NewSym(d, nil)
			if err := c.fetch(s.Raw(), c.at(c.s, c.index)); err != nil || !slices.Equal(s.Raw(), p.S.Raw()) {
				return errors.Join(err, errors.New("S has changed"))
			}
			if arrived.Add(1) == int32(len(problems)) {
				time.AfterFunc(100*time.Millisecond, cancel)
			}
			if _, err := c.Cell(ctx, 1); !errors.Is(err, context.Canceled) {
				return fmt.Errorf("the cell ends with %v", err)
			}
			for range 2 {
				if err := check(c, "after"); err != nil {
					return err
				}
			}
			return nil
		}
		holding(t, control, "theta_argument", func() {
			if _, err := (glad.Solver{Model: model(t, name), Backend: within{b, step}}).SolveAll(t.Context(), problems); err != nil {
				t.Error(err)
			}
		})
		control.Set(t, "EMULATOR_HOLD", "")
		b.background.Wait()
	}
}
