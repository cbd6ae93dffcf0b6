package covariance

import (
	"context"
	"fmt"
	"math"

	"github.com/gladflow/gladflow/solver/dense"
)

// EffectiveSamples is (Σw)²/Σw², the number of samples of equal weight whose mean has the
// variance of the weighted one (Kish, "Survey Sampling", 1965). Weights are not negative.
func EffectiveSamples(weights []float64) float64 {
	var largest, sum, squares float64
	for _, w := range weights {
		largest = math.Max(largest, w)
	}
	if largest == 0 {
		return 0
	}
	for _, w := range weights {
		sum += w / largest
		squares += (w / largest) * (w / largest)
	}
	return sum * sum / squares
}

// EstimateWeighted is Estimate for m·d numbers in memory, one sample after the other, and a
// positive weight of each: means and covariances are weighted, and M is
// EffectiveSamples, less Settings.Spent, rounded down. With Divisor BySamples a
// covariance is divided by the sum of the weights, with BySamplesLess1 the result is
// unbiased: (1 − Σw²/(Σw)²) times that sum. It overwrites rows.
//
// Errors, besides those of Estimate: ranks and LedoitWolf, for which no weights are
// defined here; weights that are not positive and finite.
func EstimateWeighted(ctx context.Context, rows []float64, d int, weights []float64, s Settings) (*Result, error) {
	if err := s.Validate(); err != nil {
		return nil, err
	}
	switch {
	case s.ranked():
		return nil, fmt.Errorf("%v ranks samples of equal weight; choose pearson or none with weights", s.Method)
	case s.LedoitWolf:
		return nil, fmt.Errorf("Ledoit-Wolf shrinkage is for samples of equal weight; give a weight of the identity")
	case d < 1 || len(rows)%d != 0 || len(rows)/d != len(weights):
		return nil, fmt.Errorf("%d numbers are no samples of %d variables with %d weights", len(rows), d, len(weights))
	}
	for i, v := range rows {
		if v-v != 0 {
			return nil, notFinite(v, i/d, i%d, s.Names)
		}
	}
	m := len(weights)
	roots, err := rootsOf(weights, m)
	if err != nil {
		return nil, err
	}
	var sum float64
	for _, r := range roots {
		sum += r * r
	}
	effective := EffectiveSamples(weights)
	const rounded = 1e-9 // of equal weights
	samples := int(effective+rounded*effective) - s.Spent
	if samples < 2 {
		return nil, fmt.Errorf("%w, not %d, as which %d weighted samples count", ErrTooFewSamples, max(0, samples), m)
	}
	of := spread{means: make([]float64, d), sds: make([]float64, d)}
	err = dense.Each(ctx, d, dense.Threads(s.engine()), func(_, j int) error {
		column := make([]float64, m)
		for k := range column {
			column[k] = rows[k*d+j]
		}
		of.means[j], of.sds[j] = weightedMoments(column, roots)
		for k, v := range column { // which is standardised now
			rows[k*d+j] = v * roots[k]
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	if err := of.check(m, s.Names); err != nil {
		return nil, err
	}
	divisor := effective - float64(s.Spent)
	if s.Divisor == BySamplesLess1 {
		divisor--
	}
	r := &Result{Means: of.means, StdDevs: of.sds, Samples: samples, Shrinkage: s.Shrinkage, Method: s.Method, Divisor: s.Divisor, S: dense.NewSym(d, nil)}
	for j := range r.StdDevs {
		r.StdDevs[j] *= math.Sqrt(effective / divisor)
	}
	err = dense.Await(ctx, func() { dense.NewWorkspace(s.engine(), d).Gram(r.S, 1/sum, rows, m, 0) })
	if err != nil {
		return nil, err
	}
	for i := range d {
		r.S.Set(i, i, 1)
		for j := i + 1; j < d; j++ {
			r.S.Set(i, j, clamp(r.S.At(i, j)))
		}
	}
	if s.Method == Covariance {
		if err := r.toUnits(s.Names); err != nil {
			return nil, err
		}
	}
	shrink(r.S, s.Shrinkage)
	return r, nil
}

// weightedMoments standardises a column, and returns the mean and the standard deviation
// that it had, for weights that are the squares of roots.
func weightedMoments(column, roots []float64) (mean, sd float64) {
	shift, unit := moments1(column)
	if unit == 0 || math.IsInf(unit, 0) || unit != unit {
		return shift, unit
	}
	var sum, first, second float64
	for k, v := range column {
		y := (v - shift) / unit
		w := roots[k] * roots[k]
		column[k] = y
		sum += w
		first += w * y
	}
	first /= sum
	for k, y := range column {
		y -= first
		column[k] = y
		second += roots[k] * roots[k] * y * y
	}
	second = math.Sqrt(second / sum)
	for k := range column {
		column[k] /= second
	}
	return shift + first*unit, unit * second
}

// toUnits makes a correlation the covariance in the units of the variables.
func (r *Result) toUnits(names []string) error {
	for i := range r.S.Len() {
		for j := i; j < r.S.Len(); j++ {
			r.S.Set(i, j, r.S.At(i, j)*r.StdDevs[i]*r.StdDevs[j])
		}
	}
	return representable(r.S, names)
}
