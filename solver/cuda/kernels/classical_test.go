//go:build linux && (amd64 || arm64)

package kernels

import (
	"math"
	"testing"

	"github.com/gladflow/gladflow/solver/dense"
)

// penalty is ρij of problem b, by a matrix or in common.
func (c *cases) penalty(rho any, diagonal vector, common float64, b, i, j int) float64 {
	if i == j {
		return diagonal.values()[b*c.d+i]
	}
	if matrix, ok := rho.(vector); ok {
		return c.of(matrix, b)[i*c.d+j]
	}
	return common
}

func TestShrink(t *testing.T) {
	const common, lambda = 0.4, 1.3
	sizes(t, func(t *testing.T, c *cases) {
		a, diagonal, to := c.matrices(), c.positive(c.d), c.empty(c.d*c.d)
		for _, rho := range []any{null{}, c.positive(c.d * c.d)} {
			c.twice(t, Shrink, c.problems, []vector{to}, to, a, rho, diagonal, common, lambda, c.d)
			agree(t, "Z", to.values(), c.entries(func(b, i, j, at int) float64 {
				return dense.SoftThreshold(a.values()[at], c.penalty(rho, diagonal, common, b, i, j)/lambda)
			}), 0)
		}
		for _, v := range to.values() {
			if v == 0 && math.Signbit(v) {
				t.Fatal("an entry is −0")
			}
		}
		a.values()[0], diagonal.values()[c.d-1] = math.NaN(), math.NaN()
		c.run(t, Shrink, c.problems, 0, false, to, a, null{}, diagonal, common, lambda, c.d)
		if got := to.values(); !math.IsNaN(got[0]) || !math.IsNaN(got[c.d*c.d-1]) {
			t.Errorf("of NaN comes %v, of a NaN penalty %v", got[0], got[c.d*c.d-1])
		}
	})
}

func TestADMMStep(t *testing.T) {
	const common, lambda, relaxation = 0.4, 1.3, 1.6
	sizes(t, func(t *testing.T, c *cases) {
		for _, rho := range []any{null{}, c.positive(c.d * c.d)} {
			theta, z, u, diagonal := c.matrices(), c.matrices(), c.matrices(), c.positive(c.d)
			partial, out := c.empty(4*c.d), c.empty(4)
			wantU, wantSums := make([]float64, len(u.values())), make([]float64, 4*c.problems)
			wantZ := c.entries(func(b, i, j, at int) float64 {
				t, old := theta.values()[at], z.values()[at]
				v := relaxation*t + (1-relaxation)*old + u.values()[at]
				now := dense.SoftThreshold(v, c.penalty(rho, diagonal, common, b, i, j)/lambda)
				wantU[at] = v - now
				sums := wantSums[4*b:]
				sums[0] += (t - now) * (t - now)
				sums[1] += (now - old) * (now - old)
				sums[2] += now * now
				sums[3] += wantU[at] * wantU[at]
				return now
			})
			c.twice(t, ADMMStep, c.problems, []vector{z, u, partial}, z, u, partial, theta, rho, diagonal, common, lambda, relaxation, c.d)
			c.twice(t, Sum, 4*c.problems, []vector{out}, out, partial, c.d)
			agree(t, "Z", z.values(), wantZ, tolerance)
			agree(t, "U", u.values(), wantU, tolerance)
			for i, v := range wantSums {
				agree(t, "the sums", out.values()[i:i+1], []float64{v}, tolerance)
			}
		}
	})
}
