//go:build cuda

package cuda

import (
	"context"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/floats"

	"github.com/gladflow/gladflow/solver/cuda/driver"
	"github.com/gladflow/gladflow/solver/dense"
)

const (
	lanczosSteps = 12
	// lanczosMargin is what the largest Ritz value is multiplied by, squared: 2 % too
	// little lets the polar iteration diverge, three times too much costs one more.
	lanczosMargin = 1.5
)

// lanczos bounds ‖Y‖ of a batch of one by the largest Ritz value of some steps and its
// residual. It is no proof: the polar iteration notices where it is too small. upper is
// a bound that is one.
func (b *batch) lanczos(ctx context.Context, y driver.Pointer, upper []float64) ([]float64, error) {
	v := b.device.vectors // three of length d
	d := int64(b.d)
	var alpha, beta []float64
	last := 0.0
	err := b.enqueue(ctx, func(q *queue) {
		q.uploadNow(v, startVector(b.d))
	})
	for step := 0; err == nil && step < lanczosSteps; step++ {
		err = b.do(ctx, func(q *queue) {
			now, w, before := v.At(8*d*int64(step%3)), v.At(8*d*int64((step+1)%3)), v.At(8*d*int64((step+2)%3))
			q.gemv(b.d, y, now, w)
			if step > 0 {
				q.axpy(b.d, -last, before, w)
			}
			a := q.dot(b.d, w, now)
			q.axpy(b.d, -a, now, w)
			last = q.nrm2(b.d, w)
			alpha, beta = append(alpha, a), append(beta, last)
			if last > 0 {
				q.scal(b.d, 1/last, w)
			}
		})
		if last <= 1e-300 || !(last < math.MaxFloat64) {
			break
		}
	}
	if err != nil {
		return nil, err
	}
	bound, ok := largestRitz(alpha, beta)
	if !ok {
		return upper, nil
	}
	return []float64{min(upper[0], bound*math.Sqrt(lanczosMargin))}, nil
}

// startVector has length 1, and a part of every eigenvector.
func startVector(d int) []float64 {
	r := rand.New(rand.NewPCG(1, uint64(d)))
	v := make([]float64, d)
	for i := range v {
		v[i] = r.NormFloat64()
	}
	floats.Scale(1/floats.Norm(v, 2), v)
	return v
}

// largestRitz is the largest |θ| + |residual| of the tridiagonal matrix.
func largestRitz(alpha, beta []float64) (bound float64, ok bool) {
	m := len(alpha)
	t := dense.NewSym(m, nil)
	for i := range m {
		t.Set(i, i, alpha[i])
		if i+1 < m {
			t.Set(i, i+1, beta[i])
		}
	}
	values, vectors := make([]float64, m), make([]float64, m*m)
	if !t.Finite() || dense.NewWorkspace(dense.Gonum{}, m).Eigen(t, values, vectors) != nil {
		return 0, false
	}
	for k, v := range values {
		bound = max(bound, math.Abs(v)+math.Abs(beta[m-1]*vectors[k*m+m-1]))
	}
	return bound, bound > 0
}
