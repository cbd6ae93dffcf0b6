package glasso

import (
	"context"
	"math"
	"slices"
	"time"

	"github.com/gladflow/gladflow/solver"
	"github.com/gladflow/gladflow/solver/dense"
	"github.com/gladflow/gladflow/solver/glasso/internal/vector"
)

// BCD is block coordinate ascent on the dual of the graphical lasso, the
// algorithm known as "graphical lasso" itself (Friedman, Hastie, Tibshirani
// 2008): the covariance W is improved one row and column at a time, each by
// a lasso regression of one variable on the others. It is the fastest of the
// four when the solution is sparse.
type BCD struct {
	Settings
}

var _ solver.Solver = BCD{}

// Solve implements solver.Solver.
func (b BCD) Solve(ctx context.Context, p solver.Problem) (*solver.Estimate, error) {
	return solve(ctx, p, b.Settings, method{run: bcd, residual: bcdResidual})
}

// bcdPatience is the number of checks without progress taken for rounding.
const bcdPatience = 20

// bcdCareful is the number of checks with little progress after which BCD begins anew, once,
// where the gap is more than bcdRounding times what it is to be.
const (
	bcdCareful  = 3
	bcdRounding = 100
)

// bcdBlock is the number of columns that are improved side by side, which is that of
// the numbers in a cache line; bcdShared is the n from which they are.
const (
	bcdBlock  = 8
	bcdShared = 256
)

// bcdRelaxation is how far W goes towards what a regression says, from the second
// sweep on: over-relaxation halves the number of sweeps of problems that take many.
const bcdRelaxation = 1.3

// bcdEnergy is the mean square of a row of the soft-thresholded S up to which W begins there.
const bcdEnergy = 1.5

// bcdSmall is the n below which regressions are solved well from the beginning: it takes no time.
const bcdSmall = 64

// bcdLook is the least time between two interim certificates.
const bcdLook = 500 * time.Millisecond

// bcdState is W = S + U within the dual's box and, for every column j, the lasso
// coefficients β with w12 = W11·β.
type bcdState struct {
	b         *block
	n, stride int
	w         []float64 // n rows of n numbers, stride apart; the rest of a row is 0
	columns   []regression
	inverse   []float64 // 1/wjj, where columns are solved on the rows of W
	weight    []float64 // Θjj = 1/(wjj − w12ᵀβ), as of the last visit
	fits      [bcdBlock][]float64
	idle      chan *lasso
	team      *dense.Team
	from      int // the first column of the block at hand
	effort    effort
	one       func(i int) // solves column from + i
	c         *certificate
	theta     *sparse // of the columns
	best      *sparse // the best primal point
	between   interim
	broken    bool    // W is not positive definite
	omega     float64 // 1, or more to go beyond the solutions of the regressions
	spread    float64 // √tr(WΘ − I)² at the last check
	paired    bool    // best is the Θ of the last check
}

func newBCDState(b *block) *bcdState {
	n := b.len()
	stride := (n + 7) &^ 7
	if stride%512 == 0 { // rows would share their places in the caches
		stride += 8
	}
	st := &bcdState{
		b: b, n: n, stride: stride,
		w:       make([]float64, n*stride),
		columns: make([]regression, n),
		weight:  make([]float64, n),
		c:       bareCertificate(b),
		theta:   new(sparse),
		omega:   1,
		between: interim{primal: math.Inf(1), dual: math.Inf(-1)},
	}
	room := min(n-1, 32) // for the supports of most
	indices, betas := make([]int32, n*room), make([]float64, n*room)
	for j := range st.columns {
		from, to := j*room, (j+1)*room
		st.columns[j].index, st.columns[j].beta = indices[from:from:to], betas[from:from:to]
	}
	st.team = dense.NewTeam(b.work.Engine(), bcdBlock)
	side := 1
	if n >= bcdShared {
		side = bcdBlock
	}
	for i := range side {
		st.fits[i] = make([]float64, stride)
	}
	workers := 1
	if side > 1 {
		workers = max(1, min(side, dense.Threads(b.work.Engine())))
	}
	st.idle = make(chan *lasso, workers)
	for range workers {
		st.idle <- new(lasso)
	}
	st.one = func(i int) {
		l := <-st.idle
		j := st.from + i
		l.solve(st.view(j, j), j, st.b.s.Row(j), st.b.pen.row(j), &st.columns[j], st.fits[i], st.effort)
		st.idle <- l
	}
	return st
}

func (st *bcdState) view(fresh, below int) view {
	return view{w: st.w, n: st.n, stride: st.stride, fresh: fresh, below: below}
}

func (st *bcdState) row(i int) []float64 { return st.w[i*st.stride:][:st.n:st.n] }

func bcd(ctx context.Context, b *block) outcome {
	st := newBCDState(b)
	defer st.team.Close()
	st.begin(ctx)
	plan := newPlan(b.target)
	st.effort.tolerance = math.Min(1e-2, 3*math.Sqrt(b.target/float64(st.n)))
	if st.n < bcdSmall {
		st.effort.tolerance = 1e-6
	}
	looked, took := time.Now(), time.Duration(0)
	before, slow := math.Inf(1), 0 // the gap at the last check, and the checks that hardly lessened it
	careful := false               // it began anew
	for sweep := 1; ; sweep++ {
		moved := st.sweep(ctx)
		if plan.due(sweep, moved) || st.broken || sweep >= b.limit || ctx.Err() != nil {
			st.check(ctx)
			status, more := st.c.next(ctx, sweep, bcdPatience)
			if !more {
				return st.outcome(status, sweep)
			}
			gap := st.c.gap()
			if slow++; gap < 0.9*before {
				slow = 0
			}
			before = gap
			if !careful && slow >= bcdCareful && gap > bcdRounding*b.target {
				careful = true
				st.restart()
			}
			plan.checked(sweep, moved, gap)
			looked = time.Now()
		} else if now := time.Now(); !st.broken && now.Sub(looked) > max(bcdLook, 10*took) {
			st.look(ctx, sweep)
			looked = time.Now()
			took = looked.Sub(now)
		}
		// The lasso problems need not be solved better than the whole will be after the next
		// sweep: in gap, what they leave undone counts with half the sum of its squares, commit
		// having put W where it belongs.
		next := math.Max(b.target, plan.predict(moved)*plan.contraction())
		if per := math.Sqrt(2 * st.share() * next / float64(st.support())); per < st.effort.tolerance {
			st.effort.tolerance = math.Max(per, 1e-13)
		}
		st.effort.newton = sweep >= 5 || careful
		if !careful {
			st.omega = bcdRelaxation
		}
	}
}

// restart begins anew where W has a factor, with steps that keep it: regressions solved well
// from then on raise log det W for certain. Where S is singular and penalties are small or far
// apart, W near S, inexact regressions and steps beyond their solutions may lead nowhere.
func (st *bcdState) restart() {
	w := st.c.factor
	interior(st.b, w)
	for i := range st.n {
		copy(st.row(i), w.Row(i))
		r := &st.columns[i]
		r.index, r.beta = r.index[:0], r.beta[:0]
		st.weight[i] = 1 / w.At(i, i)
	}
	st.omega, st.broken = 1, false
	st.effort = effort{tolerance: math.Min(st.effort.tolerance, 1e-3), newton: true}
}

// begin sets W to a point of the box: the nearest to a diagonal matrix, or S where that
// might not be positive definite (S always is, or nearly), or one near the inverse of the
// initial estimate.
func (st *bcdState) begin(ctx context.Context) {
	b := st.b
	for i := range st.n {
		st.weight[i] = 1
	}
	var energy float64
	nothing := st.fits[0]
	for i := range st.n {
		row := st.row(i)
		v := vector.Clip(row, nothing, b.s.Row(i), b.pen.row(i), st.weight, 1)
		energy += v - row[i]*row[i]
	}
	if b.initial != nil || energy > bcdEnergy*float64(st.n) {
		for i := range st.n {
			copy(st.row(i), b.s.Row(i))
		}
	}
	for i, r := range b.pen.diagonal {
		v := b.s.At(i, i) + r
		st.w[i*st.stride+i], st.weight[i] = v, 1/v
	}
	if st.n <= bcdDirect {
		st.inverse = slices.Clone(st.weight)
	}
	st.best = new(sparse)
	if b.initial == nil {
		st.best.diagonal(st.weight)
		return
	}
	st.best.from(b.initial)
	st.c.primal = linear(b, b.initial) - b.logdet
	st.follow(ctx, b.initial)
}

// follow sets W and β to those of an estimate.
func (st *bcdState) follow(ctx context.Context, initial *dense.Sym) {
	b := st.b
	inverse := st.c.factor // of initial
	var definite bool
	if dense.AwaitLong(ctx, st.n, func() { definite = b.work.InvertFactor(inverse, inverse.Raw()) }) != nil {
		return
	}
	if definite {
		for i := range st.n {
			row := st.row(i)
			v := row[i]
			vector.Clip(row, inverse.Row(i), b.s.Row(i), b.pen.row(i), st.weight, 1)
			row[i] = v
		}
	}
	for j := range st.n {
		t := initial.Row(j)
		r := &st.columns[j]
		for i, v := range t {
			if i != j && v != 0 {
				r.index, r.beta = append(r.index, int32(i)), append(r.beta, -v/t[j])
			}
		}
		st.weight[j] = t[j]
	}
}

// support is the number of coefficients that are not zero, and at least n.
func (st *bcdState) support() int {
	k := 0
	for j := range st.columns {
		k += len(st.columns[j].index)
	}
	return max(k, st.n)
}

// share is the share of the gap that a regression's tolerance may take: less where it
// costs nothing.
func (st *bcdState) share() float64 {
	if st.n < bcdSmall {
		return 0.01
	}
	return 0.1
}

// sweep improves every column once, and returns Σ Δij²·Θii·Θjj of the changes Δ of W.
//
// Columns of a block are solved side by side, against the same W, and then corrected in
// their order for those before them. The result does not depend on the number of threads.
func (st *bcdState) sweep(ctx context.Context) (moved float64) {
	if st.n <= bcdDirect {
		return st.sweepRows(ctx)
	}
	for lo := 0; lo < st.n && ctx.Err() == nil; lo += bcdBlock {
		hi := min(lo+bcdBlock, st.n)
		shared := st.n >= bcdShared
		if shared {
			st.from = lo
			st.team.Share(hi-lo, st.one)
		}
		for j := lo; j < hi; j++ {
			fit := st.fits[0]
			if shared {
				fit = st.fits[j-lo]
			}
			if !shared || !st.corrected(j, fit) {
				l := <-st.idle
				l.solve(st.view(lo, j), j, st.b.s.Row(j), st.b.pen.row(j), &st.columns[j], fit, st.effort)
				st.idle <- l
			}
			moved += st.commit(j, fit)
		}
		st.flush(lo, hi)
	}
	return moved
}

// sweepRows is sweep where rows are short: each column is copied at once.
func (st *bcdState) sweepRows(ctx context.Context) (moved float64) {
	l, fit := <-st.idle, st.fits[0]
	for j := 0; j < st.n && ctx.Err() == nil; j++ {
		l.solveRows(st.view(j, j), st.inverse, j, st.b.s.Row(j), st.b.pen.row(j), &st.columns[j], fit, st.effort)
		moved += st.commit(j, fit)
		st.flush(j, j+1)
	}
	st.idle <- l
	return moved
}

// corrected makes what column j was solved to right for the changes of the columns
// before it in its block, and reports whether that could be done: where β does not
// use them, only their entries of W·β change.
func (st *bcdState) corrected(j int, fit []float64) bool {
	r := &st.columns[j]
	for _, i := range r.index {
		if int(i) >= st.from && int(i) < j {
			return false
		}
	}
	s, penalty := st.b.s.Row(j), st.b.pen.row(j)
	absolute := st.effort.tolerance * r.residual
	for m := st.from; m < j; m++ {
		fit[m] = dotAt(st.row(m), r.index, r.beta)
		if math.Abs(s[m]-fit[m])-penalty[m] > absolute {
			return false
		}
	}
	return true
}

// commit makes the fit row j of W, clipped into the dual's box.
func (st *bcdState) commit(j int, fit []float64) float64 {
	row := st.row(j)
	variance := row[j]
	r := &st.columns[j]
	if !(r.residual > 1e-14*variance) {
		st.broken = true
		r.residual = 1e-14 * variance
	}
	st.weight[j] = 0
	s, penalty := st.b.s.Row(j), st.b.pen.row(j)
	for a, i := range r.index { // W lies on the side of the box that the sign of β says
		fit[i] = s[i] - math.Copysign(penalty[i], r.beta[a])
	}
	moved := vector.Clip(row, fit, s, penalty, st.weight, st.omega)
	row[j] = variance
	st.weight[j] = 1 / r.residual
	return moved * st.weight[j]
}

// flush copies rows lo to below hi of W to its columns.
func (st *bcdState) flush(lo, hi int) {
	for m := lo; m < hi; m++ {
		for i := lo; i < m; i++ {
			st.w[i*st.stride+m] = st.w[m*st.stride+i]
		}
	}
	column := func(from, to int) {
		if hi-lo == bcdBlock {
			var rows [bcdBlock][]float64
			for m := range rows {
				rows[m] = st.w[(lo+m)*st.stride+from:][:to-from]
			}
			for i := range rows[0] {
				t := st.w[(from+i)*st.stride+lo:][:bcdBlock]
				t[0], t[1], t[2], t[3] = rows[0][i], rows[1][i], rows[2][i], rows[3][i]
				t[4], t[5], t[6], t[7] = rows[4][i], rows[5][i], rows[6][i], rows[7][i]
			}
			return
		}
		for m := lo; m < hi; m++ {
			for i := from; i < to; i++ {
				st.w[i*st.stride+m] = st.w[m*st.stride+i]
			}
		}
	}
	column(0, lo)
	column(hi, st.n)
}
