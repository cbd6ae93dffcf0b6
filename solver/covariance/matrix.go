package covariance

import (
	"context"
	"fmt"
	"math"

	"github.com/gladflow/gladflow/solver/dense"
)

// Tolerances of FromMatrix, on the scale of correlations.
const (
	asymmetry  = 1e-8
	indefinite = 1e-8
)

// FromMatrix takes a covariance or correlation that was computed elsewhere,
// d×d and row-major, of samples observations (0 if unknown), and returns a copy
// made exactly symmetric, as Estimate would return it:
//
//   - with Method Pearson, the default, the correlation, and StdDevs the roots
//     of the diagonal (all 1 for a correlation);
//   - with Method Covariance, the matrix as it is.
//
// Settings.Shrinkage is applied to that. Spearman, Nonparanormal and LedoitWolf
// need the samples and are errors here.
//
// The matrix must be square and finite, have a positive diagonal (else a
// *ColumnError), be symmetric to 1e-8·√(sii·sjj), have no |sij| above that root
// by more, and, once shrunk, be positive semidefinite up to rounding: the
// smallest eigenvalue of its correlation is at least −1e-8 times the largest.
func FromMatrix(ctx context.Context, values []float64, d, samples int, s Settings) (*Result, error) {
	if err := s.Validate(); err != nil {
		return nil, err
	}
	switch {
	case s.Method != Pearson && s.Method != Covariance:
		return nil, fmt.Errorf("%v needs the samples, not their covariance; choose pearson or none, or give the samples", s.Method)
	case s.LedoitWolf:
		return nil, fmt.Errorf("Ledoit-Wolf shrinkage needs the samples, not their covariance; give a weight, or the samples")
	case d < 1 || d > math.MaxInt/d || len(values) != d*d:
		return nil, fmt.Errorf("%d numbers do not fill a matrix of %d variables; give a square matrix", len(values), d)
	case samples < 0:
		return nil, fmt.Errorf("the number of samples is %d; it cannot be negative", samples)
	}
	r := &Result{
		StdDevs:   make([]float64, d),
		Samples:   samples,
		Shrinkage: s.Shrinkage,
		Method:    s.Method,
		Divisor:   s.Divisor,
	}
	for i, v := range values {
		if v-v != 0 {
			return nil, columnError(i%d, s.Names, fmt.Sprintf("has the value %v in row %d", v, i/d+1),
				"fill in missing values, or remove the variable's row and column")
		}
	}
	for j := range d {
		v := values[j*d+j]
		if v <= 0 {
			return nil, columnError(j, s.Names, fmt.Sprintf("has the variance %v", v), "variances must be positive, so remove its row and column")
		}
		r.StdDevs[j] = math.Sqrt(v)
	}
	correlation, err := standardised(values, r.StdDevs, s.Names)
	if err != nil {
		return nil, err
	}
	if s.Method == Pearson {
		r.S = correlation
		shrink(r.S, s.Shrinkage)
		correlation = r.S.Clone()
	} else {
		r.S = dense.NewSym(d, nil)
		for i := range d {
			for j := i; j < d; j++ {
				r.S.Set(i, j, values[i*d+j]/2+values[j*d+i]/2)
			}
		}
		shrink(r.S, s.Shrinkage)
		if s.Shrinkage > 0 {
			sds := make([]float64, d)
			for j := range sds {
				sds[j] = math.Sqrt(r.S.At(j, j))
			}
			if correlation, err = standardised(r.S.Raw(), sds, s.Names); err != nil {
				return nil, err
			}
		}
	}
	if err := semidefinite(ctx, correlation, s.engine()); err != nil {
		return nil, err
	}
	return r, nil
}

// standardised is the correlation of a covariance, exactly symmetric. It is an
// error where the covariance is far from symmetric or exceeds its diagonal.
func standardised(values, sds []float64, names []string) (*dense.Sym, error) {
	d := len(sds)
	c := dense.NewSym(d, nil)
	for i := range d {
		c.Set(i, i, 1)
		for j := i + 1; j < d; j++ {
			upper, lower := values[i*d+j]/sds[i]/sds[j], values[j*d+i]/sds[i]/sds[j]
			if math.Abs(upper-lower) > asymmetry {
				return nil, columnError(i, names, fmt.Sprintf("has the covariance %v with %s, but %v the other way round", values[i*d+j], label(j, names), values[j*d+i]),
					"give a symmetric matrix, its rows in the order of its columns")
			}
			v := upper/2 + lower/2
			if math.Abs(v) > 1+indefinite {
				return nil, columnError(i, names, fmt.Sprintf("has the correlation %v with %s", v, label(j, names)),
					"no correlation exceeds 1, so check that the matrix is a covariance")
			}
			c.Set(i, j, clamp(v))
		}
	}
	return c, nil
}

func label(j int, names []string) string {
	if j < len(names) && names[j] != "" {
		return fmt.Sprintf("column %q", names[j])
	}
	return fmt.Sprintf("column %d", j+1)
}

// semidefinite reports a correlation with an eigenvalue that is negative beyond
// rounding. It overwrites c.
func semidefinite(ctx context.Context, c *dense.Sym, engine dense.Engine) error {
	d := c.Len()
	var (
		w         = dense.NewWorkspace(engine, d)
		scratch   = make([]float64, d*d)
		lifted    = c.Clone()
		regular   bool
		values    []float64
		notSolved error
	)
	// Cheap and enough for nearly all: the largest eigenvalue is at least 1,
	// so that a matrix that this lift makes definite was within bounds.
	lifted.AddDiagonal(indefinite / 2)
	err := dense.Await(ctx, func() {
		if _, regular = w.LogDet(lifted, scratch); regular {
			return
		}
		values = make([]float64, d)
		notSolved = w.Eigen(c, values, scratch)
	})
	switch {
	case err != nil:
		return err
	case regular:
		return nil
	case notSolved != nil:
		return notSolved
	case values[0] < -indefinite*values[d-1]:
		return fmt.Errorf("the matrix is not a covariance: as a correlation it has the eigenvalue %.3g, and the largest is %.3g; give it with all its digits, or shrink it by a weight", values[0], values[d-1])
	}
	return nil
}
