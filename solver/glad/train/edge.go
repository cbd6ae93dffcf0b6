package train

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/gladflow/gladflow/solver/glad"
	"github.com/gladflow/gladflow/solver/internal/adam"
)

// An EdgeTable is what a table with a known network has to teach an edge head: the features
// of some of its pairs, which of them are edges, and what they count.
type EdgeTable struct {
	// Inputs has a slice for each feature: see glad.Solver.EdgeInputs.
	Inputs [][]float64
	// Edge and Weight have a value for each pair.
	Edge   []bool
	Weight []float64
}

// EdgeSettings of FitEdges. The zero value of every field is its default.
type EdgeSettings struct {
	// Members is the number of networks, from first weights and in orders of their own, whose
	// mean the head is. Default: 3.
	Members int
	// Units is the number of hidden units of each. Default: 16.
	Units int
	// Epochs is how often every pair is seen. Default: 8.
	Epochs int
	// Batch is the number of pairs of a step. Default: 1024.
	Batch int
	// LearningRate is Adam's in the beginning; it falls to 0 along half a cosine.
	// Default: 0.01.
	LearningRate float64
	// Seed chooses the first weights and the orders.
	Seed uint64
	// Progress, if set, is told after every epoch.
	Progress func(EdgeProgress)
}

// An EdgeProgress is the state of FitEdges after an epoch.
type EdgeProgress struct {
	// Member counts the networks from 1, Epoch the epochs of this one.
	Member, Members, Epoch, Epochs int
	// Loss is that of the epoch's pairs, Validation that of the validation tables, Best the
	// least of this network.
	Loss, Validation, Best float64
}

func (s EdgeSettings) resolved() EdgeSettings {
	for _, n := range []struct {
		to    *int
		value int
	}{{&s.Members, 3}, {&s.Units, 16}, {&s.Epochs, 8}, {&s.Batch, 1024}} {
		if *n.to == 0 {
			*n.to = n.value
		}
	}
	if s.LearningRate == 0 {
		s.LearningRate = 0.01
	}
	return s
}

// An EdgeResult is what FitEdges finds.
type EdgeResult struct {
	// Network is the head: one hidden layer with the units of all members.
	Network glad.Network
	// Range are the ranges of the features of the table among the training pairs.
	Range map[glad.Feature]glad.EdgeRange
	// Validation is its loss on the validation tables.
	Validation float64
	// Pairs is the number of training pairs.
	Pairs int
}

// ErrNoEdges says that there is nothing to learn from.
var ErrNoEdges = errors.New("train: there are no edges, or no pairs without one, to learn an edge head from")

// FitEdges fits an edge head to the weighted logistic loss over pairs of tables,
//
//	Σ w·log(1 + exp(∓logit)) / Σ w
//
// − for edges and + for other pairs, by Adam on exact derivatives. Weights must not depend
// on the networks but by the drawing of pairs, of which they are the inverse probability:
// then the head says probabilities. Features are standardised by the mean and deviation over
// the training pairs, which are folded into the first layer. Each member is, of the networks
// after every epoch, the best on the validation tables; the head is the mean of their logits.
// The same tables and settings give the same bits on the same machine. When ctx ends first
// its error is returned.
func FitEdges(ctx context.Context, inputs []glad.Feature, training, validation []EdgeTable, s EdgeSettings) (*EdgeResult, error) {
	s = s.resolved()
	pairs, held := joinEdges(len(inputs), training), joinEdges(len(inputs), validation)
	if !pairs.both() || len(held.edge) == 0 {
		return nil, ErrNoEdges
	}
	ranges := make(map[glad.Feature]glad.EdgeRange)
	for k, name := range inputs {
		if slices.Contains(glad.EdgeTableFeatures(), name) {
			ranges[name] = glad.EdgeRange{slices.Min(pairs.inputs[k]), slices.Max(pairs.inputs[k])}
		}
	}
	mean, deviation := pairs.moments()
	pairs.standardise(mean, deviation)
	held.standardise(mean, deviation)
	r := &EdgeResult{Pairs: len(pairs.edge), Range: ranges}
	for member := range s.Members {
		net, err := fitMember(ctx, inputs, pairs, held, s, member)
		if err != nil {
			return nil, err
		}
		join(&r.Network, net, 1/float64(s.Members))
	}
	r.Validation = held.loss(glad.NewEdgeDifferentiator(r.Network, s.Batch), s.Batch)
	foldStandard(&r.Network, mean, deviation)
	return r, nil
}

// join adds the share of a network of one hidden layer to another one.
func join(to *glad.Network, net glad.Network, share float64) {
	if to.Layers == nil {
		*to = glad.Network{Inputs: net.Inputs, Layers: []glad.Layer{
			{Activation: net.Layers[0].Activation}, {Activation: net.Layers[1].Activation, Weights: [][]float64{nil}, Bias: []float64{0}},
		}}
	}
	hidden, out := &to.Layers[0], &to.Layers[1]
	hidden.Weights = append(hidden.Weights, net.Layers[0].Weights...)
	hidden.Bias = append(hidden.Bias, net.Layers[0].Bias...)
	for _, w := range net.Layers[1].Weights[0] {
		out.Weights[0] = append(out.Weights[0], share*w)
	}
	out.Bias[0] += share * net.Layers[1].Bias[0]
}

// fitMember fits one network to pairs, which are standardised.
func fitMember(ctx context.Context, inputs []glad.Feature, pairs, held *edgePairs, s EdgeSettings, member int) (glad.Network, error) {
	rng := rand.New(rand.NewPCG(s.Seed, 0xed6e<<16|uint64(member)))
	net := perceptron(rng, inputs, []int{s.Units, 1}, glad.Identity, []float64{-2})
	d := glad.NewEdgeDifferentiator(net, s.Batch)
	values := d.Values()
	optimiser, gradient := adam.New(len(values)), make([]float64, len(values))
	batch := newEdgePairs(len(inputs), s.Batch)
	order := make([]int, len(pairs.edge))
	for i := range order {
		order[i] = i
	}
	perEpoch := (len(order) + s.Batch - 1) / s.Batch
	total := pairs.total()
	best, least := make([]float64, len(values)), math.Inf(1)
	for epoch := range s.Epochs {
		rng.Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
		var loss float64
		for b := range perEpoch {
			if err := ctx.Err(); err != nil {
				return net, err
			}
			n := batch.gather(pairs, order[b*s.Batch:min((b+1)*s.Batch, len(order))])
			clear(gradient)
			loss += d.Loss(batch.inputs, batch.edge[:n], batch.weight[:n], gradient, nil) / total
			scale := float64(len(order)) / float64(n) / total // a mean over pairs of weight 1
			for i := range gradient {
				gradient[i] *= scale
			}
			done := float64(epoch*perEpoch+b) / float64(s.Epochs*perEpoch)
			optimiser.Step(values, gradient, s.LearningRate*(1+math.Cos(math.Pi*done))/2)
		}
		now := held.loss(d, s.Batch)
		if now < least {
			least = now
			copy(best, values)
		}
		if s.Progress != nil {
			s.Progress(EdgeProgress{member + 1, s.Members, epoch + 1, s.Epochs, loss, now, least})
		}
	}
	copy(values, best)
	d.Store(&net)
	return net, nil
}

// foldStandard makes a network of standardised features one of the features.
func foldStandard(n *glad.Network, mean, deviation []float64) {
	first := &n.Layers[0]
	for u, row := range first.Weights {
		for k := range row {
			row[k] /= deviation[k]
			first.Bias[u] -= row[k] * mean[k]
		}
	}
}

// edgePairs are those of several tables.
type edgePairs struct {
	inputs [][]float64
	edge   []bool
	weight []float64
}

func newEdgePairs(width, n int) *edgePairs {
	p := &edgePairs{inputs: make([][]float64, width), edge: make([]bool, n), weight: make([]float64, n)}
	for k := range p.inputs {
		p.inputs[k] = make([]float64, n)
	}
	return p
}

func joinEdges(width int, tables []EdgeTable) *edgePairs {
	n := 0
	for _, t := range tables {
		n += len(t.Edge)
	}
	p := newEdgePairs(width, n)
	at := 0
	for _, t := range tables {
		copy(p.edge[at:], t.Edge)
		copy(p.weight[at:], t.Weight)
		for k := range p.inputs {
			copy(p.inputs[k][at:], t.Inputs[k])
		}
		at += len(t.Edge)
	}
	return p
}

func (p *edgePairs) both() bool {
	edges := 0
	for _, is := range p.edge {
		if is {
			edges++
		}
	}
	return edges > 0 && edges < len(p.edge)
}

func (p *edgePairs) total() (sum float64) {
	for _, w := range p.weight {
		sum += w
	}
	return sum
}

// moments are the weighted means and standard deviations of the features.
func (p *edgePairs) moments() (mean, deviation []float64) {
	total := p.total()
	mean, deviation = make([]float64, len(p.inputs)), make([]float64, len(p.inputs))
	for k, x := range p.inputs {
		for i, v := range x {
			mean[k] += p.weight[i] * v / total
		}
		for i, v := range x {
			deviation[k] += p.weight[i] * (v - mean[k]) * (v - mean[k]) / total
		}
		deviation[k] = math.Sqrt(deviation[k])
		if deviation[k] < 1e-9*(1+math.Abs(mean[k])) {
			deviation[k] = 1 // a constant teaches nothing
		}
	}
	return mean, deviation
}

func (p *edgePairs) standardise(mean, deviation []float64) {
	for k, x := range p.inputs {
		for i, v := range x {
			x[i] = (v - mean[k]) / deviation[k]
		}
	}
}

// gather makes p the pairs of from that are named.
func (p *edgePairs) gather(from *edgePairs, which []int) int {
	for n, i := range which {
		p.edge[n], p.weight[n] = from.edge[i], from.weight[i]
	}
	for k, x := range from.inputs {
		to := p.inputs[k]
		for n, i := range which {
			to[n] = x[i]
		}
	}
	return len(which)
}

// loss is the mean loss of all pairs.
func (p *edgePairs) loss(d *glad.EdgeDifferentiator, batch int) float64 {
	var sum float64
	x := make([][]float64, len(p.inputs))
	for from := 0; from < len(p.edge); from += batch {
		to := min(from+batch, len(p.edge))
		for k, v := range p.inputs {
			x[k] = v[from:to]
		}
		sum += d.Loss(x, p.edge[from:to], p.weight[from:to], nil, nil)
	}
	return sum / p.total()
}
