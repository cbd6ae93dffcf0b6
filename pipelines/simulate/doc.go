// Package simulate makes Gaussian samples of known networks, to try solvers on.
//
// A network is made in four steps, each of which can be replaced: a Graph says
// which variables are joined, weights say how strongly, a precision matrix
// makes them a distribution, and samples are drawn from it.
//
//	rng := rand.New(rand.NewPCG(seed, 0))
//	graph := simulate.ScaleFree(rng, 60, 2)
//	weights := graph.Weights(rng, simulate.SignedUniform(0.3, 0.8))
//	theta, err := simulate.Precision(weights, 0.1)
//	if err != nil {
//		return err
//	}
//	rows, err := simulate.Samples(ctx, rng, theta, 300)
//
// A Family is all of it but the samples in one value, which documents and model
// cards can name; Covariance draws what a solver takes:
//
//	family := simulate.Family{Graph: simulate.GraphErdosRenyi, Dimension: 100}
//	theta, err := family.Precision(rng)
//	if err != nil {
//		return err
//	}
//	s, err := simulate.Covariance(ctx, rng, theta, 100)
//
// The same seed gives the same bits on every machine of one architecture: the
// numbers do not depend on the engine that solvers use. The package does not name
// variables, write files or simulate measurement; the variables are numbered from 0.
package simulate
