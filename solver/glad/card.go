package glad

import (
	"slices"

	"github.com/gladflow/gladflow/solver/glad/card"
)

// A Card says what a model is and where its weights come from.
type Card = card.Card

// Counts is one count or several.
type Counts = card.Counts

func validateCard(c Card) error {
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
