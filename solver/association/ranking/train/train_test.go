package train

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"reflect"
	"testing"
)

// The derivatives of the loss are the limits of its differences.
func TestGradient(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	const width, units, n = 4, 6, 30
	p := &pairs{width: width}
	for range n {
		for range width {
			p.inputs = append(p.inputs, rng.NormFloat64())
		}
		p.sign = append(p.sign, float64(2*rng.IntN(2)-1))
		p.weight = append(p.weight, rng.Float64())
	}
	net := newNetwork(rng, units, width)
	for i := range net.values {
		net.values[i] += 0.3 * rng.NormFloat64() // biases too
	}
	which := rng.Perm(n)[:20]
	const decay, h = 0.7, 1e-6
	gradient := make([]float64, len(net.values))
	net.loss(p, which, decay, gradient)
	ignored := make([]float64, len(net.values))
	nonzero := 0
	for i, v := range net.values {
		net.values[i] = v + h
		above := net.loss(p, which, decay, ignored)
		net.values[i] = v - h
		below := net.loss(p, which, decay, ignored)
		net.values[i] = v
		if want := (above - below) / (2 * h); math.Abs(gradient[i]-want) > 1e-7*(1+math.Abs(want)) {
			t.Errorf("derivative %d is %v, want %v", i, gradient[i], want)
		}
		if gradient[i] != 0 {
			nonzero++
		}
	}
	if nonzero < len(net.values)*3/4 {
		t.Errorf("only %d of %d derivatives are not 0", nonzero, len(net.values))
	}
}

// toy are tables whose edges have |x0| > 1, which no linear score tells.
func toy(seed uint64, tables, pairs int) []Table {
	rng := rand.New(rand.NewPCG(seed, 3))
	all := make([]Table, tables)
	for k := range all {
		for range pairs {
			x, y := 1.5*rng.NormFloat64(), 10+5*rng.NormFloat64()
			all[k].Inputs = append(all[k].Inputs, x, y)
			all[k].Edge = append(all[k].Edge, math.Abs(x) > 1)
		}
	}
	return all
}

// Fit learns what no linear function could, the same whatever the number of workers.
func TestFit(t *testing.T) {
	s := Settings{Networks: 2, Epochs: 30, Batch: 64, LearningRate: 0.01, Seed: 5, Workers: 1}
	last := 0
	s.Progress = func(done, all int) {
		if last++; done != last || all != 60 {
			t.Errorf("%d of %d, want %d of 60", done, all, last)
		}
	}
	fitted, err := Fit(t.Context(), toy(1, 10, 200), 2, s)
	if err != nil {
		t.Fatal(err)
	}
	wrong, pairs := 0, 0
	for _, table := range toy(2, 10, 200) {
		for i, edge := range table.Edge {
			var score float64
			for _, net := range fitted.Networks {
				score += net.OutputBias
				for u, w := range net.Weights {
					h := net.Bias[u]
					for k := range w {
						h += w[k] * (table.Inputs[2*i+k] - fitted.Mean[k]) / fitted.Deviation[k]
					}
					score += net.Output[u] * max(0, h)
				}
			}
			pairs++
			if score > 0 != edge {
				wrong++
			}
		}
	}
	if wrong > pairs/20 || fitted.Loss > 0.2 || last != 60 {
		t.Errorf("%d of %d are wrong, loss %v, %d epochs", wrong, pairs, fitted.Loss, last)
	}
	s.Workers, s.Progress = 2, nil
	again, err := Fit(t.Context(), toy(1, 10, 200), 2, s)
	if err != nil || !reflect.DeepEqual(fitted, again) {
		t.Errorf("another number of workers fits otherwise: %v", err)
	}
	s.Seed++
	if other, err := Fit(t.Context(), toy(1, 10, 200), 2, s); err != nil || reflect.DeepEqual(fitted, other) {
		t.Errorf("another seed fits the same: %v", err)
	}
}

// Tables count alike, and edges like all other pairs; inputs are standardised.
func TestWeights(t *testing.T) {
	tables := []Table{
		{Inputs: []float64{1, 2, 3, 9}, Edge: []bool{true, false, false, false}},
		{Inputs: []float64{5, 6}, Edge: []bool{true, true}}, // teaches nothing
		{Inputs: []float64{4, 0}, Edge: []bool{false, true}},
	}
	p, err := flatten(tables, 1)
	if err != nil {
		t.Fatal(err)
	}
	if want := []float64{1.5, 0.5, 0.5, 0.5, 1.5, 1.5}; !reflect.DeepEqual(p.weight, want) {
		t.Errorf("weights %v, want %v", p.weight, want)
	}
	if want := []float64{1, -1, -1, -1, -1, 1}; !reflect.DeepEqual(p.sign, want) {
		t.Errorf("signs %v, want %v", p.sign, want)
	}
	mean, deviation := p.standardise()
	if want := (1.5*1 + 0.5*14 + 1.5*4) / 6; math.Abs(mean[0]-want) > 1e-12 {
		t.Errorf("mean %v, want %v", mean[0], want)
	}
	var sum, squares float64
	for i, w := range p.weight {
		sum += w * p.inputs[i]
		squares += w * p.inputs[i] * p.inputs[i]
	}
	if math.Abs(sum) > 1e-12 || math.Abs(squares/6-1) > 1e-12 || deviation[0] <= 0 {
		t.Errorf("sum %v, squares %v, deviation %v", sum, squares, deviation)
	}
	if tables[0].Inputs[3] != 9 {
		t.Error("the caller's inputs are changed")
	}
}

func TestFitRefuses(t *testing.T) {
	if _, err := Fit(t.Context(), []Table{{Inputs: []float64{1, 2}, Edge: []bool{true, true}}}, 1, Settings{}); !errors.Is(err, ErrNothing) {
		t.Errorf("%v", err)
	}
	for _, table := range []Table{
		{Inputs: []float64{1, 2, 3}, Edge: []bool{true, false}},
		{Inputs: []float64{1, math.NaN()}, Edge: []bool{true, false}},
		{Inputs: []float64{1, math.Inf(1)}, Edge: []bool{true, false}},
	} {
		if _, err := Fit(t.Context(), []Table{table}, 1, Settings{}); err == nil {
			t.Errorf("%v is accepted", table)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Fit(ctx, toy(1, 2, 100), 2, Settings{}); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}
