package glad

import (
	"maps"
	"slices"
)

// Values returns the trained numbers of m as one vector: of ρnn, or of the
// posterior-mean cells in order, each with its step first; then of Λnn; then
// t. A network gives layer after layer, each with its weights by rows and then
// its biases.
func (m *Model) Values() []float64 {
	var v []float64
	m.visit(func(p *float64) { v = append(v, *p) })
	return v
}

// SetValues is the inverse of Values. It panics if values has another length
// than m.Parameters().
func (m *Model) SetValues(values []float64) {
	if len(values) != m.Parameters() {
		panic("glad: a model is given a vector of another length than it has parameters")
	}
	i := 0
	m.visit(func(p *float64) { *p = values[i]; i++ })
}

// Parameters is the number of trained numbers: the weights and biases of all
// networks, the steps of posterior-mean cells, and t. It is 54 for the
// architecture of the paper.
func (m *Model) Parameters() int {
	n := 0
	m.visit(func(*float64) { n++ })
	return n
}

// visit calls f with every trained number, in the order of Values.
func (m *Model) visit(f func(*float64)) {
	m.Rho.visit(f)
	for i := range m.Cells {
		f(&m.Cells[i].Step)
		m.Cells[i].Network.visit(f)
	}
	m.Lambda.visit(f)
	f(&m.Theta0Offset)
}

func (n *Network) visit(f func(*float64)) {
	for i := range n.Layers {
		l := &n.Layers[i]
		for _, row := range l.Weights {
			for j := range row {
				f(&row[j])
			}
		}
		for j := range l.Bias {
			f(&l.Bias[j])
		}
	}
}

// Clone returns a copy that shares no memory with m.
func (m *Model) Clone() *Model {
	c := *m
	c.Rho, c.Lambda, c.Edge = m.Rho.clone(), m.Lambda.clone(), m.Edge.clone()
	c.EdgeRange = maps.Clone(m.EdgeRange)
	c.Cells = slices.Clone(m.Cells)
	for i := range c.Cells {
		c.Cells[i].Network = c.Cells[i].Network.clone()
	}
	if m.Regulators != nil {
		w := *m.Regulators
		c.Regulators = &w
	}
	c.Card = m.Card.Clone()
	return &c
}

func (n Network) clone() Network {
	n.Inputs, n.Layers = slices.Clone(n.Inputs), slices.Clone(n.Layers)
	for i := range n.Layers {
		l := &n.Layers[i]
		l.Bias, l.Weights = slices.Clone(l.Bias), slices.Clone(l.Weights)
		for j := range l.Weights {
			l.Weights[j] = slices.Clone(l.Weights[j])
		}
	}
	return n
}
