package glad

import (
	"context"
	"errors"
	"math"

	"github.com/gladflow/gladflow/solver"
	"github.com/gladflow/gladflow/solver/dense"
)

// EdgeInputs runs the cells on a problem and returns the features named of the pairs i < j
// given: a slice for each feature, with a number for each pair. It is what an edge head is
// trained on: see NewEdgeDifferentiator. engine is asked for inverses. When ctx ends first
// its error is returned.
func (s Solver) EdgeInputs(ctx context.Context, engine dense.Engine, inputs []Feature, p solver.Problem, pairs [][2]int) ([][]float64, error) {
	m := s.Model
	for i, name := range inputs {
		if f := edgeFeatureOf(name); f == nil || f.posterior && m.Kind != GLADPM {
			return nil, invalid("edge.inputs", "number %d, %q, is no feature of a model of kind %q", i, name, m.Kind)
		}
	}
	var theta, z *dense.Sym
	var failed error
	est, err := s.Trajectory(ctx, p, func(k Step) {
		if k.Iteration == m.Iterations {
			if theta, z, failed = k.Pair(); failed == nil {
				theta, z = theta.Clone(), z.Clone()
			}
		}
	})
	if err = errors.Join(err, failed, ctx.Err()); err != nil {
		return nil, err
	}
	if theta == nil {
		return nil, est.Status.Err()
	}
	scaled, _ := m.Scaling.apply(p.S)
	t, err := m.edgeTable(ctx, engine, inputs, solver.Problem{S: scaled, Samples: p.Samples}, theta, z)
	if err != nil {
		return nil, err
	}
	x := rows(len(inputs), len(pairs))
	e := newEdgePairs(1)
	for f, name := range inputs {
		if of := edgeFeatureOf(name); of.table != nil {
			fill(x[f], of.table(t))
		}
	}
	for n, pair := range pairs {
		t.load(&e, pair[0], pair[1], pair[1]+1)
		for f, name := range inputs {
			if of := edgeFeatureOf(name); of.pair != nil {
				of.pair(t, &e, x[f][n:n+1])
			}
		}
	}
	return x, nil
}

// An EdgeDifferentiator is the weighted logistic loss of an edge head, with its gradient by
// the weights and biases of the head. It serves one goroutine.
type EdgeDifferentiator struct {
	network *network
	values  []float64
	batch   batch
}

// NewEdgeDifferentiator is that of heads like n, for up to most pairs at a time.
func NewEdgeDifferentiator(n Network, most int) *EdgeDifferentiator {
	d := &EdgeDifferentiator{}
	n.visit(func(v *float64) { d.values = append(d.values, *v) })
	d.network = compile(n, d.values, 0)
	for i := range d.network.features {
		d.network.features[i] = &feature{name: n.Inputs[i], fixed: true}
	}
	d.batch.fitAdjoint(d.network, most)
	return d
}

// Values are the weights and biases, layer after layer, each with its weights by rows
// first. What is written to them counts from the next call on.
func (d *EdgeDifferentiator) Values() []float64 { return d.values }

// Store sets the weights and biases of n, the network that d was made for, to Values.
func (d *EdgeDifferentiator) Store(n *Network) {
	i := 0
	n.visit(func(v *float64) { *v = d.values[i]; i++ })
}

// Loss is Σ w·log(1 + exp(∓logit)), − for edges and + for other pairs, of the pairs whose
// features are x, a slice for each. Its derivatives by Values are added to gradient, unless
// that is nil. logits, unless it is nil, is given what the head says.
func (d *EdgeDifferentiator) Loss(x [][]float64, edge []bool, weight, gradient, logits []float64) float64 {
	n := len(edge)
	copy(d.batch.inputs, x)
	out := d.network.run(&d.batch, n)[0][:n]
	var loss float64
	delta := d.batch.deltas[len(d.batch.deltas)-1][0]
	for k, v := range out {
		margin := v
		if !edge[k] {
			margin = -v
		}
		loss += weight[k] * softplus(-margin)
		by := -weight[k] * sigmoid(-margin)
		if !edge[k] {
			by = -by
		}
		delta[k] = by
	}
	copy(logits, out)
	if gradient != nil {
		d.network.backward(&d.batch, n, gradient)
	}
	return loss
}

// EdgeOdds is 1/(1 + e⁻ˣ), the probability that logits of a head stand for.
func EdgeOdds(x float64) float64 { return sigmoid(math.Max(x, -700)) }
