package covariance

import (
	"cmp"
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"

	"github.com/gladflow/gladflow/solver/dense"
)

// A Dependency is variables of which each is, all but a little, a linear combination of the
// others: a total and its parts, shares of a whole, a difference and what it is of.
type Dependency struct {
	// Variables are their numbers, ascending: three or more.
	Variables []int
	// Left is the share of the variance of one of them that the others leave.
	Left float64
}

// determined is the share of a variable's variance below which others determine it, where
// there are many more samples than variables: that which two variables leave of each other
// that are correlated by .9999.
const determined = 2e-4

// MostDependent is the number of variables up to which Dependencies says which they are.
const MostDependent = 3000

// Dependencies looks for linear dependencies among the variables of a covariance or correlation
// matrix of so many samples, d×d, of which skip leaves some out; nil for none. Off-diagonal
// entries were shrunk by the weight shrinkage. A variable is determined by those before it if
// they leave less than 2e-4·(M−1−k)/(M−1) of its variance, where k is their number: by chance
// they leave (M−1−k)/(M−1) of it. Of those before it the ones of the largest coefficients are
// named, as few as leave no more than four times what all leave.
//
// It returns the first most of them and how many there are. Where there are no more samples
// than variables all are dependent, and none is returned. Of more than MostDependent variables
// it returns none either, but count is −1 if there is one. It takes memory of order d² and
// looks at ctx after every variable.
func Dependencies(ctx context.Context, s *dense.Sym, samples int, shrinkage float64, skip []bool, engine dense.Engine, most int) (found []Dependency, count int, err error) {
	var at []int
	for i := range s.Len() {
		if (skip == nil || !skip[i]) && s.At(i, i) > 0 {
			at = append(at, i)
		}
	}
	n := len(at)
	if n < 3 || samples-1 <= n {
		return nil, 0, nil
	}
	r := make([]float64, n*n) // correlations
	for k, i := range at {
		for l := k; l < n; l++ {
			v := s.At(i, at[l]) / math.Sqrt(s.At(i, i)*s.At(at[l], at[l])) / (1 - shrinkage)
			if k == l {
				v = 1
			}
			r[k*n+l], r[l*n+k] = v, v
		}
	}
	bound := func(k int) float64 { return determined * float64(samples-1-k) / float64(samples-1) }
	work := slices.Clone(r)
	independent := engine.Cholesky(n, work)
	for k := 0; k < n && independent; k++ {
		independent = work[k*n+k]*work[k*n+k] >= bound(k)
	}
	if err := ctx.Err(); err != nil || independent {
		return nil, 0, err
	}
	if n > MostDependent {
		return nil, -1, nil
	}
	f := &factor{n: n, r: r, rows: work}
	for k := range n {
		if err := ctx.Err(); err != nil {
			return nil, 0, err
		}
		left := f.add(k)
		if left >= bound(len(f.kept)) {
			f.keep(k, left)
			continue
		}
		if count++; count <= most {
			d := f.dependency(k, min(bound(len(f.kept)), max(4*left, 1e-10)))
			for i, v := range d.Variables {
				d.Variables[i] = at[v]
			}
			slices.Sort(d.Variables)
			found = append(found, d)
		}
	}
	return found, count, nil
}

// A factor is the Cholesky factor L of the correlations of the variables kept.
type factor struct {
	n    int
	r    []float64 // n×n
	rows []float64 // the rows of L, each of n numbers
	kept []int
	last []float64 // the row of the variable looked at, without its last number
}

// add is the share of the variance of variable k that those kept leave.
func (f *factor) add(k int) float64 {
	m := len(f.kept)
	f.last = slices.Grow(f.last[:0], m)[:m]
	left := f.r[k*f.n+k]
	for i, j := range f.kept {
		row := f.rows[i*f.n:]
		v := (f.r[k*f.n+j] - floats.Dot(row[:i], f.last[:i])) / row[i]
		f.last[i] = v
		left -= v * v
	}
	return left
}

// keep takes the variable that was looked at.
func (f *factor) keep(k int, left float64) {
	m := len(f.kept)
	copy(f.rows[m*f.n:], f.last)
	f.rows[m*f.n+m] = math.Sqrt(left)
	f.kept = append(f.kept, k)
}

// dependency is that of variable k, which was looked at, on as few of those kept as leave less
// than a bound.
func (f *factor) dependency(k int, bound float64) Dependency {
	coefficients := slices.Clone(f.last)
	for i := len(coefficients) - 1; i >= 0; i-- { // Lᵀb = l
		row := f.rows[i*f.n:]
		coefficients[i] /= row[i]
		blas64.Axpy(-coefficients[i], blas64.Vector{N: i, Inc: 1, Data: row}, blas64.Vector{N: i, Inc: 1, Data: coefficients})
	}
	order := make([]int, len(f.kept))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		return cmp.Compare(math.Abs(coefficients[b]), math.Abs(coefficients[a]))
	})
	few := &factor{n: f.n, r: f.r, rows: make([]float64, f.n*f.n)}
	left := 1.0
	for _, i := range order {
		j := f.kept[i]
		few.keep(j, few.add(j))
		if left = few.add(k); left < bound {
			break
		}
	}
	return Dependency{Variables: append(few.kept, k), Left: math.Max(0, left)}
}
