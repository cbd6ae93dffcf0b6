//go:build linux && (amd64 || arm64)

package kernels

import (
	"math"
	"testing"
)

func TestCorrelations(t *testing.T) {
	sizes(t, func(t *testing.T, c *cases) {
		s, deviations, limit, rows := c.matrices(), c.positive(c.d), c.positive(1), c.empty(c.d)
		square := func(b, i, j int) float64 {
			r := c.of(s, b)[i*c.d+j] / (deviations.values()[b*c.d+i] * deviations.values()[b*c.d+j])
			return r * r
		}
		check := func(what string) {
			c.twice(t, CorrelationRows, c.problems, []vector{rows}, rows, s, deviations, c.d)
			agree(t, what+", squares", rows.values(), c.rows(func(b, i int, row []float64) (sum float64) {
				for j := range row {
					sum += square(b, i, j)
				}
				return sum
			}, s), tolerance)
			c.twice(t, CorrelationsBelow, c.problems, []vector{rows}, rows, s, deviations, limit, c.d)
			agree(t, what+", counts", rows.values(), c.rows(func(b, i int, row []float64) (count float64) {
				for j := i + 1; j < c.d; j++ {
					switch x := square(b, i, j); {
					case math.IsNaN(x):
						return x
					case x <= limit.values()[b]:
						count++
					}
				}
				return count
			}, s), 0)
		}
		check("finite")
		limit.values()[0] = square(0, 0, c.d-1)
		check("at the limit")
		s.values()[c.d-1] = math.NaN()
		check("NaN")
	})
}

func TestSamples(t *testing.T) {
	const samples = 7
	sizes(t, func(t *testing.T, c *cases) {
		c.problems = 1
		x, shift, factor := c.numbers(samples*c.d), c.numbers(c.d), c.positive(c.d)
		largest, y, mean := c.empty(c.d), c.empty(samples*c.d), c.empty(c.d)
		check := func(what string) {
			wantLargest, wantMean := make([]float64, c.d), make([]float64, c.d)
			wantY := make([]float64, samples*c.d)
			for i, v := range x.values() {
				j := i % c.d
				wantLargest[j] = max(wantLargest[j], math.Abs(v-shift.values()[j]))
				wantY[i] = (v - shift.values()[j]) * factor.values()[j]
				wantMean[j] += wantY[i] / samples
			}
			for i := range wantY {
				wantY[i] -= wantMean[i%c.d]
			}
			c.twice(t, ColumnLargest, 1, []vector{largest}, largest, x, shift, samples, c.d)
			agree(t, what+", largest", largest.values(), wantLargest, 0)
			c.twice(t, Centre, 1, []vector{y, mean}, y, mean, x, shift, factor, samples, c.d)
			agree(t, what+", centred", y.values(), wantY, tolerance)
			agree(t, what+", means", mean.values(), wantMean, tolerance)
		}
		check("finite")
		x.values()[c.d-1] = math.NaN()
		check("NaN")
	})
}

func TestRescale(t *testing.T) {
	sizes(t, func(t *testing.T, c *cases) {
		a, f := c.matrices(), c.numbers(c.d)
		want := c.entries(func(b, i, j, at int) float64 {
			return a.values()[at] * (f.values()[b*c.d+i] * f.values()[b*c.d+j])
		})
		c.twice(t, Rescale, c.problems, []vector{a}, a, f, c.d)
		agree(t, "rescaled", a.values(), want, 0)
	})
}
