// Package train fits the networks of a ranking.Model, and the probabilities that its
// scores stand for, to tables whose networks are known.
//
//	fitted, err := train.Fit(ctx, tables, width, train.Settings{Seed: 1})
//	if err != nil {
//		return err
//	}
//	model.Mean, model.Deviation, model.Networks = fitted.Mean, fitted.Deviation, fitted.Networks
//	probability, err := train.Calibrate(scored)
package train

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/gladflow/gladflow/solver/association/ranking"
	"github.com/gladflow/gladflow/solver/dense"
	"github.com/gladflow/gladflow/solver/internal/adam"
)

// A Table is what a table with a known network has to teach: the inputs of some of its
// pairs, and which of these are edges.
type Table struct {
	// Inputs has a row for each pair: the inputs of the pair, clipped, and after them
	// the context of the table.
	Inputs []float64
	// Edge has a value for each pair. There are both edges and others.
	Edge []bool
}

// Settings of Fit. The zero value of every field is its default.
type Settings struct {
	// Networks is how many are fitted, from first weights and in orders of their own.
	// Default: 5.
	Networks int
	// Units is the number of hidden units of each. Default: 16.
	Units int
	// Epochs is how often every pair is seen. Default: 10.
	Epochs int
	// Batch is the number of pairs of a step. Default: 512.
	Batch int
	// LearningRate is Adam's in the beginning; it falls to 0 along half a cosine.
	// Default: 0.003.
	LearningRate float64
	// Decay is the factor of the squares of the weights, halved, that are added to
	// the loss. Default: 0.001.
	Decay float64
	// Seed chooses first weights and orders.
	Seed uint64
	// Workers is the number of networks at work at once. Default: dense.Cores(). It
	// does not change the result.
	Workers int
	// Progress, if set, is told after every epoch of a network how many of all are
	// done, one call after the other.
	Progress func(done, all int)
}

func (s Settings) resolved() Settings {
	for _, n := range []struct {
		to    *int
		value int
	}{{&s.Networks, 5}, {&s.Units, 16}, {&s.Epochs, 10}, {&s.Batch, 512}} {
		if *n.to == 0 {
			*n.to = n.value
		}
	}
	if s.LearningRate == 0 {
		s.LearningRate = 0.003
	}
	if s.Decay == 0 {
		s.Decay = 0.001
	}
	return s
}

// Fitted is what Fit finds: the fields of a ranking.Model of the same names.
type Fitted struct {
	Mean, Deviation []float64
	Networks        []ranking.Network
	// Loss is the mean of the networks' losses in their last epoch.
	Loss float64
}

// ErrNothing says that a fit has no edge, or no pair without one, to learn from.
var ErrNothing = errors.New("train: there are no edges, or no pairs without one, to learn from")

// Fit fits networks of width inputs, context included, by Adam to the logistic loss
//
//	Σ w·log(1 + exp(∓score))
//
// over edges (−) and other pairs (+). The weights w of the edges of a table sum to one
// half, and so do those of its other pairs: tables count alike, whatever their size,
// and edges like all other pairs. Inputs are standardised by the mean and the standard
// deviation over tables with the same weights. Tables with edges only, or none, are
// left out.
//
// The same tables in the same order and the same settings give the same bits on the
// same machine.
func Fit(ctx context.Context, tables []Table, width int, s Settings) (*Fitted, error) {
	s = s.resolved()
	pairs, err := flatten(tables, width)
	if err != nil {
		return nil, err
	}
	fitted := &Fitted{Networks: make([]ranking.Network, s.Networks)}
	fitted.Mean, fitted.Deviation = pairs.standardise()
	losses := make([]float64, s.Networks)
	progress := newCounter(s.Networks*s.Epochs, s.Progress)
	err = dense.Each(ctx, s.Networks, s.Workers, func(_, i int) error {
		rng := rand.New(rand.NewPCG(s.Seed, uint64(i)))
		net := newNetwork(rng, s.Units, width)
		loss, err := pairs.fit(ctx, rng, net, s, progress)
		losses[i], fitted.Networks[i] = loss, net.network()
		return err
	})
	if err != nil {
		return nil, err
	}
	for _, l := range losses {
		fitted.Loss += l / float64(len(losses))
	}
	return fitted, nil
}

// pairs are those of all tables.
type pairs struct {
	width  int
	inputs []float64 // a row for each pair
	sign   []float64 // 1 for an edge, −1 for another pair
	weight []float64 // their sum is their number
}

func flatten(tables []Table, width int) (*pairs, error) {
	p := &pairs{width: width}
	used := 0
	for i, t := range tables {
		if len(t.Inputs) != len(t.Edge)*width {
			return nil, fmt.Errorf("train: table %d has %d inputs for %d pairs; %d each are needed", i, len(t.Inputs), len(t.Edge), width)
		}
		edges := 0
		for _, edge := range t.Edge {
			if edge {
				edges++
			}
		}
		others := len(t.Edge) - edges
		if edges == 0 || others == 0 {
			continue
		}
		used++
		p.inputs = append(p.inputs, t.Inputs...)
		for _, edge := range t.Edge {
			if edge {
				p.sign, p.weight = append(p.sign, 1), append(p.weight, 0.5/float64(edges))
			} else {
				p.sign, p.weight = append(p.sign, -1), append(p.weight, 0.5/float64(others))
			}
		}
	}
	if used == 0 {
		return nil, ErrNothing
	}
	for _, v := range p.inputs {
		if v-v != 0 {
			return nil, fmt.Errorf("train: an input is %v; inputs must be finite", v)
		}
	}
	for i := range p.weight {
		p.weight[i] *= float64(len(p.weight)) / float64(used)
	}
	return p, nil
}

// standardise makes the weighted mean of every input 0 and its variance 1.
func (p *pairs) standardise() (mean, deviation []float64) {
	mean, deviation = make([]float64, p.width), make([]float64, p.width)
	n := float64(len(p.weight))
	for i, w := range p.weight {
		for k, v := range p.row(i) {
			mean[k] += w * v / n
		}
	}
	for i, w := range p.weight {
		for k, v := range p.row(i) {
			deviation[k] += w * (v - mean[k]) * (v - mean[k]) / n
		}
	}
	for k, v := range deviation {
		deviation[k] = math.Sqrt(v)
		if deviation[k] < 1e-9*(1+math.Abs(mean[k])) {
			deviation[k] = 1 // a constant teaches nothing
		}
	}
	for i := range p.weight {
		for k, v := range p.row(i) {
			p.row(i)[k] = (v - mean[k]) / deviation[k]
		}
	}
	return mean, deviation
}

func (p *pairs) row(i int) []float64 { return p.inputs[i*p.width : (i+1)*p.width] }

// fit fits one network and returns the loss of its last epoch.
func (p *pairs) fit(ctx context.Context, rng *rand.Rand, net *flat, s Settings, progress *counter) (float64, error) {
	optimiser := adam.New(len(net.values))
	gradient := make([]float64, len(net.values))
	n := len(p.sign)
	order := make([]int, n)
	for i := range order {
		order[i] = i
	}
	batch := min(s.Batch, n)
	perEpoch := n / batch // what is left over is in another epoch's batches
	var loss float64
	for epoch := range s.Epochs {
		rng.Shuffle(n, func(i, j int) { order[i], order[j] = order[j], order[i] })
		loss = 0
		for b := range perEpoch {
			if err := ctx.Err(); err != nil {
				return 0, err
			}
			clear(gradient)
			loss += net.loss(p, order[b*batch:(b+1)*batch], s.Decay, gradient) / float64(perEpoch)
			done := float64(epoch*perEpoch+b) / float64(s.Epochs*perEpoch)
			optimiser.Step(net.values, gradient, s.LearningRate*(1+math.Cos(math.Pi*done))/2)
		}
		progress.add()
	}
	return loss, nil
}
