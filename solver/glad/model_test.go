package glad

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/gladflow/gladflow/solver"
	"github.com/gladflow/gladflow/solver/dense"
	"github.com/gladflow/gladflow/solver/glad/card"
	"github.com/gladflow/gladflow/solver/internal/modelfile"
)

// sample is a model file with every key there is.
const sample = `{"format": "gladflow.model", "version": 1, "name": "er-d100-m100", "kind": "glad",
 "iterations": 30, "theta0_offset": 0.1, "lambda0": 1,
 "rho": {"inputs": ["abs_theta", "diagonal"],
  "layers": [{"weights": [[0.5, -1], [2, 3e-2], [1, 1]], "bias": [0, 0.25, 1], "activation": "tanh"},
             {"weights": [[1, -2, 0.125]], "bias": [-4], "activation": "sigmoid", "scale": 4}]},
 "lambda": {"inputs": ["log_norm2_per_d", "lambda", "context"],
  "layers": [{"weights": [[1, 2, 3]], "bias": [0], "activation": "exp"}]},
 "scaling": {"mode": "global", "mean_diagonal": 0.5},
 "card": {"trained": true, "description": "d", "family": "er", "dimension": 100, "samples": [20, 100], "input": ["pearson", "covariance"], "range": {"ratio": [0.5, 2], "samples": [20, 100]},
  "graphs": 10, "loss": "z", "seed": 18446744073709551615, "steps": 160,
  "validation": {"nmse": -9.83, "on": "z"}, "backend": "OpenBLAS", "command": "gladflow train er"}}`

func TestRead(t *testing.T) {
	m, err := Read(strings.NewReader(sample))
	if err != nil {
		t.Fatal(err)
	}
	want := &Model{
		Name: "er-d100-m100", Kind: GLAD, Iterations: 30, Theta0Offset: 0.1, Lambda0: 1,
		Rho: Network{Inputs: []Feature{AbsTheta, Diagonal}, Layers: []Layer{
			{Weights: [][]float64{{0.5, -1}, {2, 3e-2}, {1, 1}}, Bias: []float64{0, 0.25, 1}, Activation: Tanh},
			{Weights: [][]float64{{1, -2, 0.125}}, Bias: []float64{-4}, Activation: Sigmoid, Scale: 4},
		}},
		Lambda: Network{Inputs: []Feature{LogNorm2PerD, Lambda, Context}, Layers: []Layer{
			{Weights: [][]float64{{1, 2, 3}}, Bias: []float64{0}, Activation: Exp},
		}},
		Scaling: Scaling{Mode: ScalingGlobal, MeanDiagonal: 0.5},
		Card: Card{
			Trained: true, Description: "d", Family: "er", Dimension: Counts{100}, Samples: Counts{20, 100},
			Input: []string{"pearson", "covariance"}, Range: card.Range{Ratio: card.Span{0.5, 2}, Samples: card.Span{20, 100}},
			Graphs: 10, Loss: "z", Seed: math.MaxUint64, Steps: 160,
			Validation: map[string]any{"nmse": -9.83, "on": "z"}, Backend: "OpenBLAS", Command: "gladflow train er",
		},
	}
	if !reflect.DeepEqual(m, want) {
		t.Errorf("got  %+v\nwant %+v", m, want)
	}
	// 9 + 4 of ρnn, 4 of Λnn, and t.
	if got := m.Parameters(); got != 18 {
		t.Errorf("%d parameters, want 18", got)
	}
}

// Each case replaces something in the sample; the error must name the key.
func TestReadRefuses(t *testing.T) {
	const rho1 = `"weights": [[1, -2, 0.125]], "bias": [-4], "activation": "sigmoid", "scale": 4`
	for _, c := range []struct{ old, new, key string }{
		{`"gladflow.model"`, `"other"`, "format"},
		{`"version": 1`, `"version": 2`, "version"},
		{`"version": 1`, `"version": 2, "new_key": 1`, "version"},
		{`"version": 1`, `"version": 0`, "version"},
		{`"version": 1`, `"version": 1.5`, "version"},
		{`"kind": "glad"`, `"kind": "glad-pm", "cells": []`, "rho"},
		{`"kind": "glad"`, `"kind": "GLAD"`, "kind"},
		{`"name": "er-d100-m100"`, `"name": ""`, "name"},
		{`"name": "er-d100-m100"`, `"name": 5`, "name"},
		{`"name"`, `"Name"`, "Name"},
		{`"iterations": 30`, `"iterations": 0`, "iterations"},
		{`"iterations": 30`, `"iterations": 1e1`, "iterations"},
		{`"iterations": 30`, `"iterations": 1000000000000`, "iterations"},
		{`"iterations": 30,`, ``, "iterations"},
		{`"theta0_offset": 0.1`, `"theta0_offset": 1e999`, "theta0_offset"},
		{`"theta0_offset": 0.1`, `"theta0_offset": null`, "theta0_offset"},
		{`"lambda0": 1`, `"lambda0": 0`, "lambda0"},
		{`"lambda0": 1`, `"lambda0": 1, "lambda0": 2`, "lambda0"},
		{`"lambda0": 1`, `"lambda0": 1, "lambda1": 2`, "lambda1"},
		{`["abs_theta", "diagonal"]`, `["abs_theta", "norm2"]`, "rho.inputs[1]"},
		{`["abs_theta", "diagonal"]`, `["abs_theta", "abs_theta"]`, "rho.inputs[1]"},
		{`["abs_theta", "diagonal"]`, `["abs_theta", 7]`, "rho.inputs[1]"},
		{`["abs_theta", "diagonal"]`, `[]`, "rho.inputs"},
		{`["abs_theta", "diagonal"]`, `"abs_theta"`, "rho.inputs"},
		{`["abs_theta", "diagonal"]`, `["abs_theta"]`, "rho.layers[0].weights[0]"},
		{`[2, 3e-2]`, `[2]`, "rho.layers[0].weights[1]"},
		{`[2, 3e-2]`, `[2, 1e400]`, "rho.layers[0].weights[1][1]"},
		{`[2, 3e-2]`, `[2, "3"]`, "rho.layers[0].weights[1][1]"},
		{`[2, 3e-2]`, `2`, "rho.layers[0].weights[1]"},
		{`"bias": [0, 0.25, 1]`, `"bias": [0, 0.25]`, "rho.layers[0].bias"},
		{`"bias": [0, 0.25, 1]`, `"bias": [0, -1e999, 1]`, "rho.layers[0].bias[1]"},
		{`"activation": "tanh"`, `"activation": "relu"`, "rho.layers[0].activation"},
		{`"activation": "tanh"`, `"activation": "tanh", "dropout": 0`, "rho.layers[0].dropout"},
		{rho1, `"weights": [[1, -2, 0.125]], "activation": "sigmoid"`, "rho.layers[1].bias"},
		{rho1, `"weights": [[1, -2, 0.125]], "bias": [0]`, "rho.layers[1].activation"},
		{rho1, `"bias": [0], "activation": "sigmoid"`, "rho.layers[1].weights"},
		{rho1, `"weights": [], "bias": [], "activation": "sigmoid"`, "rho.layers[1].weights"},
		{rho1, `"weights": [[1, 1, 1], [1, 1, 1]], "bias": [0, 0], "activation": "sigmoid"`, "rho.layers[1].weights"},
		{`"scale": 4`, `"scale": 0`, "rho.layers[1].scale"},
		{`"scale": 4`, `"scale": 1e309`, "rho.layers[1].scale"},
		{`"lambda", "context"`, `"theta", "context"`, "lambda.inputs[1]"},
		{`"layers": [{"weights": [[1, 2, 3]], "bias": [0], "activation": "exp"}]`, `"layers": []`, "lambda.layers"},
		{`{"mode": "global", "mean_diagonal": 0.5}`, `{"mode": "global"}`, "scaling.mean_diagonal"},
		{`{"mode": "global", "mean_diagonal": 0.5}`, `{"mode": "global", "mean_diagonal": -1}`, "scaling.mean_diagonal"},
		{`{"mode": "global", "mean_diagonal": 0.5}`, `{"mode": "none", "mean_diagonal": 0}`, "scaling.mean_diagonal"},
		{`{"mode": "global", "mean_diagonal": 0.5}`, `{"mode": "correlation", "mean_diagonal": 0}`, "scaling.mean_diagonal"},
		{`{"mode": "global", "mean_diagonal": 0.5}`, `{"mode": "correlation", "mean_diagonal": -1}`, "scaling.mean_diagonal"},
		{`{"mode": "global", "mean_diagonal": 0.5}`, `{"mode": "unit"}`, "scaling.mode"},
		{`{"mode": "global", "mean_diagonal": 0.5}`, `{}`, "scaling.mode"},
		{`"trained": true,`, ``, "card.trained"},
		{`"trained": true`, `"trained": "yes"`, "card.trained"},
		{`"family"`, `"families"`, "card.families"},
		{`"dimension": 100`, `"dimension": [100, -1]`, "card.dimension"},
		{`"samples": [20, 100]`, `"samples": [20, "all"]`, "card.samples[1]"},
		{`"graphs": 10`, `"graphs": -10`, "card.graphs"},
		{`"input": ["pearson"`, `"input": ["kendall"`, "card.input[0]"},
		{`"input": ["pearson"`, `"input": ["covariance"`, "card.input[1]"},
		{`"input": ["pearson"`, `"input": [1`, "card.input[0]"},
		{`"range": {"ratio"`, `"range": {"d"`, "card.range.d"},
		{`"ratio": [0.5, 2]`, `"ratio": [2, 0.5]`, "card.range.ratio"},
		{`"ratio": [0.5, 2]`, `"ratio": [0, 2]`, "card.range.ratio"},
		{`"ratio": [0.5, 2]`, `"ratio": [2]`, "card.range.ratio"},
		{`"ratio": [0.5, 2]`, `"ratio": 2`, "card.range.ratio"},
		{`"seed": 18446744073709551615`, `"seed": -1`, "card.seed"},
		{`"nmse": -9.83`, `"nmse": -9e999`, "card.validation.nmse"},
		{`"on": "z"`, `"on": null`, "card.validation.on"},
	} {
		if strings.Count(sample, c.old) == 0 {
			t.Fatalf("the sample has no %s", c.old)
		}
		_, err := Read(strings.NewReader(strings.Replace(sample, c.old, c.new, 1)))
		if err == nil {
			t.Errorf("%s for %s is accepted", c.new, c.old)
		} else if want := "model: " + c.key + ":"; !strings.HasPrefix(err.Error()+":", want) &&
			!strings.HasPrefix(err.Error(), "model: "+c.key+" stands twice") {
			t.Errorf("%s for %s: the error does not name %s: %v", c.new, c.old, c.key, err)
		}
	}
}

func TestReadRefusesWhatIsNoModel(t *testing.T) {
	for _, text := range []string{
		"", " ", "null", "5", `"gladflow.model"`, "[]", "{}", "{", sample[:len(sample)/2], sample[:len(sample)-1],
		sample + "{}", sample + "x", strings.Repeat("[", 1e5), "\x00", "{]",
		strings.Replace(sample, `"er-d100-m100"`, strings.Repeat("[", 100)+strings.Repeat("]", 100), 1),
	} {
		if m, err := Read(strings.NewReader(text)); err == nil {
			t.Errorf("%.40q is read as %+v", text, m)
		} else if !strings.HasPrefix(err.Error(), "model: ") {
			t.Errorf("%.40q: the error does not say where it is from: %v", text, err)
		}
	}
	if _, err := Read(strings.NewReader(strings.Repeat(" ", modelfile.Limit+1))); err == nil || !strings.Contains(err.Error(), "larger") {
		t.Errorf("a file beyond the limit: %v", err)
	}
	if _, err := Read(failing{}); !errors.Is(err, errFailing) {
		t.Errorf("a reader that fails: %v", err)
	}
}

func TestWriteFails(t *testing.T) {
	m, err := Read(strings.NewReader(sample))
	if err != nil {
		t.Fatal(err)
	}
	if err := m.Write(failing{}); !errors.Is(err, errFailing) {
		t.Errorf("a writer that fails: %v", err)
	}
	m.Rho.Layers[0].Bias[1] = math.NaN()
	if err := m.Write(new(bytes.Buffer)); err == nil || !strings.Contains(err.Error(), "rho.layers[0].bias[1]") {
		t.Errorf("a NaN among the weights: %v", err)
	}
}

var errFailing = errors.New("out of order")

type failing struct{}

func (failing) Read([]byte) (int, error)  { return 0, errFailing }
func (failing) Write([]byte) (int, error) { return 0, errFailing }

// writeAndRead fails t unless m comes back as it was.
func writeAndRead(t interface{ Fatalf(string, ...any) }, m *Model) {
	var file bytes.Buffer
	if err := m.Write(&file); err != nil {
		t.Fatalf("%v", err)
	}
	got, err := Read(bytes.NewReader(file.Bytes()))
	if err != nil {
		t.Fatalf("%v in\n%s", err, file.Bytes())
	}
	if !reflect.DeepEqual(got, m) {
		t.Fatalf("got  %+v\nwant %+v", got, m)
	}
}

func TestRoundTrip(t *testing.T) {
	m, err := Read(strings.NewReader(sample))
	if err != nil {
		t.Fatal(err)
	}
	writeAndRead(t, m)
	rapid.Check(t, func(t *rapid.T) {
		m := drawModel(t, rhoFeatures(), math.MaxFloat64, activations()...)
		m.Card.Trained = rapid.Bool().Draw(t, "trained")
		m.Card.Seed = rapid.Uint64().Draw(t, "seed")
		m.Scaling = rapid.SampledFrom([]Scaling{
			{Mode: ScalingNone}, {Mode: ScalingCorrelation}, {Mode: ScalingGlobal, MeanDiagonal: 1e-310},
		}).Draw(t, "scaling")
		writeAndRead(t, m)
	})
}

// What Read accepts is finite, can be written, and can be solved with.
func FuzzRead(f *testing.F) {
	f.Add([]byte(sample))
	f.Add([]byte(strings.Replace(sample, `"scale": 4`, `"scale": 1e999`, 1)))
	f.Add([]byte(sample[:300]))
	for _, name := range BuiltinNames() {
		data, err := models.ReadFile("models/" + name + ".json")
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	paper := paperModel(rand.New(rand.NewPCG(1, 1)), 3)
	paper.Kind = ADMMu
	var file bytes.Buffer
	if err := paper.Write(&file); err != nil {
		f.Fatal(err)
	}
	f.Add(file.Bytes())
	s := dense.NewSym(2, []float64{4, 1, 1, 0.5})
	f.Fuzz(func(t *testing.T, data []byte) {
		m, err := Read(bytes.NewReader(data))
		if err != nil {
			return
		}
		if !json.Valid(data) {
			t.Error("what is not JSON is accepted")
		}
		writeAndRead(t, m)
		m.Iterations = min(m.Iterations, 20)
		est, err := Solver{Model: m, Backend: CPU{Engine: dense.Gonum{}}}.Solve(context.Background(), solver.Problem{S: s})
		if err == nil {
			checkEstimate(t, est)
		}
	})
}

// A card survives JSON, with one count or several.
func TestCardAsJSON(t *testing.T) {
	for _, c := range []Counts{nil, {5}, {5, 6}} {
		data, err := json.Marshal(Card{Dimension: c})
		if err != nil {
			t.Fatal(err)
		}
		var back Card
		if err := json.Unmarshal(data, &back); err != nil {
			t.Errorf("%s: %v", data, err)
		}
		if !slices.Equal(back.Dimension, c) {
			t.Errorf("%v becomes %v", c, back.Dimension)
		}
	}
	if err := json.Unmarshal([]byte(`{"dimension": "x"}`), &Card{}); err == nil {
		t.Error("a word is taken for a count")
	}
}

func TestBuiltin(t *testing.T) {
	found := false
	for _, name := range BuiltinNames() {
		m, err := Builtin(name)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		found = found || name == DefaultModelName
		if m.Name != name {
			t.Errorf("the file %s.json holds the model %q", name, m.Name)
		}
		if strings.HasSuffix(name, "untrained") == m.Card.Trained {
			t.Errorf("%s: the card says trained = %v", name, m.Card.Trained)
		}
		if m.Card.Description == "" {
			t.Errorf("%s: the card describes nothing", name)
		}
	}
	if !found {
		t.Errorf("the default model %q is not built in", DefaultModelName)
	}
	if _, err := Builtin("absent"); err == nil || !strings.Contains(err.Error(), DefaultModelName) {
		t.Errorf("an unknown name: %v", err)
	}
}

func builtinModel(t interface{ Fatal(...any) }, name string) *Model {
	m, err := Builtin(name)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// The fixed point of constant networks has a closed form, Θ⁻¹ = S + λ(Θ − Z),
// and 30 cells come near it.
func TestConstantModelIsTheFixedPointOfItsCard(t *testing.T) {
	const d = 12
	a := randomCovariance(rand.New(rand.NewPCG(5, 5)), d, 40)
	scaled, _ := Scaling{Mode: ScalingCorrelation}.apply(a)
	est := solve(t, Solver{Model: builtinModel(t, "constant-untrained")}, scaled)
	inverse := dense.NewSym(d, nil)
	dense.NewWorkspace(dense.Gonum{}, d).Inverse(inverse, est.Precision)
	for i := range d {
		for j := range d {
			theta := est.Precision.At(i, j)
			want := scaled.At(i, j) + 4*max(min(theta, 0.05), -0.05)
			if e := math.Abs(inverse.At(i, j) - want); e > 0.01 {
				t.Errorf("Θ⁻¹(%d,%d) = %v, want %v", i, j, inverse.At(i, j), want)
			}
		}
	}
}

// A layer of zero weights is evaluated once; it must be the same network.
func TestConstantNetwork(t *testing.T) {
	zero := Layer{Weights: [][]float64{{0, 0}}, Bias: []float64{-0.5}, Activation: Tanh, Scale: 2}
	below := Layer{Weights: [][]float64{{1}, {2}}, Bias: []float64{1e4, 0}, Activation: Exp} // overflows
	above := Layer{Weights: [][]float64{{3}}, Bias: []float64{1}, Activation: Sigmoid}
	folded := func() *network {
		n := Network{Inputs: []Feature{Theta}, Layers: []Layer{below, zero, above}}
		var values []float64
		n.visit(func(v *float64) { values = append(values, *v) })
		c := compile(n, values, 0)
		c.fold()
		return c
	}
	n := folded()
	want := 1 / (1 + math.Exp(-(3*2*math.Tanh(-0.5) + 1)))
	if len(n.constant) != 1 || math.Abs(n.constant[0]-want) > 1e-15 {
		t.Errorf("the constant is %v, want %v", n.constant, want)
	}
	zero.Weights[0][1] = 1e-300
	if folded().constant != nil {
		t.Error("a weight that is not zero is taken for one")
	}
}

func TestSolverRefuses(t *testing.T) {
	s := dense.NewSym(2, []float64{4, 1, 1, 0.5})
	broken := paperModel(rand.New(rand.NewPCG(1, 1)), 3)
	broken.Rho.Layers[2].Bias = nil
	_, err := Solver{Model: broken}.Solve(context.Background(), solver.Problem{S: s})
	if err == nil || !strings.Contains(err.Error(), "rho.layers[2].bias") {
		t.Errorf("a model without biases: %v", err)
	}
	if _, err := (Solver{}).Solve(context.Background(), solver.Problem{}); err == nil {
		t.Error("a problem without a covariance is solved")
	}
	// 1/S overflows.
	tiny := dense.NewSym(1, []float64{1e-320})
	if _, err := (Solver{}).Solve(context.Background(), solver.Problem{S: tiny}); !errors.Is(err, ErrUnits) {
		t.Errorf("a variance of 1e-320: %v", err)
	}
}
