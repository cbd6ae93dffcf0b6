package association

import (
	"context"
	"math"

	"github.com/gladflow/gladflow/solver/dense"
)

// mostCorrelated is what Information holds |r| below: −½·log(1 − r²) is finite.
const mostCorrelated = 0.999999

// Information sets dst to −½·log(1 − r²), the mutual information in nats of two
// Gaussian variables with the correlation r, for every pair. |r| is held below
// 0.999999. dst may be r.
func (s Scorer) Information(ctx context.Context, dst, r *dense.Sym) error {
	return eachRow(ctx, r.Len(), s.threads(), func(i int) {
		to := dst.Row(i)
		for j, v := range r.Row(i) {
			v = min(math.Abs(v), mostCorrelated)
			to[j] = -0.5 * math.Log1p(-v*v)
		}
		to[i] = 0
	})
}

// CLR sets dst to max(zij, zji), zij = (aij − meanj)/sdj over the scores of variable j
// with the others: a score counts by how it stands out among those of either variable.
// sd² is held above 1e-12. dst may be a.
//
// The context likelihood of relatedness of Faith et al., "Large-Scale Mapping and
// Validation of Escherichia coli Transcriptional Regulation from a Compendium of
// Expression Profiles", PLoS Biology 5 (2007), holds z above 0 and takes
// √(zij² + zji²), which ranks worse.
func (s Scorer) CLR(ctx context.Context, dst, a *dense.Sym) error {
	d := a.Len()
	mean, scale := make([]float64, d), make([]float64, d)
	others := float64(d - 1)
	err := eachRow(ctx, d, s.threads(), func(j int) {
		mean[j], scale[j] = 0, 1
		if d < 2 {
			return
		}
		var sum, squares float64
		row := a.Row(j)
		for i, v := range row {
			if i != j {
				sum += v
			}
		}
		m := sum / others
		for i, v := range row {
			if i != j {
				squares += (v - m) * (v - m)
			}
		}
		mean[j], scale[j] = m, 1/math.Sqrt(max(squares/others, 1e-12))
	})
	if err != nil {
		return err
	}
	return eachRow(ctx, d, s.threads(), func(i int) {
		to := dst.Row(i)
		for j, v := range a.Row(i) {
			to[j] = max((v-mean[j])*scale[j], (v-mean[i])*scale[i])
		}
		to[i] = 0
	})
}

// Standardise sets dst to (a − mean)/sd over all pairs; 0 where they are all equal.
// dst may be a.
func (s Scorer) Standardise(ctx context.Context, dst, a *dense.Sym) error {
	d := a.Len()
	pairs := float64(d) * float64(d-1) / 2
	sums := make([]float64, d)
	over := func(f func(v float64) float64) (float64, error) {
		err := eachRow(ctx, d, s.threads(), func(i int) {
			var sum float64
			for _, v := range a.Row(i)[i+1:] {
				sum += f(v)
			}
			sums[i] = sum
		})
		var sum float64
		for _, v := range sums {
			sum += v
		}
		return sum / max(1, pairs), err
	}
	mean, err := over(func(v float64) float64 { return v })
	if err != nil {
		return err
	}
	variance, err := over(func(v float64) float64 { return (v - mean) * (v - mean) })
	if err != nil {
		return err
	}
	var scale float64
	if sd := math.Sqrt(variance); sd > 1e-14*math.Abs(mean) { // else it is of rounding
		scale = 1 / sd
	}
	return eachRow(ctx, d, s.threads(), func(i int) {
		to := dst.Row(i)
		for j, v := range a.Row(i) {
			to[j] = (v - mean) * scale
		}
		to[i] = 0
	})
}
