//go:build cuda

package cuda

import (
	"context"
	"math"

	"github.com/gladflow/gladflow/solver/cuda/kernels"
)

// The inverses of the matrices of a batch, by products: X ← X·(aI + bW + cW²) with
// W = AX brings the eigenvalues of W to 1. The residual 1 − w(a + bw + cw²) is the
// Chebyshev polynomial of degree 3 for the interval where they are, which is the
// smallest there of all cubics that are 1 at 0.

const (
	// worstInverse is the largest condition number for which it is used: its error is
	// as many times that of rounding.
	worstInverse = 1e4
	// inverseIterations bounds what a right interval never comes near to.
	inverseIterations = 20
)

// chebyshev is the polynomial a + bw + cw² for eigenvalues in [lo, hi], 0 < lo ≤ hi, and
// the e with which it brings them into [1 − e, 1 + e].
func chebyshev(lo, hi float64) (p quintic, e float64) {
	if hi/lo-1 < narrow {
		middle := (lo + hi) / 2
		e := (hi - lo) / (2 * middle)
		return quintic{3 / middle, -3 / (middle * middle), 1 / (middle * middle * middle)}, e * e * e
	}
	s, m := (hi+lo)/(hi-lo), -2/(hi-lo)
	at0 := 4*s*s*s - 3*s
	return quintic{-m * (12*s*s - 3) / at0, -12 * s * m * m / at0, -4 * m * m * m / at0}, 1 / at0
}

// invertAll sets Θ of all problems to the inverse of the matrices in work[workP], whose
// eigenvalues are least at the least, and at the most what norms says. It says whether
// it could; if not, Θ is anything.
func (b *batch) invertAll(ctx context.Context, least float64, norms []float64, failed []error) (bool, error) {
	low, high := make([]float64, b.n), make([]float64, b.n)
	for i := range low {
		low[i], high[i] = least, norms[i]
		if failed[i] == nil && !(least > 0 && norms[i] < worstInverse*least) {
			return false, nil
		}
	}
	d := b.dimension()
	a, w, t, spare := b.work[workP], b.work[workW], b.work[workT], workQ
	next := make([]quintic, b.n)
	for n := 0; n < inverseIterations; n++ {
		last := n > 0
		err := b.do(ctx, func(q *queue) {
			if n == 0 { // X is I
				q.copy(w, a, 8*b.size()*int64(b.n))
				return
			}
			b.product(q, w, a, b.pair.theta, 0)
			q.over(kernels.Mirror, b.n, d, w, int64(0))
			q.over(kernels.Residual, b.n, d, b.device.partial, w)
			q.over(kernels.Sum, b.n, d, b.device.figures, b.device.partial)
			q.download(b.figures[:b.n], b.device.figures)
		})
		if err != nil {
			return false, err
		}
		for i, v := range b.figures[:b.n] {
			if failed[i] != nil || n == 0 {
				continue
			}
			r := math.Sqrt(v)
			if !(r <= slack*math.Sqrt(float64(b.d))*max(1-low[i], high[i]-1)+1e-10) {
				return false, nil
			}
			last = last && r < converged
		}
		for i := range next {
			var e float64
			if failed[i] != nil {
				continue
			}
			if next[i], e = chebyshev(low[i], high[i]); last {
				next[i], _ = chebyshev(1, 1)
			}
			low[i], high[i] = 1-e, 1+e
		}
		err = b.enqueue(ctx, func(q *queue) {
			b.product(q, t, w, w, 0)
			q.over(kernels.Mirror, b.n, d, t, int64(0))
			b.coefficients(q, next)
			if n == 0 {
				q.over(kernels.Polynomial, b.n, d, b.pair.theta, w, t, b.device.coefficients)
				return
			}
			q.over(kernels.Polynomial, b.n, d, t, w, t, b.device.coefficients)
			b.product(q, b.work[spare], b.pair.theta, t, 0)
			q.over(kernels.Mirror, b.n, d, b.work[spare], int64(0))
		})
		if err != nil {
			return false, err
		}
		if n > 0 {
			b.pair.theta, b.work[spare] = b.work[spare], b.pair.theta
		}
		if last {
			return true, nil
		}
	}
	return false, nil
}
