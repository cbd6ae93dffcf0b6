package kernels

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/gladflow/gladflow/solver/glad"
)

// paper is the plan of a paper's network, which has a kernel of its own.
func paper() *glad.Plan {
	units := func(n, below int, a glad.Activation) glad.Layer {
		return glad.Layer{Weights: slices.Repeat([][]float64{make([]float64, below)}, n), Bias: make([]float64, n), Activation: a}
	}
	p := &glad.Plan{
		Kind: glad.GLAD, Iterations: 3,
		Entries: []glad.PlanEntry{{At: 2, Network: glad.Network{
			Inputs: []glad.Feature{glad.Theta, glad.S, glad.Z},
			Layers: []glad.Layer{units(3, 3, glad.Tanh), units(3, 3, glad.Tanh), units(3, 3, glad.Tanh), units(1, 3, glad.Sigmoid)},
		}}},
	}
	for i := range 50 {
		p.Values = append(p.Values, float64(i+1))
	}
	return p
}

func encode(t *testing.T, p *glad.Plan) *Networks {
	t.Helper()
	n, err := Encode(p)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func TestEncode(t *testing.T) {
	p := paper()
	n := encode(t, p)
	got := n.Cell(3)
	if want := append(slices.Clone(p.Values[2:42]), 1); got.Kernel != PaperCell3 || !slices.Equal(got.Weights, want) {
		t.Errorf("%s with the weights %v, want %s with %v", got.Kernel, got.Weights, PaperCell3, want)
	}
	if len(got.Weights) > weightsLength {
		t.Errorf("%d weights have no room", len(got.Weights))
	}
	want := slices.Concat(
		[]float64{3, 4, 3 /* features */, 0, 1, 2},
		[]float64{3, 3, 1, 1}, p.Values[2:14], []float64{3, 3, 1, 1}, p.Values[14:26],
		[]float64{3, 3, 1, 1}, p.Values[26:38], []float64{1, 3, 2, 1}, p.Values[38:42],
	)
	if !slices.Equal(n.Descriptions, want) {
		t.Errorf("the description is %v, want %v", n.Descriptions, want)
	}
	if n.NeedsSamples {
		t.Error("a network without z_score needs M")
	}
}

func TestNetworksOfOtherShapes(t *testing.T) {
	for what, change := range map[string]func(n *glad.Network){
		"another order":        func(n *glad.Network) { n.Inputs = []glad.Feature{glad.S, glad.Theta, glad.Z} },
		"another activation":   func(n *glad.Network) { n.Layers[1].Activation = glad.Sigmoid },
		"another last one":     func(n *glad.Network) { n.Layers[3].Activation = glad.Exp },
		"a scale in between":   func(n *glad.Network) { n.Layers[0].Scale = 2 },
		"fewer layers":         func(n *glad.Network) { n.Layers = n.Layers[1:] },
		"fewer units in layer": func(n *glad.Network) { n.Layers[2].Bias = n.Layers[2].Bias[:2] },
	} {
		p := paper()
		change(&p.Entries[0].Network)
		if got := encode(t, p).Cell(1); got.Kernel != PaperCellAny || got.Weights != nil {
			t.Errorf("%s: %s with %d weights", what, got.Kernel, len(got.Weights))
		}
	}
	p := paper()
	p.Entries[0].Network.Layers[3].Scale = 4
	if got := encode(t, p).Cell(1); got.Kernel != PaperCell3 || got.Weights[40] != 4 {
		t.Errorf("with a scale at the end: %s with %v", got.Kernel, got.Weights)
	}
}

// A network of which the output is fixed has no inputs; one that may change keeps them.
func TestConstantNetworks(t *testing.T) {
	p := paper()
	clear(p.Values[2+24 : 2+24+9]) // the weights of the third layer
	if got := encode(t, p); got.Descriptions[0] != 3 || got.Cell(1).Kernel != PaperCell3 {
		t.Errorf("a network that may change is %s with %v inputs", got.Cell(1).Kernel, got.Descriptions[0])
	}
	p.Fixed = true
	n := encode(t, p)
	want := slices.Concat([]float64{0, 2, 3}, []float64{3, 0, 1, 1}, p.Values[35:38], []float64{1, 3, 2, 1}, p.Values[38:42])
	if n.Cell(1).Kernel != PaperCellAny || !slices.Equal(n.Descriptions, want) {
		t.Errorf("%s of %v, want %v", n.Cell(1).Kernel, n.Descriptions, want)
	}
}

func TestEncodeRefuses(t *testing.T) {
	p := paper()
	p.Entries[0].Network.Inputs[1] = "colour"
	if _, err := Encode(p); err == nil || !strings.Contains(err.Error(), `the feature "colour"`) {
		t.Errorf("the error is %v", err)
	}
	p = paper()
	p.Entries[0].Network.Layers[1].Activation = "step"
	if _, err := Encode(p); err == nil || !strings.Contains(err.Error(), `the activation "step"`) {
		t.Errorf("the error is %v", err)
	}
}

// Scratch does not grow with d, and little with the problems.
func TestScratch(t *testing.T) {
	n := encode(t, paper())
	for _, c := range []struct {
		d        int64
		problems int
		blocks   int
	}{{100, 1, 10}, {40_000, 1, 2048}, {100, 1000, 2}, {100, 10_000, 1}} {
		blocks, bytes := n.Blocks(PaperCellAny, c.d, c.problems)
		if want := int64(8 * 2 * 3 * threads * blocks * c.problems); blocks != c.blocks || bytes != want {
			t.Errorf("d = %d, %d problems: %d blocks with %d bytes, want %d with %d", c.d, c.problems, blocks, bytes, c.blocks, want)
		}
	}
}

// Gain is softplus(e), which does not overflow.
func TestGain(t *testing.T) {
	p := &glad.Plan{Kind: glad.GLADPM, Iterations: 3, Values: []float64{0, 800, -800}, Entries: []glad.PlanEntry{{Step: 0}, {Step: 1}, {Step: 2}}}
	for k, want := range []float64{math.Ln2, 800, 0} {
		if got := p.Gain(k + 1); math.Abs(got-want) > 1e-15 {
			t.Errorf("the gain of cell %d is %v, want %v", k+1, got, want)
		}
	}
}
