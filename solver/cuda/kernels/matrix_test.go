//go:build linux && (amd64 || arm64)

package kernels

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/gladflow/gladflow/solver/dense"
)

// tolerance is that of sums and of the mathematical functions, as a part of the largest
// number.
const tolerance = 1e-12

// sizes calls f with every dimension and number of problems of the tests.
func sizes(t *testing.T, f func(t *testing.T, c *cases)) {
	dev := emulated(t)
	for _, d := range []int{1, 2, 31, 33, 100} {
		for _, problems := range []int{1, 3} {
			t.Run(fmt.Sprintf("d=%d,problems=%d", d, problems), func(t *testing.T) {
				f(t, &cases{device: dev, d: d, problems: problems, r: rand.New(rand.NewPCG(uint64(d), uint64(problems)))})
			})
		}
	}
}

// cases draw what kernels are tried with.
type cases struct {
	*device
	d, problems int
	r           *rand.Rand
}

// numbers are n numbers of each problem, of either sign.
func (c *cases) numbers(n int) vector {
	v := memory(c.problems * n)
	for i := range v.values() {
		v.values()[i] = c.r.NormFloat64()
	}
	return v
}

// positive are n positive numbers of each problem.
func (c *cases) positive(n int) vector {
	v := c.numbers(n)
	for i, x := range v.values() {
		v.values()[i] = 0.1 + math.Abs(x)
	}
	return v
}

// empty is memory for n numbers of each problem.
func (c *cases) empty(n int) vector { return memory(c.problems * n) }

// matrices are symmetric.
func (c *cases) matrices() vector {
	v := c.numbers(c.d * c.d)
	for b := range c.problems {
		a := c.of(v, b)
		for i := range c.d {
			for j := range i {
				a[i*c.d+j] = a[j*c.d+i]
			}
		}
	}
	return v
}

// of is the matrix of problem b.
func (c *cases) of(v vector, b int) []float64 { return v.values()[b*c.d*c.d : (b+1)*c.d*c.d] }

// entries makes what f is of every entry of every problem.
func (c *cases) entries(f func(b, i, j, at int) float64) []float64 {
	var all []float64
	for b := range c.problems {
		for i := range c.d {
			for j := range c.d {
				all = append(all, f(b, i, j, len(all)))
			}
		}
	}
	return all
}

// rows makes what f is of every row of every problem.
func (c *cases) rows(f func(b, i int, row []float64) float64, v vector) []float64 {
	var all []float64
	for b := range c.problems {
		for i := range c.d {
			all = append(all, f(b, i, c.of(v, b)[i*c.d:(i+1)*c.d]))
		}
	}
	return all
}

// repeated makes what f is of every problem.
func (c *cases) repeated(f func(b int) float64) []float64 {
	var all []float64
	for b := range c.problems {
		all = append(all, f(b))
	}
	return all
}

func TestThetaArgument(t *testing.T) {
	sizes(t, func(t *testing.T, c *cases) {
		s, z, u, lambda, y := c.matrices(), c.matrices(), c.matrices(), c.positive(1), c.empty(c.d*c.d)
		want := c.entries(func(b, _, _, at int) float64 { return s.values()[at]/lambda.values()[b] - z.values()[at] })
		c.twice(t, ThetaArgument, c.problems, []vector{y}, y, s, z, null{}, lambda, c.d)
		agree(t, "without U", y.values(), want, 0)
		for i, v := range u.values() {
			want[i] += v
		}
		c.twice(t, ThetaArgument, c.problems, []vector{y}, y, s, z, u, lambda, c.d)
		agree(t, "with U", y.values(), want, 0)
	})
}

func TestNorms(t *testing.T) {
	sizes(t, func(t *testing.T, c *cases) {
		a, rows, out := c.matrices(), c.empty(c.d), c.empty(1)
		check := func(what string) {
			c.twice(t, RowNorms, c.problems, []vector{rows}, rows, a, c.d)
			c.twice(t, Largest, c.problems, []vector{out}, out, rows, c.d)
			wantRows := c.rows(func(_, _ int, row []float64) (sum float64) {
				for _, v := range row {
					sum += math.Abs(v)
				}
				return sum
			}, a)
			agree(t, what+" rows", rows.values(), wantRows, tolerance)
			agree(t, what+" largest", out.values(), c.repeated(func(b int) (most float64) {
				for _, v := range wantRows[b*c.d : (b+1)*c.d] {
					most = max(most, v)
				}
				return most
			}), tolerance)
		}
		check("finite")
		a.values()[len(a.values())-1] = math.NaN()
		check("NaN")
		a.values()[len(a.values())-1] = math.Inf(-1)
		check("infinite")
	})
}

func TestDiagonals(t *testing.T) {
	sizes(t, func(t *testing.T, c *cases) {
		a, by := c.matrices(), c.numbers(1)
		want := c.entries(func(b, i, j, at int) float64 {
			if i == j {
				return a.values()[at] + by.values()[b]
			}
			return a.values()[at]
		})
		c.twice(t, AddDiagonal, c.problems, []vector{a}, a, by, c.d)
		agree(t, "a + tI", a.values(), want, 0)
		c.twice(t, SetIdentity, c.problems, []vector{a}, a, by, c.d)
		agree(t, "tI", a.values(), c.entries(func(b, i, j, _ int) float64 {
			if i == j {
				return by.values()[b]
			}
			return 0
		}), 0)
	})
}

func TestMirror(t *testing.T) {
	sizes(t, func(t *testing.T, c *cases) {
		for lower := range 2 {
			a := c.numbers(c.d * c.d)
			want := c.entries(func(b, i, j, at int) float64 {
				if (i > j) == (lower == 1) {
					return c.of(a, b)[i*c.d+j]
				}
				return c.of(a, b)[j*c.d+i]
			})
			c.twice(t, Mirror, c.problems, []vector{a}, a, lower, c.d)
			agree(t, fmt.Sprint("lower = ", lower), a.values(), want, 0)
		}
	})
}

func TestScale(t *testing.T) {
	sizes(t, func(t *testing.T, c *cases) {
		n := 37 * c.d
		to, from, factor := c.empty(n), c.numbers(n), c.numbers(1)
		var want []float64
		for i, v := range from.values() {
			want = append(want, v*factor.values()[i/n])
		}
		c.twice(t, Scale, c.problems, []vector{to}, to, from, factor, n)
		agree(t, "scaled", to.values(), want, 0)
		c.run(t, Scale, c.problems, 0, false, from, from, factor, n)
		agree(t, "scaled in place", from.values(), want, 0)
	})
}

func TestPolynomial(t *testing.T) {
	sizes(t, func(t *testing.T, c *cases) {
		w, w2, abc, to, partial, out := c.matrices(), c.matrices(), c.numbers(3), c.empty(c.d*c.d), c.empty(c.d), c.empty(1)
		want := c.entries(func(b, i, j, at int) float64 {
			v := abc.values()[3*b+1]*w.values()[at] + abc.values()[3*b+2]*w2.values()[at]
			if i == j {
				v += abc.values()[3*b]
			}
			return v
		})
		c.twice(t, Polynomial, c.problems, []vector{to}, to, w, w2, abc, c.d)
		agree(t, "polynomial", to.values(), want, tolerance)
		check := func(what string) {
			c.twice(t, Residual, c.problems, []vector{partial}, partial, to, c.d)
			c.twice(t, Sum, c.problems, []vector{out}, out, partial, c.d)
			agree(t, what, out.values(), c.repeated(func(b int) (sum float64) {
				for i, v := range c.of(to, b) {
					if i%(c.d+1) == 0 {
						v--
					}
					sum += v * v
				}
				return sum
			}), tolerance)
		}
		check("residual")
		to.values()[c.d*c.d-1] = math.NaN()
		check("residual of NaN")
	})
}

func TestSumOfMany(t *testing.T) {
	dev := emulated(t)
	const n = 12_345
	c := &cases{device: dev, d: 1, problems: 2, r: rand.New(rand.NewPCG(1, 1))}
	from, out := c.numbers(n), c.empty(1)
	c.twice(t, Sum, 2, []vector{out}, out, from, n)
	agree(t, "sums", out.values(), c.repeated(func(b int) (sum float64) {
		for _, v := range from.values()[b*n : (b+1)*n] {
			sum += v
		}
		return sum
	}), tolerance)
}

func TestHalfDifference(t *testing.T) {
	sizes(t, func(t *testing.T, c *cases) {
		theta, h, y := c.empty(c.d*c.d), c.numbers(c.d*c.d), c.numbers(c.d*c.d)
		want := c.entries(func(b, i, j, _ int) float64 {
			at := min(i, j)*c.d + max(i, j)
			return 0.5 * (c.of(h, b)[at] - c.of(y, b)[at])
		})
		c.twice(t, HalfDifference, c.problems, []vector{theta}, theta, h, y, c.d)
		agree(t, "Θ", theta.values(), want, 0)
		c.twice(t, HalfDifference, c.problems, []vector{h}, h, h, y, c.d)
		agree(t, "Θ in place", h.values(), want, 0)
	})
}

func TestSpectralValues(t *testing.T) {
	sizes(t, func(t *testing.T, c *cases) {
		values, lambda, phi := c.numbers(c.d), c.positive(1), c.empty(c.d)
		check := func(what string, resolution float64) {
			var want []float64
			for b := range c.problems {
				phi := make([]float64, c.d)
				dense.LogDetProxValues(phi, values.values()[b*c.d:(b+1)*c.d], lambda.values()[b], resolution)
				want = append(want, phi...)
			}
			c.twice(t, SpectralValues, c.problems, []vector{phi}, phi, values, lambda, resolution, c.d)
			for i, v := range want { // each to its own size: φ of a positive y is small
				agree(t, what, phi.values()[i:i+1], []float64{v}, tolerance)
			}
		}
		for _, resolution := range []float64{0, 1e-13, 0.3} {
			check("usual", resolution)
		}
		for _, y := range []float64{1e300, -1e300, 1e-300, 0, math.Inf(1), math.Inf(-1), math.NaN()} {
			values.values()[0] = y
			check(fmt.Sprint("with ", y), 1e-13)
			check(fmt.Sprint("without a floor, with ", y), 0)
		}
		lambda.values()[0] = 1e200
		check("λ large", 1e-13)
		lambda.values()[0] = 1e-200
		check("λ small", 1e-13)
		lambda.values()[0] = math.NaN()
		check("λ NaN", 1e-13)
	})
}

func TestInverseValues(t *testing.T) {
	sizes(t, func(t *testing.T, c *cases) {
		values, phi := c.positive(c.d), c.empty(c.d)
		check := func(what string, floor float64) {
			var want []float64
			for b := range c.problems {
				v := values.values()[b*c.d : (b+1)*c.d]
				most := v[0]
				for _, x := range v {
					most = max(most, x)
				}
				for _, x := range v {
					want = append(want, 1/max(x, floor*most))
				}
			}
			c.twice(t, InverseValues, c.problems, []vector{phi}, phi, values, floor, c.d)
			agree(t, what, phi.values(), want, 0)
		}
		check("positive", 1e-13)
		values.values()[0] = -1e-18
		check("one below 0", 1e-13)
		check("a large floor", 0.5)
		values.values()[0] = math.NaN()
		check("NaN", 1e-13)
	})
}

func TestScaleRows(t *testing.T) {
	sizes(t, func(t *testing.T, c *cases) {
		v, phi, to := c.numbers(c.d*c.d), c.positive(c.d), c.empty(c.d*c.d)
		for root := range 2 {
			c.twice(t, ScaleRows, c.problems, []vector{to}, to, v, phi, root, c.d)
			agree(t, fmt.Sprint("root = ", root), to.values(), c.entries(func(b, i, _, at int) float64 {
				f := phi.values()[b*c.d+i]
				if root == 1 {
					f = math.Sqrt(f)
				}
				return f * v.values()[at]
			}), 0)
		}
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
