package train

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/gladflow/gladflow/solver"
	"github.com/gladflow/gladflow/solver/dense"
	"github.com/gladflow/gladflow/solver/glad"
)

// NMSE is the criterion 10·log10(Σ‖Z − Θ*‖²F / Σ‖Θ*‖²F) over the validation
// examples, in decibels: the paper's formula.
func NMSE() Criterion {
	return Criterion{Name: "nmse_db", Compute: func(estimates []*solver.Estimate, validation []solver.Example) (float64, error) {
		var off, norm float64
		for i, e := range estimates {
			off += distance2(e.Support, validation[i].Truth)
			norm += validation[i].Truth.Dot(validation[i].Truth)
		}
		return 10 * math.Log10(off/norm), nil
	}}
}

// MeanNMSE is the mean over the validation examples of 10·log10 of
// ‖Z − Θ*‖²F/‖Θ*‖²F, for examples of many kinds: NMSE weights them by
// their norm.
func MeanNMSE() Criterion {
	return Criterion{Name: "mean_nmse_db", Compute: func(estimates []*solver.Estimate, validation []solver.Example) (float64, error) {
		var sum float64
		for i, e := range estimates {
			truth := validation[i].Truth
			sum += 10 * math.Log10(distance2(e.Support, truth)/truth.Dot(truth))
		}
		return sum / float64(len(estimates)), nil
	}}
}

// FlooredNMSE is MeanNMSE with Floor added to the ratio, so that what is estimated nearly
// without an error, such as a network without an edge, does not decide.
func FlooredNMSE() Criterion {
	return Criterion{Name: "floored_nmse_db", Compute: func(estimates []*solver.Estimate, validation []solver.Example) (float64, error) {
		var sum float64
		for i, e := range estimates {
			truth := validation[i].Truth
			sum += 10 * math.Log10(Floor(validation[i])+distance2(e.Support, truth)/truth.Dot(truth))
		}
		return sum / float64(len(estimates)), nil
	}}
}

func distance2(a, b *dense.Sym) float64 {
	var sum float64
	y := b.Raw()
	for i, v := range a.Raw() {
		sum += (v - y[i]) * (v - y[i])
	}
	return sum
}

// solve runs m on all examples.
func solve(ctx context.Context, m *glad.Model, examples []solver.Example, b glad.Backend) ([]*solver.Estimate, error) {
	problems := make([]solver.Problem, len(examples))
	for i, e := range examples {
		problems[i] = e.Problem()
	}
	estimates, err := glad.Solver{Model: m, Backend: b}.SolveAll(ctx, problems)
	if err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	for i, e := range estimates {
		if e.Status != solver.Completed {
			return nil, fmt.Errorf("validation example %d: %w", i, e.Status.Err())
		}
	}
	return estimates, nil
}

// validate computes the criterion of m. It is NaN, the worst value, for a model
// that cannot solve an example; the error is that of ctx, of the backend or of the
// criterion.
func validate(ctx context.Context, m *glad.Model, examples []solver.Example, s Settings) (float64, error) {
	if m.Validate() != nil { // a step has thrown its values too far
		return math.NaN(), nil
	}
	estimates, err := solve(ctx, m, examples, s.Backend)
	switch {
	case ctx.Err() != nil:
		return 0, ctx.Err()
	case glad.Numerical(err), errors.Is(err, solver.ErrStalled):
		return math.NaN(), nil
	case err != nil:
		return 0, err
	}
	f, err := s.Criterion.Compute(estimates, examples)
	if err != nil {
		return 0, fmt.Errorf("criterion %s: %w", s.Criterion.Name, err)
	}
	return f, nil
}

// better says whether the value a is better than b; NaN is worse than all.
func (c Criterion) better(a, b float64) bool {
	switch {
	case math.IsNaN(a):
		return false
	case math.IsNaN(b):
		return true
	case c.HigherIsBetter:
		return a > b
	}
	return a < b
}

// Threshold returns the largest model threshold, on the absolute partial
// correlation, at which the mean over the examples of ‖Z − Θ*‖²F/‖Θ*‖²F is no
// more than cost decibels above that of the dense Z; see glad.Model.Threshold.
// The model's own threshold must be zero.
func Threshold(ctx context.Context, m *glad.Model, examples []solver.Example, cost float64, s Settings) (float64, error) {
	if m.Threshold != 0 {
		return 0, errors.New("the model has a threshold already")
	}
	s = s.resolved()
	estimates, err := solve(ctx, m, examples, s.Backend)
	if err != nil {
		return 0, err
	}
	type entry struct{ score, gain float64 } // gain of squared error by dropping it
	var entries []entry
	var off float64
	for g, e := range estimates {
		truth := examples[g].Truth
		norm := truth.Dot(truth)
		off += distance2(e.Support, truth) / norm
		for i := range truth.Len() {
			for j := i + 1; j < truth.Len(); j++ {
				z, t := e.Support.At(i, j), truth.At(i, j)
				score := math.Abs(z) / math.Sqrt(e.Precision.At(i, i)*e.Precision.At(j, j))
				entries = append(entries, entry{score, 2 * (t*t - (z-t)*(z-t)) / norm})
			}
		}
	}
	slices.SortFunc(entries, func(a, b entry) int {
		switch {
		case a.score < b.score:
			return -1
		case a.score > b.score:
			return 1
		}
		return 0
	})
	limit := off * math.Pow(10, cost/10)
	threshold := 0.0
	for k, e := range entries {
		if k > 0 && e.score > entries[k-1].score && off <= limit {
			// Between the two, so that rounding in other units changes nothing.
			threshold = (entries[k-1].score + e.score) / 2
		}
		off += e.gain
	}
	return threshold, nil
}
