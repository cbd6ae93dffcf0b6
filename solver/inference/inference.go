// Package inference tests every pair of variables for a partial correlation: p-values,
// false discovery rates over all pairs, and confidence intervals, for Gaussian samples.
//
// PartialCorrelations is the classical test, exact where there are more samples than
// variables. Desparsified is for fewer, under a sparse precision matrix, and holds as the
// number of samples grows. Neither ranks edges or chooses a penalty.
//
//	t, err := inference.Desparsified(ctx, problem, inference.Settings{})
//	if err != nil {
//		return err
//	}
//	p, q := t.P(i, j), t.Q(i, j)
//	lower, upper := t.Interval(i, j, 0.95)
package inference

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sort"

	"gonum.org/v1/gonum/mathext"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/gladflow/gladflow/solver"
	"github.com/gladflow/gladflow/solver/dense"
)

// Settings are those of both tests.
type Settings struct {
	// Engine does the linear algebra. Default (nil): dense.Default().
	Engine dense.Engine
	// Recorder is told of the iterations of the graphical lasso. Default (nil): none.
	Recorder solver.Recorder
}

func (s Settings) engine() dense.Engine {
	if s.Engine == nil {
		return dense.Default()
	}
	return s.Engine
}

// A Tests holds the tests of all pairs of d variables. Its methods are the same for (i, j)
// and (j, i), i ≠ j.
type Tests struct {
	// Samples is M.
	Samples int
	// Penalty is that of the graphical lasso behind Desparsified, and Degree the largest
	// number of neighbours that a variable has in it; 0 for PartialCorrelations.
	Penalty float64
	Degree  int

	freedom int        // degrees of freedom of PartialCorrelations; 0 for Desparsified
	r       *dense.Sym // partial correlations, or −Tij/√(ΘiiΘjj)
	plain   *dense.Sym // those of the graphical lasso, nil for PartialCorrelations
	sorted  []float64  // p-values, ascending
	q       []float64  // q-values of these
}

// ErrTooFewSamples says that a test needs more samples.
var ErrTooFewSamples = errors.New("too few samples")

// ErrSingular says that a covariance has no inverse.
var ErrSingular = errors.New("the covariance has no inverse, for some variables are combinations of others")

// LeastSamples is the least number of samples for Desparsified.
const LeastSamples = 8

// PartialCorrelations tests the partial correlations r of p.S⁻¹ by Student's t, r√(ν/(1−r²))
// with ν = M − d degrees of freedom. The intervals are those of Fisher's z, whose standard
// error is 1/√(M − d − 1): Anderson, "An Introduction to Multivariate Statistical Analysis",
// section 4.3. M must be at least d + 2, else the error wraps ErrTooFewSamples; it wraps
// ErrSingular where S has no inverse.
func PartialCorrelations(ctx context.Context, p solver.Problem, s Settings) (*Tests, error) {
	d := p.S.Len()
	if p.Samples < d+2 {
		return nil, fmt.Errorf("%w: tests of partial correlations of %d variables need %d, and there are %d", ErrTooFewSamples, d, d+2, p.Samples)
	}
	if err := p.Validate(); err != nil {
		return nil, err
	}
	inverse, root := p.S.Clone(), roots(p.S)
	scale(inverse, root) // of units far apart
	definite := false
	err := dense.Await(ctx, func() { _, definite = dense.NewWorkspace(s.engine(), d).Inverse(inverse, inverse) })
	if err != nil {
		return nil, err
	}
	const certain = 1 - 1e-12 // R² of a variable that the others determine
	for i := range d {
		definite = definite && inverse.At(i, i) < 1/(1-certain)
	}
	if !definite || !inverse.Finite() {
		return nil, ErrSingular
	}
	t := &Tests{Samples: p.Samples, freedom: p.Samples - d, r: inverse}
	scale(inverse, roots(inverse))
	negate(inverse)
	return t, t.order(ctx)
}

// roots are those of the diagonal.
func roots(a *dense.Sym) []float64 {
	root := make([]float64, a.Len())
	for i := range root {
		root[i] = math.Sqrt(a.At(i, i))
	}
	return root
}

// scale divides aij by root i and root j.
func scale(a *dense.Sym, root []float64) {
	for i := range a.Len() {
		for j := range i + 1 {
			a.Set(i, j, a.At(i, j)/root[i]/root[j])
		}
	}
}

func negate(a *dense.Sym) {
	for k, v := range a.Raw() {
		a.Raw()[k] = -v
	}
}

// P is the p-value of the hypothesis that i and j have no partial correlation.
func (t *Tests) P(i, j int) float64 {
	r := t.r.At(i, j)
	if t.freedom > 0 {
		return mathext.RegIncBeta(float64(t.freedom)/2, 0.5, math.Max(0, 1-r*r))
	}
	return math.Erfc(math.Abs(r) / t.deviation(i, j) / math.Sqrt2)
}

// deviation is the standard error of an estimate of Desparsified.
func (t *Tests) deviation(i, j int) float64 {
	return math.Sqrt((1 + t.plain.At(i, j)*t.plain.At(i, j)) / float64(t.Samples))
}

// Estimate is that of the partial correlation, from −1 to 1.
func (t *Tests) Estimate(i, j int) float64 {
	r := t.r.At(i, j)
	if t.freedom == 0 { // −Tij/√(TiiTjj); the diagonal of r has −Tii/Θii
		r /= math.Sqrt(math.Max(0, -t.r.At(i, i))) * math.Sqrt(math.Max(0, -t.r.At(j, j)))
		if r != r {
			return 0
		}
	}
	return math.Max(-1, math.Min(1, r))
}

// Q is the smallest false discovery rate at which the pair is kept by the procedure of
// Benjamini and Hochberg, JRSS B 57 (1995), over all pairs.
func (t *Tests) Q(i, j int) float64 {
	p := t.P(i, j)
	k := sort.Search(len(t.sorted), func(k int) bool { return t.sorted[k] > p })
	return t.q[k-1]
}

// Kept is the number of pairs whose Q is at most fdr.
func (t *Tests) Kept(fdr float64) int {
	return sort.Search(len(t.q), func(k int) bool { return t.q[k] > fdr })
}

// Interval covers the partial correlation with a probability of level, such as 0.95, by
// Fisher's z of Estimate. It lies in [−1, 1], and is all of that where Desparsified has an
// estimate that no correlation can have.
func (t *Tests) Interval(i, j int, level float64) (lower, upper float64) {
	r, freedom := t.Estimate(i, j), t.Samples
	if t.freedom > 0 {
		const least = 1e-15
		r, freedom = math.Max(-1+least, math.Min(1-least, r)), t.freedom-1
	} else if math.Abs(r) == 1 {
		return -1, 1
	}
	half := distuv.UnitNormal.Quantile((1+level)/2) / math.Sqrt(float64(freedom))
	return math.Tanh(math.Atanh(r) - half), math.Tanh(math.Atanh(r) + half)
}

// order sorts the p-values and makes the q-values.
func (t *Tests) order(ctx context.Context) error {
	d := t.r.Len()
	t.sorted = make([]float64, 0, d*(d-1)/2)
	for i := range d {
		if err := ctx.Err(); err != nil {
			return err
		}
		for j := i + 1; j < d; j++ {
			t.sorted = append(t.sorted, t.P(i, j))
		}
	}
	if err := dense.Await(ctx, func() { sort.Float64s(t.sorted) }); err != nil {
		return err
	}
	t.q = BenjaminiHochberg(t.sorted)
	return nil
}

// BenjaminiHochberg are the q-values of ascending p-values.
func BenjaminiHochberg(sorted []float64) []float64 {
	n := len(sorted)
	q := make([]float64, n)
	least := 1.0
	for k := n - 1; k >= 0; k-- {
		least = math.Min(least, sorted[k]*(float64(n)/float64(k+1)))
		q[k] = least
	}
	return q
}
