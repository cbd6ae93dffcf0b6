// Package adapt fits GLAD to the table at hand: it runs several models, one general and
// the others trained for a family of graphs each, and returns the weighted mean of their
// estimates. Weights come from the likelihood of samples that were held out or, where
// there are too few samples for that or only their covariance, from a gate: a small model
// that has learned on simulated tables by how much each expert is better than the general
// one on tables with such statistics.
//
// It trains nothing itself: package pipelines/training does, by one command.
//
//	set, err := adapt.Builtin(adapt.Standardised)
//	est, choice, err := adapt.Solver{Set: set, Samples: rows}.Adapt(ctx, problem)
package adapt
