package glad

import (
	"fmt"
	"math"
	"slices"

	"github.com/gladflow/gladflow/solver/association"
	"github.com/gladflow/gladflow/solver/internal/modelfile"
)

// Kind names a cell.
type Kind string

const (
	// GLAD is Algorithm 1 of the paper.
	GLAD Kind = "glad"
	// ADMMu is the unrolled ADMM of the paper's appendix.
	ADMMu Kind = "admmu"
	// GLADPM is GLAD with a posterior-mean cell in place of the soft
	// threshold: see PosteriorMean.
	GLADPM Kind = "glad-pm"
)

// Kinds lists the cells there are.
func Kinds() []Kind { return []Kind{GLAD, ADMMu, GLADPM} }

// A Model is what a model file says: the architecture, the weights, and where
// they come from. Solvers only read it, so that one Model serves any number of
// concurrent solves.
type Model struct {
	// Name is how people call the model.
	Name string `json:"name"`
	// Kind is the cell that the weights are for.
	Kind Kind `json:"kind"`
	// Iterations is K, the number of unrolled cells, 1 to MostIterations.
	Iterations int `json:"iterations"`
	// Theta0Offset is t in Θ0 = Z0 = (S + tI)⁻¹, in units of the scaled S.
	Theta0Offset float64 `json:"theta0_offset"`
	// Lambda0 is the λ that the first call of Λnn sees, positive; the paper
	// has 1.
	Lambda0 float64 `json:"lambda0"`
	// Rho is ρnn, the threshold of each entry. Kind GLADPM has none.
	Rho Network `json:"rho,omitzero"`
	// Cells are the posterior-mean cells of kind GLADPM, which the other kinds
	// do not have: one that all iterations share ("tied"), or one for each.
	Cells []PosteriorMean `json:"cells,omitempty"`
	// Threshold is the τ of kind GLADPM, whose Z has no zeros of its own: an
	// entry of the support is set to zero where |Zij| over the square root of
	// two diagonal entries of the estimate, an absolute partial correlation, is
	// less. 0 keeps them all.
	Threshold float64 `json:"threshold,omitempty"`
	// Lambda is Λnn, the quadratic penalty of the whole matrix.
	Lambda Network `json:"lambda"`
	// Scaling is what is done to S before the first cell.
	Scaling Scaling `json:"scaling"`
	// Regulators are the weights of a score where regulators are known, for a model that
	// was trained on their block: see association.Weights. nil for other models.
	Regulators *association.Weights `json:"regulators,omitempty"`
	// Edge is the edge head, a network with one output, the logarithm of the odds of an edge,
	// of EdgeFeatures; zero for a model without one. Its weights are no part of Values.
	Edge Network `json:"edge,omitzero"`
	// EdgeRange are the ranges of features of the table, of EdgeTableFeatures, in the training
	// of the head: beyond them its probabilities may be far off. None bounds nothing.
	EdgeRange map[Feature]EdgeRange `json:"edge_range,omitempty"`
	// Card says where the weights come from.
	Card Card `json:"card"`
}

// A Network is a multilayer perceptron. Rho and Lambda have one output.
type Network struct {
	// Inputs are the features of the first layer, in order, none twice.
	Inputs []Feature `json:"inputs"`
	// Layers are applied in order; the last has one unit per output.
	Layers []Layer `json:"layers"`
}

// A Layer maps x to Scale·Activation(Weights·x + Bias).
type Layer struct {
	// Weights has one row per unit of this layer and one column per unit of
	// the layer below.
	Weights [][]float64 `json:"weights"`
	// Bias has one value per unit.
	Bias []float64 `json:"bias"`
	// Activation is applied to every unit.
	Activation Activation `json:"activation"`
	// Scale multiplies what comes out of the activation. Default (0): 1.
	Scale float64 `json:"scale,omitempty"`
}

// Activation is the function at the end of a layer.
type Activation string

// The activations of model files, version 1.
const (
	Tanh     Activation = "tanh"
	Sigmoid  Activation = "sigmoid" // 1/(1 + e⁻ˣ)
	Exp      Activation = "exp"
	Identity Activation = "identity"
)

func activations() []Activation { return []Activation{Tanh, Sigmoid, Exp, Identity} }

// MostIterations is the largest number of iterations of a model, far beyond any that
// is trained: memory is taken for each beforehand.
const MostIterations = 10_000

// Validate reports the first error that makes m unusable, by the name of its key
// in the model file.
func (m *Model) Validate() error {
	switch {
	case m.Name == "":
		return invalid("name", "is empty; give the model a name")
	case !slices.Contains(Kinds(), m.Kind):
		return invalid("kind", "%q is unknown; this version of gladflow runs %q", m.Kind, Kinds())
	case m.Iterations < 1:
		return invalid("iterations", "is %d; a model has at least one iteration", m.Iterations)
	case m.Iterations > MostIterations:
		return invalid("iterations", "is %d; a model has at most %d iterations", m.Iterations, MostIterations)
	case !finite(m.Theta0Offset):
		return invalid("theta0_offset", "is %v; it must be finite", m.Theta0Offset)
	case !finite(m.Lambda0) || m.Lambda0 <= 0:
		return invalid("lambda0", "is %v; it must be positive and finite", m.Lambda0)
	}
	if m.Kind == GLADPM {
		if err := m.validateCells(); err != nil {
			return err
		}
	} else {
		if len(m.Cells) > 0 {
			return invalid("cells", "stands with kind %q; only kind %q has it", m.Kind, GLADPM)
		}
		if m.Threshold != 0 {
			return invalid("threshold", "stands with kind %q; only kind %q has it", m.Kind, GLADPM)
		}
		if err := m.Rho.validate("rho", rhoFeatures(), 1); err != nil {
			return err
		}
	}
	if err := m.Lambda.validate("lambda", lambdaFeatures(), 1); err != nil {
		return err
	}
	if err := m.Scaling.validate(); err != nil {
		return err
	}
	if m.HasEdgeHead() {
		if err := m.Edge.validate("edge", EdgeFeatures(), 1); err != nil {
			return err
		}
	}
	for name, r := range m.EdgeRange {
		at := "edge_range." + string(name)
		switch {
		case !m.HasEdgeHead():
			return invalid("edge_range", "stands without an edge head; leave it out")
		case !slices.Contains(EdgeTableFeatures(), name):
			return invalid(at, "is unknown; choose from %q", EdgeTableFeatures())
		case !finite(r[0]) || !finite(r[1]) || r[0] > r[1]:
			return invalid(at, "is %v; it is two finite numbers, the smaller one first", r)
		}
	}
	if w := m.Regulators; w != nil && !(finite(w.Correlation) && finite(w.Coefficient)) {
		return invalid("regulators", "is %v; weights must be finite", *w)
	}
	return modelfile.ValidateCard(m.Card)
}

func (n Network) validate(path string, known []Feature, outputs int) error {
	if len(n.Inputs) == 0 {
		return invalid(path+".inputs", "is empty; name at least one of %q", known)
	}
	for i, f := range n.Inputs {
		at := fmt.Sprintf("%s.inputs[%d]", path, i)
		if !slices.Contains(known, f) {
			return invalid(at, "%q is unknown; choose from %q", f, known)
		}
		if slices.Contains(n.Inputs[:i], f) {
			return invalid(at, "%q is named twice; name each input once", f)
		}
	}
	if len(n.Layers) == 0 {
		return invalid(path+".layers", "is empty; a network has at least one layer")
	}
	below := len(n.Inputs)
	for i, l := range n.Layers {
		if err := l.validate(fmt.Sprintf("%s.layers[%d]", path, i), below); err != nil {
			return err
		}
		below = len(l.Weights)
	}
	if below != outputs {
		return invalid(fmt.Sprintf("%s.layers[%d].weights", path, len(n.Layers)-1),
			"has %d rows; the last layer has one unit per output, which is %d here", below, outputs)
	}
	return nil
}

func (l Layer) validate(path string, below int) error {
	if len(l.Weights) == 0 {
		return invalid(path+".weights", "is empty; give one row per unit")
	}
	for i, row := range l.Weights {
		if len(row) != below {
			return invalid(fmt.Sprintf("%s.weights[%d]", path, i),
				"has %d values; the layer has %d inputs", len(row), below)
		}
		for j, v := range row {
			if !finite(v) {
				return invalid(fmt.Sprintf("%s.weights[%d][%d]", path, i, j), "is %v; weights must be finite", v)
			}
		}
	}
	if len(l.Bias) != len(l.Weights) {
		return invalid(path+".bias", "has %d values; the layer has %d units, one per row of weights", len(l.Bias), len(l.Weights))
	}
	for i, v := range l.Bias {
		if !finite(v) {
			return invalid(fmt.Sprintf("%s.bias[%d]", path, i), "is %v; biases must be finite", v)
		}
	}
	if !slices.Contains(activations(), l.Activation) {
		return invalid(path+".activation", "%q is unknown; choose from %q", l.Activation, activations())
	}
	if !finite(l.Scale) {
		return invalid(path+".scale", "is %v; it must be finite", l.Scale)
	}
	return nil
}

// invalid is an error about the key at path.
func invalid(path, format string, args ...any) error { return modelfile.Invalid(path, format, args...) }

func finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }
