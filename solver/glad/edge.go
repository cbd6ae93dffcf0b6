package glad

import (
	"context"

	"github.com/gladflow/gladflow/solver"
	"github.com/gladflow/gladflow/solver/dense"
)

// The edge head is a network that says how likely a pair of variables is an edge: of the
// problem and of the precision matrix that the cells have found it makes the logarithm of
// the odds. It is a part of the model file, and what it says is a probability under the
// networks that it was trained on: see Model.Edge.
//
// Its features are made of correlations, partial correlations and M alone. So it is
// symmetric in i and j, commutes with permutations of the variables and with changes of
// sign, and does not see the scales of the variables.

// HasEdgeHead says whether the model gives probabilities of edges.
func (m *Model) HasEdgeHead() bool { return len(m.Edge.Inputs) > 0 || len(m.Edge.Layers) > 0 }

// EdgeProbability is the probability of an edge of every pair of variables: d×d, symmetric to
// the last bit, finite, zeros on the diagonal; nil for a model without a head. familiar says
// that the table is like those that the head was trained on: see Model.EdgeRange. precision and
// support are Θ, positive definite, and Z, which the model has made of p; p is valid. It is computed in host memory,
// by rows, on as many goroutines as engine has threads, whose number does not change the
// result; engine inverts one matrix. It takes two more matrices at a time, one of them the
// result's. When ctx ends first its error is returned.
func (m *Model) EdgeProbability(ctx context.Context, engine dense.Engine, p solver.Problem, precision, support *dense.Sym) (probability *dense.Sym, familiar bool, err error) {
	if !m.HasEdgeHead() {
		return nil, false, nil
	}
	t, err := newEdgeTable(ctx, engine, p, precision, support)
	if err != nil {
		return nil, false, err
	}
	familiar = t.familiar(m.EdgeRange)
	probability, err = t.probabilities(ctx, m.Edge)
	return probability, familiar, err
}

// An EdgeRange is the least and the largest value of a feature of the table in a training.
type EdgeRange [2]float64

// familiar says whether no feature of the table is further outside of its range than a tenth of
// the range's width. A table of one variable has no pair that it could matter to.
func (t *edgeTable) familiar(ranges map[Feature]EdgeRange) bool {
	const margin = 0.1
	for name, r := range ranges {
		v, more := edgeFeatureOf(name).table(t), margin*(r[1]-r[0])
		if t.d > 1 && !(v >= r[0]-more && v <= r[1]+more) {
			return false
		}
	}
	return true
}

// EdgeTableFeatures are the features of EdgeFeatures that are of the table.
func EdgeTableFeatures() []Feature {
	var names []Feature
	for _, f := range edgeFeatures {
		if f.table != nil {
			names = append(names, f.name)
		}
	}
	return names
}

const (
	// edgeEntries is how many pairs the head is evaluated at together.
	edgeEntries = 256
	// edgeRows is how many rows are one piece of work.
	edgeRows = 8
	// edgeShared is the d from which the rows of one problem are divided among threads.
	edgeShared = 256
)

// probabilities evaluates the head n. The result takes the memory of the shrunk inverse,
// which t does not have any more.
func (t *edgeTable) probabilities(ctx context.Context, n Network) (*dense.Sym, error) {
	n = t.fold(n)
	network, _ := compileEdge(n)
	var features []*edgeFeature
	for _, name := range n.Inputs {
		features = append(features, edgeFeatureOf(name))
	}
	type worker struct {
		batch batch
		pairs edgePairs
	}
	workers := make([]worker, t.workers())
	for w := range workers {
		workers[w].batch.fit(network, edgeEntries)
		workers[w].pairs = newEdgePairs(edgeEntries)
	}
	to := t.shrunk
	err := t.eachRow(ctx, func(w, i int) {
		k, row := &workers[w], to.Row(i)
		for from := i + 1; from < t.d; from += edgeEntries {
			end := min(t.d, from+edgeEntries)
			t.load(&k.pairs, i, from, end)
			for f := range features {
				features[f].pair(t, &k.pairs, k.batch.inputs[f][:end-from])
			}
			for j, v := range network.run(&k.batch, end-from)[0][:end-from] {
				row[from+j] = sigmoid(v)
			}
		}
		row[i] = 0
	})
	if err != nil {
		return nil, err
	}
	t.shrunk = nil
	for i := range t.d {
		for j := range i {
			to.Row(i)[j] = to.Row(j)[i]
		}
	}
	return to, nil
}

// fold is n for the pairs of t: the features of the table, which all of them share, become
// a part of the biases.
func (t *edgeTable) fold(n Network) Network {
	first := n.Layers[0]
	folded := Layer{Activation: first.Activation, Scale: first.Scale, Bias: append([]float64(nil), first.Bias...), Weights: make([][]float64, len(first.Weights))}
	var inputs []Feature
	for k, name := range n.Inputs {
		f := edgeFeatureOf(name)
		if f.pair != nil {
			inputs = append(inputs, name)
		}
		for u, row := range first.Weights {
			if f.pair != nil {
				folded.Weights[u] = append(folded.Weights[u], row[k])
			} else {
				folded.Bias[u] += row[k] * f.table(t)
			}
		}
	}
	return Network{Inputs: inputs, Layers: append([]Layer{folded}, n.Layers[1:]...)}
}

// compileEdge is compile for a network of edge features, with the values that it is laid out
// over.
func compileEdge(n Network) (c *network, values []float64) {
	n.visit(func(v *float64) { values = append(values, *v) })
	c = compile(n, values, 0)
	for i := range c.features {
		c.features[i] = &feature{name: n.Inputs[i], fixed: true}
	}
	return c, values
}

// workers is the number of goroutines that work on t.
func (t *edgeTable) workers() int {
	if t.d < edgeShared {
		return 1 // smaller ones come many at a time
	}
	return max(1, t.threads)
}

// eachRow calls f for every row. worker is less than workers.
func (t *edgeTable) eachRow(ctx context.Context, f func(worker, i int)) error {
	pieces := (t.d + edgeRows - 1) / edgeRows
	return dense.Each(ctx, pieces, t.workers(), func(worker, piece int) error {
		for i := piece * edgeRows; i < min(t.d, (piece+1)*edgeRows); i++ {
			f(worker, i)
		}
		return nil
	})
}

// EdgeParameters is the number of weights and biases of the edge head.
func (m *Model) EdgeParameters() int { return m.Edge.parameters() }
