package covariance

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"
)

// A Fit is what Residuals has regressed on.
type Fit struct {
	// Rank is the number of degrees of freedom that the covariates take, the mean not
	// counted.
	Rank int
	// Redundant are the covariates that say nothing besides the others and the mean, by
	// their position.
	Redundant []int
	// Explained are the variables of which nothing but rounding is left, by their position;
	// their residuals are exactly zero.
	Explained []int
}

const (
	// redundant is the part of a standardised covariate below which the others have it: what
	// rounding leaves of numbers that are written with five digits.
	redundant = 1e-5
	// explained is the part of a variable below which the covariates have all of it.
	explained = 1e-10
)

// Residuals replaces rows, m samples of d variables one after the other, by what is left of
// every variable after its least-squares regression on covariates and a constant, which
// takes Fit.Rank degrees of freedom: see Settings.Spent. Covariates are columns of m
// finite numbers. With weights, m positive numbers, squares are weighted by them. A
// variable that is constant stays as it is.
//
// The covariates are standardised and orthogonalised twice by the modified Gram-Schmidt
// process, the one of which most is left coming next (Businger and Golub, "Linear least
// squares solutions by Householder transformations", Numerische Mathematik 7 (1965), for
// the order), until a part of 1e-5 and less is left of all others: these are redundant.
//
// Errors: lengths that do not fit; that of ctx.
func Residuals(ctx context.Context, rows []float64, d int, covariates [][]float64, weights []float64) (Fit, error) {
	m := len(rows) / max(1, d)
	for j, c := range covariates {
		if len(c) != m {
			return Fit{}, fmt.Errorf("covariate %d has %d values for %d samples", j+1, len(c), m)
		}
	}
	roots, err := rootsOf(weights, m)
	if err != nil {
		return Fit{}, err
	}
	fit, basis, err := orthogonalise(ctx, covariates, roots)
	if err != nil {
		return Fit{}, err
	}
	fit.Rank = len(basis) - 1
	means, sds := make([]float64, d), make([]float64, d)
	column := make([]float64, m)
	for j := range d {
		for k := range column {
			column[k] = rows[k*d+j]
		}
		means[j], sds[j] = moments1(column)
		if sds[j] <= rounding*math.Abs(means[j]) {
			sds[j] = 0
		}
	}
	before := make([]float64, d) // squares
	for k := range m {
		for j, v := range rows[k*d : (k+1)*d] {
			if sds[j] == 0 {
				continue
			}
			y := (v - means[j]) / sds[j] * roots[k]
			rows[k*d+j] = y
			before[j] += y * y
		}
	}
	constant := make([]float64, d) // the values of constant variables
	for j, v := range rows[:d] {
		if sds[j] == 0 {
			constant[j] = v
			for k := range m {
				rows[k*d+j] = 0
			}
		}
	}
	if err := project(ctx, rows, d, basis); err != nil {
		return Fit{}, err
	}
	after := make([]float64, d)
	for k := range m {
		for j, y := range rows[k*d : (k+1)*d] {
			after[j] += y * y
		}
	}
	for j := range d {
		// What rounding of the values leaves of their differences.
		noise := math.Max(explained, 4*rounding*math.Abs(means[j])/sds[j])
		gone := sds[j] > 0 && math.Sqrt(after[j]) <= noise*math.Sqrt(before[j])
		if gone {
			fit.Explained = append(fit.Explained, j)
		}
		for k := range m {
			v := &rows[k*d+j]
			switch {
			case sds[j] == 0:
				*v = constant[j]
			case gone:
				*v = 0
			default:
				*v *= sds[j] / roots[k]
			}
		}
	}
	return fit, nil
}

// rootsOf are the roots of weights, relative to the largest; ones without any.
func rootsOf(weights []float64, m int) ([]float64, error) {
	roots := make([]float64, m)
	if weights == nil {
		for k := range roots {
			roots[k] = 1
		}
		return roots, nil
	}
	if len(weights) != m {
		return nil, fmt.Errorf("%d weights for %d samples", len(weights), m)
	}
	largest := floats.Max(weights)
	for k, w := range weights {
		if !(w > 0) || math.IsInf(w, 0) {
			return nil, fmt.Errorf("the weight of sample %d is %v; give positive ones", k+1, w)
		}
		roots[k] = math.Sqrt(w / largest)
	}
	return roots, nil
}

// orthogonalise returns an orthonormal basis of the constant, which is the first, and the
// covariates, all multiplied by roots, and which of these are redundant.
func orthogonalise(ctx context.Context, covariates [][]float64, roots []float64) (Fit, [][]float64, error) {
	first := floats.ScaleTo(make([]float64, len(roots)), 1/floats.Norm(roots, 2), roots)
	basis := [][]float64{first}
	type candidate struct {
		position int
		values   []float64
	}
	var left []candidate
	var fit Fit
	for j, c := range covariates {
		mean, sd := moments1(c)
		if sd <= rounding*math.Abs(mean) {
			fit.Redundant = append(fit.Redundant, j)
			continue
		}
		x := make([]float64, len(c))
		for k, v := range c {
			x[k] = (v - mean) / sd * roots[k]
		}
		floats.Scale(1/floats.Norm(x, 2), x)
		left = append(left, candidate{j, x})
	}
	taken := 0 // of the basis, by all that are left
	for len(left) > 0 && len(basis) < len(roots) {
		best, most := -1, redundant
		for i := range left {
			if err := ctx.Err(); err != nil {
				return Fit{}, nil, err
			}
			x := left[i].values
			for range 2 {
				for _, q := range basis[taken:] {
					floats.AddScaled(x, -floats.Dot(q, x), q)
				}
			}
			if n := floats.Norm(x, 2); n > most {
				best, most = i, n
			}
		}
		if best < 0 {
			break
		}
		q := left[best].values
		left = append(left[:best], left[best+1:]...)
		floats.Scale(1/most, q)
		for _, p := range basis {
			floats.AddScaled(q, -floats.Dot(p, q), p)
		}
		floats.Scale(1/floats.Norm(q, 2), q)
		taken = len(basis)
		basis = append(basis, q)
	}
	for _, c := range left {
		fit.Redundant = append(fit.Redundant, c.position)
	}
	return fit, basis, nil
}

// project takes the basis out of rows of d numbers, twice, so that what is left is
// orthogonal to it up to rounding.
func project(ctx context.Context, rows []float64, d int, basis [][]float64) error {
	products := make([]float64, len(basis)*d)
	for range 2 {
		clear(products)
		for k := range len(rows) / d {
			if err := ctx.Err(); err != nil {
				return err
			}
			for i, q := range basis {
				floats.AddScaled(products[i*d:(i+1)*d], q[k], rows[k*d:(k+1)*d])
			}
		}
		for k := range len(rows) / d {
			for i, q := range basis {
				floats.AddScaled(rows[k*d:(k+1)*d], -q[k], products[i*d:(i+1)*d])
			}
		}
	}
	return nil
}
