//go:build cuda

package main

import (
	"math"
	"slices"

	"github.com/gladflow/gladflow/solver/cuda/driver"
	"github.com/gladflow/gladflow/solver/cuda/kernels"
	"github.com/gladflow/gladflow/solver/dense"
)

// An output is an argument that the kernel writes: want is what it should then be.
// before is what it reads there, or nil.
type output struct{ before, want []float64 }

// A run is a kernel with its arguments: []float64 to read, nil, output, int, float64.
type launched struct {
	kernel   kernels.Kernel
	problems int
	args     []any // the last is what the grid is made of
}

// do runs it twice; it returns by how much outputs are off, and whether the bits of both
// are the same.
func (l launched) do(k *card) (worst float64, same bool) {
	f := got(k.module.Function(string(l.kernel)))
	same = true
	var first [][]float64
	for round := range 2 {
		var args []any
		var outs []driver.Pointer
		var wants [][]float64
		for _, a := range l.args {
			switch a := a.(type) {
			case nil:
				args = append(args, driver.Pointer(0))
			case []float64:
				args = append(args, k.up(a))
			case output:
				p := k.room(len(a.want))
				if a.before != nil {
					p = k.up(a.before)
				}
				args, outs, wants = append(args, p), append(outs, p), append(wants, a.want)
			default:
				args = append(args, a)
			}
		}
		n := l.args[len(l.args)-1].(int)
		must(k.stream.Launch(f, l.kernel.Blocks(int64(n)), l.problems, l.kernel.Threads(), args...))
		for i, p := range outs {
			v := k.down(p, len(wants[i]))
			worst = max(worst, apart(v, wants[i]))
			if round == 0 {
				first = append(first, v)
			} else {
				same = same && slices.Equal(v, first[i])
			}
		}
	}
	return worst, same
}

// kernels checks every kernel alone.
func (c *check) kernels() {
	c.table("kernels alone", "kernel", "d", "off by", "same bits", "check")
	sizes := []int{1, 2, 31, 33, 100, 257}
	if c.quick {
		sizes = []int{1, 33}
	}
	seen := make(map[kernels.Kernel]bool)
	c.card(func(k *card) {
		for _, d := range sizes {
			for _, l := range c.launches(d, 3) {
				seen[l.kernel] = true
				c.try(string(l.kernel), func() {
					k.on(func() {
						e, same := l.do(k)
						c.row(l.kernel, d, e, same, c.verdict(e <= exact && same, "%s at %d is off by %.2g, the same bits again: %v", l.kernel, d, e, same))
					})
				})
			}
			tell := func(kernel kernels.Kernel, e float64, same bool) {
				seen[kernel] = true
				c.row(kernel, d, e, same, c.verdict(e <= 1e-10 && same, "%s at %d is off by %.2g, the same bits again: %v", kernel, d, e, same))
			}
			c.zSteps(k, d, tell)
			if d <= 100 { // the reference takes long
				c.adjointSteps(k, d, tell)
			}
		}
	})
	var not []string
	for _, kernel := range kernels.All() {
		if !seen[kernel] {
			not = append(not, string(kernel))
		}
	}
	c.row("all of them", "", "", "", c.verdict(len(not) == 0, "kernels without a check: %v", not))
}

// launches are the kernels but those with networks, on n problems.
func (c *check) launches(d, n int) []launched {
	size := d * d
	matrices := func() (all []float64) {
		for range n {
			s := dense.NewSym(d, nil)
			for i := range d {
				for j := i; j < d; j++ {
					s.Set(i, j, c.random.NormFloat64())
				}
			}
			all = append(all, s.Raw()...)
		}
		return all
	}
	positive := func(n int) []float64 {
		v := c.normal(n)
		for i := range v {
			v[i] = 0.1 + math.Abs(v[i])
		}
		return v
	}
	entries := func(f func(b, i, j, at int) float64) (all []float64) {
		for b := range n {
			for i := range d {
				for j := range d {
					all = append(all, f(b, i, j, b*size+i*d+j))
				}
			}
		}
		return all
	}
	// rows sums f over the columns of every row.
	rows := func(f func(b, i, j, at int) float64) []float64 {
		v := entries(f)
		sums := make([]float64, n*d)
		for at, x := range v {
			sums[at/d] += x
		}
		return sums
	}
	each := func(n int, f func(i int) float64) []float64 {
		v := make([]float64, n)
		for i := range v {
			v[i] = f(i)
		}
		return v
	}
	of := func(want []float64) output { return output{want: want} }
	identity := func(i, j int) float64 {
		if i == j {
			return 1
		}
		return 0
	}
	s, z, u, lambda := matrices(), matrices(), matrices(), positive(n)
	by, abc, values, phi := c.normal(n), c.normal(3*n), c.normal(n*d), positive(n*d)
	wild := c.normal(n * size)
	top := func(v []float64) []float64 {
		return each(n, func(b int) float64 { return slices.Max(v[b*d : (b+1)*d]) })
	}
	norms := rows(func(_, _, _, at int) float64 { return math.Abs(s[at]) })
	sums := rows(func(_, i, j, at int) float64 { return (s[at] - identity(i, j)) * (s[at] - identity(i, j)) })
	all := []launched{
		{kernels.ThetaArgument, n, []any{of(entries(func(b, _, _, at int) float64 { return s[at]/lambda[b] - z[at] })), s, z, nil, lambda, d}},
		{kernels.ThetaArgument, n, []any{of(entries(func(b, _, _, at int) float64 { return s[at]/lambda[b] - z[at] + u[at] })), s, z, u, lambda, d}},
		{kernels.RowNorms, n, []any{of(norms), s, d}},
		{kernels.Largest, n, []any{of(top(norms)), norms, d}},
		{kernels.AddDiagonal, n, []any{output{s, entries(func(b, i, j, at int) float64 { return s[at] + by[b]*identity(i, j) })}, by, d}},
		{kernels.Scale, n, []any{of(entries(func(b, _, _, at int) float64 { return by[b] * s[at] })), s, by, size}},
		{kernels.SetIdentity, n, []any{of(entries(func(b, i, j, _ int) float64 { return by[b] * identity(i, j) })), by, d}},
		{kernels.Polynomial, n, []any{of(entries(func(b, i, j, at int) float64 {
			return abc[3*b]*identity(i, j) + abc[3*b+1]*s[at] + abc[3*b+2]*z[at]
		})), s, z, abc, d}},
		{kernels.Residual, n, []any{of(sums), s, d}},
		{kernels.Sum, n, []any{of(each(n, func(b int) (sum float64) {
			for _, v := range sums[b*d : (b+1)*d] {
				sum += v
			}
			return sum
		})), sums, d}},
		{kernels.HalfDifference, n, []any{of(entries(func(b, i, j, _ int) float64 {
			at := b*size + min(i, j)*d + max(i, j)
			return 0.5 * (wild[at] - z[at])
		})), wild, z, d}},
		{kernels.InverseValues, n, []any{of(each(n*d, func(i int) float64 { return 1 / max(phi[i], 0.3*top(phi)[i/d]) })), phi, 0.3, d}},
		{kernels.Rescale, n, []any{output{s, entries(func(b, i, j, at int) float64 { return s[at] * (phi[b*d+i] * phi[b*d+j]) })}, phi, d}},
	}
	var spectral []float64
	for b := range n {
		p := make([]float64, d)
		dense.LogDetProxValues(p, values[b*d:(b+1)*d], lambda[b], 1e-13)
		spectral = append(spectral, p...)
	}
	all = append(all, launched{kernels.SpectralValues, n, []any{of(spectral), values, lambda, 1e-13, d}})
	for flag := range 2 {
		all = append(all,
			launched{kernels.Mirror, n, []any{output{wild, entries(func(b, i, j, at int) float64 {
				if (i > j) == (flag == 1) {
					return wild[at]
				}
				return wild[b*size+j*d+i]
			})}, flag, d}},
			launched{kernels.ScaleRows, n, []any{of(entries(func(b, i, _, at int) float64 {
				if flag == 1 {
					return math.Sqrt(phi[b*d+i]) * wild[at]
				}
				return phi[b*d+i] * wild[at]
			})), wild, phi, flag, d}})
	}
	return append(all, c.adjoints(drawn{d, n, matrices, positive, entries, rows})...)
}
