package glasso

import (
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/lapack/lapack64"

	"github.com/gladflow/gladflow/solver/glasso/internal/vector"
)

// A regression is that of one variable on the others, sparse.
type regression struct {
	index []int32   // where β is not zero
	beta  []float64 // its values there
	// residual is wjj − βᵀWβ.
	residual float64
}

// lasso solves the regressions of BCD by coordinate descent over an active
// set, whose Gram matrix it copies together so that passes over it stay in
// the cache. Its zero value is ready.
type lasso struct {
	active  []int32   // indices of the active set
	natural []int32   // 0, 1, 2, …
	member  []bool    // the active set and the variable itself, as flags
	held    []float64 // the β of which fit is the product
	change  []float64 // β − held
	direct  spdSystem
	vector.Lasso
}

// lassoPasses bounds the passes over the active set in one visit, lassoRounds how
// often the set grows in it.
const (
	lassoPasses = 10
	lassoRounds = 8
)

// lassoCached is the number of values of W that a core's own cache has room for
// beside the rest.
const lassoCached = 1 << 14

// Of more violations than lassoGrowth those count that are at least lassoShare times
// as large as the largest.
const (
	lassoGrowth = 48
	lassoShare  = 0.6
)

// view is W during a sweep: in rows other than fresh to before below, what stands in
// those columns is older than the rows.
type view struct {
	w            []float64
	n, stride    int
	fresh, below int
}

// solve minimises ½·βᵀWβ − βᵀs + Σ ri|βi| over β with βj = 0, starting from
// r, until no optimality condition is violated by more than the tolerance
// or the passes of one call are used up: BCD comes back to every column. The
// tolerance is relative to the residual variance wjj − βᵀWβ: what is lost there
// is what keeps W positive definite. On return fit = W·β, but for entry j.
func (l *lasso) solve(v view, j int, s, penalty []float64, r *regression, fit []float64, effort effort) {
	l.enter(v.n, j, r)
	l.held = l.held[:0]
	clear(fit)
	variance := v.w[j*v.stride+j]
	if len(l.active)*v.stride <= lassoCached {
		// The product with the β of the last visit comes first: it brings the rows of
		// W into the cache, and may show that nothing is to be done.
		l.product(v, fit)
		if l.solved(s, penalty, fit, variance, r, effort.tolerance) {
			l.leave(j)
			return
		}
	}
	old := 0
	for round := 1; ; round++ {
		l.gather(v, s, penalty, old)
		old = len(l.active)
		l.refit()
		absolute := l.descend(variance, effort)
		l.product(v, fit)
		r.residual = l.residual(variance)
		if round >= lassoRounds || !l.grow(s, penalty, fit, absolute) {
			break
		}
	}
	l.keep(r)
	l.leave(j)
}

// enter begins the visit of column j with the coefficients of its last one.
func (l *lasso) enter(n, j int, r *regression) {
	if len(l.member) < n {
		l.member = make([]bool, n)
	}
	l.active = append(l.active[:0], r.index...)
	l.Beta = append(l.Beta[:0], r.beta...)
	l.member[j] = true
	for _, i := range l.active {
		l.member[i] = true
	}
}

// keep sets r to the coefficients that are not zero.
func (l *lasso) keep(r *regression) {
	r.index, r.beta = r.index[:0], r.beta[:0]
	for a, i := range l.active {
		if b := l.Beta[a]; b != 0 {
			r.index, r.beta = append(r.index, i), append(r.beta, b)
		}
	}
}

// leave takes the flags of column j back.
func (l *lasso) leave(j int) {
	for _, i := range l.active {
		l.member[i] = false
	}
	l.member[j] = false
}

// solved reports whether β meets the optimality conditions as it is, and sets the
// residual then.
func (l *lasso) solved(s, penalty, fit []float64, variance float64, r *regression, tolerance float64) bool {
	residual := variance
	for a, i := range l.active {
		residual -= l.Beta[a] * fit[i]
	}
	absolute := tolerance * residual
	if !(absolute > 0) {
		return false
	}
	for a, i := range l.active {
		if math.Abs(s[i]-fit[i]-math.Copysign(penalty[i], l.Beta[a])) > absolute {
			return false
		}
	}
	fit = fit[:len(s)]
	for i := vector.Outside(fit, s, penalty, absolute, 0); i < len(s); i = vector.Outside(fit, s, penalty, absolute, i+1) {
		if !l.member[i] {
			return false
		}
	}
	r.residual = residual
	return true
}

// gather copies the problem over the active set, of which the first old ones are
// there.
func (l *lasso) gather(v view, s, penalty []float64, old int) {
	k := len(l.active)
	width := (k + 3) &^ 3
	if l.Stride < width {
		old = 0
		l.Stride = width + width/2&^3
		l.Gram = resize(l.Gram, l.Stride*l.Stride)
	}
	l.Width = width
	l.S, l.R, l.Diagonal, l.Inverse = resize(l.S, width), resize(l.R, width), resize(l.Diagonal, width), resize(l.Inverse, width)
	l.Fit, l.Beta = resize(l.Fit, width), resize(l.Beta, width)
	n := l.Stride
	for a := old; a < k; a++ {
		i := l.active[a]
		row, from := l.Gram[a*n:][:a+1], v.w[int(i)*v.stride:][:v.n]
		for b, m := range l.active[:a+1] {
			row[b] = from[m]
		}
		for b, g := range row {
			l.Gram[b*n+a] = g
		}
		l.S[a], l.R[a], l.Diagonal[a], l.Inverse[a] = s[i], penalty[i], row[a], 1/row[a]
	}
	if v.fresh < v.below {
		l.refresh(v, old)
	}
	for len(l.natural) < k {
		l.natural = append(l.natural, int32(len(l.natural)))
	}
}

// refresh replaces what gather has from columns that are older than rows.
func (l *lasso) refresh(v view, old int) {
	n := l.Stride
	for b, m := range l.active {
		if int(m) < v.fresh || int(m) >= v.below {
			continue
		}
		from := v.w[int(m)*v.stride:][:v.n]
		start := 0
		if b < old {
			start = old
		}
		for a, i := range l.active[start:] {
			g := from[i]
			if i > m && int(i) < v.below { // row i is the newer one
				g = v.w[int(i)*v.stride+int(m)]
			}
			l.Gram[(start+a)*n+b], l.Gram[b*n+start+a] = g, g
		}
	}
}

// effort is how well lasso problems are solved.
type effort struct {
	tolerance float64
	// newton solves for the coefficients directly where descent is slow.
	newton bool
}

// descend minimises over the active set, by coordinate descent and, when that
// is slow, by solving for the coefficients of the present signs. It returns
// the tolerance it ended with, now absolute.
func (l *lasso) descend(variance float64, e effort) float64 {
	k := len(l.active)
	for pass := 1; ; pass++ {
		worst := vector.Pass(&l.Lasso, k)
		absolute := e.tolerance * math.Max(l.residual(variance), 1e-12*variance)
		switch {
		case worst <= absolute:
			return absolute
		case pass < lassoPasses:
		case !e.newton || pass >= 4*lassoPasses:
			return absolute
		case pass%lassoPasses == 0:
			for range lassoPasses {
				if l.newton() {
					break
				}
			}
		}
	}
}

// residual is wjj − βᵀWβ.
func (l *lasso) residual(variance float64) float64 {
	k := len(l.active)
	fit := l.Fit[:k]
	for a, v := range l.Beta[:k] {
		variance -= v * fit[a]
	}
	return variance
}

// newton solves for the non-zero coefficients with their signs held, which is
// the optimum if no sign turns out wrong. Otherwise it goes as far towards it
// as the first sign change, where that coefficient becomes zero. It reports
// whether there is nothing more to gain this way.
func (l *lasso) newton() bool {
	k := len(l.active)
	sys := &l.direct
	sys.index = sys.index[:0]
	for a, v := range l.Beta[:k] {
		if v != 0 {
			sys.index = append(sys.index, a)
		}
	}
	m := len(sys.index)
	sys.a, sys.x = resize(sys.a, m*m), resize(sys.x, m)
	for p, a := range sys.index {
		sys.x[p] = l.S[a] - math.Copysign(l.R[a], l.Beta[a])
		for q, b := range sys.index {
			sys.a[p*m+q] = l.Gram[a*l.Stride+b]
		}
	}
	if !sys.solve() {
		return true
	}
	step := 1.0
	for p, a := range sys.index {
		if sys.x[p]*l.Beta[a] < 0 {
			step = math.Min(step, l.Beta[a]/(l.Beta[a]-sys.x[p]))
		}
	}
	for p, a := range sys.index {
		old := l.Beta[a]
		l.Beta[a] += step * (sys.x[p] - old)
		if l.Beta[a]*old <= 0 || (step < 1 && old/(old-sys.x[p]) == step) {
			l.Beta[a] = 0
		}
	}
	l.refit()
	return step == 1
}

// refit sets Fit = Gram·β over the active set.
func (l *lasso) refit() {
	k := len(l.active)
	clear(l.Fit)
	vector.Combine(l.Fit, l.Gram, l.Stride, l.natural[:k], l.Beta[:k])
}

// product brings fit = W·β over all variables up to date with β.
func (l *lasso) product(v view, fit []float64) {
	k := len(l.active)
	for len(l.held) < k {
		l.held = append(l.held, 0)
	}
	l.change = resize(l.change, k)
	for a, b := range l.Beta[:k] {
		l.change[a] = b - l.held[a]
		l.held[a] = b
	}
	vector.Combine(fit, v.w, v.stride, l.active, l.change)
	for m := v.fresh; m < v.below; m++ {
		row := v.w[m*v.stride:]
		var sum float64
		for a, i := range l.active {
			if int(i) > m && int(i) < v.below { // row i is the newer one
				sum += l.Beta[a] * v.w[int(i)*v.stride+m]
			} else {
				sum += l.Beta[a] * row[i]
			}
		}
		fit[m] = sum
	}
}

// dotAt is Σ beta[a]·row[index[a]].
func dotAt(row []float64, index []int32, beta []float64) float64 {
	var sum float64
	for a, i := range index {
		sum += beta[a] * row[i]
	}
	return sum
}

// grow adds the variables to the active set whose optimality conditions are
// violated, and reports whether there are any. Of many it adds those with the largest
// violations: they explain others.
func (l *lasso) grow(s, penalty, fit []float64, absolute float64) bool {
	k := len(l.active)
	fit = fit[:len(s)]
	var worst float64
	for i := vector.Outside(fit, s, penalty, absolute, 0); i < len(s); i = vector.Outside(fit, s, penalty, absolute, i+1) {
		if !l.member[i] {
			l.active = append(l.active, int32(i))
			worst = math.Max(worst, math.Abs(s[i]-fit[i])-penalty[i])
		}
	}
	if found := l.active[k:]; len(found) > max(lassoGrowth, k/2) {
		left := k
		for _, i := range found {
			if math.Abs(s[i]-fit[i])-penalty[i] >= lassoShare*worst {
				l.active[left] = i
				left++
			}
		}
		l.active = l.active[:left]
	}
	l.Beta = l.Beta[:k]
	for _, i := range l.active[k:] {
		l.member[i] = true
		l.Beta = append(l.Beta, 0)
	}
	return len(l.active) > k
}

func resize[T any](s []T, n int) []T {
	if cap(s) < n {
		return append(make([]T, 0, n+n/2), s...)[:n]
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
