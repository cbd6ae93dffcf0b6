package glad

import (
	"context"
	"math"
)

// The recursion of λ, forward and adjoint: λ ← Λnn(‖Z − Θ‖²F, λ) before every
// cell. It is all of the solver that lies outside of a Backend.

// lambdaLimit bounds λ and 1/λ, so that neither 4/λ nor S/λ can overflow.
const lambdaLimit = 1e200

// Resolution is the ratio below which the smallest eigenvalue of a d×d matrix
// can no longer be told from rounding next to the largest.
func Resolution(d int) float64 { return 16 * float64(d) * 0x1p-52 }

// penalty is the λ with which the cell works when Λnn says lambda: see "Limits of
// float64" in the comment of the package.
func (s Shape) penalty(lambda float64) float64 {
	root := Resolution(s.Dimension) * s.Norm
	floor := min(max(root*root, 1/lambdaLimit), lambdaLimit)
	return min(max(lambda, floor), lambdaLimit)
}

// A recursion runs the cells of one problem and remembers what it needs to go
// back. It serves one goroutine.
type recursion struct {
	lambda0 float64
	network *network // Λnn
	batch   batch
	trace   []call // by cell from 0
}

// A call is one evaluation of Λnn.
type call struct {
	inputs lambdaInputs
	// result is the λ of the cell; bounded says that it is not what Λnn
	// returned but a bound.
	result  float64
	bounded bool
}

// newRecursion returns one for m, whose Λnn is compiled as n.
func newRecursion(m *Model, n *network) *recursion {
	r := &recursion{lambda0: m.Lambda0, network: n, trace: make([]call, m.Iterations)}
	r.batch.fitAdjoint(n, 1)
	return r
}

// forward runs all cells after Initial. After every cell it calls observe,
// unless that is nil, with the number of the cell from 1, its λ and the
// ‖Z − Θ‖²F it ended with.
//
// It returns the number of complete cells, K unless there is an error: that of
// c, ctx.Err(), or ErrRange where λ is NaN.
func (r *recursion) forward(ctx context.Context, c Cells, observe func(k int, lambda, norm2 float64)) (int, error) {
	s := c.Shape()
	lambda, norm2 := r.lambda0, 0.0
	for i := range r.trace {
		t := &r.trace[i]
		t.inputs = lambdaInputs{k: i + 1, d: float64(s.Dimension), norm2: norm2, lambda: lambda, context: s.Context, table: s.Table}
		raw := r.call(t)
		lambda = s.penalty(raw)
		t.result, t.bounded = lambda, lambda != raw
		if math.IsNaN(lambda) {
			return i, ErrRange
		}
		var err error
		if norm2, err = c.Cell(ctx, lambda); err != nil {
			return i, err
		}
		if observe != nil {
			observe(i+1, lambda, norm2)
		}
	}
	return len(r.trace), nil
}

// call evaluates Λnn.
func (r *recursion) call(t *call) float64 {
	for i, f := range r.network.features {
		r.batch.inputs[i][0] = f.lambda.value(&t.inputs)
	}
	return r.network.run(&r.batch, 1)[0][0]
}

// backward is the adjoint of a forward that ran all cells: it adds the
// derivatives of the loss by all parameters to gradient, and returns the loss.
func (r *recursion) backward(ctx context.Context, a Adjoint, gradient []float64) (float64, error) {
	var by lambdaInputs // derivatives by ‖Z_k − Θ_k‖²F and, through λ_{k+1}, by λ_k
	for k := len(r.trace); k >= 1; k-- {
		t := &r.trace[k-1]
		byResult, err := a.AdjointCell(ctx, k, t.result, by.norm2, by.lambda)
		if err != nil {
			return 0, err
		}
		by = lambdaInputs{}
		if t.bounded {
			continue
		}
		r.call(t)
		r.batch.deltas[len(r.batch.deltas)-1][0][0] = byResult
		for i, d := range r.network.backward(&r.batch, 1, gradient) {
			if f := r.network.features[i]; !f.fixed {
				f.lambda.derivative(&t.inputs, &by, d[0])
			}
		}
	}
	return a.AdjointInitial(ctx, gradient)
}
