//go:build cuda

package cuda

import (
	"context"
	"fmt"
	"math"
	"time"
)

// A ThetaStep tells how the Θ step of a cell was computed, for measurements.
type ThetaStep struct {
	// Cell counts from 1.
	Cell int
	// Dimension is d, and Problems how many matrices of that size were computed together.
	Dimension, Problems int
	// Condition is the largest bound of κ(Y² + (4/λ)I) among them, by which the method is
	// chosen.
	Condition float64
	// Eigen says that it was done by eigendecompositions, else by the polar iteration. Where
	// Iterations is not 0 too, the polar iteration was tried before.
	Eigen bool
	// Iterations and Products are those of the polar iteration; each product is half of
	// a symmetric one. Residual is the largest ‖W − I‖F before its last iteration.
	Iterations, Products int
	Residual             float64
	// Elapsed is the time of the step.
	Elapsed time.Duration
	// Bytes is what was taken of the device's memory for the batch before it began.
	Bytes int64
}

// Observe calls f after every Θ step, until it is called with nil. It makes the host
// wait for every step. Call it while no session is open.
func (b *Backend) Observe(f func(ThetaStep)) { b.observe = f }

// SetMethod sets how Θ steps are computed: "eigen" by eigendecompositions, "polar" by
// the polar iteration wherever it keeps its digits, "auto", the default, by what is
// faster. Call it while no session is open.
func (b *Backend) SetMethod(name string) error {
	m, ok := map[string]method{"auto": automatic, "eigen": byEigen, "polar": byPolar}[name]
	if !ok {
		return fmt.Errorf("%q is no method of the Θ step; choose auto, eigen or polar", name)
	}
	b.method = m
	return nil
}

// observed is thetaStep, and tells the observer.
func (b *batch) observed(ctx context.Context) error {
	b.told = ThetaStep{Cell: b.cells + 1, Dimension: b.d, Problems: b.n, Bytes: b.bytes}
	f := b.session.backend.observe
	if f == nil {
		return b.thetaStep(ctx, b.lambdas, b.failed)
	}
	if err := b.do(ctx, func(*queue) {}); err != nil {
		return err
	}
	began := time.Now()
	err := b.thetaStep(ctx, b.lambdas, b.failed)
	if err == nil {
		err = b.do(ctx, func(*queue) {})
	}
	if err == nil {
		b.told.Elapsed = time.Since(began)
		f(b.told)
	}
	return err
}

// condition notes the largest κ, from bounds of ‖Y‖.
func (s *ThetaStep) condition(lambda, upper []float64, failed []error) {
	s.Condition = 0
	for i, u := range upper {
		if failed[i] == nil {
			s.Condition = max(s.Condition, 1+u*u*lambda[i]/4)
		}
	}
}

// iterated notes an iteration, from ‖W − I‖²F of every problem.
func (s *ThetaStep) iterated(n int, norm2 []float64, active []bool) {
	s.Iterations, s.Residual = n, 0
	for i, v := range norm2 {
		if active[i] {
			s.Residual = max(s.Residual, math.Sqrt(v))
		}
	}
}
