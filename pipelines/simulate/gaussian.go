package simulate

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/gladflow/gladflow/solver/dense"
)

// Precision returns weights with its diagonal raised or lowered by one number so
// that the smallest eigenvalue is smallest, which must be positive: a precision
// matrix Θ whose non-zeros off the diagonal are the weights. The family
// "er" is this with an Erdős-Rényi graph, Uniform(-1, 1) and smallest = 1.
func Precision(weights *dense.Sym, smallest float64) (*dense.Sym, error) {
	if !(smallest > 0) || math.IsInf(smallest, 1) {
		return nil, fmt.Errorf("the smallest eigenvalue is %v; it must be positive and finite", smallest)
	}
	if !weights.Finite() {
		return nil, errors.New("the weights hold a value that is not finite; draw finite weights")
	}
	d := weights.Len()
	theta := weights.Clone()
	if d == 0 {
		return theta, nil
	}
	// Always gonum: another engine would give another last bit, and with it
	// other samples for the same seed.
	values := make([]float64, d)
	if err := dense.NewWorkspace(dense.Gonum{}, d).Eigen(weights, values, make([]float64, d*d)); err != nil {
		return nil, fmt.Errorf("%w", err)
	}
	theta.AddDiagonal(smallest - values[0])
	return theta, nil
}

// Standardize returns DΘD with D diagonal such that its inverse has a unit
// diagonal: the precision matrix of the standardised variables. Zeros, signs and
// partial correlations are those of theta, which must be positive definite.
func Standardize(theta *dense.Sym) (*dense.Sym, error) {
	d := theta.Len()
	sigma := dense.NewSym(d, nil)
	if _, ok := dense.NewWorkspace(dense.Gonum{}, d).Inverse(sigma, theta); !ok {
		return nil, errNotDefinite
	}
	r := theta.Clone()
	for i := range d {
		for j := i; j < d; j++ {
			r.Set(i, j, theta.At(i, j)*math.Sqrt(sigma.At(i, i))*math.Sqrt(sigma.At(j, j)))
		}
	}
	return r, nil
}

var errNotDefinite = errors.New("the precision matrix is not positive definite; make it with Precision")

// Samples draws m exact samples of N(0, Θ⁻¹), m×d row-major, one sample a row.
// theta must be positive definite. When ctx ends first its error is returned.
func Samples(ctx context.Context, rng *rand.Rand, theta *dense.Sym, m int) ([]float64, error) {
	if m < 0 {
		return nil, fmt.Errorf("%d samples asked for; the number cannot be negative", m)
	}
	d := theta.Len()
	u := make([]float64, d*d)
	if _, ok := dense.NewWorkspace(dense.Gonum{}, d).LogDet(theta, u); !ok {
		return nil, errNotDefinite
	}
	// Θ = UᵀU, so x = U⁻¹z with z ~ N(0, I) has covariance U⁻¹U⁻ᵀ = Θ⁻¹.
	rows := make([]float64, m*d)
	for s := range m {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		x := rows[s*d : (s+1)*d]
		for i := range x {
			x[i] = rng.NormFloat64()
		}
		for i := d - 1; i >= 0; i-- {
			row := u[i*d : (i+1)*d]
			v := x[i]
			for j := i + 1; j < d; j++ {
				v -= row[j] * x[j]
			}
			x[i] = v / row[i]
		}
	}
	return rows, nil
}
