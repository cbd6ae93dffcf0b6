package adapt

import (
	"fmt"
	"math"

	"github.com/gladflow/gladflow/solver"
	"github.com/gladflow/gladflow/solver/dense"
)

// folds is the number of parts that samples are held out in.
const folds = 5

// A fold is what is held out, and what the models say without it.
type fold struct {
	share  float64      // of the samples that are held out
	test   *dense.Sym   // their second moments about the mean of the others
	models []*dense.Sym // Θ of each model by the others, in the units of the samples
}

// byLikelihood finds the weights with the largest likelihood of samples held out: of
// Σ over the folds of share·(log det Θ(w) − tr(Θ(w)·test)), Θ(w) = Σ wk·Θk, which is
// concave in w.
func (w *work) byLikelihood(d int) (Choice, error) {
	parts, err := w.hold(d)
	if err != nil {
		return Choice{}, err
	}
	m := float64(len(w.Samples) / d)
	weights, gap, err := w.stack(parts, 2*likelihoodGap/m)
	return Choice{By: ByLikelihood, Weights: weights, Gap: gap * m / 2}, err
}

// likelihoodGap is what other weights may still gain when the search ends, in nats of the
// likelihood of all samples.
const likelihoodGap = 0.05

// hold solves every fold with every model.
func (w *work) hold(d int) ([]fold, error) {
	m := len(w.Samples) / d
	parts := make([]fold, folds)
	problems := make([]solver.Problem, folds)
	deviations := make([][]float64, folds)
	scale := w.scales(d)
	work := dense.NewWorkspace(w.engine(), d)
	for f := range parts {
		var train, test []float64
		for i := range m {
			part := &train
			if i%folds == f {
				part = &test
			}
			for j, v := range w.Samples[i*d : (i+1)*d] {
				*part = append(*part, v/scale[j])
			}
		}
		err := dense.Await(w.ctx, func() {
			mean := centre(train, d, nil)
			centre(test, d, mean)
			n := len(test) / d
			parts[f] = fold{share: float64(n) / float64(m), test: dense.NewSym(d, nil)}
			work.Gram(parts[f].test, 1/float64(n), test, n, 0)
			s := dense.NewSym(d, nil)
			work.Gram(s, 1/float64(m-n), train, m-n, 0)
			problems[f] = solver.Problem{S: s, Samples: m - n}
			if w.Standardised {
				problems[f].S, deviations[f] = correlation(s)
			}
		})
		if err != nil {
			return nil, err
		}
		for j := range d {
			if !(problems[f].S.At(j, j) > 0) || !problems[f].S.Finite() {
				return nil, errConstant // a variable that is constant but for the samples held out
			}
		}
	}
	for _, model := range w.Set.Models {
		estimates, err := w.solve(model, problems)
		if err != nil {
			return nil, err
		}
		if err := w.ctx.Err(); err != nil {
			return nil, err
		}
		for f, e := range estimates {
			if w.Standardised {
				rescale(e.Precision, deviations[f])
			}
			parts[f].models = append(parts[f].models, e.Precision)
		}
		w.tell(folds, model.Name)
	}
	return parts, nil
}

// scales are the units of the samples that are solved: of a correlation any will do, and
// those in which they have the variance 1 keep numbers near it.
func (w *work) scales(d int) []float64 {
	scale := make([]float64, d)
	if w.Standardised {
		n := float64(len(w.Samples) / d)
		mean := make([]float64, d)
		for i, v := range w.Samples {
			mean[i%d] += v / n
		}
		for i, v := range w.Samples {
			scale[i%d] += (v - mean[i%d]) / math.Sqrt(n) * ((v - mean[i%d]) / math.Sqrt(n))
		}
	}
	for j, v := range scale {
		if scale[j] = math.Sqrt(v); !(scale[j] > 0) {
			scale[j] = 1
		}
	}
	return scale
}

var errConstant = fmt.Errorf("a variable is constant in four fifths of the samples, so none can be held out; leave adapting out, or that variable")

// centre subtracts a mean from rows of d numbers, their own if it is nil, and returns it.
func centre(rows []float64, d int, mean []float64) []float64 {
	n := len(rows) / d
	if mean == nil {
		mean = make([]float64, d)
		for i, v := range rows {
			mean[i%d] += v / float64(n)
		}
	}
	for i := range rows {
		rows[i] -= mean[i%d]
	}
	return mean
}

// stack maximises the likelihood by Newton's method on the simplex. It ends when the
// Frank-Wolfe gap max_k g_k − Σ w_k·g_k, g being the gradient, which bounds what is left
// to gain, is no more than gap.
func (w *work) stack(parts []fold, gap float64) (weights []float64, left float64, err error) {
	n := len(w.Set.Models)
	weights = make([]float64, n)
	for k := range weights {
		weights[k] = 1 / float64(n)
	}
	const most = 100
	value, g, h, err := w.derivatives(parts, weights)
	for range most {
		if err != nil {
			return nil, 0, err
		}
		if left = frankWolfe(weights, g); left <= gap {
			break
		}
		to := newtonOnSimplex(weights, g, h)
		step, gained := 1.0, false
		for range 40 {
			next := make([]float64, n)
			for k := range next {
				next[k] = math.Max(0, weights[k]+step*(to[k]-weights[k]))
			}
			normalise(next)
			var v float64
			var ng []float64
			var nh [][]float64
			if v, ng, nh, err = w.derivatives(parts, next); err != nil {
				return nil, 0, err
			}
			if v > value {
				weights, value, g, h, gained = next, v, ng, nh, true
				break
			}
			step /= 2
		}
		if !gained {
			break // rounding has the last word
		}
	}
	left = frankWolfe(weights, g)
	return weights, left, nil
}

func frankWolfe(weights, g []float64) float64 {
	most, mean := math.Inf(-1), 0.0
	for k, v := range g {
		most = math.Max(most, v)
		mean += weights[k] * v
	}
	return math.Max(0, most-mean)
}

func normalise(weights []float64) {
	var sum float64
	for _, v := range weights {
		sum += v
	}
	for k := range weights {
		weights[k] /= sum
	}
}

// derivatives are the value, the gradient and the negative Hessian of the likelihood.
func (w *work) derivatives(parts []fold, weights []float64) (value float64, g []float64, h [][]float64, err error) {
	n := len(weights)
	g, h = make([]float64, n), make([][]float64, n)
	for k := range h {
		h[k] = make([]float64, n)
	}
	d := parts[0].test.Len()
	engine := w.engine()
	work := dense.NewWorkspace(engine, d)
	theta, inverse := dense.NewSym(d, nil), dense.NewSym(d, nil)
	products := make([][]float64, n)
	for k := range products {
		products[k] = make([]float64, d*d)
	}
	for _, part := range parts {
		clear(theta.Raw())
		for k, v := range weights {
			add(theta, v, part.models[k])
		}
		var logdet float64
		ok := false
		if err := dense.Await(w.ctx, func() { logdet, ok = work.Inverse(inverse, theta) }); err != nil {
			return 0, nil, nil, err
		}
		if !ok {
			return 0, nil, nil, fmt.Errorf("the mean of the experts is not positive definite in float64; rescale the variables")
		}
		value += part.share * (logdet - theta.Dot(part.test))
		for k := range n {
			if err := dense.Await(w.ctx, func() {
				engine.Gemm(false, false, d, d, d, 1, inverse.Raw(), d, part.models[k].Raw(), d, 0, products[k], d)
			}); err != nil {
				return 0, nil, nil, err
			}
			g[k] += part.share * (inverse.Dot(part.models[k]) - part.models[k].Dot(part.test))
			for l := range k + 1 {
				v := part.share * traceOfProduct(products[k], products[l], d)
				h[k][l] += v
				if l != k {
					h[l][k] += v
				}
			}
		}
	}
	return value, g, h, nil
}

// traceOfProduct is tr(AB) of n×n matrices.
func traceOfProduct(a, b []float64, n int) float64 {
	const block = 32 // of columns of b that stay in the cache
	var sum float64
	for j0 := 0; j0 < n; j0 += block {
		for i := range n {
			row := a[i*n : (i+1)*n]
			for j := j0; j < min(n, j0+block); j++ {
				sum += row[j] * b[j*n+i]
			}
		}
	}
	return sum
}

// newtonOnSimplex maximises g·(v − w) − ½(v − w)ᵀH(v − w) over the simplex, moving weight
// between two models at a time until none gains.
func newtonOnSimplex(w, g []float64, h [][]float64) []float64 {
	n := len(w)
	v := append([]float64(nil), w...)
	slope := append([]float64(nil), g...) // at v
	for range 200 * n {
		best, from, to, by := 0.0, -1, -1, 0.0
		for i := range n {
			for j := range n {
				if i == j || v[i] == 0 || slope[j] <= slope[i] {
					continue
				}
				curve := h[i][i] + h[j][j] - 2*h[i][j]
				move := v[i]
				if curve > 0 {
					move = math.Min(move, (slope[j]-slope[i])/curve)
				}
				if gain := move*(slope[j]-slope[i]) - move*move*curve/2; gain > best {
					best, from, to, by = gain, i, j, move
				}
			}
		}
		if from < 0 || best < 1e-15*(1+math.Abs(slope[to])) {
			break
		}
		v[from] = math.Max(0, v[from]-by)
		v[to] += by
		for k := range n {
			slope[k] += by * (h[k][from] - h[k][to])
		}
	}
	return v
}
