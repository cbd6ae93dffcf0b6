//go:build cuda

package cuda

import (
	"context"
	"errors"
	"sync"

	"github.com/gladflow/gladflow/solver"
	"github.com/gladflow/gladflow/solver/cuda/driver"
	"github.com/gladflow/gladflow/solver/cuda/kernels"
	"github.com/gladflow/gladflow/solver/cuda/library"
	"github.com/gladflow/gladflow/solver/glad"
)

// Slots of batch.work. The polar iteration moves what it has among the last four.
const (
	workY = iota
	workP
	workQ
	workW
	workT
	workMatrices
)

// A batch is the memory and the state of n problems of dimension d on the device, one
// after the other in every array. It serves one goroutine at a time.
type batch struct {
	session *session
	d, n    int

	stream, copies *driver.Stream  // copies is for results, beside what was cancelled
	carrier        *driver.Staging // of copies, where a matrix is large; else nil
	event          *driver.Event
	handle         *library.Handle
	factorizer     *factorizer // from the beginning for GLADPM; else nil, until it is needed
	abandoned      bool        // work is queued that nobody waits for
	told           ThetaStep   // of the Θ step at work

	s, u  driver.Pointer // u is 0 unless the kind is ADMMu
	pair  struct{ theta, z driver.Pointer }
	work  [workMatrices]driver.Pointer
	next  int // the slot of the new Θ
	cells int // that are complete

	device   deviceArrays
	z        zArrays
	hostWork []byte      // of the libraries
	figures  []float64   // pinned, n
	staging  [][]float64 // pinned, 3n each: uploads that may not have been read yet
	stage    int
	pinned   [][]float64 // all pinned memory

	whole   sync.Mutex // of what follows: goroutines of several problems see it
	lambdas []float64
	norm2   []float64
	failed  []error // of single problems
	broken  error   // of the last step, for all

	problems []solver.Problem
	prepared []glad.Preparation
	buffers  []driver.Pointer // all of them
	bytes    int64            // taken of the budget
}

// deviceArrays are small arrays of a batch.
type deviceArrays struct {
	lambda, scalars, figures driver.Pointer // n each
	coefficients             driver.Pointer // 3n
	values, phi, rows        driver.Pointer // nd each
	partial                  driver.Pointer // n times partials(d)
	vectors                  driver.Pointer // 3d
	info                     driver.Pointer // n int32
	workspace                driver.Pointer // of the libraries
	workspaceBytes           int64
}

const stagingSlots = 16

// matrices is how many d×d matrices a problem has on the device.
func matrices(kind glad.Kind) int64 {
	if kind == glad.ADMMu {
		return 4 + workMatrices
	}
	return 3 + workMatrices
}

func (b *batch) dimension() int64 { return int64(b.d) }
func (b *batch) size() int64      { return int64(b.d) * int64(b.d) }

// at is matrix i of an array of matrices.
func (b *batch) at(p driver.Pointer, i int) driver.Pointer { return p.At(8 * b.size() * int64(i)) }

// upload queues the upload of one figure, or several, of every problem, which it keeps
// until the work has passed them.
func (b *batch) upload(q *queue, to driver.Pointer, n int, value func(i int) float64) {
	from := b.staging[b.stage][:n]
	b.stage = (b.stage + 1) % stagingSlots
	for i := range from {
		from[i] = value(i)
	}
	q.upload(to, from)
}

func (b *batch) scalars(q *queue, value func(i int) float64) {
	b.upload(q, b.device.scalars, b.n, value)
}

func (b *batch) coefficients(q *queue, next []quintic) {
	b.upload(q, b.device.coefficients, 3*b.n, func(i int) float64 {
		p := next[i/3]
		return [3]float64{p.a, p.b, p.c}[i%3]
	})
}

// partials is the largest number of partial sums of a problem.
func partials(d int64) int64 { return max(d, kernels.Tiles(d)) }

// newBatch takes the memory for problems of dimension d, and loads them. bytes were taken
// of the budget for it.
func (s *session) newBatch(ctx context.Context, problems []solver.Problem, bytes int64) (*batch, error) {
	b := s.emptyBatch(problems[0].S.Len(), len(problems), bytes)
	err := s.backend.device.Do(b.allocate)
	if err == nil {
		err = b.load(ctx, problems)
	}
	if err != nil {
		return nil, errors.Join(err, b.free())
	}
	return b, nil
}

// emptyBatch is a batch without memory on the device.
func (s *session) emptyBatch(d, n int, bytes int64) *batch {
	return &batch{
		session: s, d: d, n: n, bytes: bytes,
		lambdas: make([]float64, n), norm2: make([]float64, n), failed: make([]error, n),
	}
}

// load uploads problems.
func (b *batch) load(ctx context.Context, problems []solver.Problem) error {
	b.problems, b.prepared = problems, nil
	for _, p := range problems {
		b.prepared = append(b.prepared, b.session.plan.Prepare(p.S, p.Samples))
	}
	clear(b.failed)
	b.broken = nil
	for i, p := range problems {
		if err := b.send(ctx, b.at(b.s, i), p.S.Raw()); err != nil {
			return err
		}
	}
	return b.loadFixed(ctx)
}

// allocate takes all memory, on the device's thread.
func (b *batch) allocate() (err error) {
	device, s := b.session.backend.device, b.session
	alloc := func(p *driver.Pointer, count int64) {
		if err == nil && count != 0 {
			err = b.take(p, count)
		}
	}
	host := func(count int) (v []float64) {
		if err == nil {
			if v, err = device.AllocHost(count); err == nil {
				b.pinned = append(b.pinned, v)
			}
		}
		return v
	}
	n, d := int64(b.n), int64(b.d)
	for _, p := range []*driver.Pointer{&b.s, &b.pair.theta, &b.pair.z, &b.work[0], &b.work[1], &b.work[2], &b.work[3], &b.work[4]} {
		alloc(p, n*d*d)
	}
	if s.plan.Kind == glad.ADMMu {
		alloc(&b.u, n*d*d)
	}
	a, z := &b.device, &b.z
	for _, array := range []struct {
		p     *driver.Pointer
		count int64
	}{
		{&a.lambda, n}, {&a.scalars, n}, {&a.figures, n}, {&a.coefficients, 3 * n}, {&a.info, n},
		{&a.values, n * d}, {&a.phi, n * d}, {&a.rows, n * d}, {&a.vectors, 3 * d}, {&a.partial, n * partials(d)},
		{&z.fixed, kernels.FixedNumbers * n}, {&z.mean, n}, {&z.rows, s.rowNumbers() * n * d},
		{&z.description, int64(len(s.networks.Descriptions))}, {&z.scratch, s.scratchBytes(b.d, b.n) / 8},
	} {
		alloc(array.p, array.count)
	}
	b.figures = host(b.n)
	for range stagingSlots {
		b.staging = append(b.staging, host(3*b.n))
	}
	if err == nil {
		b.stream, err = device.NewStream()
	}
	if err == nil {
		b.copies, err = device.NewUrgentStream()
	}
	if err == nil {
		b.event, err = device.NewEvent()
	}
	if err == nil {
		b.handle, err = s.backend.libraries.NewHandle(device, b.stream)
	}
	if err == nil {
		var onHost int64
		if a.workspaceBytes, onHost, err = b.workspace(); err == nil {
			b.hostWork = make([]byte, onHost)
			alloc(&a.workspace, a.workspaceBytes/8+1)
		}
	}
	if err == nil && s.plan.Kind == glad.GLADPM {
		b.factorizer = &factorizer{}
		err = b.factorizer.open(b)
	}
	return err
}

// take takes memory for so many numbers, which free gives back.
func (b *batch) take(p *driver.Pointer, count int64) (err error) {
	if *p, err = b.session.backend.device.Alloc(8 * count); err == nil {
		b.buffers = append(b.buffers, *p)
	}
	return err
}

// workspace is what the libraries need, on the device and in host memory, in bytes.
func (b *batch) workspace() (onDevice, onHost int64, err error) {
	h, a, d := b.handle, b.work[workP], b.d
	onDevice, onHost, err = h.SyevdSize(true, library.Lower, d, a, d, b.device.values)
	for _, size := range []func(library.Triangle, int, driver.Pointer, int) (int, error){h.PotrfSize, h.PotriSize} {
		if err == nil {
			var n int
			n, err = size(library.Lower, d, a, d)
			onDevice = max(onDevice, 8*int64(n))
		}
	}
	if err == nil && b.session.backend.eigenTogether(d, b.n) {
		var more, moreOnHost int64
		more, moreOnHost, err = h.SyevBatchedSize(true, library.Lower, d, a, d, b.device.values, b.n)
		onDevice, onHost = max(onDevice, more), max(onHost, moreOnHost)
	}
	return onDevice, onHost, err
}

// free gives everything back, on the device's thread.
func (b *batch) free() error {
	device := b.session.backend.device
	err := device.Do(func() error {
		var all error
		keep := func(err error) { all = errors.Join(all, err) }
		if b.handle != nil {
			keep(b.handle.Close())
		}
		keep(b.factorizer.free(device))
		if b.carrier != nil {
			keep(b.carrier.Close())
		}
		if b.event != nil {
			keep(b.event.Close())
		}
		for _, s := range []*driver.Stream{b.stream, b.copies} {
			if s != nil {
				keep(s.Close())
			}
		}
		for _, p := range b.buffers {
			keep(device.Free(p))
		}
		for _, h := range b.pinned {
			keep(device.FreeHost(h))
		}
		return all
	})
	b.session.backend.budget.give(b.bytes)
	return err
}

// close frees the batch when its work has ended: at once, or in the background where a
// context has ended before.
func (b *batch) close() error {
	if !b.abandoned {
		return b.free()
	}
	backend := b.session.backend
	backend.background.Go(func() {
		_ = b.do(context.Background(), func(*queue) {}) // an error of the device was told
		_ = b.free()
	})
	return nil
}
