package covariance

import (
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/gladflow/gladflow/solver"
	"github.com/gladflow/gladflow/solver/dense"
)

// em is the expected correlation of standardised variables, missing values NaN, at the
// fixed point of
//
//	E: x̂ = E(x | what is there; μ, Θ), C = Var(x | what is there; Θ)
//	M: μ ← mean x̂, S ← mean((x̂ − μ)(x̂ − μ)ᵀ + C), Θ ← graphical lasso of S
//
// For a sample whose missing variables are m and the others o, with Θ's blocks,
// x̂m = μm − Θmm⁻¹Θmo(xo − μo) and Cmm = Θmm⁻¹, all other C being 0 (Städler and Bühlmann
// 2012, Section 2.3).
func (t *incomplete) em(ctx context.Context) (*dense.Sym, error) {
	if t.how.Solver == nil {
		return nil, fmt.Errorf("EM needs a solver of the graphical lasso")
	}
	e := newExpectation(t)
	s := e.start()
	for e.t.done.Iterations = 1; ; e.t.done.Iterations++ {
		est, err := t.how.Solver.Solve(ctx, solver.Problem{S: s, Samples: t.m})
		if err != nil {
			return nil, err
		}
		if err := est.Status.Err(); err != nil {
			if ctx.Err() != nil {
				return nil, ctx.Err()
			}
			return nil, fmt.Errorf("the graphical lasso inside of EM: %w", err)
		}
		next, err := e.step(ctx, est.Precision)
		if err != nil {
			return nil, err
		}
		t.done.Change = largestChange(s, next)
		s = next
		if t.how.Progress != nil {
			t.how.Progress(t.done.Iterations, t.done.Change)
		}
		if t.done.Change <= ChangeOfEM {
			break
		}
	}
	unitDiagonal(s)
	return s, nil
}

func largestChange(a, b *dense.Sym) float64 {
	var most float64
	for i := range a.Len() {
		other := b.Row(i)
		for j, v := range a.Row(i) {
			most = math.Max(most, math.Abs(v-other[j]))
		}
	}
	return most
}

// A pattern is the samples that have the same values missing.
type pattern struct {
	missing []int // variables
	samples []int
}

// expectation is the memory of EM.
type expectation struct {
	t        *incomplete
	patterns []pattern
	mean     []float64 // μ
	filled   []float64 // x̂ − μ, M×d
	batch    []covered // of some patterns at a time
}

// covered is the covariance of a pattern's missing values, and scratch.
type covered struct{ c, right, out []float64 }

// patternsAtOnce is how many patterns are worked on side by side. Their covariances are
// added in their order, so that the sum does not depend on the number of threads.
const patternsAtOnce = 32

func newExpectation(t *incomplete) *expectation {
	e := &expectation{t: t, mean: make([]float64, t.d), filled: make([]float64, len(t.rows)), batch: make([]covered, patternsAtOnce)}
	index := make(map[string]int)
	var missing []int
	key := make([]byte, (t.d+7)/8)
	for k := range t.m {
		missing = missing[:0]
		clear(key)
		for j, v := range t.rows[k*t.d : (k+1)*t.d] {
			if v != v {
				missing = append(missing, j)
				key[j/8] |= 1 << (j % 8)
			}
		}
		if len(missing) == 0 {
			continue
		}
		p, ok := index[string(key)]
		if !ok {
			p = len(e.patterns)
			index[string(key)] = p
			e.patterns = append(e.patterns, pattern{missing: slices.Clone(missing)})
		}
		e.patterns[p].samples = append(e.patterns[p].samples, k)
	}
	return e
}

// start is S of means in place of missing values, ones on its diagonal.
func (e *expectation) start() *dense.Sym {
	for i, v := range e.t.rows {
		if v == v {
			e.filled[i] = v
		}
	}
	s := e.products()
	for i := range e.t.d {
		s.Set(i, i, 1)
	}
	return s
}

// products is the mean of x̂x̂ᵀ, both triangles of it.
func (e *expectation) products() *dense.Sym {
	d, m := e.t.d, e.t.m
	s := dense.NewSym(d, nil)
	dense.NewWorkspace(e.t.settings.engine(), d).Gram(s, 1/float64(m), e.filled, m, 0)
	return s
}

// step is the E-step with Θ and the first half of the M-step.
func (e *expectation) step(ctx context.Context, theta *dense.Sym) (*dense.Sym, error) {
	d, m := e.t.d, e.t.m
	for i, v := range e.t.rows {
		if v == v {
			e.filled[i] = v - e.mean[i%d]
		}
	}
	covariance := dense.NewSym(d, nil)
	threads := dense.Threads(e.t.settings.engine())
	for first := 0; first < len(e.patterns); first += patternsAtOnce {
		some := e.patterns[first:min(len(e.patterns), first+patternsAtOnce)]
		err := dense.Each(ctx, len(some), threads, func(_, i int) error { return e.cover(&e.batch[i], some[i], theta) })
		if err != nil {
			return nil, err
		}
		for i, p := range some {
			n, weight := len(p.missing), float64(len(p.samples))/float64(m)
			for a, j := range p.missing {
				row := covariance.Row(j)
				for b, k := range p.missing {
					row[k] += weight * e.batch[i].c[a*n+b]
				}
			}
		}
	}
	// x̂ has the old mean taken off, so that what is left of its mean is the change.
	change := make([]float64, d)
	for k := range m {
		floats.Add(change, e.filled[k*d:(k+1)*d])
	}
	floats.Scale(1/float64(m), change)
	for k := range m {
		floats.Sub(e.filled[k*d:(k+1)*d], change)
	}
	floats.Add(e.mean, change)
	s := e.products()
	floats.Add(s.Raw(), covariance.Raw())
	return s, nil
}

// cover fills in the samples of a pattern and sets w.c to the covariance of what is
// missing there.
func (e *expectation) cover(w *covered, p pattern, theta *dense.Sym) error {
	d, n := e.t.d, len(p.missing)
	w.c, w.right, w.out = resize(w.c, n*n), resize(w.right, n), resize(w.out, n)
	for a, j := range p.missing {
		row := theta.Row(j)
		for b, k := range p.missing {
			w.c[a*n+b] = row[k]
		}
	}
	engine := e.t.settings.engine()
	if !engine.Cholesky(n, w.c) || !engine.CholeskyInverse(n, w.c) {
		return fmt.Errorf("the precision matrix inside of EM is not positive definite in float64; fill in missing values, or leave out variables that repeat each other")
	}
	for a := range n {
		for b := range a {
			w.c[a*n+b] = w.c[b*n+a]
		}
	}
	for _, k := range p.samples {
		x := e.filled[k*d : (k+1)*d]
		for _, j := range p.missing {
			x[j] = 0
		}
		for a, j := range p.missing {
			w.right[a] = -floats.Dot(theta.Row(j), x)
		}
		for a := range w.out {
			w.out[a] = floats.Dot(w.c[a*n:(a+1)*n], w.right)
		}
		for a, j := range p.missing {
			x[j] = w.out[a]
		}
	}
	return nil
}
