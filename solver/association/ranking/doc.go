// Package ranking ranks the possible edges of a network by a small learned function
// of a few association scores: networks of one hidden layer, the same for every table,
// trained by package train on simulated gene expression.
//
//	m, err := ranking.Builtin(ranking.DefaultModelName)
//	if err != nil {
//		return err
//	}
//	f, err := m.Features(ctx, dense.Default(), rows, d, nil)
//	if err != nil {
//		return err
//	}
//	scores, err := m.Apply(ctx, f, 0)
//	if err != nil {
//		return err
//	}
//	p := m.Probability.Of(scores.At(i, j), d, f.Samples)
//
// Where the regulators of a network are known, a directed model ranks the pairs that
// start at one of them: Features is told these, and ApplyDirected takes Apply's place.
//
// The scores are those of package association. Here is what is learned of them: which
// to believe, in a table with so many samples, variables and strong correlations.
// Nothing here knows a table's names or files.
package ranking
