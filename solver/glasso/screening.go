package glasso

import (
	"context"
	"math"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gladflow/gladflow/solver"
	"github.com/gladflow/gladflow/solver/dense"
)

// components are the connected components of the graph with an edge where
// |Sij| > ρij, the largest first, each in ascending order. They are the
// components of the solution too (Mazumder, Hastie 2012, Theorem 1).
func components(s *dense.Sym, p Penalty) [][]int {
	d := s.Len()
	unseen := make([]int, d)
	for i := range unseen {
		unseen[i] = i
	}
	var all [][]int
	for len(unseen) > 0 {
		comp := []int{unseen[0]}
		unseen = unseen[1:]
		for next := 0; next < len(comp); next++ {
			i := comp[next]
			row := s.Row(i)
			left := unseen[:0]
			for _, j := range unseen {
				if math.Abs(row[j]) > p.at(i, j) {
					comp = append(comp, j)
				} else {
					left = append(left, j)
				}
			}
			unseen = left
		}
		slices.Sort(comp)
		all = append(all, comp)
	}
	slices.SortStableFunc(all, func(a, b []int) int { return len(b) - len(a) })
	return all
}

// A block is one connected component as a method sees it: rescaled so that
// the diagonal of the dual variable W is one, which leaves gaps as they are
// and makes the units of the variables irrelevant.
type block struct {
	s       *dense.Sym // which may be the caller's
	pen     *penalties
	initial *dense.Sym // positive definite, or nil
	logdet  float64    // of initial
	factor  *dense.Sym // of initial, for a certificate to take over, or nil
	target  float64    // the absolute gap to reach
	limit   int
	work    *dense.Workspace
	record  func(iteration int, objective, gap float64)
}

func (b *block) len() int { return b.s.Len() }

// An outcome is what a method made of a block, in the block's units.
type outcome struct {
	theta      *dense.Sym
	support    *dense.Sym // nil when theta is sparse itself
	status     solver.Status
	iterations int
	objective  float64
	gap        float64
	kkt        float64 // filled in by solveComponent, in the units of S
	dual       *bcdState
}

// A method solves blocks.
type method struct {
	// whole is set for a method whose iterates are not block diagonal: it gets
	// all variables as one block, in their own units.
	whole bool
	run   func(ctx context.Context, b *block) outcome
	// residual is the largest violation of the optimality conditions, in
	// units of S; scale is what the block was multiplied by.
	residual func(b *block, out outcome, scale []float64) float64
}

// solve splits p into connected components, has m solve each, in parallel, and
// puts the estimate together. When a component panics, solve panics with a
// *dense.Panic.
func solve(ctx context.Context, p solver.Problem, set Settings, m method) (*solver.Estimate, error) {
	start := time.Now()
	if err := p.Validate(); err != nil {
		return nil, err
	}
	d := p.S.Len()
	if err := set.validate(d); err != nil {
		return nil, err
	}
	var comps [][]int
	if m.whole {
		comps = [][]int{make([]int, d)}
		for i := range d {
			comps[0][i] = i
		}
	} else {
		comps = components(p.S, set.Penalty)
	}
	parts := make([]outcome, len(comps))
	var wg sync.WaitGroup
	var first atomic.Pointer[dense.Panic]
	ctx, cancel := context.WithCancel(ctx) // a panic ends the other components
	defer cancel()
	slots := make(chan struct{}, dense.Threads(set.engine()))
	for k, idx := range comps {
		if len(idx) == 1 && !m.whole {
			parts[k] = single(p.S, set.Penalty, idx[0])
			continue
		}
		slots <- struct{}{}
		if first.Load() != nil {
			break // the result is discarded
		}
		wg.Go(func() {
			defer func() { <-slots }()
			var rec solver.Recorder
			if k == 0 {
				rec = set.Recorder
			}
			caught := dense.Catch(func() { parts[k] = solveComponent(ctx, p.S, set, idx, rec, m) })
			if caught != nil && first.CompareAndSwap(nil, caught) {
				cancel()
			}
		})
	}
	wg.Wait()
	if caught := first.Load(); caught != nil {
		panic(caught)
	}
	var theta *dense.Sym
	if len(comps) == 1 {
		theta = parts[0].theta // of all variables, in their order
	} else {
		theta = dense.NewSym(d, nil)
	}
	est := &solver.Estimate{Precision: theta, Support: theta, Status: solver.Converged}
	if m.whole {
		est.Support = parts[0].support
	}
	// In order, so that the same problem gives the same bits.
	for k, part := range parts {
		if len(comps) > 1 {
			theta.SetSubmatrix(comps[k], part.theta)
		}
		est.Status = solver.Worse(est.Status, part.status)
		est.Iterations = max(est.Iterations, part.iterations)
		est.Objective += part.objective
		est.DualityGap += part.gap
		est.KKTResidual = math.Max(est.KKTResidual, part.kkt)
	}
	est.Elapsed = time.Since(start)
	return est, nil
}

// single is the solution of a component of one variable.
func single(s *dense.Sym, p Penalty, i int) outcome {
	v := s.At(i, i) + p.at(i, i)
	return outcome{
		theta:     dense.NewSym(1, []float64{1 / v}),
		status:    solver.Converged,
		objective: math.Log(v) + 1,
	}
}

// solveComponent rescales the variables idx, solves, and scales back.
func solveComponent(ctx context.Context, s *dense.Sym, set Settings, idx []int, rec solver.Recorder, m method) outcome {
	n := len(idx)
	var shift float64 // what the rescaling takes from the objective
	scale := make([]float64, n)
	for a, i := range idx {
		v := 1.0
		if !m.whole {
			v = s.At(i, i) + set.Penalty.at(i, i)
		}
		scale[a] = 1 / math.Sqrt(v)
		shift += math.Log(v)
	}
	b := &block{
		s:      scaledSubmatrix(s, idx, scale),
		pen:    newPenalties(set.Penalty, idx, scale),
		target: set.gap() * float64(n),
		limit:  set.iterationLimit(),
		work:   dense.NewWorkspace(set.engine(), n),
		record: func(int, float64, float64) {},
	}
	if rec != nil {
		b.record = func(it int, objective, gap float64) {
			rec.Record(solver.Iteration{Number: it, Objective: objective + shift, Gap: gap, Target: b.target})
		}
	}
	if set.Initial != nil {
		initial, factor, work := rescaled(set.Initial.Precision.Submatrix(idx), scale, true), dense.NewSym(n, nil), b.work
		var logdet float64
		var ok bool
		if dense.AwaitLong(ctx, n, func() { logdet, ok = work.LogDet(initial, factor.Raw()) }) != nil {
			b.work = dense.NewWorkspace(set.engine(), n) // what it works on is its own from now on
		} else if b.factor, b.logdet = factor, logdet; ok {
			b.initial = initial
		}
	}
	var out outcome
	if m.whole || b.penalised() {
		out = m.run(ctx, b)
	} else {
		out = unpenalised(ctx, b)
	}
	out.kkt = math.NaN() // there is no time for it after an interruption
	if out.status != solver.Interrupted {
		out.kkt = m.residual(b, out, scale)
	}
	out.objective += shift
	if !ones(scale) {
		rescaled(out.theta, scale, false)
	}
	return out
}

// scaledSubmatrix is the part idx of s with entry (a, b) multiplied by
// scale[a]·scale[b]: s itself where nothing changes.
func scaledSubmatrix(s *dense.Sym, idx []int, scale []float64) *dense.Sym {
	if !ones(scale) {
		return rescaled(s.Submatrix(idx), scale, false)
	}
	if len(idx) == s.Len() {
		return s
	}
	return s.Submatrix(idx)
}

func ones(scale []float64) bool {
	for _, v := range scale {
		if v != 1 {
			return false
		}
	}
	return true
}

// rescaled multiplies entry (i, j) of a by scale[i]·scale[j], or divides by
// it, in place.
func rescaled(a *dense.Sym, scale []float64, divide bool) *dense.Sym {
	for i := range a.Len() {
		row := a.Row(i)
		for j := range row {
			// The product of the scales first: it is the same for (i, j) and
			// (j, i), so that a stays symmetric to the last bit.
			if f := scale[i] * scale[j]; divide {
				row[j] /= f
			} else {
				row[j] *= f
			}
		}
	}
	return a
}

// penalised reports whether any off-diagonal entry is.
func (b *block) penalised() bool {
	for i := range b.len() {
		for j, r := range b.pen.row(i) {
			if i != j && r != 0 {
				return true
			}
		}
	}
	return false
}

// unpenalised solves a block none of whose off-diagonal entries is penalised:
// Θ = S⁻¹ in closed form, or no optimum when S is singular.
func unpenalised(ctx context.Context, b *block) outcome {
	n := b.len()
	w := b.s.Clone()
	for i, r := range b.pen.diagonal {
		w.Set(i, i, w.At(i, i)+r)
	}
	theta := dense.NewSym(n, nil)
	logdet, ok := b.work.Inverse(theta, w)
	if ok && reciprocalCondition(w, theta) > 1e-15 {
		return outcome{theta: theta, status: solver.Converged, objective: logdet + float64(n)}
	}
	for ridge := 1e-10; ; ridge *= 10 {
		w.AddDiagonal(ridge)
		if _, ok = b.work.Inverse(theta, w); ok && reciprocalCondition(w, theta) > 1e-15 {
			break
		}
	}
	c := newCertificate(b)
	obj, _ := c.objective(ctx, theta)
	return outcome{theta: theta, status: solver.Unbounded, objective: obj, gap: math.Inf(1)}
}

// reciprocalCondition is 1/(‖a‖·‖a⁻¹‖) in the largest-row-sum norm.
func reciprocalCondition(a, inverse *dense.Sym) float64 {
	norm := func(m *dense.Sym) float64 {
		var largest float64
		for i := range m.Len() {
			var sum float64
			for _, v := range m.Row(i) {
				sum += math.Abs(v)
			}
			largest = math.Max(largest, sum)
		}
		return largest
	}
	return 1 / (norm(a) * norm(inverse))
}
