package modelfile

import (
	"encoding/json"
	"fmt"
	"iter"
	"maps"
	"math"
	"slices"

	"github.com/gladflow/gladflow/solver/glad/card"
)

// Card is v, which must be the card of a model.
func (d *Decoder) Card(path string, v Value) card.Card {
	o := d.Object(path, v)
	d.Keys(o, path, []string{"trained"}, []string{"description", "family", "dimension", "samples",
		"input", "range", "graphs", "loss", "seed", "steps", "validation", "backend", "command", "edges"})
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
		case "input":
			for i, word := range d.List(at, v) {
				c.Input = append(c.Input, d.Text(fmt.Sprintf("%s[%d]", at, i), word))
			}
		case "range":
			c.Range = d.sizes(at, v)
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
		case "edges":
			c.Edges = d.edges(at, v)
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

// sizes is v, which must be a card.Range.
func (d *Decoder) sizes(path string, v Value) card.Range {
	o := d.Object(path, v)
	d.Keys(o, path, nil, []string{"dimension", "samples", "ratio"})
	var r card.Range
	for key, to := range spans(&r) {
		v, ok := o[key]
		if !ok {
			continue
		}
		at := path + "." + key
		ends := d.Numbers(at, v)
		if len(ends) != len(to) {
			d.Fail(at, "has %d numbers; give the least and the most", len(ends))
			return r
		}
		copy(to[:], ends)
	}
	return r
}

// spans are those of r, by their keys and in their order.
func spans(r *card.Range) iter.Seq2[string, *card.Span] {
	return func(yield func(string, *card.Span) bool) {
		_ = yield("dimension", &r.Dimension) && yield("samples", &r.Samples) && yield("ratio", &r.Ratio)
	}
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
	for i, word := range c.Input {
		at := fmt.Sprintf("card.input[%d]", i)
		switch {
		case !slices.Contains(card.Inputs(), word):
			return Invalid(at, "%q is unknown; choose from %q", word, card.Inputs())
		case slices.Contains(c.Input[:i], word):
			return Invalid(at, "%q is named twice; name each once", word)
		}
	}
	for key, span := range spans(&c.Range) {
		if span.Known() && !(span[0] > 0 && span[1] >= span[0] && !math.IsInf(span[1], 0)) {
			return Invalid("card.range."+key, "is %v; give the least and the most, which are positive and finite", *span)
		}
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
