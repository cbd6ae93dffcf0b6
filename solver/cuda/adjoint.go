//go:build cuda

package cuda

import (
	"context"
	"math"

	"github.com/gladflow/gladflow/solver/cuda/driver"
	"github.com/gladflow/gladflow/solver/cuda/kernels"
	"github.com/gladflow/gladflow/solver/glad"
)

// An adjoint is the glad.Adjoint of one problem of a tape.
type adjoint struct {
	*tape
	meeting *meeting
	index   int
}

var _ glad.Adjoint = (*adjoint)(nil)

// Shape implements glad.Cells.
func (a *adjoint) Shape() glad.Shape { return a.prepared[a.index].Shape }

// Initial implements glad.Cells.
func (a *adjoint) Initial(ctx context.Context, t float64) error {
	a.meeting.do(a.index, func() { a.takeInitial(ctx, t) })
	return a.outcome(a.index)
}

// Cell implements glad.Cells.
func (a *adjoint) Cell(ctx context.Context, lambda float64) (float64, error) {
	a.ask(a.index, lambda)
	a.meeting.do(a.index, func() { a.takeCell(ctx) })
	return a.batch.norm2[a.index], a.outcome(a.index)
}

// AdjointCell implements glad.Adjoint.
func (a *adjoint) AdjointCell(ctx context.Context, k int, lambda, byNorm2, byLambda float64) (float64, error) {
	a.ask(a.index, lambda)
	a.whole.Lock()
	a.byNorm2[a.index] = byNorm2
	a.whole.Unlock()
	a.meeting.do(a.index, func() {
		a.whole.Lock()
		defer a.whole.Unlock()
		a.broken = a.backward(ctx, k)
	})
	return byLambda + a.perLambda[a.index], a.outcome(a.index)
}

// AdjointInitial implements glad.Adjoint.
func (a *adjoint) AdjointInitial(ctx context.Context, gradient []float64) (float64, error) {
	a.meeting.do(a.index, func() {
		a.whole.Lock()
		defer a.whole.Unlock()
		a.broken = a.finish(ctx)
	})
	if err := a.outcome(a.index); err != nil {
		return 0, err
	}
	n := len(gradient)
	for i, v := range a.derivatives[a.index*n : (a.index+1)*n] {
		gradient[i] += v
	}
	return a.total[a.index], nil
}

// backward goes back through cell k of all problems: from the derivatives by Z (and U)
// after it to those by Z (and U) before it, and to perLambda.
func (t *tape) backward(ctx context.Context, k int) error {
	theta, h, product := t.work[workQ], t.work[workT], t.work[workW]
	vectors, values := t.cell(t.vectors, k-1), t.valuesOf(k)
	d := t.dimension()
	discount := math.Pow(t.loss.Gamma, float64(t.session.plan.Iterations-k))
	share := func(i int) float64 { return t.weights[i] * discount }
	err := t.do(ctx, func(q *queue) {
		t.upload(q, t.device.lambda, t.n, func(i int) float64 { return t.lambdas[i] })
		t.upload(q, t.norm2, t.n, func(i int) float64 { return t.byNorm2[i] })
		t.upload(q, t.factor, t.n, func(i int) float64 { return 2 * share(i) })
		t.thetaOf(q, theta, vectors, values, product)
		if t.loss.On == glad.LossOnZ {
			t.addLoss(q, t.byZ, t.cell(t.zs, k))
		}
		t.adjointZ(q, k, zStep{theta: theta, z: t.cell(t.zs, k-1), toZ: t.cell(t.zs, k), u: t.cell(t.us, k-1)}, h)
		if t.loss.On == glad.LossOnTheta {
			t.addLoss(q, h, theta)
		}
		// Through the Θ step, in the basis of the eigenvectors, which are the columns here.
		t.multiply(q, false, false, h, vectors, product)
		t.multiply(q, true, false, vectors, product, h)
		q.over(kernels.DividedDifferences, t.n, d, h, t.device.rows, values, t.device.phi, t.device.lambda)
		t.addUp(q, totalValues, d, t.device.rows)
		t.multiply(q, false, true, h, vectors, product)
		t.multiply(q, false, false, vectors, product, h)
		q.over(kernels.Mirror, t.n, d, h, int64(0))
		q.over(kernels.ThetaArgumentAdjoint, t.n, d, t.byZ, t.byU, t.device.rows, h, t.s)
		t.addUp(q, totalArgument, d, t.device.rows)
		q.download(t.results[:adjointTotals*t.n], t.totals)
		q.download(t.results[adjointTotals*t.n:], t.sums)
	})
	if err != nil {
		return err
	}
	sums := t.results[adjointTotals*t.n:]
	for i := range t.n {
		of := func(total int) float64 { return t.results[total*t.n+i] }
		lambda := t.lambdas[i]
		t.total[i] += share(i) * of(totalLoss)
		t.perLambda[i] = sums[i*kernels.CellSums] + (of(totalValues)+of(totalArgument))/(lambda*lambda)
		if t.session.plan.Kind == glad.GLADPM {
			t.perLambda[i] += of(totalRows)
			t.byGain[t.session.plan.Entry(k)*t.n+i] += sums[i*kernels.CellSums+2]
		}
	}
	return nil
}

// addLoss queues the share of the loss in x, and its derivative, which is added to by.
func (t *tape) addLoss(q *queue, by, x driver.Pointer) {
	q.over(kernels.AddLoss, t.n, t.dimension(), by, t.device.rows, x, t.truth, t.factor)
	t.addUp(q, totalLoss, t.dimension(), t.device.rows)
}

// addUp queues a total of every problem, the sum of count numbers.
func (t *tape) addUp(q *queue, total int, count int64, of driver.Pointer) {
	q.over(kernels.Sum, t.n, count, t.totals.At(8*int64(total)*int64(t.n)), of)
}

// multiply queues products of the matrices of all problems, by columns.
func (t *tape) multiply(q *queue, transA, transB bool, a, b, to driver.Pointer) {
	d := t.d
	q.try(func() error {
		if t.n == 1 {
			return q.handle.Gemm(transA, transB, d, d, d, 1, a, d, b, d, 0, to, d)
		}
		return q.handle.GemmStridedBatched(transA, transB, d, d, d, 1, a, d, d*d, b, d, d*d, 0, to, d, d*d, t.n)
	})
}

// adjointZ queues the way back through the Z step of cell k: from the derivatives by Z
// (and U) after it to byTheta and to those by Z (and U) before it.
func (t *tape) adjointZ(q *queue, k int, m zStep, byTheta driver.Pointer) {
	cell, s, d := t.session.networks.Cell(k), t.session, t.dimension()
	network := t.z.description.At(8 * int64(cell.At))
	length, slots := int64(cell.Length)+kernels.CellSums, kernels.Slots(d)
	launch := func(k kernels.Kernel, args ...any) {
		blocks, _ := s.networks.AdjointBlocks(k, d, t.n)
		q.launch(k, blocks, t.n, append(args, network, t.scratch, length, d)...)
	}
	collect := func(count int64) {
		q.over(kernels.CollectGradient, t.n, length, t.gradient, t.sums, t.slots, int64(s.plan.Entries[s.plan.Entry(k)].At),
			s.parameters(), count, slots+1)
	}
	lambda := t.device.lambda
	if s.plan.Kind != glad.GLADPM {
		launch(kernels.PaperAdjoint, byTheta, t.byZ, t.byU, t.slots, m.theta, t.s, m.z, m.toZ, m.u, t.norm2, lambda, t.batch.z.fixed)
		collect(slots)
		return
	}
	byLogSigma, bySupport := t.work[workY], t.work[workP]
	z, gain := &t.batch.z, s.plan.Gain(k)
	t.posteriorRows(q, m.theta, m.z)
	for _, kernel := range s.adjointKernels() {
		launch(kernel, byTheta, t.byZ, byLogSigma, bySupport, t.slots, m.theta, m.z, m.toZ, z.rows, z.mean, t.norm2, lambda, z.fixed, gain)
	}
	q.over(kernels.PosteriorAdjointRows, t.n, d, byTheta, t.byZ, t.byLambda, t.byRow, byLogSigma, bySupport, t.s, m.theta, m.z, z.rows, lambda)
	collect(slots + 1)
	t.addUp(q, totalRows, d, t.byLambda)
	q.over(kernels.PosteriorAdjointEnd, t.n, d, byTheta, t.byZ, m.z, t.byRow, t.sums)
}

// finish goes back through the first inverse, ∂(S + tI)⁻¹/∂t = −Θ0², and reads the
// derivatives by the parameters.
func (t *tape) finish(ctx context.Context) error {
	product, d := t.work[workW], t.dimension()
	err := t.do(ctx, func(q *queue) {
		t.multiply(q, false, false, t.zs, t.zs, product)
		q.over(kernels.RowProducts, t.n, d, t.device.rows, t.byZ, product)
		t.addUp(q, 0, d, t.device.rows)
		q.download(t.results[:t.n], t.totals)
		q.download(t.derivatives, t.gradient)
	})
	if err != nil {
		return err
	}
	p := t.session.plan
	n := len(p.Values)
	for i := range t.n {
		of := t.derivatives[i*n : (i+1)*n]
		of[n-1] -= t.results[i]
		if p.Kind == glad.GLADPM {
			for k, e := range p.Entries {
				of[e.Step] += t.byGain[k*t.n+i] * p.GainSlope(k)
			}
		}
	}
	return nil
}
