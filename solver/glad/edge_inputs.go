package glad

import (
	"context"
	"fmt"

	"github.com/gladflow/gladflow/solver"
	"github.com/gladflow/gladflow/solver/dense"
)

// EdgeInputs are the features named of the pairs i < j given, of a problem for which a
// model has found Θ and Z, as in Model.EdgeProbability: a slice for each feature, with a
// number for each pair. Edge heads are trained on them. When ctx ends first its error is
// returned.
func EdgeInputs(ctx context.Context, engine dense.Engine, inputs []Feature, p solver.Problem, precision, support *dense.Sym, pairs [][2]int) ([][]float64, error) {
	t, err := newEdgeTable(ctx, engine, p, precision, support)
	if err != nil {
		return nil, err
	}
	x := rows(len(inputs), len(pairs))
	e := newEdgePairs(1)
	for f, name := range inputs {
		of := edgeFeatureOf(name)
		switch {
		case of == nil:
			return nil, fmt.Errorf("%q is no feature of an edge head; choose from %q", name, EdgeFeatures())
		case of.table != nil:
			fill(x[f], of.table(t))
			continue
		}
		for n, pair := range pairs {
			t.load(&e, pair[0], pair[1], pair[1]+1)
			of.pair(t, &e, x[f][n:n+1])
		}
	}
	return x, nil
}

// An EdgeDifferentiator is the weighted logistic loss of an edge head, with its gradient by
// the weights and biases. It serves one goroutine.
type EdgeDifferentiator struct {
	network *network
	values  []float64
	batch   batch
}

// NewEdgeDifferentiator is that of heads like n, for up to most pairs at a time.
func NewEdgeDifferentiator(n Network, most int) *EdgeDifferentiator {
	d := &EdgeDifferentiator{}
	d.network, d.values = compileEdge(n)
	d.batch.fitAdjoint(d.network, most)
	return d
}

// Values are the weights and biases, layer after layer, each with its weights by rows
// first. What is written to them counts from the next call on.
func (d *EdgeDifferentiator) Values() []float64 { return d.values }

// Store sets the weights and biases of n, a head like that which d was made for, to Values.
func (d *EdgeDifferentiator) Store(n *Network) {
	i := 0
	n.visit(func(v *float64) { *v = d.values[i]; i++ })
}

// Loss is Σ w·log(1 + exp(∓logit)), − for edges and + for other pairs, of pairs whose
// features are x, a slice for each. Its derivatives by Values are added to gradient, unless
// that is nil. logits, unless it is nil, is set to what the head says.
func (d *EdgeDifferentiator) Loss(x [][]float64, edge []bool, weight, gradient, logits []float64) float64 {
	n := len(edge)
	copy(d.batch.inputs, x)
	out := d.network.run(&d.batch, n)[0][:n]
	copy(logits, out)
	delta := d.batch.deltas[len(d.batch.deltas)-1][0]
	var loss float64
	for k, v := range out {
		side := 1.0
		if edge[k] {
			side = -1
		}
		loss += weight[k] * softplus(side*v)
		delta[k] = weight[k] * side * sigmoid(side*v)
	}
	if gradient != nil {
		d.network.backward(&d.batch, n, gradient)
	}
	return loss
}
