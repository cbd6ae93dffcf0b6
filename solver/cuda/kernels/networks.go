package kernels

import (
	"fmt"
	"slices"

	"github.com/gladflow/gladflow/solver/glad"
)

// Networks are the entry-wise networks of a plan as the kernels read them.
type Networks struct {
	// Descriptions are those of all networks, for global memory: see network.cuh.
	Descriptions []float64
	// Width is the largest number of units of a layer, or of inputs.
	Width int
	// Units is the largest number of units of all layers and inputs of a network.
	Units int
	// NeedsSamples says that a network has glad.ZScore, for which fixed must
	// hold √M or a guess.
	NeedsSamples bool

	plan  *glad.Plan
	cells []Network // by entry of the plan
}

// A Network is the entry-wise network of a cell.
type Network struct {
	// Kernel is a PaperCell or PosteriorEntries kernel: that of the shape of a
	// shipped model, or the one for any network.
	Kernel Kernel
	// Weights are what the constant Weights must begin with when the kernel runs. There are
	// none where it reads a description.
	Weights []float64
	// At is where its description begins in Descriptions: the argument network of
	// an any-kernel and of PosteriorDiagonal.
	At int
	// Length is the number of weights and biases in its description.
	Length int
}

// Encode lays the networks of p out. When Values change, unless they are Fixed,
// it has to be called again.
func Encode(p *glad.Plan) (*Networks, error) {
	n := &Networks{plan: p, Width: 1}
	for _, e := range p.Entries {
		cell := Network{Kernel: PaperCellAny, At: len(n.Descriptions)}
		if p.Kind == glad.GLADPM {
			cell.Kernel = PosteriorEntriesAny
		}
		layers := layersOf(p, e)
		constant := p.Fixed && slices.ContainsFunc(layers, layer.isConstant)
		if !constant {
			for _, s := range shapes {
				if s.fits(e.Network) {
					last := len(layers) - 1
					cell.Kernel = s.kernel
					cell.Weights = append(slices.Clone(p.Values[e.At:layers[last].end]), layers[last].scale)
				}
			}
		}
		for _, l := range layers {
			cell.Length += len(l.weights) + len(l.bias)
		}
		if err := n.describe(e.Network.Inputs, layers, constant); err != nil {
			return nil, err
		}
		n.cells = append(n.cells, cell)
		n.NeedsSamples = n.NeedsSamples || slices.Contains(e.Network.Inputs, glad.ZScore)
	}
	return n, nil
}

// Cell is the network of cell k, from 1.
func (n *Networks) Cell(k int) Network { return n.cells[n.plan.Entry(k)] }

// Blocks is the first dimension of the grid of a kernel that has the argument scratch, where
// d is that of problems together, and the bytes of scratch that it then needs.
func (n *Networks) Blocks(k Kernel, d int64, problems int) (blocks int, scratch int64) {
	const most = 2048 // for all problems: more of them do not fit on a card at once
	blocks = max(1, min(k.Blocks(d), most/max(1, problems)))
	return blocks, 8 * 2 * int64(n.Width) * threads * int64(blocks) * int64(problems)
}

// AdjointBlocks is Blocks for a kernel that goes back through a network.
func (n *Networks) AdjointBlocks(k Kernel, d int64, problems int) (blocks int, scratch int64) {
	const most = 1024
	blocks = max(1, min(k.Blocks(d), most/max(1, problems)))
	return blocks, 8 * int64(n.Units+2*n.Width) * threads * int64(blocks) * int64(problems)
}

// A layer is a layer of a network with its weights.
type layer struct {
	units, below  int
	activation    glad.Activation
	scale         float64
	weights, bias []float64
	end           int // of the weights and biases, in the values of the plan
}

// isConstant says that the layer does not depend on what is below.
func (l layer) isConstant() bool {
	return !slices.ContainsFunc(l.weights, func(w float64) bool { return w != 0 })
}

func layersOf(p *glad.Plan, e glad.PlanEntry) []layer {
	var layers []layer
	at, below := e.At, len(e.Network.Inputs)
	for _, from := range e.Network.Layers {
		l := layer{units: len(from.Bias), below: below, activation: from.Activation, scale: from.Scale}
		if l.scale == 0 {
			l.scale = 1
		}
		weights := l.units * below
		l.weights, l.bias = p.Values[at:at+weights], p.Values[at+weights:at+weights+l.units]
		at += weights + l.units
		l.end, below = at, l.units
		layers = append(layers, l)
	}
	return layers
}

// A shape is what a kernel with weights in constant memory is for: layers with tanh,
// then one with another activation.
type shape struct {
	kernel Kernel
	inputs []glad.Feature
	hidden []int
	last   glad.Activation
	// scaled says that the last layer may have a scale.
	scaled bool
}

// nine are the inputs of the posterior-mean cells that were trained for one size of graph.
var nine = []glad.Feature{
	glad.AbsU, glad.LogV, glad.ScaledU, glad.PriorZ, glad.UZ, glad.Diagonal,
	glad.NodeContext, glad.NodeSupport, glad.MeanDiagonal,
}

// ofTable are the features of a table, in the order of Fixed.
var ofTable = []glad.Feature{glad.SampleRatio, glad.Strength, glad.Kurtosis, glad.RowSpread, glad.LargestContext}

// FixedNumbers is how many numbers the argument fixed has of each problem.
const FixedNumbers = 7

// Fixed are those of a problem.
func Fixed(of glad.Shape, rootSamples float64) []float64 {
	t := of.Table
	return []float64{of.Context, rootSamples, t.SampleRatio, t.Strength, t.Kurtosis, t.RowSpread, t.LargestContext}
}

// shapes are those of the models that are built in, but for constant networks and the
// model of the regulators, whose block is small.
var shapes = []shape{
	{PaperCell3, []glad.Feature{glad.Theta, glad.S, glad.Z}, []int{3, 3, 3}, glad.Sigmoid, true},
	{PaperCell5, []glad.Feature{glad.AbsTheta, glad.AbsS, glad.AbsZ, glad.NegThetaS, glad.Diagonal}, []int{3, 3, 3}, glad.Sigmoid, true},
	{PosteriorEntries9, nine, []int{6, 6}, glad.Identity, false},
	{PosteriorEntries18, slices.Concat(nine, []glad.Feature{glad.ZScore, glad.NodeContrast, glad.SupportContrast, glad.Context}, ofTable), []int{16, 16}, glad.Identity, false},
	{PosteriorEntries11, slices.Concat(nine, []glad.Feature{glad.ZScore, glad.Context}), []int{8, 8}, glad.Identity, false},
}

func (s shape) fits(n glad.Network) bool {
	last := len(s.hidden)
	if !slices.Equal(n.Inputs, s.inputs) || len(n.Layers) != last+1 {
		return false
	}
	for i, units := range s.hidden {
		l := n.Layers[i]
		if len(l.Bias) != units || l.Activation != glad.Tanh || l.Scale != 0 && l.Scale != 1 {
			return false
		}
	}
	l := n.Layers[last]
	return l.Activation == s.last && (s.scaled || l.Scale == 0 || l.Scale == 1)
}

// The codes of network.cuh.
var (
	featureCodes = []glad.Feature{
		glad.Theta, glad.S, glad.Z, glad.AbsTheta, glad.AbsS, glad.AbsZ, glad.NegThetaS, glad.Diagonal,
		glad.AbsU, glad.LogV, glad.ScaledU, glad.PriorZ, glad.UZ, glad.NodeContext, glad.NodeSupport, glad.MeanDiagonal, glad.ZScore,
		glad.Lambda, glad.Context, glad.NodeContrast, glad.SupportContrast,
		glad.SampleRatio, glad.Strength, glad.Kurtosis, glad.RowSpread, glad.LargestContext,
	}
	activationCodes = []glad.Activation{glad.Identity, glad.Tanh, glad.Sigmoid, glad.Exp}
)

// describe adds a description. Of a constant network it leaves out what has no
// influence, as the CPU does: a weight of 0 times an infinite feature is no number.
func (n *Networks) describe(inputs []glad.Feature, layers []layer, constant bool) error {
	if constant {
		for slices.ContainsFunc(layers[1:], layer.isConstant) {
			layers = layers[1:]
		}
		inputs = nil
		layers[0].below, layers[0].weights = 0, nil
	}
	width := len(inputs)
	for _, l := range layers {
		width = max(width, l.units)
	}
	units := len(inputs)
	for _, l := range layers {
		units += l.units
	}
	n.Width, n.Units = max(n.Width, width), max(n.Units, units)
	to := append(n.Descriptions, float64(len(inputs)), float64(len(layers)), float64(width))
	for _, f := range inputs {
		code := slices.Index(featureCodes, f)
		if code < 0 {
			return fmt.Errorf("the kernels do not know the feature %q", f)
		}
		to = append(to, float64(code))
	}
	for _, l := range layers {
		code := slices.Index(activationCodes, l.activation)
		if code < 0 {
			return fmt.Errorf("the kernels do not know the activation %q", l.activation)
		}
		to = append(to, float64(l.units), float64(l.below), float64(code), l.scale)
		to = append(append(to, l.weights...), l.bias...)
	}
	n.Descriptions = to
	return nil
}
