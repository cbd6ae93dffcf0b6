package genes

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
)

// A Drawing says how a Model of a network is drawn. The distributions of the
// parameters are those of published output of SynTReN.
type Drawing struct {
	// Steep draws laws of the form Hill with exponents from 2.6 to 4.9 and halves
	// from .4 to .6 (SynTReN's interactionCategory SIGMOIDAL), instead of all forms,
	// mostly with the exponent 1.
	Steep bool
	// Activators is the probability that an edge without a sign activates.
	Activators float64
	// Following is the share of the inputs, up to all but one, that follow another.
	Following float64
	// Decoys is the number of genes without a target that are listed as regulators
	// too, at most all there are.
	Decoys int
	// Scaled draws Highest, exponential with the mean 5000, instead of leaving it
	// nil.
	Scaled bool
}

// meanHighest is that of a gene's highest expression.
const meanHighest = 5000

// backgroundPrefix begins the names of background genes.
const backgroundPrefix = "bgr_"

// Draw draws a model: the laws of a network, and of a background, which may be nil
// and whose genes are called bgr_ and their name.
func (d Drawing) Draw(rng *rand.Rand, network, background *Network) (*Model, error) {
	for _, share := range []float64{d.Activators, d.Following} {
		if !(share >= 0) || share > 1 {
			return nil, fmt.Errorf("%v is no share; give a number from 0 to 1", share)
		}
	}
	m := &Model{}
	for k, part := range []*Network{network, background} {
		if part == nil {
			continue
		}
		first := len(m.Names)
		for _, name := range part.Names {
			if k == 1 {
				name = backgroundPrefix + name
			} else if background != nil && strings.HasPrefix(name, backgroundPrefix) {
				return nil, fmt.Errorf("the gene %s is called like one of the background", name)
			}
			m.Names = append(m.Names, name)
		}
		m.Regulators = append(m.Regulators, make([][]int, len(part.Names))...)
		signs := make([][]int8, len(part.Names))
		for _, e := range part.Edges {
			sign := e.Sign
			if sign == 0 {
				sign = -1
				if rng.Float64() < d.Activators {
					sign = 1
				}
			}
			m.Regulators[first+e.Target] = append(m.Regulators[first+e.Target], first+e.Source)
			signs[e.Target] = append(signs[e.Target], sign)
		}
		for j := range part.Names {
			var l Law
			if !m.input(first + j) {
				l = drawKnownLaw(rng, signs[j], d.Steep)
			}
			m.Laws = append(m.Laws, l)
		}
		if k == 1 {
			m.Background = len(part.Names)
		}
	}
	m.drawListed(rng, d.Decoys)
	m.drawLeaders(rng, d.Following)
	if d.Scaled {
		for range m.Names {
			m.Highest = append(m.Highest, meanHighest*rng.ExpFloat64())
		}
	}
	return m, m.validate()
}

// drawListed lists the genes with targets and some without.
func (m *Model) drawListed(rng *rand.Rand, decoys int) {
	targets := make([]bool, m.foreground())
	for j, regulators := range m.Regulators[:m.foreground()] {
		for _, i := range regulators {
			targets[i] = targets[i] || i != j
		}
	}
	var idle []int
	for i, any := range targets {
		if any {
			m.Listed = append(m.Listed, i)
		} else {
			idle = append(idle, i)
		}
	}
	rng.Shuffle(len(idle), func(a, b int) { idle[a], idle[b] = idle[b], idle[a] })
	m.Listed = append(m.Listed, idle[:min(decoys, len(idle))]...)
	slices.Sort(m.Listed)
}

// drawLeaders lets a share of the inputs follow one of the others.
func (m *Model) drawLeaders(rng *rand.Rand, share float64) {
	var inputs []int
	for j := range m.foreground() {
		if m.input(j) {
			inputs = append(inputs, j)
		}
	}
	m.Leaders = slices.Repeat([]int{-1}, len(m.Names))
	rng.Shuffle(len(inputs), func(a, b int) { inputs[a], inputs[b] = inputs[b], inputs[a] })
	followers := min(int(share*float64(len(inputs))), max(len(inputs)-1, 0))
	for _, j := range inputs[:followers] {
		m.Leaders[j] = pick(rng, inputs[followers:]...)
	}
}

// drawKnownLaw draws the law of regulators with these signs. Which form a gene has
// follows from their number and signs, as in published output: two activators
// interact, an activator and a repressor compete or not, everything else is Hill.
func drawKnownLaw(rng *rand.Rand, signs []int8, steep bool) Law {
	n := len(signs)
	l := Law{Form: Hill, Signs: signs, Strength: make([]float64, n)}
	plus := 0
	for _, s := range signs {
		if s > 0 {
			plus++
		}
	}
	for range n {
		half := 0.0
		for half < .15 {
			half = .65 + .22*rng.NormFloat64()
		}
		exponent := 1.0
		switch {
		case steep:
			half, exponent = uniform(rng, .4, .6), uniform(rng, 2.6, 4.9)
		case n == 1 && rng.Float64() < .18:
			exponent = 2 + float64(failures(rng, .6, 5))
		}
		l.Half, l.Exponent = append(l.Half, half), append(l.Exponent, exponent)
	}
	activate := func(strength float64) {
		for k, s := range signs {
			if s > 0 {
				l.Strength[k] = strength
			}
		}
	}
	switch {
	case plus == 0:
		l.Basal = 1
	case n == 1:
		activate(1)
	case n == 2 && plus == 2 && !steep:
		l.Form, l.Exponent = Synergy, nil
		if rng.Float64() < .3 {
			l.Basal = .1
		}
		activate(1)
		l.Cooperation = 1 + float64(failures(rng, .8, 3))
	case n == 2 && !steep:
		l.Form, l.Exponent, l.Basal = pick(rng, Competitive, NonCompetitive), nil, .1
		activate(5)
	case plus == n:
		activate(2)
	default:
		l.Basal = .2
		activate(4)
	}
	return l
}

// failures counts trials before the first success of probability p, up to most.
func failures(rng *rand.Rand, p float64, most int) int {
	n := 0
	for n < most && rng.Float64() >= p {
		n++
	}
	return n
}
