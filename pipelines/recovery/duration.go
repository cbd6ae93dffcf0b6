package recovery

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"time"

	"gonum.org/v1/gonum/blas/blas64"

	"github.com/gladflow/gladflow/pipelines/job"
	"github.com/gladflow/gladflow/pipelines/progress"
	"github.com/gladflow/gladflow/solver"
	"github.com/gladflow/gladflow/solver/dense"
	"github.com/gladflow/gladflow/solver/glasso"
)

// toldFrom is the time that a run is expected to take from which it says so.
const toldFrom = 20 * time.Second

// A work is about how much is calculated, in floating-point operations: in products of
// matrices, eigendecompositions and the like, which the engine does, and in passes over vectors.
type work struct{ products, vectors float64 }

func (w work) times(n float64) work { return work{n * w.products, n * w.vectors} }
func (w work) plus(v work) work     { return work{w.products + v.products, w.vectors + v.vectors} }

// A shape is what is known of a table of which the time is estimated.
type shape struct {
	d, m float64
	// related is how many variables a variable is related to in the mean, by correlations that
	// are twice as large as the largest by chance: √(log d/M).
	related float64
	// neighbours is how many a variable has in the graphs of the penalty, about.
	neighbours float64
	resamples  int
	edges      int // asked for
}

// eigen is an eigendecomposition with the product after it.
func (t shape) eigen() work { return work{products: 14 * t.d * t.d * t.d} }

// cubes are n times d³.
func (t shape) cubes(n float64) work { return work{products: n * t.d * t.d * t.d} }

// pairs are n operations for each pair.
func (t shape) pairs(n float64) work { return work{vectors: n * t.d * t.d / 2} }

// lasso is a solution of bcd where every variable has k neighbours: sweeps of regressions, a
// regression being the product with W, passes over its neighbours, and a factor of their matrix.
func (t shape) lasso(k float64) work {
	const sweeps = 8
	return work{products: 2 * t.d * t.d * t.d, vectors: sweeps * t.d * (2*t.d*k + 20*k*k + k*k*k/2)}
}

// path is one path of penalties to graphs of k neighbours: the denser its graphs become the
// fewer penalties count.
func (t shape) path(k float64) work {
	const dense = 10
	last := t.lasso(k)
	return work{products: last.products * (4 + math.Pow(k, 0.75)), vectors: dense * last.vectors}
}

// few is how many neighbours the criterion of an information criterion pays for: one for so
// many samples.
func (t shape) few(samples float64) float64 {
	return math.Min(math.Min(t.related, t.m/samples), t.d-1)
}

// shapeOf counts what is related in S.
func shapeOf(p solver.Problem, j job.Job) shape {
	d := p.S.Len()
	t := shape{d: float64(d), m: float64(p.Samples), resamples: j.SelectResamples}
	t.edges, _ = j.EdgesWanted()
	chance := 2 * math.Sqrt(math.Log(t.d+1)/math.Max(t.m, 1))
	scale := make([]float64, d)
	for i := range scale {
		scale[i] = math.Sqrt(p.S.At(i, i))
	}
	rho, given := j.Penalty.Number()
	var related, above float64
	for i := range d {
		for k, v := range p.S.Row(i)[:i] {
			if v = math.Abs(v); v > chance*scale[i]*scale[k] {
				related++
			}
			if given && v > rho {
				above++
			}
		}
	}
	t.related = 2 * related / t.d
	t.neighbours = t.few(6)
	if given {
		t.neighbours = math.Min(2*above/t.d, math.Max(t.few(2), 1))
	}
	return t
}

// A part of a run takes time.
type runPart struct {
	what string
	work
	threads bool // its vectors are shared out
}

// parts are those of the run on a table, without what is done by the time that it is known.
func (r *run) parts(p solver.Problem) []runPart {
	block := r.block(p)
	t := shapeOf(block, r.job)
	var parts []runPart
	if rule, ok := r.penaltyRule(); ok {
		parts = append(parts, runPart{string(progress.Choosing), rule.work(t), true})
		t.neighbours = math.Max(t.neighbours, rule.neighbours(t))
	}
	c := r.configuration(glasso.Penalty{}, nil)
	for _, name := range r.job.Solvers {
		entry := find(name)
		of := t
		if entry.rank != nil { // of all variables
			of.d = float64(p.S.Len())
		}
		once := entry.work(c, of)
		parts = append(parts, runPart{name, once, true})
		if n := r.job.Stability; n > 0 {
			estimated := work{products: t.m / 2 * of.d * of.d}
			parts = append(parts, runPart{"stability of " + name, once.plus(estimated).times(2 * float64(n)), true})
		}
	}
	return parts
}

// foretell says how long the run will take where that is long, before it starts, to an order
// of magnitude. A measured product says how fast the machine is now; nothing depends on it.
func (r *run) foretell(ctx context.Context, p solver.Problem) {
	if p.S == nil || r.host.Progress == nil || r.place.GPU != nil || r.job.Adapt != "" || p.S.Len() < 2 {
		return
	}
	parts := r.parts(p)
	slow := speed{products: 4e9, vectors: 1e9, threads: 1}
	if expected, _ := r.expected(parts, slow); expected < toldFrom || ctx.Err() != nil {
		return
	}
	expected, most := r.expected(parts, speedOf(r.engine))
	if expected < toldFrom {
		return
	}
	text := fmt.Sprintf("about %s on %s, most of it for %s", progress.Roughly(expected), progress.Count(dense.Threads(r.engine), "thread"), most)
	if r.job.TimeLimit > 0 {
		text += fmt.Sprintf("; the time limit of %v holds for each part", r.job.TimeLimit)
	} else {
		text += "; " + r.faster(most)
	}
	r.stage(progress.Foretelling, "").Done(text)
}

// faster is what makes a run shorter.
func (r *run) faster(most string) string {
	switch {
	case most == string(progress.Choosing):
		return "a penalty that is given as a number saves that, and a time limit bounds it"
	case r.job.SamplesGiven():
		return "fewer variables (top_variance: 500) or other solvers are faster, and a time limit bounds each"
	}
	return "other solvers are faster, and a time limit bounds each"
}

// expected is how long parts take, and which of them takes most.
func (r *run) expected(parts []runPart, s speed) (all time.Duration, most string) {
	var longest time.Duration
	for _, part := range parts {
		took := s.of(part.work)
		if limit := time.Duration(r.job.TimeLimit); limit > 0 {
			took = min(took, limit)
		}
		if all += took; took > longest {
			longest, most = took, part.what
		}
	}
	return all, most
}

// A speed is in operations a second; that of vectors is of one thread.
type speed struct {
	products, vectors float64
	threads           int
}

func (s speed) of(w work) time.Duration {
	const efficiency = 0.8 // of threads
	vectors := s.vectors * math.Max(1, efficiency*float64(s.threads))
	seconds := w.products/s.products + w.vectors/vectors
	return time.Duration(math.Min(seconds, 1e9) * float64(time.Second))
}

// speedOf is the speed of a product of two matrices of 512 variables and of passes over a
// vector, some milliseconds each: the best of some, for others may use the machine.
func speedOf(e dense.Engine) speed {
	const n, passes = 512, 1000
	a, b, c := make([]float64, n*n), make([]float64, n*n), make([]float64, n*n)
	for i := range a {
		a[i], b[i] = float64(i%7)-3, float64(i%5)-2
	}
	seconds := func(f func()) float64 {
		best := math.Inf(1)
		for range 5 {
			started := time.Now()
			f()
			best = math.Min(best, time.Since(started).Seconds())
		}
		return math.Max(best, 1e-6)
	}
	product := func() { e.Gemm(false, false, n, n, n, 1, a, n, b, n, 0, c, n) }
	s := speed{threads: dense.Threads(e)}
	s.products = 2 * n * n * n / seconds(product)
	x, y := blas64.Vector{N: 4 * n, Inc: 1, Data: a}, blas64.Vector{N: 4 * n, Inc: 1, Data: c}
	s.vectors = 2 * 4 * n * passes / seconds(func() {
		for range passes {
			blas64.Axpy(0.5, x, y)
		}
	})
	return s
}

// folds is how often a path is followed that is solved for resamples, byDefault many.
func (t shape) folds(byDefault int) float64 { return float64(cmp.Or(t.resamples, byDefault)) }
