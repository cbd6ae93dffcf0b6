package glad

import "github.com/gladflow/gladflow/solver/glad/card"

// A Card says what a model is and where its weights come from.
type Card = card.Card

// Counts is one count or several.
type Counts = card.Counts

// Suits says whether S is what m was trained on by its card: correlations if standardised,
// else covariances. It is true where the card does not say, and for a model that
// standardises S itself.
func (m *Model) Suits(standardised bool) bool {
	if len(m.Card.Input) == 0 || m.Scaling.Mode == ScalingCorrelation {
		return true
	}
	if standardised {
		return m.Card.OnCorrelations()
	}
	return m.Card.OnCovariances()
}

// EdgeCard says where an edge head comes from, EdgeFigures how it does.
type (
	EdgeCard    = card.Edges
	EdgeFigures = card.EdgeFigures
)
