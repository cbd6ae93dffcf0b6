package association

import (
	"context"
	"errors"
	"math"

	"github.com/gladflow/gladflow/solver/dense"
)

// Weights are those of the correlation and of the coefficients in the score of a
// regulator and another variable: Correlation·z(|R|) + Coefficient·z(|B|), z being
// standardised over all such pairs.
type Weights struct {
	Correlation float64 `json:"correlation"`
	Coefficient float64 `json:"coefficient"`
}

// Blend are the scores of every regulator and variable, p·d, from the coefficients b, which
// it overwrites, and the d×d correlation.
func (w Weights) Blend(b []float64, r *dense.Sym, regulators []int) []float64 {
	StandardiseDirected(b, regulators, r.Len())
	score := FromRegulators(r, regulators)
	StandardiseDirected(score, regulators, r.Len())
	for i, v := range b {
		score[i] = w.Correlation*score[i] + w.Coefficient*v
	}
	return score
}

// A Labelled is what weights are fitted to: the coefficients b, p·d, of a table whose
// edges are known.
type Labelled struct {
	B          []float64
	R          *dense.Sym
	Regulators []int
	// Edge says which of the p·d pairs are edges.
	Edge []bool
}

// ErrNoFit is returned by FitWeights where the scores separate the edges, or say nothing.
var ErrNoFit = errors.New("the weights of correlation and coefficients have no finite estimate; give more tables")

// FitWeights are the coefficients of a logistic regression of the edges on z(|R|) and
// z(|B|), with an intercept, in which edges and other pairs of every table count the same:
// half each. B of the tables is overwritten.
func FitWeights(ctx context.Context, tables []Labelled) (Weights, error) {
	type pair struct {
		x      [3]float64
		sign   float64
		weight float64
	}
	var pairs []pair
	for _, t := range tables {
		d := t.R.Len()
		StandardiseDirected(t.B, t.Regulators, d)
		r := FromRegulators(t.R, t.Regulators)
		StandardiseDirected(r, t.Regulators, d)
		edges := 0
		for _, is := range t.Edge {
			if is {
				edges++
			}
		}
		others := len(t.Regulators)*(d-1) - edges
		for k, i := range t.Regulators {
			for j := range d {
				if j == i {
					continue
				}
				p := pair{x: [3]float64{r[k*d+j], t.B[k*d+j], 1}, sign: -1, weight: 0.5 / float64(others)}
				if t.Edge[k*d+j] {
					p.sign, p.weight = 1, 0.5/float64(edges)
				}
				pairs = append(pairs, p)
			}
		}
	}
	var w [3]float64
	for range 50 { // Newton's method; the loss is convex
		if err := ctx.Err(); err != nil {
			return Weights{}, err
		}
		var gradient [3]float64
		var hessian [3][3]float64
		for _, p := range pairs {
			f := p.sign * (w[0]*p.x[0] + w[1]*p.x[1] + w[2]*p.x[2])
			q := 1 / (1 + math.Exp(f)) // of the other class
			for a, x := range p.x {
				gradient[a] -= p.weight * p.sign * q * x
				for b, y := range p.x {
					hessian[a][b] += p.weight * q * (1 - q) * x * y
				}
			}
		}
		step, ok := solve3(hessian, gradient)
		if !ok {
			return Weights{}, ErrNoFit
		}
		var longest float64
		for a := range w {
			w[a] -= step[a]
			longest = max(longest, math.Abs(step[a]))
		}
		if longest < 1e-10 {
			return Weights{w[0], w[1]}, nil
		}
	}
	return Weights{}, ErrNoFit
}

// solve3 solves a·x = b for a positive definite a, by Cramer's rule.
func solve3(a [3][3]float64, b [3]float64) (x [3]float64, ok bool) {
	det := func(m [3][3]float64) float64 {
		return m[0][0]*(m[1][1]*m[2][2]-m[1][2]*m[2][1]) - m[0][1]*(m[1][0]*m[2][2]-m[1][2]*m[2][0]) + m[0][2]*(m[1][0]*m[2][1]-m[1][1]*m[2][0])
	}
	all := det(a)
	if !(all > 1e-12*a[0][0]*a[1][1]*a[2][2]) {
		return x, false
	}
	for c := range x {
		m := a
		for r := range m {
			m[r][c] = b[r]
		}
		x[c] = det(m) / all
	}
	return x, true
}
