//go:build linux && (amd64 || arm64)

package kernels

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/gladflow/gladflow/solver/cuda/internal/modeltest"
	"github.com/gladflow/gladflow/solver/dense"
)

// sumOf is Σj f(i, j) of every row of every problem.
func (c *cases) sumOf(f func(b, i, j, at int) float64) []float64 {
	sums := make([]float64, c.problems*c.d)
	for at, v := range c.entries(f) {
		sums[at/c.d] += v
	}
	return sums
}

// spreads runs the kernel again with a NaN at place, which is of problem 0: it must come
// out, in that problem only.
func (c *cases) spreads(t *testing.T, k Kernel, outputs []vector, place *float64, what string, args ...any) {
	t.Helper()
	var before, clean [][]float64
	for _, o := range outputs {
		before = append(before, slices.Clone(o.values()))
	}
	restore := func() {
		for i, o := range outputs {
			copy(o.values(), before[i])
		}
	}
	c.run(t, k, c.problems, 0, false, args...)
	for _, o := range outputs {
		clean = append(clean, slices.Clone(o.values()))
	}
	restore()
	was := *place
	*place = math.NaN()
	c.run(t, k, c.problems, 0, false, args...)
	*place = was
	c.confined(t, fmt.Sprintf("%s, NaN in %s", k, what), outputs, clean)
	restore()
}

// confined fails t unless some of outputs are NaN in problem 0, and the others as clean.
func (c *cases) confined(t *testing.T, what string, outputs []vector, clean [][]float64) {
	t.Helper()
	came := false
	for i, o := range outputs {
		of := len(clean[i]) / c.problems
		for at, v := range o.values() {
			if at < of {
				came = came || math.IsNaN(v) && !math.IsNaN(clean[i][at])
			} else if math.Float64bits(v) != math.Float64bits(clean[i][at]) {
				t.Fatalf("%s of problem 0: number %d of output %d, of problem %d, is %v, not %v", what, at%of, i, at/of, v, clean[i][at])
			}
		}
	}
	if !came {
		t.Errorf("%s: nothing that comes out is NaN", what)
	}
}

// The derivative of Θ = φ(Y) in the basis of the eigenvectors, by the quotients
// (φ(x) − φ(y))/(x − y) themselves.
func TestDividedDifferences(t *testing.T) {
	sizes(t, func(t *testing.T, c *cases) {
		h, values, lambda := c.numbers(c.d*c.d), c.numbers(c.d), c.positive(1)
		if c.d > 1 {
			values.values()[1] = values.values()[0] // an eigenvalue twice
		}
		phi, rows := c.empty(c.d), c.empty(c.d)
		for b := range c.problems {
			dense.LogDetProxValues(phi.values()[b*c.d:(b+1)*c.d], values.values()[b*c.d:(b+1)*c.d], lambda.values()[b], 0)
		}
		want := c.entries(func(b, i, j, at int) float64 {
			y := values.values()[b*c.d : (b+1)*c.d]
			return h.values()[at] * modeltest.DividedDifference(y[i], y[j], lambda.values()[b])
		})
		wantRows := c.rows(func(b, i int, row []float64) float64 {
			// ∂φ/∂λ = −1/(λ²s)
			return -row[i] / math.Sqrt(math.Pow(values.values()[b*c.d+i], 2)+4/lambda.values()[b])
		}, h)
		outputs := []vector{h, rows}
		args := []any{h, rows, values, phi, lambda, c.d}
		c.spreads(t, DividedDifferences, outputs, &h.values()[0], "h", args...)
		c.spreads(t, DividedDifferences, outputs, &values.values()[0], "the eigenvalues", args...)
		c.spreads(t, DividedDifferences, outputs, &phi.values()[c.d-1], "φ", args...)
		c.spreads(t, DividedDifferences, outputs, &lambda.values()[0], "λ", args...)
		c.twice(t, DividedDifferences, c.problems, outputs, args...)
		agree(t, "by Y", h.values(), want, tolerance)
		agree(t, "by λ", rows.values(), wantRows, tolerance)
	})
}

func TestThetaArgumentAdjoint(t *testing.T) {
	sizes(t, func(t *testing.T, c *cases) {
		byZ, byU, h, s, rows := c.matrices(), c.matrices(), c.matrices(), c.matrices(), c.empty(c.d)
		wantRows := c.sumOf(func(_, _, _, at int) float64 { return -h.values()[at] * s.values()[at] })
		for range 2 { // the second time without U
			wantZ := c.entries(func(_, _, _, at int) float64 { return byZ.values()[at] - h.values()[at] })
			wantU := c.entries(func(_, _, _, at int) float64 { return byU.values()[at] + h.values()[at] })
			outputs, args := []vector{byZ, byU, rows}, []any{byZ, byU, rows, h, s, c.d}
			c.spreads(t, ThetaArgumentAdjoint, outputs, &h.values()[0], "h", args...)
			c.spreads(t, ThetaArgumentAdjoint, outputs, &s.values()[c.d*c.d-1], "S", args...)
			c.twice(t, ThetaArgumentAdjoint, c.problems, outputs, args...)
			agree(t, "by Z", byZ.values(), wantZ, 0)
			agree(t, "by U", byU.values(), wantU, 0)
			agree(t, "by λ", rows.values(), wantRows, tolerance)

			wantZ = c.entries(func(_, _, _, at int) float64 { return byZ.values()[at] - h.values()[at] })
			c.twice(t, ThetaArgumentAdjoint, c.problems, []vector{byZ, rows}, byZ, null{}, rows, h, s, c.d)
			agree(t, "by Z, without U", byZ.values(), wantZ, 0)
			agree(t, "by λ, without U", rows.values(), wantRows, tolerance)
		}
	})
}

func TestAddLoss(t *testing.T) {
	sizes(t, func(t *testing.T, c *cases) {
		by, rows, x, truth, factor := c.matrices(), c.empty(c.d), c.matrices(), c.matrices(), c.numbers(1)
		off := func(at int) float64 { return x.values()[at] - truth.values()[at] }
		want := c.entries(func(b, _, _, at int) float64 { return by.values()[at] + factor.values()[b]*off(at) })
		wantRows := c.sumOf(func(_, _, _, at int) float64 { return off(at) * off(at) })
		outputs, args := []vector{by, rows}, []any{by, rows, x, truth, factor, c.d}
		c.spreads(t, AddLoss, outputs, &x.values()[0], "X", args...)
		c.spreads(t, AddLoss, outputs, &truth.values()[c.d*c.d-1], "the truth", args...)
		c.spreads(t, AddLoss, outputs, &factor.values()[0], "the factor", args...)
		c.twice(t, AddLoss, c.problems, outputs, args...)
		agree(t, "by X", by.values(), want, tolerance)
		agree(t, "the loss", rows.values(), wantRows, tolerance)
	})
}

func TestRowProducts(t *testing.T) {
	sizes(t, func(t *testing.T, c *cases) {
		rows, a, b := c.empty(c.d), c.numbers(c.d*c.d), c.numbers(c.d*c.d)
		want := c.sumOf(func(_, _, _, at int) float64 { return a.values()[at] * b.values()[at] })
		args := []any{rows, a, b, c.d}
		c.spreads(t, RowProducts, []vector{rows}, &a.values()[0], "a", args...)
		c.spreads(t, RowProducts, []vector{rows}, &b.values()[c.d*c.d-1], "b", args...)
		c.twice(t, RowProducts, c.problems, []vector{rows}, args...)
		agree(t, "products", rows.values(), want, tolerance)
	})
}

func TestCollectGradient(t *testing.T) {
	sizes(t, func(t *testing.T, c *cases) {
		// d is the number of weights; others of the gradient remain.
		const at, count, stride = 3, 7, 9
		n, total := c.d+CellSums, c.d+5
		gradient, sums, slots := c.numbers(total), c.empty(CellSums), c.numbers(stride*n)
		want, wantSums := slices.Clone(gradient.values()), make([]float64, c.problems*CellSums)
		for b := range c.problems {
			for s := range count {
				for p := range n {
					v := slots.values()[(b*stride+s)*n+p]
					if p < c.d {
						want[b*total+at+p] += v
					} else {
						wantSums[b*CellSums+p-c.d] += v
					}
				}
			}
		}
		outputs, args := []vector{gradient, sums}, []any{gradient, sums, slots, at, total, count, stride, n}
		c.spreads(t, CollectGradient, outputs, &slots.values()[count*n-1], "a slot", args...)
		c.twice(t, CollectGradient, c.problems, outputs, args...)
		agree(t, "the gradient", gradient.values(), want, tolerance)
		agree(t, "the sums", sums.values(), wantSums, tolerance)
	})
}

func TestPosteriorAdjointRows(t *testing.T) {
	sizes(t, func(t *testing.T, c *cases) {
		size := c.d * c.d
		byTheta, byZ, byLambda, byRows := c.matrices(), c.matrices(), c.empty(c.d), c.empty(c.d)
		byLogSigma, bySupport, s, theta, z := c.matrices(), c.matrices(), c.matrices(), c.matrices(), c.matrices()
		rows, lambda := c.positive(6*c.d), c.positive(1)
		for b := range c.problems {
			for i := range c.d {
				c.of(s, b)[i*(c.d+1)] = 0.5 + c.r.Float64()
			}
			c.of(theta, b)[0] = c.of(z, b)[0] + 1 // so that σ0 is not at its bound
		}
		row := func(b, k, i int) float64 { return rows.values()[(6*b+k)*c.d+i] }
		const sigma, support = 2, 5
		wantTheta, wantZ := slices.Clone(byTheta.values()), slices.Clone(byZ.values())
		var wantLambda []float64
		bounded := 0
		wantRows := c.sumOf(func(b, i, _, at int) float64 { return bySupport.values()[at] / math.Exp(row(b, support, i)) })
		for at, log := range c.sumOf(func(_, _, _, at int) float64 { return byLogSigma.values()[at] }) {
			b, i := at/c.d, at%c.d
			l, ii := lambda.values()[b], b*size+i*(c.d+1)
			off := theta.values()[ii] - z.values()[ii]
			g := log / row(b, sigma, i)
			if s.values()[ii]+l*off <= s.values()[ii]/1000 {
				g = 0
				bounded++
			}
			wantTheta[ii] += l * g
			wantZ[ii] -= l * g
			wantLambda = append(wantLambda, g*off)
		}
		if bounded == 0 && c.d > 30 {
			t.Error("no σ was at its bound")
		}
		outputs := []vector{byTheta, byZ, byLambda, byRows}
		args := []any{byTheta, byZ, byLambda, byRows, byLogSigma, bySupport, s, theta, z, rows, lambda, c.d}
		for _, in := range []struct {
			v    vector
			at   int
			name string
		}{
			{byLogSigma, c.d - 1, "the derivative by log σ"}, {bySupport, c.d - 1, "that by q"}, {theta, 0, "Θ"}, {z, 0, "Z"},
			{lambda, 0, "λ"}, {rows, support * c.d, "q"},
		} {
			c.spreads(t, PosteriorAdjointRows, outputs, &in.v.values()[in.at], in.name, args...)
		}
		c.twice(t, PosteriorAdjointRows, c.problems, outputs, args...)
		agree(t, "by Θ", byTheta.values(), wantTheta, tolerance)
		agree(t, "by Z", byZ.values(), wantZ, tolerance)
		agree(t, "by λ", byLambda.values(), wantLambda, tolerance)
		agree(t, "by Σ Zij²", byRows.values(), wantRows, tolerance)
	})
}

func TestPosteriorAdjointEnd(t *testing.T) {
	sizes(t, func(t *testing.T, c *cases) {
		byTheta, byZ, z, byRows, sums := c.matrices(), c.matrices(), c.matrices(), c.numbers(c.d), c.numbers(CellSums)
		wantTheta := c.entries(func(b, i, j, at int) float64 {
			if i == j {
				return byTheta.values()[at] + sums.values()[b*CellSums+1]/float64(c.d)
			}
			return byTheta.values()[at]
		})
		wantZ := c.entries(func(b, i, j, at int) float64 {
			if i == j {
				return byZ.values()[at]
			}
			return byZ.values()[at] + z.values()[at]*(byRows.values()[b*c.d+i]+byRows.values()[b*c.d+j])
		})
		outputs, args := []vector{byTheta, byZ}, []any{byTheta, byZ, z, byRows, sums, c.d}
		c.spreads(t, PosteriorAdjointEnd, outputs, &sums.values()[1], "the derivative by the mean", args...)
		if c.d > 1 {
			c.spreads(t, PosteriorAdjointEnd, outputs, &z.values()[1], "Z", args...)
			c.spreads(t, PosteriorAdjointEnd, outputs, &byRows.values()[c.d-1], "the derivative by Σ Zij²", args...)
		}
		c.twice(t, PosteriorAdjointEnd, c.problems, outputs, args...)
		agree(t, "by Θ", byTheta.values(), wantTheta, tolerance)
		agree(t, "by Z", byZ.values(), wantZ, tolerance)
	})
}
