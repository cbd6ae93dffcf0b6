package glasso

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/gladflow/gladflow/solver"
	"github.com/gladflow/gladflow/solver/dense"
)

// Parts gives any part of an S that is too large to be held; *covariance.Columns is one.
type Parts interface {
	// Len is d.
	Len() int
	// Variance is Sii, which is positive.
	Variance(i int) float64
	// Submatrix is the part of S of the variables idx, in that order. Its error is ctx's.
	Submatrix(ctx context.Context, idx []int) (*dense.Sym, error)
}

// SolveParts is Solve for an S of which only parts are ever held. components are sets of
// variables that ascend, each variable in one of them, with |Sij| ≤ ρ between any two: the
// connected components that a screening has found, or joins of them. They are best given the
// largest first. The Estimate is Sparse.
//
// Settings.Penalty is one number and Settings.Initial nil. When ctx ends, components that have
// not begun get the best diagonal matrix, whose gap is bounded by |Sij| ≤ √(Sii·Sjj).
func (b BCD) SolveParts(ctx context.Context, p Parts, components [][]int) (*solver.Estimate, error) {
	start := time.Now()
	d := p.Len()
	switch {
	case d == 0:
		return nil, errors.New("the problem has no variables")
	case b.Penalty.Matrix != nil || b.Initial != nil:
		return nil, errors.New("parts of a covariance are solved with one penalty, and from no initial estimate")
	}
	if err := b.validate(d); err != nil {
		return nil, err
	}
	if err := checkParts(d, components); err != nil {
		return nil, err
	}
	estimates := make([]solver.Estimate, len(components))
	err := dense.Each(context.WithoutCancel(ctx), len(components), dense.Threads(b.engine()), func(_, k int) error {
		est, err := b.solvePart(ctx, p, components[k], k == 0)
		if err != nil {
			return err
		}
		estimates[k] = *est
		return nil
	})
	if err != nil {
		return nil, err
	}
	est := &solver.Estimate{Status: solver.Converged}
	sparse := make([]*solver.Sparse, len(components))
	// In order, so that the same problem gives the same bits.
	for k := range estimates {
		part := &estimates[k]
		sparse[k] = part.Sparse
		est.Status = solver.Worse(est.Status, part.Status)
		est.Iterations = max(est.Iterations, part.Iterations)
		est.Objective += part.Objective
		est.DualityGap += part.DualityGap
		est.KKTResidual = math.Max(est.KKTResidual, part.KKTResidual)
	}
	est.Sparse = solver.JoinSparse(d, components, sparse)
	est.Elapsed = time.Since(start)
	return est, nil
}

// checkParts reports components that are none.
func checkParts(d int, components [][]int) error {
	seen, left := make([]bool, d), d
	for _, idx := range components {
		for a, i := range idx {
			if i < 0 || i >= d || seen[i] || a > 0 && idx[a-1] > i {
				return fmt.Errorf("variable %d is in two components, or not in order", i)
			}
			seen[i] = true
			left--
		}
	}
	if left > 0 {
		return fmt.Errorf("%d variables are in no component", left)
	}
	return nil
}

// solvePart is the Estimate of the variables idx, whose Θ is Sparse.
func (b BCD) solvePart(ctx context.Context, p Parts, idx []int, record bool) (*solver.Estimate, error) {
	if !record {
		b.Recorder = nil
	}
	if len(idx) > 1 {
		s, err := p.Submatrix(ctx, idx)
		if err == nil {
			est, err := b.Solve(ctx, solver.Problem{S: s})
			if err == nil && est.Status == solver.Interrupted {
				// Before its first certificate it has no bound.
				if other := b.diagonalPart(p, idx); !(est.DualityGap <= other.DualityGap) && other.Objective <= est.Objective {
					other.Iterations = est.Iterations
					return other, nil
				}
			}
			if err == nil {
				est.Sparse = solver.SparseOf(est.Precision)
				est.Precision, est.Support = nil, nil
			}
			return est, err
		}
		if ctx.Err() == nil {
			return nil, err
		}
	}
	return b.diagonalPart(p, idx), nil
}

// diagonalPart is the best diagonal Θ, which is the solution for a single variable. W = (1−t)S
// + t·diag S is within the dual's box for t = ρ/max|Sij|, and as S is semidefinite log det W is
// at least Σ log Wii + n·log t.
func (b BCD) diagonalPart(p Parts, idx []int) *solver.Estimate {
	est := &solver.Estimate{Status: solver.Converged}
	theta := make([]*solver.Sparse, len(idx))
	single := make([][]int, len(idx))
	var largest float64
	for a, i := range idx {
		v := p.Variance(i) + b.Penalty.at(i, i)
		largest = math.Max(largest, v)
		theta[a], single[a] = solver.SparseOf(dense.NewSym(1, []float64{1 / v})), []int{a}
		est.Objective += math.Log(v) + 1
	}
	if n := len(idx); n > 1 {
		est.Status, est.KKTResidual = solver.Interrupted, math.NaN()
		est.DualityGap = float64(n) * math.Max(0, math.Log(largest/b.Penalty.Rho))
	}
	est.Sparse = solver.JoinSparse(len(idx), single, theta)
	return est
}
