package modelfile

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/gladflow/gladflow/solver/glad/card"
)

// Card is v, which must be the card of a model.
func (d *Decoder) Card(path string, v Value) card.Card {
	o := d.Object(path, v)
	d.Keys(o, path, []string{"trained"}, []string{"description", "family", "dimension", "samples",
		"graphs", "loss", "seed", "steps", "validation", "backend", "command"})
	c := card.Card{Trained: d.Boolean(path+".trained", o["trained"])}
	for _, key := range slices.Sorted(maps.Keys(o)) {
		at, v := path+"."+key, o[key]
		switch key {
		case "description":
			c.Description = d.Text(at, v)
		case "family":
			c.Family = d.Text(at, v)
		case "dimension":
			c.Dimension = d.counts(at, v)
		case "samples":
			c.Samples = d.counts(at, v)
		case "graphs":
			c.Graphs = d.Integer(at, v)
		case "loss":
			c.Loss = d.Text(at, v)
		case "seed":
			c.Seed = d.Unsigned(at, v)
		case "steps":
			c.Steps = d.Integer(at, v)
		case "validation":
			c.Validation = d.figures(at, v)
		case "backend":
			c.Backend = d.Text(at, v)
		case "command":
			c.Command = d.Text(at, v)
		}
	}
	return c
}

func (d *Decoder) counts(path string, v Value) card.Counts {
	if _, ok := v.(List); !ok {
		return card.Counts{d.Integer(path, v)}
	}
	var c card.Counts
	for i, v := range d.List(path, v) {
		c = append(c, d.Integer(fmt.Sprintf("%s[%d]", path, i), v))
	}
	return c
}

func (d *Decoder) figures(path string, v Value) map[string]any {
	o := d.Object(path, v)
	if len(o) == 0 {
		return nil
	}
	figures := make(map[string]any, len(o))
	for _, key := range slices.Sorted(maps.Keys(o)) {
		switch v := o[key].(type) {
		case json.Number:
			figures[key] = d.Number(path+"."+key, v)
		case Object, List, nil:
			d.Fail(path+"."+key, "must be a number, a string or a boolean")
		default:
			figures[key] = v
		}
	}
	return figures
}

// ValidateCard reports the first field of c that is wrong, under the key "card".
func ValidateCard(c card.Card) error {
	negative := func(n int) bool { return n < 0 }
	switch {
	case slices.ContainsFunc(c.Dimension, negative):
		return Invalid("card.dimension", "is %v; it cannot be negative", c.Dimension)
	case slices.ContainsFunc(c.Samples, negative):
		return Invalid("card.samples", "is %v; it cannot be negative", c.Samples)
	case c.Graphs < 0:
		return Invalid("card.graphs", "is %d; it cannot be negative", c.Graphs)
	case c.Steps < 0:
		return Invalid("card.steps", "is %d; it cannot be negative", c.Steps)
	}
	for key, v := range c.Validation {
		switch v := v.(type) {
		case string, bool:
		case float64:
			if math.IsNaN(v) || math.IsInf(v, 0) {
				return Invalid("card.validation."+key, "is %v; it must be finite", v)
			}
		default:
			return Invalid("card.validation."+key, "is neither a number nor a string nor a boolean")
		}
	}
	return nil
}
