package genes

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
)

// A family is a way to draw expression.
type family struct {
	name string
	// share is the probability of it in DrawMixture.
	share float64
	// topologies are drawn from, each as likely.
	topologies []topology
	// feedback is drawn from too: feedback edges per gene.
	feedback []float64
	// plain says that DrawMixture leaves marginals as they are.
	plain bool
	// draw draws a table of net and the signs of its edges, which may be nil.
	draw func(rng *rand.Rand, net *network, samples int) (table, func(target, k int) int8)
}

// families lists them. Another is a line here and its function.
func families() []family {
	kinetic := []topology{hubs, hubs, hubs, attached, local}
	structural := []topology{random, hubs, attached}
	return []family{
		{name: "syntren", share: .25, topologies: kinetic, feedback: []float64{0, .05, .1}, draw: syntrenSet},
		{name: "background", share: .11, topologies: kinetic, plain: true, draw: syntrenSet},
		{name: "gnw", share: .18, topologies: []topology{hubs, hubs, local, attached}, feedback: []float64{0, .05, .1}, draw: gnwSet},
		{name: "knockout", share: .07, topologies: kinetic, plain: true, draw: knockoutSet},
		{name: "sem", share: .16, topologies: structural, draw: semSet},
		{name: "linear", share: .1, topologies: structural, draw: linearSet},
		{name: "confounded", share: .08, topologies: kinetic, draw: confoundedSet},
		{name: "switch", share: .05, topologies: kinetic, draw: switchSet},
	}
}

// Families are the names that Draw takes.
func Families() []string {
	var names []string
	for _, f := range families() {
		names = append(names, f.name)
	}
	return names
}

// Fewest genes and samples of a set.
const (
	FewestGenes   = 4
	FewestSamples = 2
)

// Draw draws one set of a family with a number of genes, at least 4, and of
// samples, at least 2: a network, its parameters and the samples. The marginals are
// those of the family; DrawMixture is what distorts them. In the family background,
// between 10 genes and half of all are background.
func Draw(rng *rand.Rand, name string, genes, samples int) (*Set, error) {
	all := families()
	at := slices.IndexFunc(all, func(f family) bool { return f.name == name })
	switch {
	case at < 0:
		return nil, fmt.Errorf("the family %q is unknown; choose from %s", name, strings.Join(Families(), ", "))
	case genes < FewestGenes:
		return nil, fmt.Errorf("%d genes are too few; give at least %d", genes, FewestGenes)
	case samples < FewestSamples:
		return nil, fmt.Errorf("%d samples are too few; give at least %d", samples, FewestSamples)
	}
	background := 0
	if name == "background" {
		background = backgroundGenes(rng, genes)
	}
	return all[at].set(rng, genes-background, background, samples, false), nil
}

// backgroundGenes draws how many of genes are background: 10 to 100, but half of
// all at most.
func backgroundGenes(rng *rand.Rand, genes int) int {
	most := min(100, genes/2)
	least := min(10, most)
	return least + rng.IntN(most-least+1)
}

// set draws a set with a network of genes, background beside it, and distorted
// marginals if asked for.
func (f family) set(rng *rand.Rand, genes, background, samples int, distorted bool) *Set {
	feedback := 0.0
	if len(f.feedback) > 0 {
		feedback = pick(rng, f.feedback...)
	}
	net := drawNetwork(rng, genes, pick(rng, f.topologies...), feedback)
	t, signs := f.draw(rng, net, samples)
	if distorted && !f.plain {
		distort(rng, t, drawMarginal(rng))
	}
	if background > 0 {
		permuted := newTable(background, samples)
		for _, column := range permuted {
			copy(column, t[rng.IntN(genes)])
		}
		permute(rng, permuted)
		t = append(t, permuted...)
	}
	vary(rng, t)
	s := t.set(f.name, net, signs)
	s.Background = background
	return s
}

func syntrenSet(rng *rand.Rand, net *network, samples int) (table, func(target, k int) int8) {
	t, laws := drawSyntren(rng, net, samples, drawKinetics(rng))
	return t, signsOf(laws)
}

func gnwSet(rng *rand.Rand, net *network, samples int) (table, func(target, k int) int8) {
	t, laws := drawGNW(rng, net, samples)
	return t, func(target, k int) int8 { return laws[target].signs[k] }
}

func knockoutSet(rng *rand.Rand, net *network, samples int) (table, func(target, k int) int8) {
	t, signs := drawKnockouts(rng, net, samples)
	return t, listed(signs)
}

func linearSet(rng *rand.Rand, net *network, samples int) (table, func(target, k int) int8) {
	laplace := rng.IntN(2) == 0
	t, signs := drawSEM(rng, net, samples, linear, laplace, !laplace)
	return t, listed(signs)
}

func semSet(rng *rand.Rand, net *network, samples int) (table, func(target, k int) int8) {
	f := pick[mechanism](rng, process, additive, perceptron, quadratic, sigmoid)
	t, signs := drawSEM(rng, net, samples, f, false, false)
	return t, listed(signs)
}

// confoundedSet is syntren with weak signal, global factors and unequal noise.
func confoundedSet(rng *rand.Rand, net *network, samples int) (table, func(target, k int) int8) {
	k := kinetics{complexes: .3, correlated: .5, biological: uniform(rng, .01, .15), measurement: uniform(rng, .01, .15)}
	t, laws := drawSyntren(rng, net, samples, k)
	confound(rng, t)
	return t, signsOf(laws)
}

// switchSet is syntren with steep laws, strong noise and additive noise on top, so
// that genes are on or off.
func switchSet(rng *rand.Rand, net *network, samples int) (table, func(target, k int) int8) {
	noise := uniform(rng, .05, .4)
	t, laws := drawSyntren(rng, net, samples, kinetics{complexes: .3, correlated: .2, steep: true, biological: noise, measurement: noise})
	addNoise(rng, t, uniform(rng, .02, .2))
	return t, signsOf(laws)
}

// listed are the signs in a list, which is empty where a family has none.
func listed(signs [][]int8) func(target, k int) int8 {
	return func(target, k int) int8 {
		if len(signs[target]) == 0 {
			return 0
		}
		return signs[target][k]
	}
}
