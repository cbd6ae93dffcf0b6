//go:build cuda

package main

import (
	"fmt"
	"math"
	"slices"

	"github.com/gladflow/gladflow/solver/cuda/driver"
	"github.com/gladflow/gladflow/solver/cuda/internal/modeltest"
	"github.com/gladflow/gladflow/solver/cuda/kernels"
	"github.com/gladflow/gladflow/solver/dense"
	"github.com/gladflow/gladflow/solver/glad"
)

// drawn are the random inputs of launches on n problems, and the loops over them.
type drawn struct {
	d, n     int
	matrices func() []float64
	positive func(n int) []float64
	entries  func(f func(b, i, j, at int) float64) []float64
	rows     func(f func(b, i, j, at int) float64) []float64
}

// adjoints are the kernels of the way back but those with networks.
func (c *check) adjoints(v drawn) []launched {
	d, n := v.d, v.n
	a, s, x, z := v.matrices(), v.matrices(), v.matrices(), v.matrices()
	factor, lambda, values := c.normal(n), v.positive(n), c.normal(n*d)
	var phi []float64
	for b := range n {
		p := make([]float64, d)
		dense.LogDetProxValues(p, values[b*d:(b+1)*d], lambda[b], 0)
		phi = append(phi, p...)
	}
	onDiagonal := func(i, j int, v float64) float64 {
		if i == j {
			return v
		}
		return 0
	}
	return append([]launched{
		{kernels.DividedDifferences, n, []any{
			output{a, v.entries(func(b, i, j, at int) float64 {
				return a[at] * modeltest.DividedDifference(values[b*d+i], values[b*d+j], lambda[b])
			})},
			output{want: v.rows(func(b, i, j, at int) float64 {
				return onDiagonal(i, j, -a[at]/math.Sqrt(values[b*d+i]*values[b*d+i]+4/lambda[b]))
			})}, values, phi, lambda, d,
		}},
		{kernels.ThetaArgumentAdjoint, n, []any{
			output{x, v.entries(func(_, _, _, at int) float64 { return x[at] - a[at] })},
			output{z, v.entries(func(_, _, _, at int) float64 { return z[at] + a[at] })},
			output{want: v.rows(func(_, _, _, at int) float64 { return -a[at] * s[at] })}, a, s, d,
		}},
		{kernels.ThetaArgumentAdjoint, n, []any{
			output{x, v.entries(func(_, _, _, at int) float64 { return x[at] - a[at] })}, nil,
			output{want: v.rows(func(_, _, _, at int) float64 { return -a[at] * s[at] })}, a, s, d,
		}},
		{kernels.AddLoss, n, []any{
			output{a, v.entries(func(b, _, _, at int) float64 { return a[at] + factor[b]*(x[at]-s[at]) })},
			output{want: v.rows(func(_, _, _, at int) float64 { return (x[at] - s[at]) * (x[at] - s[at]) })}, x, s, factor, d,
		}},
		{kernels.RowProducts, n, []any{output{want: v.rows(func(_, _, _, at int) float64 { return a[at] * s[at] })}, a, s, d}},
	}, c.posteriorAdjoints(v)...)
}

// posteriorAdjoints are what the entries of a posterior-mean cell share, and the sums over
// slots.
func (c *check) posteriorAdjoints(v drawn) []launched {
	d, n := v.d, v.n
	byTheta, byZ, byLog, byQ := v.matrices(), v.matrices(), v.matrices(), v.matrices()
	s, theta, z := v.matrices(), v.matrices(), v.matrices()
	lambda, rows, perRow, perCell := v.positive(n), v.positive(6*n*d), c.normal(n*d), c.normal(n*kernels.CellSums)
	for b := range n {
		for i := range d {
			s[b*d*d+i*(d+1)] = 1 + c.random.Float64()
		}
	}
	of := func(b, k, i int) float64 { return rows[(6*b+k)*d+i] }
	const sigma, support = 2, 5
	bySigma := v.rows(func(_, _, _, at int) float64 { return byLog[at] })
	byDiagonal := make([]float64, n*d) // by Sii + λ(Θii − Zii)
	wantLambda := make([]float64, n*d)
	for at := range byDiagonal {
		b, i := at/d, at%d
		ii := b*d*d + i*(d+1)
		off := theta[ii] - z[ii]
		if s[ii]+lambda[b]*off > s[ii]/1000 { // σi is not at its bound
			byDiagonal[at] = bySigma[at] / of(b, sigma, i)
		}
		wantLambda[at] = byDiagonal[at] * off
	}
	moved := func(a []float64, by float64) output {
		return output{a, v.entries(func(b, i, j, at int) float64 {
			if i == j {
				return a[at] + by*lambda[b]*byDiagonal[b*d+i]
			}
			return a[at]
		})}
	}
	// A gradient of which some is not of this network, and more slots than are summed.
	const first, count, stride = 2, 5, 6
	length, total := d+kernels.CellSums, d+first+1
	gradient, slots := c.normal(n*total), c.normal(n*stride*length)
	wantGradient, wantSums := slices.Clone(gradient), make([]float64, n*kernels.CellSums)
	for b := range n {
		for p := range length {
			for k := range count {
				if x := slots[(b*stride+k)*length+p]; p < d {
					wantGradient[b*total+first+p] += x
				} else {
					wantSums[b*kernels.CellSums+p-d] += x
				}
			}
		}
	}
	return []launched{
		{kernels.PosteriorAdjointRows, n, []any{
			moved(byTheta, 1), moved(byZ, -1), output{want: wantLambda},
			output{want: v.rows(func(b, i, _, at int) float64 { return byQ[at] / math.Exp(of(b, support, i)) })},
			byLog, byQ, s, theta, z, rows, lambda, d,
		}},
		{kernels.PosteriorAdjointEnd, n, []any{
			output{byTheta, v.entries(func(b, i, j, at int) float64 {
				if i == j {
					return byTheta[at] + perCell[b*kernels.CellSums+1]/float64(d)
				}
				return byTheta[at]
			})},
			output{byZ, v.entries(func(b, i, j, at int) float64 {
				if i == j {
					return byZ[at]
				}
				return byZ[at] + z[at]*(perRow[b*d+i]+perRow[b*d+j])
			})}, z, perRow, perCell, d,
		}},
		{kernels.CollectGradient, n, []any{output{gradient, wantGradient}, output{want: wantSums}, slots, first, total, count, stride, length}},
	}
}

// adjointSteps checks the kernels that go back through networks, against forward-mode
// differentiation of every entry.
func (c *check) adjointSteps(k *card, d int, tell func(kernel kernels.Kernel, e float64, same bool)) {
	models := []*glad.Model{builtin("er-d100-m100-literal"), builtin("er-d100-m100-recipe"), builtin("er-d100-m100"), builtin("general-1"), builtin("general")}
	models = append(models, c.made()...)
	for i, kind := range glad.Kinds() {
		m := modeltest.Random(c.random, kind)
		m.Name = fmt.Sprintf("random-%d", i)
		models = append(models, m)
	}
	for _, m := range models {
		c.try("the way back through a Z step of "+m.Name, func() {
			p := got(modeltest.Plan(m))
			k.on(func() { c.adjointStep(k, p, d, tell) })
		})
	}
}

func (c *check) adjointStep(k *card, p *glad.Plan, d int, tell func(kernel kernels.Kernel, e float64, same bool)) {
	const n = 2
	networks := got(kernels.Encode(p))
	cell := networks.Cell(1)
	var theta, s, z, u, toZ, byZ, byU, rows, byNorm2, lambda, mean, fixed []float64
	wants := make([][]float64, 8)
	gain := 0.2 + c.random.Float64()
	for range n {
		step := modeltest.RandomStep(c.random, p, 1, d)
		step.Gain = gain // which problems share
		by := step.Differentiate()
		theta, s, z, u, toZ = append(theta, step.Theta...), append(s, step.S...), append(z, step.Z...), append(u, step.U...), append(toZ, by.ToZ...)
		byZ, byU, rows = append(byZ, step.ByZ...), append(byU, step.ByU...), append(rows, step.Rows()...)
		byNorm2, lambda, mean = append(byNorm2, step.ByNorm2), append(lambda, step.Lambda), append(mean, step.Mean)
		fixed = append(fixed, kernels.Fixed(step.Shape, step.RootSamples)...)
		all := [][]float64{by.Theta, by.Z, nil, nil, by.Weights, {by.Lambda}, nil, nil}
		switch p.Kind {
		case glad.ADMMu:
			all[2] = by.U
		case glad.GLADPM:
			all[2], all[3], all[6], all[7] = by.LogSigma, by.Support, []float64{by.Mean}, []float64{by.Gain}
		}
		for i, v := range all {
			wants[i] = append(wants[i], v...)
		}
	}
	pTheta, pS, pZ, pU, pToZ, pRows := k.up(theta), k.up(s), k.up(z), k.up(u), k.up(toZ), k.up(rows)
	pNorm2, pLambda, pMean, pFixed := k.up(byNorm2), k.up(lambda), k.up(mean), k.up(fixed)
	network := k.up(networks.Descriptions).At(8 * int64(cell.At))
	size, length, slots := n*d*d, cell.Length+kernels.CellSums, int(kernels.Slots(int64(d)))
	var ran []kernels.Kernel
	var first [][]float64
	worst, same := 0.0, true
	for round := range 2 {
		ran = nil
		toTheta, toZ, toU, toQ := k.room(size), k.up(byZ), k.room(size), k.room(size)
		perSlot, gradient, sums := k.room(n*(slots+1)*length), k.up(make([]float64, n*cell.Length)), k.room(n*kernels.CellSums)
		launch := func(kernel kernels.Kernel, args ...any) {
			blocks, bytes := networks.AdjointBlocks(kernel, int64(d), n)
			args = append(args, network, k.room(int(bytes/8)), length, d)
			must(k.stream.Launch(got(k.module.Function(string(kernel))), blocks, n, kernel.Threads(), args...))
			ran = append(ran, kernel)
		}
		count := slots
		if p.Kind == glad.GLADPM {
			count++
			for _, kernel := range []kernels.Kernel{kernels.PosteriorAdjointEntries, kernels.PosteriorAdjointDiagonal} {
				launch(kernel, toTheta, toZ, toU, toQ, perSlot, pTheta, pZ, pToZ, pRows, pMean, pNorm2, pLambda, pFixed, gain)
			}
		} else {
			uIn, uOut := driver.Pointer(0), driver.Pointer(0)
			if p.Kind == glad.ADMMu {
				toU = k.up(byU)
				uIn, uOut = pU, toU
			}
			launch(kernels.PaperAdjoint, toTheta, toZ, uOut, perSlot, pTheta, pS, pZ, pToZ, uIn, pNorm2, pLambda, pFixed)
		}
		collect := kernels.CollectGradient
		must(k.stream.Launch(got(k.module.Function(string(collect))), collect.Blocks(int64(length)), n, collect.Threads(),
			gradient, sums, perSlot, 0, cell.Length, count, slots+1, length))
		outs := [][]float64{k.down(toTheta, size), k.down(toZ, size), k.down(toU, size), k.down(toQ, size), k.down(gradient, n*cell.Length), nil, nil, nil}
		for i, v := range k.down(sums, n*kernels.CellSums) {
			outs[5+i%kernels.CellSums] = append(outs[5+i%kernels.CellSums], v)
		}
		for i, want := range wants {
			if len(want) == 0 {
				continue // the kind has none
			}
			worst = max(worst, apart(outs[i], want))
			if round > 0 {
				same = same && slices.Equal(outs[i], first[i])
			}
		}
		first = outs
	}
	for _, kernel := range ran {
		tell(kernel, worst, same)
	}
}
