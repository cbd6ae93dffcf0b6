package glad

import (
	"fmt"
	"io"
	"slices"

	"github.com/gladflow/gladflow/solver/association"
	"github.com/gladflow/gladflow/solver/internal/modelfile"
)

func format() modelfile.Format { return modelfile.Format{Name: "gladflow.model", Version: 1} }

// Read reads a model file: JSON of format "gladflow.model", version 1.
//
//	{"format": "gladflow.model", "version": 1, "name": "er-d100-m100", "kind": "glad",
//	 "iterations": 30, "theta0_offset": 0.1, "lambda0": 1,
//	 "rho":    {"inputs": ["theta", "s", "z"],
//	            "layers": [{"weights": [[…], …], "bias": […], "activation": "tanh"}, …,
//	                       {"weights": [[…]], "bias": [0], "activation": "sigmoid", "scale": 1}]},
//	 "lambda": {"inputs": ["norm2", "lambda"], "layers": […]},
//	 "scaling": {"mode": "none"},
//	 "card": {"trained": true, "family": "er", "dimension": 100, …}}
//
// Kind "glad-pm" has, in place of "rho", one cell or one for each iteration, and
// a threshold for its support:
//
//	"cells": [{"step": -1, "network": {"inputs": ["abs_u", …], "layers": […]}}, …], "threshold": 0.01
//
// A model of a block of regulators has the weights of their scores:
//
//	"regulators": {"correlation": 0.8, "coefficient": 1.1}
//
// All keys are required but "scale" (1), "threshold" (0), "mean_diagonal" (with
// modes "global", which needs it, and "correlation"), "regulators" and those of the card other than "trained". Unknown, missing and
// repeated keys, wrong types and shapes, numbers outside of float64, unknown
// features and activations, and other versions are errors that name the key,
// such as rho.layers[1].bias.
func Read(r io.Reader) (*Model, error) {
	return modelfile.Read(r, format(), func(d *modelfile.Decoder, top modelfile.Object) *Model {
		return (&decoder{d}).model(top)
	})
}

// Write writes m as a model file, from which Read makes an equal model, bit by
// bit. It refuses a model that Read would refuse.
func (m *Model) Write(w io.Writer) error { return modelfile.Write(w, format(), m) }

// A decoder makes a Model of the values of a file.
type decoder struct{ *modelfile.Decoder }

func (d *decoder) model(top modelfile.Object) *Model {
	kind := Kind(d.Text("kind", d.Key(top, "", "kind")))
	required := []string{"format", "version", "name", "kind", "iterations", "theta0_offset", "lambda0",
		"lambda", "scaling", "card"}
	optional := []string{"regulators", "edge", "edge_range"}
	if kind == GLADPM {
		required, optional = append(required, "cells"), append(optional, "threshold")
	} else {
		required = append(required, "rho")
	}
	if d.Err() == nil && !slices.Contains(Kinds(), kind) {
		d.Fail("kind", "%q is unknown; this version of gladflow runs %q", kind, Kinds())
	}
	d.Keys(top, "", required, optional)
	m := &Model{
		Name:         d.Text("name", top["name"]),
		Kind:         kind,
		Iterations:   d.Integer("iterations", top["iterations"]),
		Theta0Offset: d.Number("theta0_offset", top["theta0_offset"]),
		Lambda0:      d.Number("lambda0", top["lambda0"]),
		Lambda:       d.network("lambda", top["lambda"]),
		Scaling:      d.scaling("scaling", top["scaling"]),
		Card:         d.Card("card", top["card"]),
	}
	if n, ok := top["edge"]; ok {
		m.Edge = d.network("edge", n)
	}
	if r, ok := top["edge_range"]; ok {
		m.EdgeRange = make(map[Feature]EdgeRange)
		for name, v := range d.Object("edge_range", r) {
			at := "edge_range." + name
			ends := d.Numbers(at, v)
			if len(ends) != 2 {
				d.Fail(at, "has %d numbers; a range has two", len(ends))
				continue
			}
			m.EdgeRange[Feature(name)] = EdgeRange(ends)
		}
	}
	if w, ok := top["regulators"]; ok {
		o := d.Object("regulators", w)
		d.Keys(o, "regulators", []string{"correlation", "coefficient"}, nil)
		m.Regulators = &association.Weights{
			Correlation: d.Number("regulators.correlation", o["correlation"]),
			Coefficient: d.Number("regulators.coefficient", o["coefficient"]),
		}
	}
	if kind != GLADPM {
		m.Rho = d.network("rho", top["rho"])
		return m
	}
	for i, c := range d.List("cells", top["cells"]) {
		m.Cells = append(m.Cells, d.cell(fmt.Sprintf("cells[%d]", i), c))
	}
	if t, ok := top["threshold"]; ok {
		m.Threshold = d.Number("threshold", t)
	}
	return m
}

func (d *decoder) cell(path string, v modelfile.Value) PosteriorMean {
	o := d.Object(path, v)
	d.Keys(o, path, []string{"step", "network"}, nil)
	return PosteriorMean{Step: d.Number(path+".step", o["step"]), Network: d.network(path+".network", o["network"])}
}

func (d *decoder) network(path string, v modelfile.Value) Network {
	o := d.Object(path, v)
	d.Keys(o, path, []string{"inputs", "layers"}, nil)
	var n Network
	for i, f := range d.List(path+".inputs", o["inputs"]) {
		n.Inputs = append(n.Inputs, Feature(d.Text(fmt.Sprintf("%s.inputs[%d]", path, i), f)))
	}
	for i, l := range d.List(path+".layers", o["layers"]) {
		n.Layers = append(n.Layers, d.layer(fmt.Sprintf("%s.layers[%d]", path, i), l))
	}
	return n
}

func (d *decoder) layer(path string, v modelfile.Value) Layer {
	o := d.Object(path, v)
	d.Keys(o, path, []string{"weights", "bias", "activation"}, []string{"scale"})
	var l Layer
	for i, row := range d.List(path+".weights", o["weights"]) {
		l.Weights = append(l.Weights, d.Numbers(fmt.Sprintf("%s.weights[%d]", path, i), row))
	}
	l.Bias = d.Numbers(path+".bias", o["bias"])
	l.Activation = Activation(d.Text(path+".activation", o["activation"]))
	if scale, ok := o["scale"]; ok {
		l.Scale = d.Number(path+".scale", scale)
		if l.Scale == 0 {
			d.Fail(path+".scale", "is 0, which would make the layer's output 0; leave the key out for 1")
		}
	}
	return l
}

func (d *decoder) scaling(path string, v modelfile.Value) Scaling {
	o := d.Object(path, v)
	d.Keys(o, path, []string{"mode"}, []string{"mean_diagonal"})
	s := Scaling{Mode: ScalingMode(d.Text(path+".mode", o["mode"]))}
	if c, ok := o["mean_diagonal"]; ok {
		s.MeanDiagonal = d.Number(path+".mean_diagonal", c)
		switch {
		case s.Mode == ScalingNone:
			d.Fail(path+".mean_diagonal", "stands with mode %q; only modes %q and %q have it", s.Mode, ScalingGlobal, ScalingCorrelation)
		case s.MeanDiagonal == 0:
			d.Fail(path+".mean_diagonal", "is 0; it must be positive")
		}
	}
	return s
}
