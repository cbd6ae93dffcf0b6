package experiment

import (
	"context"
	"fmt"
	"math/rand/v2"

	"github.com/gladflow/gladflow/pipelines/simulate"
	"github.com/gladflow/gladflow/pipelines/simulate/genes"
	"github.com/gladflow/gladflow/pipelines/tune"
	"github.com/gladflow/gladflow/solver"
	"github.com/gladflow/gladflow/solver/covariance"
	"github.com/gladflow/gladflow/solver/dense"
)

// Settings of the experiments on gene expression: what is known of the paper's
// SynTReN set-up, and random networks of its size.
const (
	geneDimension  = 25
	geneDensity    = 0.05
	geneActivators = 0.2
	geneNoise      = 0.05
	geneWeight     = 0.15 // of an edge in Θ*
)

// A target says what the networks are as matrices: the correlation of expression has
// no true precision matrix that is sparse like the network.
type target struct {
	name string
	// signed gives an activation −w, the sign that a partial correlation of an
	// activator has in a precision matrix, and a repression w; otherwise every edge
	// is w.
	signed bool
}

var (
	paperTarget  = target{name: "w on every edge"}
	signedTarget = target{name: "−w by the sign", signed: true}
)

// matrix has ones on the diagonal and the weights of the edges.
func (t target) matrix(d int, edges []genes.Edge) *dense.Sym {
	theta := dense.NewSym(d, nil)
	for i := range d {
		theta.Set(i, i, 1)
	}
	for _, e := range edges {
		w := geneWeight
		if t.signed {
			w *= -float64(e.Sign)
		}
		theta.Set(e.Source, e.Target, w)
	}
	return theta
}

// randomGenes draws an acyclic network of geneDimension genes, of which every pair is
// joined with probability geneDensity.
func randomGenes(rng *rand.Rand) *genes.Network {
	n := &genes.Network{}
	for i := range geneDimension {
		n.Names = append(n.Names, fmt.Sprintf("g%02d", i+1))
	}
	order := rng.Perm(geneDimension)
	for _, e := range simulate.ErdosRenyi(rng, geneDimension, geneDensity).Edges {
		n.Edges = append(n.Edges, genes.Edge{Source: order[e[0]], Target: order[e[1]]})
	}
	return n
}

// genesSetting names the data of an experiment on gene expression.
func genesSetting() string {
	return fmt.Sprintf("steady states of steep rate laws (exponents 2.6 to 4.9), inputs uniform on 0..1, noises %v, %.0f %% of the edges activate, S the correlation; Θ* has w = %v on edges and 1 on the diagonal",
		geneNoise, 100*geneActivators, geneWeight)
}

// geneCases draws n models, each of a network that network draws, and m samples of
// each. The models do not depend on m, nor on the target; those of one copied number
// have other samples.
func (r *Run) geneCases(ctx context.Context, purpose, setting string, n, m, copied int, t target, network func(*rand.Rand) *genes.Network) ([]solver.Example, error) {
	random := r.random(purpose, setting)
	models := make([]*genes.Model, n)
	for i := range models {
		for edges := 0; edges == 0; { // a target without edges teaches nothing
			net := network(random)
			var err error
			if models[i], err = (genes.Drawing{Steep: true, Activators: geneActivators}).Draw(random, net, nil); err != nil {
				return nil, err
			}
			edges = len(net.Edges)
		}
	}
	return tune.Each(ctx, make([]solver.Example, n), r.Workers, func(i int, c solver.Example) (solver.Example, error) {
		samples := r.random(purpose, fmt.Sprintf("%s, M=%d, network %d, copy %d", setting, m, i, copied))
		set, err := models[i].Sample(samples, genes.Conditions{Samples: m, Biological: geneNoise, Measurement: geneNoise, Input: geneNoise})
		if err != nil {
			return c, err
		}
		d := len(set.Names)
		estimate, err := covariance.Estimate(ctx, covariance.NewTable(set.Values, d), d, covariance.Settings{})
		if err != nil {
			return c, err
		}
		return solver.Example{S: estimate.S, Truth: t.matrix(d, set.Edges), Samples: m}, nil
	})
}

// randomGeneCases are those of random networks.
func (r *Run) randomGeneCases(ctx context.Context, purpose string, n, m, copied int, t target) ([]solver.Example, error) {
	return r.geneCases(ctx, purpose, "genes", n, m, copied, t, randomGenes)
}

// geneTraining are the paper's number of networks and copies, and networks to choose
// parameters and checkpoints on.
func (r *Run) geneTraining(ctx context.Context, m int, t target) (training, validation []solver.Example, err error) {
	for k := range trainingCopies {
		more, err := r.randomGeneCases(ctx, forTraining, trainingGraphs, m, k, t)
		if err != nil {
			return nil, nil, err
		}
		training = append(training, more...)
	}
	validation, err = r.geneValidation(ctx, m, t)
	return training, validation, err
}

func (r *Run) geneValidation(ctx context.Context, m int, t target) ([]solver.Example, error) {
	return r.randomGeneCases(ctx, forValidation, choose(r, 24, 4), m, 0, t)
}
