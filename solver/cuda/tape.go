//go:build cuda

package cuda

import (
	"context"
	"errors"
	"fmt"

	"github.com/gladflow/gladflow/solver"
	"github.com/gladflow/gladflow/solver/cuda/driver"
	"github.com/gladflow/gladflow/solver/cuda/kernels"
	"github.com/gladflow/gladflow/solver/glad"
)

// A tape is a batch that can go back. Of every cell it keeps the eigendecomposition and Z
// (and U): 8(2K + 1)d² bytes for each problem, 488 MB at K = 30 and d = 1000. Θ is
// computed again on the way back, and the networks are evaluated again.
type tape struct {
	*batch
	examples []solver.Example
	loss     glad.Loss
	weights  []float64

	vectors, values driver.Pointer // of every cell
	zs, us          driver.Pointer // after every cell, and before the first
	truth           driver.Pointer

	// The derivatives by Z and U, and those by the parameters.
	byZ, byU, gradient driver.Pointer

	slots           driver.Pointer // of the derivatives by the weights: see adjoint.cuh
	sums            driver.Pointer // CellSums of every problem
	norm2, factor   driver.Pointer // n each: the derivative by ‖Z − Θ‖²F, and 2·weight of the loss
	scratch         driver.Pointer
	byLambda, byRow driver.Pointer // nd each, for posterior-mean cells
	totals          driver.Pointer // adjointTotals·n
	results         []float64      // pinned: totals, then sums

	// By problem: what AdjointCell was asked for, and what it returns.
	byNorm2, perLambda []float64
	total              []float64 // of the loss, so far
	byGain             []float64 // by entry of the plan, so far
	derivatives        []float64 // by the parameters
}

// The totals of a cell on the way back.
const (
	totalLoss = iota
	totalValues
	totalArgument
	totalRows
	adjointTotals
)

// parameters is the number of parameters.
func (s *session) parameters() int64 { return int64(len(s.plan.Values)) }

// slotLength is the largest length of a slot.
func (s *session) slotLength() int64 {
	var most int
	for k := range s.plan.Iterations {
		most = max(most, s.networks.Cell(k+1).Length)
	}
	return int64(most) + kernels.CellSums
}

// adjointKernels are those that go back through the networks.
func (s *session) adjointKernels() []kernels.Kernel {
	if s.plan.Kind == glad.GLADPM {
		return []kernels.Kernel{kernels.PosteriorAdjointEntries, kernels.PosteriorAdjointDiagonal}
	}
	return []kernels.Kernel{kernels.PaperAdjoint}
}

// adjointScratch is the largest scratch of those kernels, in bytes.
func (s *session) adjointScratch(d, n int) (most int64) {
	for _, k := range s.adjointKernels() {
		_, bytes := s.networks.AdjointBlocks(k, int64(d), n)
		most = max(most, bytes)
	}
	return most
}

// An array is memory of a tape, of count numbers.
type array struct {
	p     *driver.Pointer
	count int64
}

// arrays are all of a tape besides those of its batch.
func (t *tape) arrays() []array {
	s, d, n := t.session, t.dimension(), int64(t.n)
	matrices, cells := n*t.size(), int64(s.plan.Iterations)
	all := []array{
		{&t.vectors, cells * matrices}, {&t.values, cells * n * d}, {&t.zs, (cells + 1) * matrices},
		{&t.truth, matrices}, {&t.byZ, matrices}, {&t.gradient, n * s.parameters()},
		{&t.slots, n * (kernels.Slots(d) + 1) * s.slotLength()}, {&t.sums, n * kernels.CellSums},
		{&t.norm2, n}, {&t.factor, n}, {&t.totals, n * adjointTotals}, {&t.scratch, s.adjointScratch(t.d, t.n) / 8},
	}
	switch s.plan.Kind {
	case glad.ADMMu:
		all = append(all, array{&t.us, (cells + 1) * matrices}, array{&t.byU, matrices})
	case glad.GLADPM:
		all = append(all, array{&t.byLambda, n * d}, array{&t.byRow, n * d})
	}
	return all
}

// tapeBytes is the device memory of a tape for n problems of dimension d.
func (s *session) tapeBytes(d, n int) int64 {
	bytes := s.bytes(d, n)
	for _, a := range (&tape{batch: s.emptyBatch(d, n, 0)}).arrays() {
		bytes += 8 * a.count
	}
	return bytes
}

// reserveTape takes memory for as many of n examples as fit. It is 0 where a tape for all
// of them is kept.
func (s *session) reserveTape(d, n int) (fit int, bytes int64, err error) {
	for _, t := range s.kept {
		if t.d == d && t.n == n {
			return n, 0, nil
		}
	}
	fit, bytes, left := s.take(n, func(n int) int64 { return s.tapeBytes(d, n) })
	if fit == 0 {
		return 0, 0, s.tooLarge(fmt.Sprintf("training on an example of %d variables", d), bytes, left)
	}
	return fit, bytes, nil
}

// Differentiate implements glad.AdjointSession. Examples of one dimension are on the
// device together, as many as it has memory for; that is kept for the next call.
func (s *session) Differentiate(ctx context.Context, examples []solver.Example, loss glad.Loss, weights []float64, f func(i int, a glad.Adjoint) error) error {
	problems := make([]solver.Problem, len(examples))
	for i, e := range examples {
		problems[i] = e.Problem()
	}
	return s.each(ctx, problems, s.reserveTape, func(group []int, bytes int64) (err error) {
		t, err := s.takeTape(problems[group[0]].S.Len(), len(group), bytes)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, s.putTape(t)) }()
		if err := t.load(ctx, pick(problems, group), pick(examples, group), loss, pick(weights, group)); err != nil {
			return err
		}
		return together(ctx, group, func(m *meeting, k, i int) error {
			return f(i, &adjoint{tape: t, meeting: m, index: k})
		})
	})
}

// takeTape returns one that is kept, or a new one for which bytes were taken.
func (s *session) takeTape(d, n int, bytes int64) (*tape, error) {
	for i, t := range s.kept {
		if t.d == d && t.n == n {
			s.kept = append(s.kept[:i], s.kept[i+1:]...)
			return t, nil
		}
	}
	t := &tape{batch: s.emptyBatch(d, n, bytes)}
	t.byNorm2, t.perLambda, t.total = make([]float64, n), make([]float64, n), make([]float64, n)
	t.derivatives, t.byGain = make([]float64, n*len(s.plan.Values)), make([]float64, n*len(s.plan.Entries))
	if err := s.backend.device.Do(t.allocate); err != nil {
		return nil, errors.Join(err, t.free())
	}
	return t, nil
}

// putTape keeps a tape for the next call, unless work is queued on it that nobody waits for.
func (s *session) putTape(t *tape) error {
	if t.abandoned || t.broken != nil {
		return t.close()
	}
	s.kept = append(s.kept, t)
	return nil
}

// drop frees the tapes that are kept.
func (s *session) drop() (err error) {
	for _, t := range s.kept {
		err = errors.Join(err, t.close())
	}
	s.kept = nil
	return err
}

// allocate takes all memory, on the device's thread.
func (t *tape) allocate() error {
	if err := t.batch.allocate(); err != nil {
		return err
	}
	device := t.session.backend.device
	for _, a := range t.arrays() {
		if a.count == 0 {
			continue
		}
		p, err := device.Alloc(8 * a.count)
		if err != nil {
			return err
		}
		*a.p = p
		t.buffers = append(t.buffers, p)
	}
	results, err := device.AllocHost((adjointTotals + kernels.CellSums) * t.n)
	if err == nil {
		t.results = results
		t.pinned = append(t.pinned, results)
	}
	return err
}

// load uploads examples.
func (t *tape) load(ctx context.Context, problems []solver.Problem, examples []solver.Example, loss glad.Loss, weights []float64) error {
	t.examples, t.loss, t.weights, t.cells = examples, loss, weights, 0
	clear(t.total)
	clear(t.byGain)
	err := t.batch.load(ctx, problems)
	if err != nil {
		return err
	}
	for i, e := range examples {
		if err := t.send(ctx, t.at(t.truth, i), e.Truth.Raw()); err != nil {
			return err
		}
	}
	return t.enqueue(ctx, func(q *queue) { q.clear(t.gradient, 8*t.session.parameters()*int64(t.n)) })
}

// cell is what an array of matrices of every cell has of cell k, from 0 on.
func (t *tape) cell(p driver.Pointer, k int) driver.Pointer {
	if p == 0 {
		return 0
	}
	return p.At(8 * int64(k) * int64(t.n) * t.size())
}

// valuesOf are the eigenvalues of cell k, from 1 on.
func (t *tape) valuesOf(k int) driver.Pointer {
	return t.values.At(8 * int64(k-1) * int64(t.n) * t.dimension())
}

// takeInitial computes the first Z.
func (t *tape) takeInitial(ctx context.Context, offset float64) {
	t.whole.Lock()
	defer t.whole.Unlock()
	t.cells = 0
	if t.broken = t.initial(ctx, offset, t.failed); t.broken != nil {
		return
	}
	bytes := 8 * t.size() * int64(t.n)
	t.broken = t.enqueue(ctx, func(q *queue) {
		q.copy(t.zs, t.pair.z, bytes)
		q.clear(t.byZ, bytes)
		if t.us != 0 {
			q.clear(t.us, bytes)
			q.clear(t.byU, bytes)
		}
	})
}

// takeCell computes the next Z (and U), by way of the eigendecomposition.
func (t *tape) takeCell(ctx context.Context) {
	t.whole.Lock()
	defer t.whole.Unlock()
	t.broken = t.forward(ctx)
}

func (t *tape) forward(ctx context.Context) error {
	k := t.cells + 1
	vectors, values := t.cell(t.vectors, k-1), t.valuesOf(k)
	m := zStep{
		theta: t.work[workP], z: t.cell(t.zs, k-1), toZ: t.cell(t.zs, k),
		u: t.cell(t.us, k-1), toU: t.cell(t.us, k),
	}
	norms := t.figures[:t.n]
	err := t.do(ctx, func(q *queue) {
		t.upload(q, t.device.lambda, t.n, func(i int) float64 { return t.lambdas[i] })
		q.over(kernels.ThetaArgument, t.n, t.dimension(), vectors, t.s, m.z, m.u, t.device.lambda)
		t.norms(q, vectors, norms)
	})
	if err != nil {
		return err
	}
	t.finite(norms, glad.ErrRange)
	if err := t.decomposeAll(ctx, vectors, values, t.failed); err != nil {
		return err
	}
	if err := t.enqueue(ctx, func(q *queue) { t.thetaOf(q, m.theta, vectors, values, t.work[workW]) }); err != nil {
		return err
	}
	if err := t.zStep(ctx, k, m, t.batch.norm2); err != nil {
		return err
	}
	t.finite(t.batch.norm2, glad.ErrRange)
	t.cells++
	return nil
}
