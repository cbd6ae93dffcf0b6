package glad

import "github.com/gladflow/gladflow/solver/glad/card"

// A Card says what a model is and where its weights come from.
type Card = card.Card

// Counts is one count or several.
type Counts = card.Counts
