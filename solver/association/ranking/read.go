package ranking

import (
	"fmt"
	"io"

	"github.com/gladflow/gladflow/solver/internal/modelfile"
)

// Format is what the key "format" of a file with a Model says.
const Format = "gladflow.ranking"

func format() modelfile.Format { return modelfile.Format{Name: Format, Version: 1} }

// Read reads a model file: JSON of format "gladflow.ranking", version 1.
//
//	{"format": "gladflow.ranking", "version": 1, "name": "gene",
//	 "inputs": ["correlation-clr", …], "context": ["log-samples", …], "bound": 8,
//	 "mean": […], "deviation": […],
//	 "networks": [{"weights": [[…], …], "bias": […], "output": […], "output_bias": 0}, …],
//	 "probability": {"intercept": -3, "score": 1, "variables": -0.9, "samples": 0},
//	 "card": {"trained": true, "family": "genes", …}}
//
// All keys are required but those of the card other than "trained". Unknown, missing
// and repeated keys, wrong types and shapes, numbers outside of float64, unknown
// inputs, and other versions are errors that name the key, such as
// networks[1].bias[3].
func Read(r io.Reader) (*Model, error) { return modelfile.Read(r, format(), model) }

// Write writes m as a model file, from which Read makes an equal model, bit by bit. It
// refuses a model that Read would refuse.
func (m *Model) Write(w io.Writer) error { return modelfile.Write(w, format(), m) }

func model(d *modelfile.Decoder, top modelfile.Object) *Model {
	d.Keys(top, "", []string{"format", "version", "name", "inputs", "context", "bound", "mean", "deviation",
		"networks", "probability", "card"}, nil)
	m := &Model{
		Name:      d.Text("name", top["name"]),
		Inputs:    names[Input](d, "inputs", top["inputs"]),
		Context:   names[Context](d, "context", top["context"]),
		Bound:     d.Number("bound", top["bound"]),
		Mean:      d.Numbers("mean", top["mean"]),
		Deviation: d.Numbers("deviation", top["deviation"]),
		Card:      d.Card("card", top["card"]),
	}
	for i, v := range d.List("networks", top["networks"]) {
		m.Networks = append(m.Networks, network(d, element("networks", i), v))
	}
	p := d.Object("probability", top["probability"])
	d.Keys(p, "probability", []string{"intercept", "score", "variables", "samples"}, nil)
	m.Probability = Probability{
		Intercept: d.Number("probability.intercept", p["intercept"]),
		Score:     d.Number("probability.score", p["score"]),
		Variables: d.Number("probability.variables", p["variables"]),
		Samples:   d.Number("probability.samples", p["samples"]),
	}
	return m
}

func network(d *modelfile.Decoder, path string, v modelfile.Value) Network {
	o := d.Object(path, v)
	d.Keys(o, path, []string{"weights", "bias", "output", "output_bias"}, nil)
	var n Network
	for i, row := range d.List(path+".weights", o["weights"]) {
		n.Weights = append(n.Weights, d.Numbers(element(path+".weights", i), row))
	}
	n.Bias = d.Numbers(path+".bias", o["bias"])
	n.Output = d.Numbers(path+".output", o["output"])
	n.OutputBias = d.Number(path+".output_bias", o["output_bias"])
	return n
}

func names[T ~string](d *modelfile.Decoder, path string, v modelfile.Value) []T {
	list := d.List(path, v)
	found := make([]T, len(list))
	for i, name := range list {
		found[i] = T(d.Text(element(path, i), name))
	}
	return found
}

// element is the path of an element of a list.
func element(path string, i int) string { return fmt.Sprintf("%s[%d]", path, i) }
