// Package card holds the description of a model of GLAD that stands in its file:
// what it was trained on, how, and how well it did. It imports no other
// package of the project, so that those who only read descriptions need no solver.
package card

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
	// Input lists what S was in the training data, without repetition: words of Inputs.
	// nil where the file does not say.
	Input []string `json:"input,omitempty"`
	// Range is how large the training data were; zero where the file does not say.
	// See TrainedOn.
	Range Range `json:"range,omitzero"`
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
	// Backend is what computed the training: glad.Backend's Name. Another one rounds
	// differently.
	Backend string `json:"backend,omitempty"`
	// Command repeats the training.
	Command string `json:"command,omitempty"`
	// Edges is about the edge head; nil for a model without one.
	Edges *Edges `json:"edges,omitempty"`
}

// Clone returns a copy that shares nothing with c.
func (c Card) Clone() Card {
	c.Dimension, c.Samples = slices.Clone(c.Dimension), slices.Clone(c.Samples)
	c.Input, c.Validation = slices.Clone(c.Input), maps.Clone(c.Validation)
	c.Edges = c.Edges.Clone()
	return c
}

// Counts is one count or several. In a model file a single one stands without
// brackets.
type Counts []int

// MarshalJSON implements json.Marshaler.
func (c Counts) MarshalJSON() ([]byte, error) {
	if len(c) == 1 {
		return json.Marshal(c[0])
	}
	return json.Marshal([]int(c))
}

// UnmarshalJSON implements json.Unmarshaler, for whoever is sent a card.
func (c *Counts) UnmarshalJSON(data []byte) error {
	var one int
	if json.Unmarshal(data, &one) == nil {
		*c = Counts{one}
		return nil
	}
	return json.Unmarshal(data, (*[]int)(c))
}
