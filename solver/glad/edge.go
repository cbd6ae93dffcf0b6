package glad

import (
	"context"
	"math"

	"github.com/gladflow/gladflow/solver"
	"github.com/gladflow/gladflow/solver/dense"
)

// The edge head is a network that says how likely a pair of variables is an edge: from
// Θ and Z of the last cell and from the problem, it makes the logarithm of the odds. It is a
// part of the model file, and what it says is a probability under the networks that it was
// trained on: see Model.Edge.
//
// Its features depend on correlations, on partial correlations and on M only. So it is
// symmetric in i and j, commutes with permutations of the variables and with changes of
// sign, and does not see the scales of the variables.

// EdgeProbability is the probability of an edge of every pair of variables: d×d, symmetric,
// finite, zeros on the diagonal; nil for a model without a head. theta and z are Θ and Z of
// the last cell, in any units; p is the problem, which must be valid. engine is asked for one
// or two inverses. The number of threads does not change the result.
//
// When ctx ends first its error is returned.
func (m *Model) EdgeProbability(ctx context.Context, engine dense.Engine, p solver.Problem, theta, z *dense.Sym) (*dense.Sym, error) {
	if m.Edge.isZero() {
		return nil, nil
	}
	t, err := m.edgeTable(ctx, engine, m.Edge.Inputs, p, theta, z)
	if err != nil {
		return nil, err
	}
	return t.probabilities(ctx, m.Edge)
}

func (n Network) isZero() bool { return len(n.Inputs) == 0 && len(n.Layers) == 0 }

const (
	// edgeEntries is how many pairs the head is evaluated at together.
	edgeEntries = 256
	// edgeRows is how many rows are one piece of work.
	edgeRows = 8
	// edgeShared is the d from which the rows of one problem are divided among threads.
	edgeShared = 256
)

// probabilities evaluates the head n, whose inputs t was made for. The result takes the
// memory of a matrix of t, which is of no use any more.
func (t *edgeTable) probabilities(ctx context.Context, n Network) (*dense.Sym, error) {
	n = n.within(t)
	network := compileEdge(n)
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
	err := t.eachPiece(ctx, func(w, i int) {
		k := &workers[w]
		for from := i + 1; from < t.d; from += edgeEntries {
			end := min(t.d, from+edgeEntries)
			t.load(&k.pairs, i, from, end)
			for f, name := range n.Inputs {
				edgeFeatureOf(name).pair(t, &k.pairs, k.batch.inputs[f][:end-from])
			}
			logit := network.run(&k.batch, end-from)[0][:end-from]
			for j, v := range logit {
				to.Row(i)[from+j] = sigmoid(v)
			}
		}
		to.Row(i)[i] = 0
	})
	if err != nil {
		return nil, err
	}
	for i := range t.d {
		for j := range i {
			to.Row(i)[j] = to.Row(j)[i]
		}
	}
	return to, nil
}

// within is n for the pairs of one table: the features of the table, which are the same for
// all of them, become a part of the biases.
func (n Network) within(t *edgeTable) Network {
	first := n.Layers[0]
	var pairs Network
	folded := Layer{Activation: first.Activation, Scale: first.Scale, Bias: append([]float64(nil), first.Bias...), Weights: make([][]float64, len(first.Weights))}
	for k, name := range n.Inputs {
		f := edgeFeatureOf(name)
		if f.table == nil {
			pairs.Inputs = append(pairs.Inputs, name)
		}
		for u, row := range first.Weights {
			if f.table != nil {
				folded.Bias[u] += row[k] * f.table(t)
			} else {
				folded.Weights[u] = append(folded.Weights[u], row[k])
			}
		}
	}
	pairs.Layers = append([]Layer{folded}, n.Layers[1:]...)
	return pairs
}

// compileEdge is compile for a network of edge features.
func compileEdge(n Network) *network {
	var values []float64
	n.visit(func(v *float64) { values = append(values, *v) })
	c := compile(n, values, 0)
	for i := range c.features {
		c.features[i] = &feature{name: n.Inputs[i], fixed: true}
	}
	return c
}

// workers is the number of goroutines that work on t.
func (t *edgeTable) workers() int {
	if t.d < edgeShared {
		return 1
	}
	return max(1, t.threads)
}

// eachPiece calls f for every row, from several goroutines where there are many.
func (t *edgeTable) eachPiece(ctx context.Context, f func(worker, i int)) error {
	pieces := (t.d + edgeRows - 1) / edgeRows
	return dense.Each(ctx, pieces, t.workers(), func(worker, piece int) error {
		for i := piece * edgeRows; i < min(t.d, (piece+1)*edgeRows); i++ {
			f(worker, i)
		}
		return nil
	})
}

// inverse is a⁻¹ of a positive definite matrix; nil where float64 does not have it.
func inverse(ctx context.Context, engine dense.Engine, a *dense.Sym) (*dense.Sym, error) {
	to := dense.NewSym(a.Len(), nil)
	ok := false
	err := dense.AwaitLong(ctx, a.Len(), func() { _, ok = dense.NewWorkspace(engine, a.Len()).Inverse(to, a) })
	if err != nil {
		return nil, err
	}
	if !ok || !to.Finite() {
		return nil, nil
	}
	return to, nil
}

// oas is the weight of the identity with which a d×d correlation of m Gaussian samples has
// the least expected error: the oracle approximating shrinkage of Chen, Wiesel, Eldar and
// Hero, "Shrinkage algorithms for MMSE covariance estimation", IEEE Transactions on Signal
// Processing 58 (2010), eq. 23, which needs no samples as that of Ledoit and Wolf does.
// squares is the sum of the squares of all entries.
func oas(squares, m float64, d int) float64 {
	p := float64(d)
	up := (1-2/p)*squares + p*p
	down := (m + 1 - 2/p) * (squares - p)
	if !(down > up) { // down is 0 where nothing correlates
		return 1
	}
	return max(up/down, leastShrinkage)
}

// leastShrinkage keeps the shrunk correlation positive definite in float64.
const leastShrinkage = 1e-4

func rootOr(v, otherwise float64) float64 {
	if v > 0 {
		return math.Sqrt(v)
	}
	return otherwise
}
