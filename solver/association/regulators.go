package association

import (
	"context"
	"math"

	"github.com/gladflow/gladflow/solver/dense"
)

// Where the regulators of a network are known, scores go from a regulator to a target:
// p·d numbers for p regulators of d variables, those of the first regulator first. A
// regulator has no score with itself: 0.

// Coefficients are those of the regressions of every variable on the regulators that
// follow from the regulators' precision matrix:
//
//	B = Θ·R[regulators, all],
//
// and B[:,t] = −Θ[:,t]/Θ[t,t] for a variable that is the regulator t itself, of which the
// others are then the regressors. theta is p×p, in the order of regulators, with a
// positive diagonal, r the d×d correlation.
func (s Scorer) Coefficients(ctx context.Context, theta, r *dense.Sym, regulators []int) ([]float64, error) {
	p, d := len(regulators), r.Len()
	rows := make([]float64, p*d)
	for k, i := range regulators {
		copy(rows[k*d:(k+1)*d], r.Row(i))
	}
	b := make([]float64, p*d)
	err := dense.AwaitLong(ctx, d, func() { s.engine().Symm(p, d, 1, theta.Raw(), p, rows, d, 0, b, d) })
	if err != nil {
		return nil, err
	}
	for t, j := range regulators {
		for k, v := range theta.Row(t) {
			b[k*d+j] = -v / theta.At(t, t)
		}
		b[t*d+j] = 0
	}
	return b, nil
}

// Ridge are the coefficients of the regressions of every variable on the regulators with
// the correlation shrunk to the identity with a weight a in (0, 1]. It reports with false
// that the shrunk correlation is not positive definite.
func (s Scorer) Ridge(ctx context.Context, r *dense.Sym, regulators []int, a float64) (b []float64, definite bool, err error) {
	block := r.Submatrix(regulators)
	p := block.Len()
	block.Scale(1 - a)
	block.AddDiagonal(a)
	if err := dense.AwaitLong(ctx, p, func() { _, definite = dense.NewWorkspace(s.engine(), p).Inverse(block, block) }); err != nil || !definite {
		return nil, false, err
	}
	if b, err = s.Coefficients(ctx, block, r, regulators); err != nil {
		return nil, false, err
	}
	own := make([]bool, r.Len())
	for _, i := range regulators {
		own[i] = true
	}
	for i := range b {
		if !own[i%r.Len()] {
			b[i] *= 1 - a // as the covariances with the regulators are
		}
	}
	return b, true, nil
}

// FromRegulators are the scores of all pairs, d×d, that start at a regulator.
func FromRegulators(score *dense.Sym, regulators []int) []float64 {
	d := score.Len()
	directed := make([]float64, 0, len(regulators)*d)
	for _, i := range regulators {
		directed = append(directed, score.Row(i)...)
	}
	for k, i := range regulators {
		directed[k*d+i] = 0
	}
	return directed
}

// StandardiseDirected replaces scores by (|a| − mean)/sd over all pairs of a regulator and
// another variable; 0 where they are all equal.
func StandardiseDirected(scores []float64, regulators []int, d int) {
	var mean, variance float64
	pairs := float64(len(regulators) * (d - 1))
	each := func(f func(v *float64)) {
		for k, i := range regulators {
			row := scores[k*d : (k+1)*d]
			for j := range row {
				if j != i {
					f(&row[j])
				}
			}
		}
	}
	each(func(v *float64) {
		*v = math.Abs(*v)
		mean += *v / pairs
	})
	each(func(v *float64) { variance += (*v - mean) * (*v - mean) / pairs })
	var scale float64
	if sd := math.Sqrt(variance); sd > 1e-14*mean {
		scale = 1 / sd
	}
	each(func(v *float64) { *v = (*v - mean) * scale })
}
