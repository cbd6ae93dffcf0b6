//go:build linux && (amd64 || arm64)

package kernels

import (
	"math"
	"slices"
	"testing"

	"github.com/gladflow/gladflow/solver/glad"
)

func TestPosteriorRows(t *testing.T) {
	sizes(t, func(t *testing.T, c *cases) {
		s, theta, z := c.matrices(), c.matrices(), c.matrices()
		lambda := filled(c.repeated(func(b int) float64 { return 3 + float64(b) }))
		for b := range c.problems {
			for i := range c.d {
				c.of(s, b)[i*c.d+i] = 1 + c.r.Float64()
			}
		}
		check := func(what string) (bounded int) {
			rows, mean := c.numbers(6*c.d), c.empty(1)
			want := slices.Clone(rows.values())
			var wantMean []float64
			for b := range c.problems {
				s, theta, z := c.of(s, b), c.of(theta, b), c.of(z, b)
				var trace float64
				for i := range c.d {
					at := i*c.d + i
					sigma := s[at] + lambda.values()[b]*(theta[at]-z[at])
					if least := s[at] / 1000; !(sigma > least) {
						sigma = least
						bounded++
					}
					support := 0.1
					for j, v := range z[i*c.d : (i+1)*c.d] {
						if i != j {
							support += v * v
						}
					}
					for k, v := range []float64{sigma, math.Log(sigma), math.Sqrt(sigma), math.Log(support)} {
						want[(6*b+2+k)*c.d+i] = v
					}
					trace += theta[at]
				}
				wantMean = append(wantMean, trace/float64(c.d))
			}
			c.twice(t, PosteriorRows, c.problems, []vector{rows}, rows, s, theta, z, lambda, c.d)
			c.twice(t, PosteriorMean, c.problems, []vector{mean}, mean, theta, c.d)
			for i, v := range want { // each to its own size
				agree(t, what+", rows", rows.values()[i:i+1], []float64{v}, tolerance)
			}
			agree(t, what+", mean", mean.values(), wantMean, tolerance)
			return bounded
		}
		if check("usual") == 0 && c.d > 30 {
			t.Error("no σ was at its bound")
		}
		last := len(theta.values()) - 1
		theta.values()[last] = math.NaN()
		if check("NaN in Θ") == 0 {
			t.Error("a σ of NaN is not at its bound")
		}
		theta.values()[last], z.values()[last] = 1, math.NaN()
		check("NaN in Z")
		z.values()[last], s.values()[last] = 1, math.NaN()
		check("NaN in S")
	})
}

// A gate that is shut leaves +0, not −0.
func TestShutGate(t *testing.T) {
	dev := emulated(t)
	for _, name := range []string{"er-d39-m15", "general-1", "general"} {
		m, err := glad.Builtin(name)
		if err != nil {
			t.Fatal(err)
		}
		for k := range m.Cells {
			layers := m.Cells[k].Network.Layers
			layers[len(layers)-1].Bias[0] = -1000
		}
		sizes(t, func(t *testing.T, c *cases) {
			l := newLauncher(t, dev, watch(t, m, c.r, c.d, c.problems))
			for _, l.generic = range []bool{false, true} {
				l.check(t) // that nothing is −0 too
				z, _, _ := l.step(t, 1, l.inputs(1))
				if c.d > 1 && z[1] != 0 {
					t.Errorf("an entry behind the gate is %v", z[1])
				}
			}
		})
	}
}
