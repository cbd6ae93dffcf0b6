// Package genes draws tables of gene expression with the network behind each, to
// try rankings on and to train them with.
//
//	rng := rand.New(rand.NewPCG(seed, 0))
//	set, err := genes.Draw(rng, "syntren", 100, 300)
//
// A set is drawn in three steps: a directed network of which a few genes regulate
// the others, the way each gene follows from its regulators, and samples of it.
// Families differ in the second: rate laws at steady state (syntren, gnw, switch),
// structural equations (sem, linear, knockout), and what the compendia of public
// data add (background, confounded). DrawMixture draws from all of them.
//
// A Model is a network with a rate law for every gene, given or drawn; Sample draws
// tables of it with the three noises of SynTReN. Tests hold it against published
// output: with the network and the parameters of each, the median residual of the
// laws is below .001, and correlations on the edges are as strong.
//
// The same state of rng gives the same bits on every machine of one architecture.
// The package does not write files, and package simulate is the one for Gaussian
// samples of a given precision matrix.
package genes
