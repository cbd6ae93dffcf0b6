package glad

import (
	"encoding/json"
	"maps"
	"slices"
)

// A Card says what a model is and where its weights come from. Only Trained is
// always there; a field that the file does not have is zero.
type Card struct {
	// Trained is false for weights that were set by hand.
	Trained bool `json:"trained"`
	// Description says in a sentence or two what the model is for.
	Description string `json:"description,omitempty"`
	// Family is the family of graphs of the training data.
	Family string `json:"family,omitempty"`
	// Dimension lists the d of the training data.
	Dimension Counts `json:"dimension,omitempty"`
	// Samples lists the M of the training data.
	Samples Counts `json:"samples,omitempty"`
	// Graphs is the number of training graphs.
	Graphs int `json:"graphs,omitempty"`
	// Loss is what was minimised.
	Loss string `json:"loss,omitempty"`
	// Seed is that of the data and of the first weights.
	Seed uint64 `json:"seed,omitempty"`
	// Steps is the number of optimiser steps.
	Steps int `json:"steps,omitempty"`
	// Validation holds the figures on validation data by name: numbers,
	// strings and booleans.
	Validation map[string]any `json:"validation,omitempty"`
	// Command repeats the training.
	Command string `json:"command,omitempty"`
}

func (c Card) clone() Card {
	c.Dimension, c.Samples = slices.Clone(c.Dimension), slices.Clone(c.Samples)
	c.Validation = maps.Clone(c.Validation)
	return c
}

// Counts is one count or several. In a model file a single one has no
// brackets.
type Counts []int

// MarshalJSON implements json.Marshaler.
func (c Counts) MarshalJSON() ([]byte, error) {
	if len(c) == 1 {
		return json.Marshal(c[0])
	}
	return json.Marshal([]int(c))
}

// UnmarshalJSON implements json.Unmarshaler, for a card that came as JSON.
func (c *Counts) UnmarshalJSON(data []byte) error {
	var one int
	if json.Unmarshal(data, &one) == nil {
		*c = Counts{one}
		return nil
	}
	return json.Unmarshal(data, (*[]int)(c))
}

func (c Card) validate() error {
	negative := func(n int) bool { return n < 0 }
	switch {
	case slices.ContainsFunc(c.Dimension, negative):
		return invalid("card.dimension", "is %v; it cannot be negative", c.Dimension)
	case slices.ContainsFunc(c.Samples, negative):
		return invalid("card.samples", "is %v; it cannot be negative", c.Samples)
	case c.Graphs < 0:
		return invalid("card.graphs", "is %d; it cannot be negative", c.Graphs)
	case c.Steps < 0:
		return invalid("card.steps", "is %d; it cannot be negative", c.Steps)
	}
	for key, v := range c.Validation {
		switch v := v.(type) {
		case string, bool:
		case float64:
			if !finite(v) {
				return invalid("card.validation."+key, "is %v; it must be finite", v)
			}
		default:
			return invalid("card.validation."+key, "is neither a number nor a string nor a boolean")
		}
	}
	return nil
}
