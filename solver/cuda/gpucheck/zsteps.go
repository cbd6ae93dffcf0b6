//go:build cuda

package main

import (
	"math"
	"slices"

	"github.com/gladflow/gladflow/solver/cuda/driver"
	"github.com/gladflow/gladflow/solver/cuda/kernels"
	"github.com/gladflow/gladflow/solver/dense"
	"github.com/gladflow/gladflow/solver/glad"
)

func sigmoid(x float64) float64 { return 1 / (1 + math.Exp(-x)) }

// evaluate is a network at the values of its features, with the simplest loops.
func evaluate(n glad.Network, values []float64, of map[glad.Feature]float64) []float64 {
	var x []float64
	for _, f := range n.Inputs {
		x = append(x, of[f])
	}
	for _, l := range n.Layers {
		var y []float64
		below, units := len(x), len(l.Bias)
		for u := range units {
			v := values[below*units+u]
			for j, w := range values[u*below : (u+1)*below] {
				v += w * x[j]
			}
			switch l.Activation {
			case "tanh":
				v = math.Tanh(v)
			case "sigmoid":
				v = sigmoid(v)
			case "exp":
				v = math.Exp(v)
			}
			if l.Scale != 0 {
				v *= l.Scale
			}
			y = append(y, v)
		}
		values, x = values[(below+1)*units:], y
	}
	return x
}

// A zProblem is a problem within a cell.
type zProblem struct {
	s, theta, z, u *dense.Sym
	lambda         float64
	prepared       glad.Preparation
}

// paper is the Z step of kinds glad and admmu.
func (p *zProblem) paper(plan *glad.Plan) (z, u *dense.Sym) {
	d := p.s.Len()
	z, u = dense.NewSym(d, nil), dense.NewSym(d, nil)
	e := plan.Entries[plan.Entry(1)]
	for i := range d {
		for j := i; j < d; j++ {
			t, s, old := p.theta.At(i, j), p.s.At(i, j), p.z.At(i, j)
			rho := evaluate(e.Network, plan.Values[e.At:], map[glad.Feature]float64{
				glad.Theta: t, glad.S: s, glad.Z: old, glad.AbsTheta: math.Abs(t), glad.AbsS: math.Abs(s), glad.AbsZ: math.Abs(old),
				glad.NegThetaS: -t * s, glad.Diagonal: on(i == j), glad.Lambda: p.lambda, glad.Context: p.prepared.Shape.Context,
			})[0]
			v := t
			if plan.Kind == glad.ADMMu {
				v += p.u.At(i, j)
			}
			z.Set(i, j, dense.SoftThreshold(v, rho))
			u.Set(i, j, v-z.At(i, j))
		}
	}
	return z, u
}

func on(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

// posterior is the Z step of kind glad-pm.
func (p *zProblem) posterior(plan *glad.Plan) *dense.Sym {
	d := p.s.Len()
	z, e, gain := dense.NewSym(d, nil), plan.Entries[plan.Entry(1)], plan.Gain(1)
	sigma, support := make([]float64, d), make([]float64, d)
	m := p.theta.Trace() / float64(d)
	for i := range d {
		sigma[i] = max(p.s.At(i, i)+p.lambda*(p.theta.At(i, i)-p.z.At(i, i)), p.s.At(i, i)/1000)
		sum := 0.1
		for j := range d {
			if j != i {
				sum += p.z.At(i, j) * p.z.At(i, j)
			}
		}
		support[i] = math.Log(sum)
	}
	nodes, table := p.prepared.Nodes, p.prepared.Shape.Table
	for i := range d {
		for j := i; j < d; j++ {
			v := sigma[i] * sigma[j]
			u := p.theta.At(i, j) + gain*p.lambda*(p.theta.At(i, j)-p.z.At(i, j))/v
			of := map[glad.Feature]float64{
				glad.AbsU: math.Abs(u), glad.LogV: math.Log(v) + 2.6, glad.ScaledU: 4 * math.Abs(u) * math.Sqrt(v),
				glad.PriorZ: math.Abs(p.z.At(i, j)), glad.UZ: u * p.z.At(i, j), glad.ZScore: math.Log1p(math.Abs(u) * p.prepared.RootSamples * math.Sqrt(v)),
				glad.Diagonal: on(i == j), glad.NodeContext: (nodes[i] + nodes[j]) / 2, glad.NodeSupport: (support[i] + support[j]) / 2,
				glad.MeanDiagonal: m - 4, glad.Lambda: p.lambda, glad.Context: p.prepared.Shape.Context,
				glad.NodeContrast: math.Abs(nodes[i]-nodes[j]) / 2, glad.SupportContrast: math.Abs(support[i]-support[j]) / 2,
				glad.SampleRatio: table.SampleRatio, glad.Strength: table.Strength, glad.Kurtosis: table.Kurtosis,
				glad.RowSpread: table.RowSpread, glad.LargestContext: table.LargestContext,
			}
			if i == j {
				of[glad.AbsU], of[glad.ScaledU] = p.theta.At(i, i)-m, math.Log(p.s.At(i, i))+1
				of[glad.PriorZ], of[glad.UZ], of[glad.ZScore] = p.z.At(i, i)-m, u-m, 0
			}
			o := evaluate(e.Network, plan.Values[e.At:], of)
			if i == j {
				z.Set(i, i, m*(1+0.3*o[1])+sigmoid(o[2]+1.5)*(u-m))
			} else {
				z.Set(i, j, u*sigmoid(o[0]))
			}
		}
	}
	return z
}

// zSteps checks the kernels of the Z step: one cell, of random numbers.
func (c *check) zSteps(k *card, d int, tell func(kernel kernels.Kernel, e float64, same bool)) {
	models := []*glad.Model{builtin("er-d100-m100-literal"), builtin("er-d100-m100-recipe"), builtin("er-d100-m100"), builtin("general-1"), builtin("general")}
	for _, m := range append(models, c.made()...) {
		c.try("Z step of "+m.Name, func() { k.on(func() { c.zStep(k, plan(m), d, tell) }) })
	}
}

func (c *check) zStep(k *card, plan *glad.Plan, d int, tell func(kernel kernels.Kernel, e float64, same bool)) {
	const n = 2
	networks := got(kernels.Encode(plan))
	cell := networks.Cell(1)
	var s, theta, z, u, lambda, fixed, rows, wantZ, wantU, norm2, means []float64
	for range n {
		symmetric := func(shift float64) *dense.Sym {
			a := c.definite(d)
			for i := range a {
				a[i] += shift
			}
			return dense.NewSym(d, a)
		}
		p := zProblem{s: symmetric(0), theta: symmetric(0.2), z: symmetric(0.3), u: symmetric(-0.2), lambda: 0.2 + c.random.Float64()}
		p.prepared = plan.Prepare(p.s, 50)
		s, theta, z, u = append(s, p.s.Raw()...), append(theta, p.theta.Raw()...), append(z, p.z.Raw()...), append(u, p.u.Raw()...)
		lambda, fixed = append(lambda, p.lambda), append(fixed, kernels.Fixed(p.prepared.Shape, p.prepared.RootSamples)...)
		row := make([]float64, 6*d)
		copy(row, p.prepared.Nodes)
		for i := range d {
			row[d+i] = math.Log(p.s.At(i, i))
		}
		rows, means = append(rows, row...), append(means, p.theta.Trace()/float64(d))
		var newZ, newU *dense.Sym
		if plan.Kind == glad.GLADPM {
			newZ, newU = p.posterior(plan), p.u
		} else {
			newZ, newU = p.paper(plan)
		}
		wantZ, wantU = append(wantZ, newZ.Raw()...), append(wantU, newU.Raw()...)
		var sum float64
		for i, v := range newZ.Raw() {
			sum += (v - p.theta.Raw()[i]) * (v - p.theta.Raw()[i])
		}
		norm2 = append(norm2, sum)
	}
	length := n * d * d
	pS, pTheta, pZ, pLambda, pFixed, pRows := k.up(s), k.up(theta), k.up(z), k.up(lambda), k.up(fixed), k.up(rows)
	network := k.up(networks.Descriptions).At(8 * int64(cell.At))
	if len(cell.Weights) > 0 {
		weights, _, err := k.module.Global(kernels.Weights)
		must(err)
		must(k.stream.Upload(weights, cell.Weights))
		must(k.stream.Synchronize())
	}
	launch := func(kernel kernels.Kernel, args ...any) {
		f := got(k.module.Function(string(kernel)))
		blocks := kernel.Blocks(int64(d))
		switch kernel {
		case kernels.PaperCellAny, kernels.PosteriorDiagonal, kernels.PosteriorEntriesAny:
			var bytes int64
			blocks, bytes = networks.Blocks(kernel, int64(d), n)
			args = append(args, network, k.room(int(bytes/8)))
		}
		must(k.stream.Launch(f, blocks, n, kernel.Threads(), append(args, d)...))
	}
	var first [][]float64
	worst, same := 0.0, true
	for round := range 2 {
		toZ, toU, partial, mean := k.room(length), k.room(length), k.room(n*int(kernels.Tiles(int64(d)))), k.room(n)
		uIn, uOut := driver.Pointer(0), driver.Pointer(0)
		if plan.Kind == glad.ADMMu {
			uIn, uOut = k.up(u), toU
		}
		switch {
		case plan.Kind == glad.GLADPM:
			gain := plan.Gain(1)
			launch(kernels.PosteriorRows, pRows, pS, pTheta, pZ, pLambda)
			launch(kernels.PosteriorMean, mean, pTheta)
			launch(kernels.PosteriorDiagonal, toZ, pTheta, pZ, pRows, mean, pLambda, pFixed, gain)
			args := []any{toZ, partial, pTheta, pZ, pRows, mean, pLambda, pFixed, gain}
			if cell.Kernel == kernels.PosteriorEntries9 {
				args = []any{toZ, partial, pTheta, pZ, pRows, mean, pLambda, gain}
			}
			launch(cell.Kernel, args...)
		case cell.Kernel == kernels.PaperCellAny:
			launch(cell.Kernel, toZ, uOut, partial, pTheta, pS, pZ, uIn, pLambda, pFixed)
		default:
			launch(cell.Kernel, toZ, uOut, partial, pTheta, pS, pZ, uIn)
		}
		sums := k.down(partial, n*int(kernels.Tiles(int64(d))))
		total := make([]float64, n)
		for i, v := range sums {
			total[i/int(kernels.Tiles(int64(d)))] += v
		}
		outs, wants := [][]float64{k.down(toZ, length), total}, [][]float64{wantZ, norm2}
		if plan.Kind == glad.ADMMu {
			outs, wants = append(outs, k.down(toU, length)), append(wants, wantU)
		}
		if plan.Kind == glad.GLADPM {
			outs, wants = append(outs, k.down(mean, n)), append(wants, means)
		}
		for i, v := range outs {
			worst = max(worst, apart(v, wants[i]))
			if round > 0 {
				same = same && slices.Equal(v, first[i])
			}
		}
		if round == 0 {
			first = outs
		}
	}
	tell(cell.Kernel, worst, same)
	if plan.Kind == glad.GLADPM {
		for _, kernel := range []kernels.Kernel{kernels.PosteriorRows, kernels.PosteriorMean, kernels.PosteriorDiagonal} {
			tell(kernel, worst, same)
		}
	}
}
