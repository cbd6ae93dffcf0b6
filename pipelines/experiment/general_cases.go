package experiment

import (
	"context"
	"fmt"
	"math"

	"github.com/gladflow/gladflow/pipelines/simulate"
	"github.com/gladflow/gladflow/solver"
	"github.com/gladflow/gladflow/solver/covariance"
	"github.com/gladflow/gladflow/solver/dense"
)

// A tableCase is a graph with a table of samples of it. Correlations do not depend on the
// scales of the variables: one table stands for those of every spread.
type tableCase struct {
	samples int
	// truth is Θ* with an equal diagonal, standard that of the standardised variables, the
	// inverse of the true correlation.
	truth, standard *dense.Sym
	// correlation is Pearson's, shrunk the same by Ledoit and Wolf.
	correlation, shrunk *dense.Sym
	// deviations are those of the samples, where scales are equal.
	deviations []float64
	// rows are the samples, one after the other.
	rows []float64
	// places are where variables stand in the spread of scales, from −1 to 1.
	places []float64
}

// tableCases draws n graphs of a family with a table of m samples each. Graphs do not depend
// on m.
func (r *Run) tableCases(ctx context.Context, purpose string, f simulate.Family, n, m, copied int) ([]*tableCase, error) {
	cases := make([]*tableCase, n)
	setting := "general, " + f.String()
	err := dense.Each(ctx, n, r.Workers, func(_, i int) error {
		c := &tableCase{samples: m}
		cases[i] = c
		graphs := r.random(purpose, fmt.Sprintf("%s, graph %d", setting, i))
		var err error
		if c.truth, err = dense.AwaitResult(ctx, func() (*dense.Sym, error) { return f.Precision(graphs) }); err != nil {
			return err
		}
		if c.standard, err = dense.AwaitResult(ctx, func() (*dense.Sym, error) { return simulate.Standardize(c.truth) }); err != nil {
			return err
		}
		for range f.Dimension {
			c.places = append(c.places, 2*graphs.Float64()-1)
		}
		rows, err := simulate.Samples(ctx, r.random(purpose, fmt.Sprintf("%s, M=%d, graph %d, copy %d", setting, m, i, copied)), c.truth, m)
		if err != nil {
			return err
		}
		c.rows = rows
		for _, shrink := range []bool{false, true} {
			found, err := covariance.Estimate(ctx, covariance.NewTable(rows, f.Dimension), f.Dimension, covariance.Settings{LedoitWolf: shrink, Engine: r.Engine})
			if err != nil {
				return err
			}
			if shrink {
				c.shrunk = found.S
			} else {
				c.correlation, c.deviations = found.S, found.StdDevs
			}
		}
		return nil
	})
	return cases, err
}

// problem is what a solver of correlations sees.
func (c *tableCase) problem() solver.Example {
	return solver.Example{S: c.correlation, Truth: c.standard, Samples: c.samples}
}

// equal is what a solver of covariances sees where scales are equal.
func (c *tableCase) equal() solver.Example {
	s := times(c.correlation, c.deviations)
	return solver.Example{S: s, Truth: c.truth, Samples: c.samples}
}

// scales are those of the variables for a spread: factors by which Θ's rows and columns are
// multiplied, and by which deviations are divided.
func (c *tableCase) scales(spread float64) []float64 {
	f := make([]float64, len(c.places))
	for i, p := range c.places {
		f[i] = math.Exp(spread * p)
	}
	return f
}

// original takes a precision matrix of the standardised variables to the units of the table
// with a spread of scales, by shrunk deviations.
func (c *tableCase) original(z *dense.Sym, spread float64) *dense.Sym {
	s := make([]float64, len(c.deviations))
	for i, f := range c.scales(spread) {
		s[i] = c.deviations[i] / f
	}
	s = covariance.ShrunkDeviations(s, c.samples)
	for i, v := range s {
		s[i] = 1 / v
	}
	return times(z, s)
}

// times is DaD with the diagonal D of factor.
func times(a *dense.Sym, factor []float64) *dense.Sym {
	b := dense.NewSym(a.Len(), nil)
	for i := range a.Len() {
		for j := range i + 1 {
			b.Set(i, j, factor[i]*a.At(i, j)*factor[j])
		}
	}
	return b
}
