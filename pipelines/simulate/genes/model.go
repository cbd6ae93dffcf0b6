package genes

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/graph/simple"
	"gonum.org/v1/gonum/graph/topo"
)

// A Model is a network with the rate law of every gene.
type Model struct {
	// Names are those of the genes.
	Names []string
	// Regulators are those of every gene, as indices, in the order of its law. A
	// gene may regulate itself. One without regulators, or with itself alone, is an
	// input.
	Regulators [][]int
	// Laws are the rate laws of the genes that are no inputs.
	Laws []Law
	// Listed are the genes listed as regulators, ascending: all that regulate
	// another one of the foreground, and maybe some without a target.
	Listed []int
	// Background is the number of genes, the last ones, whose inputs are held
	// constant: their expression varies by noise alone. They and the others do not
	// regulate each other.
	Background int
	// Leaders, if not nil, say for every gene which input it follows, as 1 − x, or
	// are -1: half of the inputs do in published output. Leaders follow nobody.
	Leaders []int
	// Highest, if not nil, is the expression of every gene that stands for 1.
	Highest []float64
}

// Conditions say how samples of a Model are made.
type Conditions struct {
	// Samples is their number.
	Samples int
	// Biological is the noise of every rate, Measurement that of the table, and
	// Input that of an input that follows another: the standard deviation of the
	// logarithm, which fades near 1.
	Biological, Measurement, Input float64
}

// Sample draws samples: inputs uniform on 0..1, from which everything follows. The
// values are from 0 to 1, or to Highest where the model has it. An error says what
// is wrong with m or c.
func (m *Model) Sample(rng *rand.Rand, c Conditions) (*Set, error) {
	if err := m.validate(); err != nil {
		return nil, err
	}
	if c.Samples < FewestSamples {
		return nil, fmt.Errorf("%d samples are too few; give at least %d", c.Samples, FewestSamples)
	}
	for _, v := range []float64{c.Biological, c.Measurement, c.Input} {
		if !(v >= 0) || v > 2 {
			return nil, fmt.Errorf("%v is no standard deviation of noise; give a number from 0 to 2", v)
		}
	}
	t := newTable(len(m.Names), c.Samples)
	m.drawInputs(rng, t, c.Input)
	m.settle(rng, t, c.Biological)
	for j, column := range t {
		for r := range column {
			column[r] = disturb(rng, column[r], c.Measurement)
			if m.Highest != nil {
				column[r] *= m.Highest[j]
			}
		}
	}
	vary(rng, t)
	s := t.set("syntren", &network{parents: m.Regulators[:m.foreground()], listed: slices.Clone(m.Listed)}, m.sign)
	s.Names, s.Background = slices.Clone(m.Names), m.Background
	return s, nil
}

func (m *Model) foreground() int { return len(m.Names) - m.Background }

// input says whether gene j is one.
func (m *Model) input(j int) bool {
	return !slices.ContainsFunc(m.Regulators[j], func(i int) bool { return i != j })
}

func (m *Model) sign(target, k int) int8 {
	if m.input(target) {
		return 0
	}
	return m.Laws[target].Signs[k]
}

func (m *Model) validate() error {
	d := len(m.Names)
	if d == 0 || len(m.Regulators) != d || len(m.Laws) != d || m.Background < 0 || m.Background >= d || m.Highest != nil && len(m.Highest) != d || m.Leaders != nil && len(m.Leaders) != d {
		return errors.New("the lists of the model are not of one length, or all is background")
	}
	for j, leader := range m.Leaders {
		if leader >= 0 && (leader >= m.foreground() || !m.input(leader) || m.Leaders[leader] >= 0 || !m.input(j)) {
			return fmt.Errorf("gene %s cannot follow number %d, for only inputs follow, and only inputs that do not", m.Names[j], leader)
		}
	}
	for j, regulators := range m.Regulators {
		for k, i := range regulators {
			switch {
			case i < 0 || i >= d:
				return fmt.Errorf("gene %s has the regulator %d of %d genes", m.Names[j], i, d)
			case slices.Contains(regulators[:k], i):
				return fmt.Errorf("gene %s has the regulator %s twice", m.Names[j], m.Names[i])
			case (i < m.foreground()) != (j < m.foreground()):
				return fmt.Errorf("%s regulates %s, and one of them is background", m.Names[i], m.Names[j])
			}
		}
		if m.input(j) {
			continue
		}
		if err := m.Laws[j].validate(len(regulators)); err != nil {
			return fmt.Errorf("gene %s: %w", m.Names[j], err)
		}
	}
	return nil
}

// components are the genes in an order in which regulators come before their
// targets; genes that are in cycles together, or regulate themselves, are one
// component.
func (m *Model) components() [][]int {
	g := simple.NewDirectedGraph()
	for j := range m.Names {
		g.AddNode(simple.Node(j))
	}
	for j, regulators := range m.Regulators {
		for _, i := range regulators {
			if i != j {
				g.SetEdge(simple.Edge{F: simple.Node(i), T: simple.Node(j)})
			}
		}
	}
	// Nodes in cycles are nil in the order and follow in the error.
	order, err := topo.SortStabilized(g, nil)
	cycles, _ := err.(topo.Unorderable)
	var components [][]int
	for _, node := range order {
		if node != nil {
			components = append(components, []int{int(node.ID())})
			continue
		}
		var together []int
		for _, n := range cycles[0] {
			together = append(together, int(n.ID()))
		}
		slices.Sort(together)
		components, cycles = append(components, together), cycles[1:]
	}
	return components
}

// drawInputs draws those of the foreground for every sample, and one value for
// each of the background.
func (m *Model) drawInputs(rng *rand.Rand, t table, deviation float64) {
	for j, column := range t {
		if !m.input(j) {
			continue
		}
		if j >= m.foreground() {
			v := rng.Float64()
			for r := range column {
				column[r] = v
			}
			continue
		}
		for r := range column {
			column[r] = rng.Float64()
		}
	}
	for j, leader := range m.Leaders {
		if leader >= 0 {
			for r, x := range t[leader] {
				t[j][r] = disturb(rng, 1-x, deviation)
			}
		}
	}
}

// Sweeps towards the steady state of genes in a cycle: the change at which they
// end, the most of them, and how far each goes.
const (
	sweepTolerance = 1e-9
	mostSweeps     = 500
	sweepStep      = .5
)

// settle fills the genes that are no inputs with their steady state under
// biological noise, a draw for every gene and sample. Genes that oscillate are left
// where the sweeps end.
func (m *Model) settle(rng *rand.Rand, t table, deviation float64) {
	noise := newTable(len(t), len(t[0]))
	for _, column := range noise {
		for r := range column {
			column[r] = deviation * rng.NormFloat64()
		}
	}
	laws := make([]Law, len(t))
	for j, l := range m.Laws {
		if !m.input(j) {
			laws[j] = l.rescaled()
		}
	}
	var x []float64
	rate := func(j, r int) float64 {
		x = x[:0]
		for _, i := range m.Regulators[j] {
			x = append(x, t[i][r])
		}
		return displace(min(max(laws[j].rate(x), 0), 1), noise[j][r])
	}
	for _, component := range m.components() {
		j := component[0]
		switch {
		case m.input(j):
		case len(component) == 1 && !slices.Contains(m.Regulators[j], j):
			for r := range t[j] {
				t[j][r] = rate(j, r)
			}
		default:
			for r := range t[j] {
				for _, j := range component {
					t[j][r] = .5
				}
				for range mostSweeps {
					change := 0.0
					for _, j := range component {
						by := sweepStep * (rate(j, r) - t[j][r])
						t[j][r] += by
						change = max(change, math.Abs(by))
					}
					if change < sweepTolerance {
						break
					}
				}
			}
		}
	}
}
