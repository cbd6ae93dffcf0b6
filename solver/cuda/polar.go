//go:build cuda

package cuda

import (
	"context"
	"math"

	"github.com/gladflow/gladflow/solver/cuda/driver"
	"github.com/gladflow/gladflow/solver/cuda/kernels"
)

// The polar iteration on the pair P = Y/r, Q = αI/r with r² = u² + α², u ≥ ‖Y‖: the
// singular values of the pair, √(y² + α²)/r, lie in [α/r, 1]. It repeats
//
//	W = P² + Q²,  T = aI + bW + cW²,  P ← PT,  Q ← QT
//
// until W is I, when the pair is (Y, αI)·(Y² + α²I)^(−½), and so
// √(Y² + α²I) = YP + αQ. All factors are functions of Y: they commute, so that the
// products are symmetric and half of each is enough.
//
// It keeps its digits where the coupled Newton-Schulz iteration for Y² + α²I loses them:
// Y is never squared without α added at the same scale.

const (
	// polarIterations bounds what a right bound of the norm never comes near to.
	polarIterations = 25
	// converged is the ‖W − I‖F after which one step of newtonSchulz leaves rounding.
	converged = 1e-5
	// slack is by how much ‖W − I‖F may be above what the interval allows.
	slack = 1.1
)

// polar computes Θ into b.next. upper are the bounds u.
func (b *batch) polar(ctx context.Context, lambda, upper []float64, failed []error) error {
	it := newPairIntervals(lambda, upper, failed)
	d := b.dimension()
	p, q, w, t := workP, workQ, workW, workT
	err := b.enqueue(ctx, func(k *queue) {
		b.scalars(k, func(i int) float64 { return 1 / it.radius[i] })
		k.over(kernels.Scale, b.n, b.size(), b.work[p], b.work[workY], b.device.scalars)
	})
	for n := 0; err == nil; n++ {
		if n == polarIterations {
			return errBound
		}
		last := false
		err = b.do(ctx, func(k *queue) {
			b.product(k, b.work[w], b.work[p], b.work[p], 0)
			if n == 0 { // Q is a multiple of I
				b.scalars(k, func(i int) float64 { return it.first[i] * it.first[i] })
				k.over(kernels.AddDiagonal, b.n, d, b.work[w], b.device.scalars)
			} else {
				b.product(k, b.work[w], b.work[q], b.work[q], 1)
			}
			k.over(kernels.Mirror, b.n, d, b.work[w], int64(0))
			k.over(kernels.Residual, b.n, d, b.device.partial, b.work[w])
			k.over(kernels.Sum, b.n, d, b.device.figures, b.device.partial)
			k.download(b.figures[:b.n], b.device.figures)
		})
		if err != nil {
			return err
		}
		if last, err = it.advance(n, b.d, b.figures[:b.n]); err != nil {
			return err
		}
		b.told.iterated(n+1, b.figures[:b.n], it.active)
		err = b.enqueue(ctx, func(k *queue) {
			b.product(k, b.work[t], b.work[w], b.work[w], 0)
			k.over(kernels.Mirror, b.n, d, b.work[t], int64(0))
			b.coefficients(k, it.next)
			k.over(kernels.Polynomial, b.n, d, b.work[t], b.work[w], b.work[t], b.device.coefficients)
			switch {
			case last:
				// G = YP + αQ goes to Q, H = GT to W.
				if n == 0 {
					b.scalars(k, func(i int) float64 { return it.alpha[i] * it.first[i] })
					k.over(kernels.SetIdentity, b.n, d, b.work[q], b.device.scalars)
				} else {
					b.scalars(k, func(i int) float64 { return it.alpha[i] })
					k.over(kernels.Scale, b.n, b.size(), b.work[q], b.work[q], b.device.scalars)
				}
				b.product(k, b.work[q], b.work[workY], b.work[p], 1)
				k.over(kernels.Mirror, b.n, d, b.work[q], int64(0))
				b.product(k, b.work[w], b.work[q], b.work[t], 0)
				k.over(kernels.HalfDifference, b.n, d, b.work[w], b.work[w], b.work[workY])
			default:
				b.product(k, b.work[w], b.work[p], b.work[t], 0)
				k.over(kernels.Mirror, b.n, d, b.work[w], int64(0))
				if n == 0 {
					b.scalars(k, func(i int) float64 { return it.first[i] })
					k.over(kernels.Scale, b.n, b.size(), b.work[q], b.work[t], b.device.scalars)
					break
				}
				b.product(k, b.work[p], b.work[q], b.work[t], 0)
				k.over(kernels.Mirror, b.n, d, b.work[p], int64(0))
			}
		})
		if last {
			b.next = w
			return err
		}
		if n == 0 {
			p, w = w, p
		} else {
			p, q, w = w, p, q
		}
	}
	return err
}

// pairIntervals are where the singular values of the pairs lie.
type pairIntervals struct {
	alpha, radius []float64
	first         []float64 // α/r
	low, high     []float64
	active        []bool
	next          []quintic // for every problem
}

func newPairIntervals(lambda, upper []float64, failed []error) *pairIntervals {
	n := len(lambda)
	it := &pairIntervals{
		alpha: make([]float64, n), radius: make([]float64, n), first: make([]float64, n),
		low: make([]float64, n), high: make([]float64, n), active: make([]bool, n), next: make([]quintic, n),
	}
	for i := range n {
		it.alpha[i] = 2 / math.Sqrt(lambda[i])
		it.radius[i] = math.Hypot(upper[i], it.alpha[i])
		it.first[i] = it.alpha[i] / it.radius[i]
		it.low[i], it.high[i], it.active[i] = it.first[i], 1, failed[i] == nil
	}
	return it
}

// advance chooses the next quintics from ‖W − I‖²F, and says whether they are the last.
// Its error is errBound.
func (it *pairIntervals) advance(n, d int, norm2 []float64) (last bool, err error) {
	last = true
	for i, v := range norm2 {
		if !it.active[i] {
			it.next[i] = newtonSchulz
			continue
		}
		r := math.Sqrt(v)
		// Of a singular value σ of the pair W − I has σ² − 1.
		most := max(1-it.low[i]*it.low[i], it.high[i]*it.high[i]-1)
		if !(r <= slack*math.Sqrt(float64(d))*most+1e-10) {
			return false, errBound
		}
		last = last && r < converged
	}
	for i := range norm2 {
		if !it.active[i] {
			continue
		}
		var e float64
		if it.next[i], e = minimax(it.low[i], it.high[i]); last {
			it.next[i] = newtonSchulz
		}
		it.low[i], it.high[i] = 1-e, 1+e
	}
	return last, nil
}

// product queues the upper triangles (by rows) of C = A·B + beta·C for symmetric A and B
// that commute. It is done in strips, each as long as the triangle is there.
func (b *batch) product(k *queue, c, a, other driver.Pointer, beta float64) {
	b.told.Products++
	d := b.d
	if b.n > 1 || d < 2*stripWidth {
		k.gemmBatched(d, a, other, beta, c, b.n)
		return
	}
	// By rows the upper triangle is, for the libraries, the lower one by columns: column
	// block j needs the rows from j on.
	for from := 0; from < d; from += stripWidth {
		width := min(stripWidth, d-from)
		k.gemm(d-from, width, d, a.At(int64(from)*8), d, other.At(int64(from)*int64(d)*8), d, beta, c.At((int64(from)*int64(d)+int64(from))*8), d)
	}
}

// stripWidth is the number of columns of C that are computed together.
const stripWidth = 512
