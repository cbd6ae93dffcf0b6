package training

import (
	"slices"

	"github.com/gladflow/gladflow/solver"
	"github.com/gladflow/gladflow/solver/covariance"
	"github.com/gladflow/gladflow/solver/dense"
	"github.com/gladflow/gladflow/solver/glad"
	"github.com/gladflow/gladflow/solver/glad/card"
)

// describeExamples says in a card what S was in the training examples, and how large they were.
// estimated is the correlation that was estimated from tables, by its name in
// job.Training, or empty for simulated examples: of these, those with a unit diagonal are
// Pearson's correlations.
func describeExamples(c *glad.Card, training []solver.Example, estimated string) {
	c.Input, c.Range = nil, card.Range{}
	for _, e := range training {
		c.Range.Add(e.S.Len(), e.Samples)
		word := inputOf(e.S, estimated)
		if !slices.Contains(c.Input, word) {
			c.Input = append(c.Input, word)
		}
	}
	slices.Sort(c.Input)
}

func inputOf(s *dense.Sym, estimated string) string {
	switch {
	case estimated == covariance.Covariance.String():
		return card.InputCovariance
	case estimated != "":
		return estimated
	}
	for i := range s.Len() {
		if s.At(i, i) != 1 {
			return card.InputCovariance
		}
	}
	return covariance.Pearson.String()
}
