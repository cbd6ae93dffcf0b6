package glad

import (
	"context"
	"math"
)

// A program is a model compiled for evaluation: its networks over one flat
// vector of parameters, and the recursion over the cells. It serves one
// goroutine at a time.
type program struct {
	model  *Model
	values []float64 // as Model.Values has them
	// entries are ρnn, or the networks of the posterior-mean cells.
	entries []*network
	steps   []int // index of e, by cell
	lambda  *network
	batch   batch // of lambda

	// trace holds what backward needs of forward, by cell from 0.
	trace []call
}

// A call is one evaluation of Λnn: its inputs, what it returned, and whether
// that was replaced by a bound.
type call struct {
	inputs  []float64
	norm2   float64 // that the inputs were made of
	lambda  float64
	bounded bool
}

// compile lays m out. frozen says that the values will not change, so that
// networks without weights become constants.
func (m *Model) compile(frozen bool) *program {
	p := &program{model: m, values: m.Values()}
	at := 0
	add := func(n Network) *network {
		c := compile(n, p.values, at)
		for _, l := range c.layers {
			at += l.units * (l.below + 1)
		}
		if frozen {
			c.fold()
		}
		return c
	}
	if m.Kind == GLADPM {
		for _, cell := range m.Cells {
			p.steps = append(p.steps, at)
			at++
			p.entries = append(p.entries, add(cell.Network))
		}
	} else {
		p.entries = []*network{add(m.Rho)}
	}
	p.lambda = add(m.Lambda)
	p.batch.fitAdjoint(p.lambda, 1)
	for range m.Iterations {
		p.trace = append(p.trace, call{inputs: make([]float64, len(m.Lambda.Inputs))})
	}
	return p
}

// offset is t.
func (p *program) offset() float64 { return p.values[len(p.values)-1] }

// entry is the network of cell k, from 1, and the number by which its own
// parameters are found.
func (p *program) entry(k int) (*network, int) {
	if len(p.entries) == 1 {
		return p.entries[0], 0
	}
	return p.entries[k-1], k - 1
}

// forward runs the K cells on e and remembers what backward needs of Λnn.
// See Model.Unroll.
func (p *program) forward(ctx context.Context, e Engine, s Shape, observe func(k int, lambda, norm2 float64)) (int, error) {
	if err := e.Initial(ctx, p.offset()); err != nil {
		return 0, err
	}
	lambda, norm2 := p.model.Lambda0, 0.0
	for k := 1; k <= len(p.trace); k++ {
		c := &p.trace[k-1]
		c.norm2 = norm2
		p.inputs(c, k, s, lambda)
		raw := p.call(c)
		lambda = s.penalty(raw)
		c.lambda, c.bounded = lambda, lambda != raw
		if math.IsNaN(lambda) {
			return k - 1, ErrRange
		}
		if err := e.Theta(ctx, lambda); err != nil {
			return k - 1, err
		}
		var err error
		if norm2, err = e.Z(ctx, lambda); err != nil {
			return k - 1, err
		}
		if observe != nil {
			observe(k, lambda, norm2)
		}
	}
	return len(p.trace), nil
}

// normFloor keeps the logarithm of a vanishing ‖Z − Θ‖²F/d finite.
const normFloor = 1e-6

// inputs fills c for cell k, with c.norm2 and the λ of the cell before.
func (p *program) inputs(c *call, k int, s Shape, lambda float64) {
	d := float64(s.Dimension)
	for i, f := range p.lambda.inputs {
		var v float64
		switch f {
		case Norm2:
			v = c.norm2
		case LogNorm2PerD:
			v = math.Log(normFloor + c.norm2/d)
		case LogStep:
			if k > 1 {
				v = math.Log(normFloor + c.norm2/d)
			}
		case Lambda:
			v = lambda
		case Context:
			v = s.Context
		}
		c.inputs[i] = v
	}
}

// call evaluates Λnn.
func (p *program) call(c *call) float64 {
	for i, v := range c.inputs {
		p.batch.inputs[i][0] = v
	}
	return p.lambda.run(&p.batch, 1)[0][0]
}

// backward is the adjoint of a forward that ran all cells on e: it adds the
// derivatives of the loss by the parameters to gradient. The engine knows the
// loss; it holds the derivatives by Θ and Z between the calls.
func (p *program) backward(ctx context.Context, e Adjoint, s Shape, gradient []float64) error {
	d := float64(s.Dimension)
	var byNorm2, byNext float64 // derivatives by ‖Z_k − Θ_k‖²F and, through λ_{k+1}, by λ_k
	for k := len(p.trace); k >= 1; k-- {
		c := &p.trace[k-1]
		byZ, err := e.AdjointZ(ctx, k, c.lambda, byNorm2, gradient)
		if err != nil {
			return err
		}
		byTheta, err := e.AdjointTheta(ctx, k, c.lambda)
		if err != nil {
			return err
		}
		byLambda := byNext + byZ + byTheta
		byNorm2, byNext = 0, 0
		if c.bounded {
			continue
		}
		p.call(c)
		p.batch.deltas[len(p.batch.deltas)-1][0][0] = byLambda
		for i, by := range p.lambda.backward(&p.batch, 1, gradient) {
			switch p.lambda.inputs[i] {
			case Norm2:
				byNorm2 += by[0]
			case LogNorm2PerD:
				byNorm2 += by[0] / (normFloor*d + c.norm2)
			case LogStep:
				if k > 1 {
					byNorm2 += by[0] / (normFloor*d + c.norm2)
				}
			case Lambda:
				byNext += by[0]
			}
		}
	}
	byOffset, err := e.AdjointInitial(ctx)
	if err != nil {
		return err
	}
	gradient[len(gradient)-1] += byOffset
	return nil
}
