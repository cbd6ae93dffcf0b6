package glasso

import (
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/lapack/lapack64"

	"github.com/gladflow/gladflow/solver/dense"
)

// lasso solves the regressions of BCD by coordinate descent over an active
// set, whose Gram matrix it copies together so that passes over it stay in
// the cache. Its zero value is ready.
type lasso struct {
	active []int     // indices of the active set
	member []bool    // the same as flags
	gram   []float64 // W over the active set, row-major
	s, r   []float64 // s12 and ρ over the active set
	beta   []float64 // coefficients over the active set
	fit    []float64 // Gram·β over the active set
	direct spdSystem
}

// lassoPasses bounds the passes over the active set in one visit, and every
// lassoNewton of them the set is solved for directly.
const (
	lassoPasses = 40
	lassoNewton = 10
)

// solve minimises ½·βᵀWβ − βᵀs + Σ ri|βi| over β with βj = 0, starting from
// beta, until no optimality condition is violated by more than the tolerance
// or the passes of one call are used up: BCD comes back to every column. The
// tolerance is relative to the residual variance wjj − βᵀWβ: what is lost there
// is what keeps W positive definite. On return fit = W·β.
func (l *lasso) solve(w *dense.Sym, j int, s, r, beta, fit []float64, tolerance float64) {
	n := w.Len()
	if len(l.member) < n {
		l.member = make([]bool, n)
	}
	l.active = l.active[:0]
	for i, v := range beta {
		l.member[i] = v != 0
		if v != 0 {
			l.active = append(l.active, i)
		}
	}
	for {
		l.gather(w, s, r, beta)
		absolute := l.descend(w.At(j, j), tolerance)
		for a, i := range l.active {
			beta[i] = l.beta[a]
		}
		l.product(w, fit)
		added := false
		for i, v := range fit {
			if !l.member[i] && i != j && math.Abs(s[i]-v) > r[i]+absolute {
				l.member[i] = true
				l.active = append(l.active, i)
				added = true
			}
		}
		if !added {
			return
		}
	}
}

// gather copies the problem over the active set.
func (l *lasso) gather(w *dense.Sym, s, r, beta []float64) {
	k := len(l.active)
	l.gram = resize(l.gram, k*k)
	l.s, l.r, l.beta, l.fit = resize(l.s, k), resize(l.r, k), resize(l.beta, k), resize(l.fit, k)
	for a, i := range l.active {
		l.s[a], l.r[a], l.beta[a] = s[i], r[i], beta[i]
		row, from := l.gram[a*k:(a+1)*k], w.Row(i)
		for b, m := range l.active {
			row[b] = from[m]
		}
	}
}

// descend minimises over the active set, by coordinate descent and, when that
// is slow, by solving for the coefficients of the present signs. It returns
// the tolerance it ended with, now absolute.
func (l *lasso) descend(variance, tolerance float64) float64 {
	l.refit()
	for pass := 1; ; pass++ {
		worst := l.pass()
		residual := variance
		for a, v := range l.beta {
			residual -= v * l.fit[a]
		}
		absolute := tolerance * math.Max(residual, 1e-12*variance)
		if worst <= absolute || pass >= lassoPasses {
			return absolute
		}
		if pass%lassoNewton == 0 {
			for range lassoNewton {
				if l.newton() {
					break
				}
			}
		}
	}
}

// pass visits every coefficient once and returns the largest change of a
// gradient that a visit met.
func (l *lasso) pass() float64 {
	k := len(l.active)
	var worst float64
	for a := range k {
		row := l.gram[a*k : (a+1)*k]
		old := l.beta[a]
		v := dense.SoftThreshold(l.s[a]-l.fit[a]+row[a]*old, l.r[a]) / row[a]
		step := v - old
		if step == 0 {
			continue
		}
		l.beta[a] = v
		worst = math.Max(worst, math.Abs(step)*row[a])
		for b, g := range row {
			l.fit[b] += step * g
		}
	}
	return worst
}

// newton solves for the non-zero coefficients with their signs held, which is
// the optimum if no sign turns out wrong. Otherwise it goes as far towards it
// as the first sign change, where that coefficient becomes zero. It reports
// whether there is nothing more to gain this way.
func (l *lasso) newton() bool {
	k := len(l.active)
	sys := &l.direct
	sys.index = sys.index[:0]
	for a, v := range l.beta {
		if v != 0 {
			sys.index = append(sys.index, a)
		}
	}
	m := len(sys.index)
	sys.a, sys.x = resize(sys.a, m*m), resize(sys.x, m)
	for p, a := range sys.index {
		sys.x[p] = l.s[a] - math.Copysign(l.r[a], l.beta[a])
		for q, b := range sys.index {
			sys.a[p*m+q] = l.gram[a*k+b]
		}
	}
	if !sys.solve() {
		return true
	}
	step := 1.0
	for p, a := range sys.index {
		if sys.x[p]*l.beta[a] < 0 {
			step = math.Min(step, l.beta[a]/(l.beta[a]-sys.x[p]))
		}
	}
	for p, a := range sys.index {
		old := l.beta[a]
		l.beta[a] += step * (sys.x[p] - old)
		if l.beta[a]*old <= 0 || (step < 1 && old/(old-sys.x[p]) == step) {
			l.beta[a] = 0
		}
	}
	l.refit()
	return step == 1
}

// refit sets fit = Gram·β over the active set.
func (l *lasso) refit() {
	k := len(l.active)
	clear(l.fit)
	for a, v := range l.beta {
		if v == 0 {
			continue
		}
		for b, g := range l.gram[a*k : (a+1)*k] {
			l.fit[b] += v * g
		}
	}
}

// product sets fit = W·β over all variables.
func (l *lasso) product(w *dense.Sym, fit []float64) {
	clear(fit)
	for a, i := range l.active {
		v := l.beta[a]
		if v == 0 {
			continue
		}
		for m, g := range w.Row(i) {
			fit[m] += v * g
		}
	}
}

func resize[T any](s []T, n int) []T {
	if cap(s) < n {
		return make([]T, n, n+n/2)
	}
	return s[:n]
}

// spdSystem solves a small symmetric positive definite system without
// allocating. Sizes here are those of a node's neighbourhood, for which gonum
// is as fast as any engine.
type spdSystem struct {
	index []int
	a     []float64 // m×m, overwritten by its Cholesky factor
	x     []float64 // right-hand side, overwritten by the solution
}

// solve reports whether the matrix was numerically positive definite.
func (s *spdSystem) solve() bool {
	m := len(s.index)
	if m == 0 {
		return false
	}
	u, ok := lapack64.Potrf(blas64.Symmetric{N: m, Stride: m, Data: s.a, Uplo: blas.Upper})
	if !ok {
		return false
	}
	smallest, largest := math.Inf(1), 0.0
	for i := range m {
		p := s.a[i*m+i]
		smallest, largest = math.Min(smallest, p), math.Max(largest, p)
	}
	if !(smallest > 1e-7*largest) {
		return false
	}
	lapack64.Potrs(u, blas64.General{Rows: m, Cols: 1, Stride: 1, Data: s.x})
	return true
}
