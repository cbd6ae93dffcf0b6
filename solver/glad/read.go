package glad

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"regexp"
	"slices"

	"github.com/gladflow/gladflow/solver/association"
)

const (
	fileFormat  = "gladflow.model"
	fileVersion = 1
	// fileLimit is far above any model: it keeps a wrong file from filling
	// the memory.
	fileLimit = 16 << 20
)

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
// mode "global" only), "regulators" and those of the card other than "trained". Unknown, missing and
// repeated keys, wrong types and shapes, numbers outside of float64, unknown
// features and activations, and other versions are errors that name the key,
// such as rho.layers[1].bias.
func Read(r io.Reader) (*Model, error) {
	data, err := io.ReadAll(io.LimitReader(r, fileLimit+1))
	if err != nil {
		return nil, fmt.Errorf("model: %w", err)
	}
	if len(data) > fileLimit {
		return nil, fmt.Errorf("model: the file is larger than %d MiB, so it is no model file", fileLimit>>20)
	}
	root, err := parse(data)
	if err != nil {
		return nil, fmt.Errorf("model: %w; a model file is one JSON object", err)
	}
	var d decoder
	m := d.model(root)
	if d.err != nil {
		return nil, d.err
	}
	if err := m.Validate(); err != nil {
		return nil, err
	}
	return m, nil
}

// Write writes m as a model file, from which Read makes an equal model, bit by
// bit. It refuses a model that Read would refuse.
func (m *Model) Write(w io.Writer) error {
	if err := m.Validate(); err != nil {
		return err
	}
	data, err := json.MarshalIndent(struct {
		Format  string `json:"format"`
		Version int    `json:"version"`
		*Model
	}{fileFormat, fileVersion, m}, "", " ")
	if err != nil {
		return fmt.Errorf("model: %w", err)
	}
	data = numbers.ReplaceAllFunc(data, func(list []byte) []byte {
		return bytes.ReplaceAll(bytes.Join(bytes.Fields(list), nil), []byte(","), []byte(", "))
	})
	if _, err := w.Write(append(data, '\n')); err != nil {
		return fmt.Errorf("model: %w", err)
	}
	return nil
}

// numbers are lists of numbers as json.MarshalIndent writes them, one a line.
var numbers = regexp.MustCompile(`\[[-+.eE\d,\s]*\]`)

func (d *decoder) model(root value) *Model {
	// Format and version come first: others have other keys.
	top := d.object("", root)
	if f := d.text("format", d.key(top, "", "format")); d.err == nil && f != fileFormat {
		d.fail("format", "is %q; a model file has %q", f, fileFormat)
	}
	version := d.integer("version", d.key(top, "", "version"))
	switch {
	case d.err != nil:
	case version > fileVersion:
		d.fail("version", "is %d; this gladflow reads version %d: update gladflow", version, fileVersion)
	case version < fileVersion:
		d.fail("version", "is %d; the only version so far is %d", version, fileVersion)
	}
	kind := Kind(d.text("kind", d.key(top, "", "kind")))
	required := []string{"format", "version", "name", "kind", "iterations", "theta0_offset", "lambda0",
		"lambda", "scaling", "card"}
	optional := []string{"regulators"}
	if kind == GLADPM {
		required, optional = append(required, "cells"), append(optional, "threshold")
	} else {
		required = append(required, "rho")
	}
	if d.err == nil && !slices.Contains(Kinds(), kind) {
		d.fail("kind", "%q is unknown; this version of gladflow runs %q", kind, Kinds())
	}
	d.keys(top, "", required, optional)
	m := &Model{
		Name:         d.text("name", top["name"]),
		Kind:         kind,
		Iterations:   d.integer("iterations", top["iterations"]),
		Theta0Offset: d.number("theta0_offset", top["theta0_offset"]),
		Lambda0:      d.number("lambda0", top["lambda0"]),
		Lambda:       d.network("lambda", top["lambda"]),
		Scaling:      d.scaling("scaling", top["scaling"]),
		Card:         d.card("card", top["card"]),
	}
	if w, ok := top["regulators"]; ok {
		o := d.object("regulators", w)
		d.keys(o, "regulators", []string{"correlation", "coefficient"}, nil)
		m.Regulators = &association.Weights{
			Correlation: d.number("regulators.correlation", o["correlation"]),
			Coefficient: d.number("regulators.coefficient", o["coefficient"]),
		}
	}
	if kind != GLADPM {
		m.Rho = d.network("rho", top["rho"])
		return m
	}
	for i, c := range d.list("cells", top["cells"]) {
		m.Cells = append(m.Cells, d.cell(fmt.Sprintf("cells[%d]", i), c))
	}
	if t, ok := top["threshold"]; ok {
		m.Threshold = d.number("threshold", t)
	}
	return m
}

func (d *decoder) cell(path string, v value) PosteriorMean {
	o := d.object(path, v)
	d.keys(o, path, []string{"step", "network"}, nil)
	return PosteriorMean{Step: d.number(path+".step", o["step"]), Network: d.network(path+".network", o["network"])}
}

func (d *decoder) network(path string, v value) Network {
	o := d.object(path, v)
	d.keys(o, path, []string{"inputs", "layers"}, nil)
	var n Network
	for i, f := range d.list(path+".inputs", o["inputs"]) {
		n.Inputs = append(n.Inputs, Feature(d.text(fmt.Sprintf("%s.inputs[%d]", path, i), f)))
	}
	for i, l := range d.list(path+".layers", o["layers"]) {
		n.Layers = append(n.Layers, d.layer(fmt.Sprintf("%s.layers[%d]", path, i), l))
	}
	return n
}

func (d *decoder) layer(path string, v value) Layer {
	o := d.object(path, v)
	d.keys(o, path, []string{"weights", "bias", "activation"}, []string{"scale"})
	var l Layer
	for i, row := range d.list(path+".weights", o["weights"]) {
		l.Weights = append(l.Weights, d.numbers(fmt.Sprintf("%s.weights[%d]", path, i), row))
	}
	l.Bias = d.numbers(path+".bias", o["bias"])
	l.Activation = Activation(d.text(path+".activation", o["activation"]))
	if scale, ok := o["scale"]; ok {
		l.Scale = d.number(path+".scale", scale)
		if l.Scale == 0 {
			d.fail(path+".scale", "is 0, which would make the layer's output 0; leave the key out for 1")
		}
	}
	return l
}

func (d *decoder) scaling(path string, v value) Scaling {
	o := d.object(path, v)
	d.keys(o, path, []string{"mode"}, []string{"mean_diagonal"})
	s := Scaling{Mode: ScalingMode(d.text(path+".mode", o["mode"]))}
	if c, ok := o["mean_diagonal"]; ok {
		s.MeanDiagonal = d.number(path+".mean_diagonal", c)
		if s.Mode != ScalingGlobal {
			d.fail(path+".mean_diagonal", "stands with mode %q; only mode %q has it", s.Mode, ScalingGlobal)
		}
	}
	return s
}

func (d *decoder) card(path string, v value) Card {
	o := d.object(path, v)
	d.keys(o, path, []string{"trained"}, []string{"description", "family", "dimension", "samples",
		"graphs", "loss", "seed", "steps", "validation", "backend", "command"})
	c := Card{Trained: d.boolean(path+".trained", o["trained"])}
	for _, key := range slices.Sorted(maps.Keys(o)) {
		at, v := path+"."+key, o[key]
		switch key {
		case "description":
			c.Description = d.text(at, v)
		case "family":
			c.Family = d.text(at, v)
		case "dimension":
			c.Dimension = d.counts(at, v)
		case "samples":
			c.Samples = d.counts(at, v)
		case "graphs":
			c.Graphs = d.integer(at, v)
		case "loss":
			c.Loss = d.text(at, v)
		case "seed":
			c.Seed = d.unsigned(at, v)
		case "steps":
			c.Steps = d.integer(at, v)
		case "validation":
			c.Validation = d.figures(at, v)
		case "backend":
			c.Backend = d.text(at, v)
		case "command":
			c.Command = d.text(at, v)
		}
	}
	return c
}

func (d *decoder) counts(path string, v value) Counts {
	if _, ok := v.(list); !ok {
		return Counts{d.integer(path, v)}
	}
	var c Counts
	for i, v := range d.list(path, v) {
		c = append(c, d.integer(fmt.Sprintf("%s[%d]", path, i), v))
	}
	return c
}

func (d *decoder) figures(path string, v value) map[string]any {
	o := d.object(path, v)
	if len(o) == 0 {
		return nil
	}
	figures := make(map[string]any, len(o))
	for _, key := range slices.Sorted(maps.Keys(o)) {
		switch v := o[key].(type) {
		case json.Number:
			figures[key] = d.number(path+"."+key, v)
		case object, list, nil:
			d.fail(path+"."+key, "must be a number, a string or a boolean")
		default:
			figures[key] = v
		}
	}
	return figures
}
