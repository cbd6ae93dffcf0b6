package ranking

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/gladflow/gladflow/solver/association"
	"github.com/gladflow/gladflow/solver/dense"
)

// Where the regulators of a network are known, a pair is one of them and another variable,
// and B are the coefficients of every variable's regression on the regulators:
// association.Scorer's Ridge of R with the weight 0.1. The inputs of model files, version
// 1, that there are then besides the others:
const (
	Coefficient            Input = "coefficient"              // z of |B| over all pairs
	CoefficientOfTarget    Input = "coefficient-of-target"    // z of |B| over the regulators of the target
	CoefficientOfRegulator Input = "coefficient-of-regulator" // z of |B| over the targets of the regulator
)

// DirectedInputs lists them.
func DirectedInputs() []Input {
	return []Input{Coefficient, CoefficientOfTarget, CoefficientOfRegulator}
}

// LogRegulators is a context that needs the regulators: ln of their number.
const LogRegulators Context = "log-regulators"

// DirectedContexts lists the contexts that need the regulators.
func DirectedContexts() []Context { return []Context{LogRegulators} }

func allInputs() []Input     { return append(Inputs(), DirectedInputs()...) }
func allContexts() []Context { return append(Contexts(), DirectedContexts()...) }

// Directed says that m ranks pairs from a regulator to another variable: it has an input or
// a context that needs the list of regulators.
func (m *Model) Directed() bool {
	return slices.ContainsFunc(m.Inputs, func(n Input) bool { return slices.Contains(DirectedInputs(), n) }) ||
		slices.ContainsFunc(m.Context, func(n Context) bool { return slices.Contains(DirectedContexts(), n) })
}

// ApplyDirected is Apply for the pairs from a regulator to another variable: the score of
// regulator number k and variable j is at k·d + j, and 0 of a regulator with itself. The
// features have regulators.
func (m *Model) ApplyDirected(ctx context.Context, f *Features, threads int) ([]float64, error) {
	d := f.Variables
	scores := make([]float64, len(f.Regulators)*d)
	e := m.ensemble(f.Context)
	err := dense.Each(ctx, len(f.Regulators), threads, func(_, k int) error {
		x := make([]float64, 0, len(m.Inputs))
		i := f.Regulators[k]
		for j := range d {
			if j != i {
				scores[k*d+j] = e.score(f.Append(x, i, j, m.Bound))
			}
		}
		return nil
	})
	return scores, err
}

// shrinkageOfRidge is the weight of the identity in the regulators' correlation.
const shrinkageOfRidge = 0.1

func errNoRegulators(name string) error {
	return fmt.Errorf("%q is of regulators, and none are known", name)
}

// directed computes an input of the pairs from a regulator to another variable.
func (c *computation) directed(name Input) ([]float64, error) {
	if len(c.regulators) == 0 {
		return nil, errNoRegulators(string(name))
	}
	if c.coefficients == nil {
		b, definite, err := c.Ridge(c.ctx, c.r, c.regulators, shrinkageOfRidge)
		if err != nil {
			return nil, err
		}
		if !definite {
			return nil, errors.New("the correlation of the regulators is not positive semidefinite")
		}
		for i, v := range b {
			b[i] = math.Abs(v)
		}
		c.coefficients = b
	}
	d, p := c.r.Len(), len(c.regulators)
	z := slices.Clone(c.coefficients)
	switch name {
	case Coefficient:
		association.StandardiseDirected(z, c.regulators, d)
	case CoefficientOfTarget:
		for j := range d {
			standardise(z, p, func(k int) int { return k*d + j }, func(k int) bool { return c.regulators[k] != j })
		}
	case CoefficientOfRegulator:
		for k, i := range c.regulators {
			standardise(z, d, func(j int) int { return k*d + j }, func(j int) bool { return j != i })
		}
	}
	return z, c.ctx.Err()
}

// standardise replaces by (v − mean)/sd those of n values that count; sd² is held above
// 1e-12. A value on its own becomes 0.
func standardise(values []float64, n int, at func(k int) int, counts func(k int) bool) {
	var mean, variance, number float64
	for k := range n {
		if counts(k) {
			mean += values[at(k)]
			number++
		}
	}
	mean /= max(1, number)
	for k := range n {
		if v := values[at(k)] - mean; counts(k) {
			variance += v * v
		}
	}
	scale := 1 / math.Sqrt(max(variance/max(1, number), 1e-12))
	for k := range n {
		if counts(k) {
			values[at(k)] = (values[at(k)] - mean) * scale
		}
	}
}

// places are those of d variables among the regulators, -1 for others; nil without any.
func places(regulators []int, d int) []int {
	if regulators == nil {
		return nil
	}
	at := slices.Repeat([]int{-1}, d)
	for k, i := range regulators {
		at[i] = k
	}
	return at
}
