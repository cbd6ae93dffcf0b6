package glad

import (
	"context"
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

// sweep is the Z step: the entry-wise part of the cell and ‖Z − Θ‖²F in one
// pass over the upper triangle, mirrored, on several cores. Each
// strip has a sum of its own, and they are added in order, so that the result does
// not depend on the number of cores.
type sweep struct {
	cell     entrywise
	d        int
	partial  []float64 // of ‖Z − Θ‖²F, by strip
	workers  []*worker
	tasks    []func()
	group    sync.WaitGroup
	strip    atomic.Int64 // the next one to hand out
	operands operands
	ctx      context.Context // of the running step
}

// entrywise is what a kind does to the entries of the matrices.
type entrywise interface {
	// prepare is called first, with the whole matrices; block then comes from
	// many goroutines at once.
	prepare(o *operands, k int, lambda float64)
	// block computes the entries first ≤ i < end, left ≤ j < right of Z (and
	// U), as far as they are on or above the diagonal, and returns norm2 with
	// their share of ‖Z − Θ‖²F added, in which each off-diagonal one counts for
	// two. end − first is at most stripRows, right − left at most tileColumns.
	block(w *worker, o *operands, first, end, left, right int, norm2 float64) float64
	// adjoint is the adjoint of all blocks, after prepare. It computes what is
	// on and above the diagonal: see adjoints.
	adjoint(w *worker, o *operands, a *adjoints)
	// adjointPrepare is the adjoint of prepare, after adjoint and a mirror.
	adjointPrepare(o *operands, a *adjoints)
}

// operands are the matrices of one Z step: Z and U old, and new.
type operands struct {
	theta, s, z, toZ *dense.Sym
	u, toU           *dense.Sym // nil but for ADMMu; may be one
}

func newSweep(networks []*network, cell entrywise, d, cores int) *sweep {
	strips := (d + stripRows - 1) / stripRows
	w := &sweep{cell: cell, d: d, partial: make([]float64, strips)}
	workers := min(cores, strips)
	if d < inlineBelow {
		workers = 1
	}
	for range workers {
		k := newWorker(networks, false)
		w.workers = append(w.workers, k)
		w.tasks = append(w.tasks, func() {
			defer w.group.Done()
			w.work(k)
		})
	}
	return w
}

// run does the Z step of cell k and returns ‖Z − Θ‖²F. When ctx ends first it
// returns the error of ctx, at the latest after one more strip, and toZ is
// undefined.
func (w *sweep) run(ctx context.Context, k int, lambda float64, o operands) (float64, error) {
	w.ctx, w.operands = ctx, o
	w.cell.prepare(&w.operands, k, lambda)
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
	o := &w.operands
	var norm2 float64
	for left := first; left < w.d; left += tileColumns {
		right := min(left+tileColumns, w.d)
		norm2 = w.cell.block(k, o, first, end, left, right, norm2)
		mirror(o.toZ, first, end, left, right)
		if o.toU != nil {
			mirror(o.toU, first, end, left, right)
		}
	}
	return norm2
}

// mirror copies what is above the diagonal in the rows first ≤ i < end and
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
