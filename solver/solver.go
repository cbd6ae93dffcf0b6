// Package solver is the contract between those who have a covariance and
// those who recover a network from it: Problem goes in, Estimate comes out,
// Status says how far the estimate can be trusted.
//
// It holds no algorithm; package glasso has the classical solvers, package
// glad the learned one. Neither they nor this package know of files, tables,
// names of variables, flags or logs.
//
//	est, err := s.Solve(ctx, solver.Problem{S: s, Samples: 301})
//	if err != nil {
//		return err // the problem itself is wrong
//	}
//	if err := est.Status.Err(); err != nil {
//		// est still holds the best iterate, with its gap
//	}
package solver

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/gladflow/gladflow/solver/dense"
)

// A Problem is one graph to recover.
type Problem struct {
	// S is the sample covariance or correlation, d×d, symmetric and positive
	// semidefinite. It may be singular. Solvers do not modify it.
	S *dense.Sym
	// Samples is the number of observations M behind S; 0 if unknown.
	Samples int
}

// Validate reports what makes p unsolvable by any solver: no S, no variables,
// a non-finite entry, or a diagonal entry that is not positive.
func (p Problem) Validate() error {
	if p.S == nil || p.S.Len() == 0 {
		return errors.New("the problem has no covariance")
	}
	if p.Samples < 0 {
		return fmt.Errorf("the number of samples is %d; it cannot be negative", p.Samples)
	}
	if !p.S.Finite() {
		for k, v := range p.S.Raw() {
			if math.IsNaN(v) || math.IsInf(v, 0) {
				return fmt.Errorf("entry (%d,%d) of the covariance is %v", k/p.S.Len(), k%p.S.Len(), v)
			}
		}
	}
	for i := range p.S.Len() {
		if v := p.S.At(i, i); v <= 0 {
			return fmt.Errorf("variable %d has variance %v; every variance must be positive", i, v)
		}
	}
	return nil
}

// An Example is a problem whose answer is known: what solvers are trained,
// tuned and judged with.
type Example struct {
	// S is the sample covariance or correlation, d×d.
	S *dense.Sym
	// Truth is Θ*, d×d, in the units of S.
	Truth *dense.Sym
	// Samples is M; 0 if unknown.
	Samples int
}

// Problem is what a solver sees of e.
func (e Example) Problem() Problem { return Problem{S: e.S, Samples: e.Samples} }

// A Solver recovers a precision matrix.
//
// Solve returns an error only when the problem or the solver's settings are
// wrong (see Problem.Validate). When ctx ends before the solver
// is done it returns the best iterate so far, symmetric positive definite,
// with Status Interrupted and a gap that is true of that iterate.
type Solver interface {
	Solve(ctx context.Context, p Problem) (*Estimate, error)
}

// An Estimate is what a solver found.
type Estimate struct {
	// Precision is Θ, d×d, symmetric positive definite.
	Precision *dense.Sym
	// Support is Z, the sparse twin of Precision with exact zeros. Solvers
	// whose Θ is sparse itself return Precision here.
	Support *dense.Sym
	// Sparse is Θ, in place of Precision and Support, which are nil then, of a solver that was
	// given a covariance too large to be held (see glasso.BCD.SolveParts); nil for the others.
	Sparse *Sparse
	// Probability is that of an edge, of every pair, d×d with zeros on the diagonal, under
	// what the solver was trained on; nil for a solver that has none.
	Probability *dense.Sym
	// Unfamiliar says that the problem is unlike those that the probabilities were fitted to:
	// they may be far off, and pairs are not ranked by them.
	Unfamiliar bool
	// EdgeThreshold is the least Probability of an edge, where pairs are edges by it and not
	// by Support; 0 where they are not. See KeepLikely.
	EdgeThreshold float64
	// Kept, if set, says which pairs may be edges: one that it does not keep is none. It is
	// the same for (i, j) and (j, i).
	Kept func(i, j int) bool
	// Status says why the solver stopped.
	Status Status
	// Iterations counts the solver's outer iterations; of several connected
	// components, the largest count.
	Iterations int
	// Objective is the solver's own objective at the estimate; NaN for a
	// solver that minimises none.
	Objective float64
	// DualityGap is Objective less the dual objective at a dual-feasible
	// point: an upper bound of the distance to the optimum, never negative.
	// NaN for a solver without an objective.
	DualityGap float64
	// KKTResidual is the largest violation of the optimality conditions in
	// units of S, or, of a solver that does not form Θ⁻¹, an upper bound of it; NaN for a solver without an objective, and after an
	// interruption, which leaves no time for it.
	KKTResidual float64
	// Elapsed is the wall-clock time of Solve.
	Elapsed time.Duration
}

// Len is d, the number of variables.
func (e *Estimate) Len() int {
	if e.Sparse != nil {
		return e.Sparse.Len()
	}
	return e.Precision.Len()
}

// RelativeGap is DualityGap / max(|Objective|, d), the figure that solvers
// compare with their tolerance.
func (e *Estimate) RelativeGap() float64 {
	return RelativeGap(e.DualityGap, e.Objective, e.Len())
}

// RelativeGap is gap / max(|objective|, d).
func RelativeGap(gap, objective float64, d int) float64 {
	return gap / math.Max(math.Abs(objective), float64(d))
}

// Score is what pairs are ranked by, highest first: the probability of an edge where there
// is one and the problem is not Unfamiliar, else |Θij|/√(Θii·Θjj), the absolute partial correlation of variables i and j given
// all others. It is in [0, 1] and defined for every pair, also for those outside the support.
func (e *Estimate) Score(i, j int) float64 {
	if e.Probability != nil && !e.Unfamiliar {
		return e.Probability.At(i, j)
	}
	return math.Abs(e.PartialCorrelation(i, j))
}

// PartialCorrelation is −Θij/√(Θii·Θjj), the same to the last bit for (j, i): a
// pair ties with its reverse.
func (e *Estimate) PartialCorrelation(i, j int) float64 {
	if i > j {
		i, j = j, i
	}
	v := e.at(i, j)
	if v == 0 {
		return 0 // not −0
	}
	// Two square roots: the product of two diagonal entries may overflow.
	return -v / math.Sqrt(e.at(i, i)) / math.Sqrt(e.at(j, j))
}

// at is Θij.
func (e *Estimate) at(i, j int) float64 {
	if e.Sparse != nil {
		return e.Sparse.At(i, j)
	}
	return e.Precision.At(i, j)
}

// IsEdge says whether i and j ≠ i are joined: their Probability is EdgeThreshold or more, or,
// without such a threshold, Zij ≠ 0; and Kept, if there is such, keeps them.
func (e *Estimate) IsEdge(i, j int) bool {
	if e.Kept != nil && !e.Kept(i, j) {
		return false
	}
	if e.EdgeThreshold > 0 {
		return e.Probability.At(i, j) >= e.EdgeThreshold
	}
	if e.Sparse != nil {
		return i != j && e.Sparse.At(i, j) != 0
	}
	return e.Support.At(i, j) != 0
}

// EachEdge calls f for the unordered pairs i < j for which IsEdge holds, in ascending order.
func (e *Estimate) EachEdge(f func(i, j int)) {
	for i := range e.Len() {
		if e.Sparse != nil {
			columns, _ := e.Sparse.Row(i)
			for _, j := range columns {
				if e.IsEdge(i, int(j)) {
					f(i, int(j))
				}
			}
			continue
		}
		for j := i + 1; j < e.Len(); j++ {
			if e.IsEdge(i, j) {
				f(i, j)
			}
		}
	}
}

// Edges is the number of unordered pairs i < j for which IsEdge holds.
func (e *Estimate) Edges() int {
	n := 0
	e.EachEdge(func(int, int) { n++ })
	return n
}

// NonZeros is the number of unordered pairs i < j with Zij ≠ 0: Edges, but where there is an
// EdgeThreshold.
func (e *Estimate) NonZeros() int {
	if e.Sparse != nil {
		return e.Sparse.NonZeros()
	}
	n := 0
	for i := range e.Support.Len() {
		for _, v := range e.Support.Row(i)[i+1:] {
			if v != 0 {
				n++
			}
		}
	}
	return n
}
