package ranking

import (
	"math"
	"slices"

	"github.com/gladflow/gladflow/solver/glad/card"
	"github.com/gladflow/gladflow/solver/internal/modelfile"
)

// A Model is what a model file says: which inputs are computed of a table, the
// networks that score a pair by them, and what probability a score stands for.
// Nothing writes to it when it is used, so that one Model serves any number of
// concurrent calls.
type Model struct {
	// Name is how people call the model.
	Name string `json:"name"`
	// Inputs are those of a pair of variables, Context those of the table, in the
	// order in which the networks take them, the first before the second; none
	// twice.
	Inputs  []Input   `json:"inputs"`
	Context []Context `json:"context"`
	// Bound is what the inputs of a pair are clipped to, at either side; positive.
	Bound float64 `json:"bound"`
	// Mean and Deviation standardise inputs and context, after the clipping.
	Mean      []float64 `json:"mean"`
	Deviation []float64 `json:"deviation"`
	// Networks are averaged; at least one.
	Networks []Network `json:"networks"`
	// Probability is fitted to networks that the weights have not seen.
	Probability Probability `json:"probability"`
	// Card says where the weights come from.
	Card card.Card `json:"card"`
}

// A Network maps standardised inputs x to Output·max(0, Weights·x + Bias) +
// OutputBias, the logarithm of the odds of an edge where half of the pairs are edges.
type Network struct {
	// Weights has one row for each hidden unit, and in it one weight for each input
	// and each context.
	Weights [][]float64 `json:"weights"`
	// Bias and Output have one value for each hidden unit.
	Bias       []float64 `json:"bias"`
	Output     []float64 `json:"output"`
	OutputBias float64   `json:"output_bias"`
}

// Probability makes of a score s the probability of an edge under the simulations
// that the model was trained on, in a table of n samples of d variables; where edges
// start at regulators, d is their number (see Features.Candidates):
//
//	1/(1 + exp(−(Intercept + Score·s + Variables·ln(d/100) + Samples·ln(n/100))))
//
// Score is positive, so that no pair overtakes another.
type Probability struct {
	Intercept float64 `json:"intercept"`
	Score     float64 `json:"score"`
	Variables float64 `json:"variables"`
	Samples   float64 `json:"samples"`
}

// reference is the d and the n at which the terms of a Probability in them are 0.
const reference = 100

// Terms are what Score, Variables and Samples multiply.
func (Probability) Terms(score float64, variables, samples int) [3]float64 {
	return [3]float64{score, math.Log(float64(variables) / reference), math.Log(float64(samples) / reference)}
}

// Of is the probability of a pair with the score in such a table.
func (p Probability) Of(score float64, variables, samples int) float64 {
	t := p.Terms(score, variables, samples)
	return 1 / (1 + math.Exp(-(p.Intercept + p.Score*t[0] + p.Variables*t[1] + p.Samples*t[2])))
}

// Parameters is the number of weights and biases of all networks.
func (m *Model) Parameters() int {
	n := 0
	for _, net := range m.Networks {
		n += net.parameters()
	}
	return n
}

func (n *Network) parameters() int {
	if len(n.Weights) == 0 {
		return 1
	}
	return len(n.Weights)*(len(n.Weights[0])+2) + 1
}

// mostUnits bounds the hidden units of a network, far beyond any that is trained.
const mostUnits = 10_000

// Validate reports the first error that makes m unusable, by the name of its key in
// the model file.
func (m *Model) Validate() error {
	if m.Name == "" {
		return modelfile.Invalid("name", "is empty; give the model a name")
	}
	if err := known("inputs", m.Inputs, allInputs()); err != nil {
		return err
	}
	if err := known("context", m.Context, allContexts()); err != nil {
		return err
	}
	if len(m.Inputs) == 0 {
		return modelfile.Invalid("inputs", "is empty; name at least one of %q", allInputs())
	}
	if !(m.Bound > 0) || math.IsInf(m.Bound, 0) {
		return modelfile.Invalid("bound", "is %v; it must be positive and finite", m.Bound)
	}
	width := len(m.Inputs) + len(m.Context)
	if err := finite("mean", m.Mean, width); err != nil {
		return err
	}
	if err := finite("deviation", m.Deviation, width); err != nil {
		return err
	}
	for i, v := range m.Deviation {
		if v <= 0 {
			return modelfile.Invalid(element("deviation", i), "is %v; it must be positive", v)
		}
	}
	if len(m.Networks) == 0 {
		return modelfile.Invalid("networks", "is empty; a model has at least one network")
	}
	for i, n := range m.Networks {
		if err := n.validate(element("networks", i), width); err != nil {
			return err
		}
	}
	if err := m.Probability.validate(); err != nil {
		return err
	}
	return modelfile.ValidateCard(m.Card)
}

func (n Network) validate(path string, width int) error {
	units := len(n.Weights)
	switch {
	case units == 0:
		return modelfile.Invalid(path+".weights", "is empty; give one row for each hidden unit")
	case units > mostUnits:
		return modelfile.Invalid(path+".weights", "has %d rows; a network has at most %d hidden units", units, mostUnits)
	}
	for i, row := range n.Weights {
		if err := finite(element(path+".weights", i), row, width); err != nil {
			return err
		}
	}
	if err := finite(path+".bias", n.Bias, units); err != nil {
		return err
	}
	if err := finite(path+".output", n.Output, units); err != nil {
		return err
	}
	return finite(path+".output_bias", []float64{n.OutputBias}, 1)
}

func (p Probability) validate() error {
	for _, v := range []struct {
		key   string
		value float64
	}{{"intercept", p.Intercept}, {"score", p.Score}, {"variables", p.Variables}, {"samples", p.Samples}} {
		if math.IsNaN(v.value) || math.IsInf(v.value, 0) {
			return modelfile.Invalid("probability."+v.key, "is %v; it must be finite", v.value)
		}
	}
	if p.Score <= 0 {
		return modelfile.Invalid("probability.score", "is %v; it must be positive", p.Score)
	}
	return nil
}

func known[T ~string](path string, names, all []T) error {
	for i, n := range names {
		if !slices.Contains(all, n) {
			return modelfile.Invalid(element(path, i), "%q is unknown; choose from %q", n, all)
		}
		if slices.Contains(names[:i], n) {
			return modelfile.Invalid(element(path, i), "%q is named twice; name each once", n)
		}
	}
	return nil
}

func finite(path string, values []float64, length int) error {
	if len(values) != length {
		return modelfile.Invalid(path, "has %d values; %d are needed", len(values), length)
	}
	for i, v := range values {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return modelfile.Invalid(element(path, i), "is %v; it must be finite", v)
		}
	}
	return nil
}
