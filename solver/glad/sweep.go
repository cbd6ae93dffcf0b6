package glad

import (
	"context"
	"math"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/gladflow/gladflow/solver/dense"
)

const (
	// A strip is stripRows rows of the upper triangle, done tileColumns
	// columns at a time: what it writes below the diagonal then comes in whole
	// cache lines.
	stripRows   = 16
	tileColumns = 128
	// inlineBelow is the d under which goroutines cost more than they bring.
	inlineBelow = 48
)

// sweep is the Z step: ρnn, the threshold and ‖Z − Θ‖²F in one pass over the
// upper triangle, mirrored, on all cores. Strips are handed out as they come,
// but each does its sums by itself and they are added in order, so that the
// result does not depend on the number of cores.
type sweep struct {
	rho      *network
	context  float64
	d        int
	partial  []float64 // of ‖Z − Θ‖²F, by strip
	workers  []*worker
	tasks    []func()
	group    sync.WaitGroup
	strip    atomic.Int64 // the next one to hand out
	operands operands
	lambda   float64
	ctx      context.Context // of the running step
}

// operands are the matrices of one Z step: z old, to new; u may be nil.
type operands struct {
	theta, s, z, u, to *dense.Sym
}

type worker struct {
	batch batch
	// own holds the inputs that are computed, by feature; the others are
	// slices of the operands.
	own [][]float64
}

func newSweep(rho *network, d int, connectedness float64) *sweep {
	strips := (d + stripRows - 1) / stripRows
	w := &sweep{rho: rho, context: connectedness, d: d, partial: make([]float64, strips)}
	workers := min(runtime.GOMAXPROCS(0), strips)
	if d < inlineBelow {
		workers = 1
	}
	for range workers {
		k := &worker{}
		k.batch.fit(rho, tileColumns)
		k.own = append(k.own, k.batch.inputs...)
		w.workers = append(w.workers, k)
		w.tasks = append(w.tasks, func() {
			defer w.group.Done()
			w.work(k)
		})
	}
	return w
}

// run does one Z step and returns ‖Z − Θ‖²F. When ctx ends first it returns
// the error of ctx, at the latest after one more strip, and to is undefined.
func (w *sweep) run(ctx context.Context, lambda float64, o operands) (float64, error) {
	w.ctx, w.lambda, w.operands = ctx, lambda, o
	w.strip.Store(0)
	w.group.Add(len(w.tasks))
	for _, task := range w.tasks[1:] {
		go task()
	}
	w.tasks[0]()
	w.group.Wait()
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	var norm2 float64
	for _, p := range w.partial {
		norm2 += p
	}
	return norm2, nil
}

func (w *sweep) work(k *worker) {
	for w.ctx.Err() == nil {
		strip := int(w.strip.Add(1)) - 1
		if strip >= len(w.partial) {
			return
		}
		w.partial[strip] = w.do(k, strip*stripRows)
	}
}

// do computes the strip from row first on and returns its share of the norm.
func (w *sweep) do(k *worker, first int) float64 {
	end := min(first+stripRows, w.d)
	var norm2 float64
	for left := first; left < w.d; left += tileColumns {
		right := min(left+tileColumns, w.d)
		for i := first; i < end; i++ {
			if from := max(i, left); from < right {
				norm2 += w.segment(k, i, from, right)
			}
		}
		mirror(w.operands.to, first, end, left, right)
		if w.operands.u != nil {
			mirror(w.operands.u, first, end, left, right)
		}
	}
	return norm2
}

// segment computes the entries from ≤ j < to of row i.
func (w *sweep) segment(k *worker, i, from, to int) float64 {
	theta, z := w.operands.theta.Row(i)[from:to], w.operands.to.Row(i)[from:to]
	rho := w.thresholds(k, i, from, to)
	var u []float64
	if w.operands.u != nil {
		u = w.operands.u.Row(i)[from:to]
	}
	var sum, diagonal float64
	for j, t := range theta {
		a := t
		if u != nil {
			a += u[j]
		}
		v := shrink(a, rho[j])
		z[j] = v
		if u != nil {
			u[j] = a - v
		}
		sum += (v - t) * (v - t)
	}
	if from == i {
		v := z[0] - theta[0]
		diagonal = v * v
	}
	return 2*sum - diagonal
}

// shrink is the soft threshold sign(a)·max(|a| − rho, 0), with one zero only.
// It hands on a rho that is NaN.
func shrink(a, rho float64) float64 {
	if v := max(math.Abs(a)-rho, 0); v != 0 {
		return math.Copysign(v, a)
	}
	return 0
}

// thresholds evaluates ρnn for the entries from ≤ j < to of row i.
func (w *sweep) thresholds(k *worker, i, from, to int) []float64 {
	n := to - from
	if w.rho.fixed {
		return w.rho.run(&k.batch, n)
	}
	theta := w.operands.theta.Row(i)[from:to]
	s := w.operands.s.Row(i)[from:to]
	z := w.operands.z.Row(i)[from:to]
	for f, name := range w.rho.inputs {
		own := k.own[f][:n]
		k.batch.inputs[f] = own
		switch name {
		case Theta:
			k.batch.inputs[f] = theta
		case S:
			k.batch.inputs[f] = s
		case Z:
			k.batch.inputs[f] = z
		case AbsTheta:
			absolute(own, theta)
		case AbsS:
			absolute(own, s)
		case AbsZ:
			absolute(own, z)
		case NegThetaS:
			for j, t := range theta {
				own[j] = -t * s[j]
			}
		case Diagonal:
			fill(own, 0)
			if from == i {
				own[0] = 1
			}
		case Lambda:
			fill(own, w.lambda)
		case Context:
			fill(own, w.context)
		}
	}
	return w.rho.run(&k.batch, n)
}

func absolute(to, from []float64) {
	for j, v := range from {
		to[j] = math.Abs(v)
	}
}

// mirror copies what stands above the diagonal in the rows first ≤ i < end and
// columns left ≤ j < right to below it.
func mirror(a *dense.Sym, first, end, left, right int) {
	raw, n := a.Raw(), a.Len()
	for j := max(left, first+1); j < right; j++ {
		row := raw[j*n : (j+1)*n]
		for i := first; i < min(end, j); i++ {
			row[i] = raw[i*n+j]
		}
	}
}
