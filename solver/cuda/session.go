//go:build cuda

package cuda

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/gladflow/gladflow/solver"
	"github.com/gladflow/gladflow/solver/cuda/driver"
	"github.com/gladflow/gladflow/solver/cuda/kernels"
	"github.com/gladflow/gladflow/solver/glad"
)

// Open implements glad.Backend.
func (b *Backend) Open(p *glad.Plan) (glad.Session, error) {
	networks, err := kernels.Encode(p)
	if err != nil {
		return nil, err
	}
	m, err := b.takeModule()
	if err != nil {
		return nil, err
	}
	return &session{backend: b, plan: p, networks: networks, module: m, uploaded: -1}, nil
}

// A session is a model on the device.
type session struct {
	backend  *Backend
	plan     *glad.Plan
	networks *kernels.Networks
	module   *module

	run      sync.Mutex // one Run at a time: it has the constant memory
	uploaded int        // the entry of the plan whose weights that has, or -1
}

var _ glad.Session = (*session)(nil)

// Close implements glad.Session. What was cancelled may still use the module: its
// results are nobody's.
func (s *session) Close() error {
	s.backend.putModule(s.module)
	return nil
}

// weighed says whether the weights of cell k are in constant memory.
func (s *session) weighed(k int) bool { return s.plan.Fixed && s.uploaded == s.plan.Entry(k) }

// weigh copies the weights of cell k to constant memory. It waits for the work of the
// queue: a copy that were still to come after a cancellation would come to a module that
// another session has by then.
func (s *session) weigh(q *queue, k int, weights []float64) error {
	q.uploadNow(s.module.weights, weights)
	s.uploaded = s.plan.Entry(k)
	return q.err
}

// Run implements glad.Session. Problems of one dimension are on the device together, as
// many as it has memory for.
func (s *session) Run(ctx context.Context, problems []solver.Problem, f func(i int, it glad.Iterates) error) error {
	s.run.Lock()
	defer s.run.Unlock()
	if !s.plan.Fixed {
		var err error
		if s.networks, err = kernels.Encode(s.plan); err != nil {
			return err
		}
		s.uploaded = -1
	}
	for _, group := range glad.ByDimension(problems) {
		for len(group) > 0 {
			if err := ctx.Err(); err != nil {
				return err
			}
			n, bytes, err := s.reserve(problems[group[0]].S.Len(), len(group))
			if err != nil {
				return err
			}
			if err := s.runBatch(ctx, problems, group[:n], bytes, f); err != nil {
				return err
			}
			group = group[n:]
		}
	}
	return nil
}

// bytes is the device memory that n problems of dimension d take at a time, but for
// the libraries' own.
func (s *session) bytes(d, n int) int64 {
	size, m := int64(d)*int64(d), int64(n)
	numbers := m * (matrices(s.plan.Kind)*size + (3+s.rowNumbers())*int64(d) + partials(int64(d)) + 16)
	// Of the eigendecomposition of one: 2d² and some.
	numbers += 2*size + 64*int64(d) + int64(len(s.networks.Descriptions)) + 1<<17
	numbers += s.factorizerNumbers(d)
	return 8*numbers + s.scratchBytes(d, n)
}

// reserve takes memory for as many of n problems as fit.
func (s *session) reserve(d, n int) (fit int, bytes int64, err error) {
	budget := s.backend.budget
	for fit = min(n, kernels.MostProblems); fit > 1; fit = max(fit*3/4, 1) {
		if _, ok := budget.take(s.bytes(d, fit)); ok {
			return fit, s.bytes(d, fit), nil
		}
	}
	bytes = s.bytes(d, 1)
	left, ok := budget.take(bytes)
	if !ok {
		return 0, 0, &driver.Error{Op: "cuMemAlloc", Kind: driver.OutOfMemory, Message: fmt.Sprintf(
			"a problem of %d variables takes %.3g GB on %v, which has %.3g GB free for it; try again when other runs have ended, choose fewer variables, or run on the CPU",
			d, float64(bytes)/1e9, s.backend.device, float64(max(left, 0))/1e9)}
	}
	return 1, bytes, nil
}

// runBatch runs the problems of a group together.
func (s *session) runBatch(ctx context.Context, problems []solver.Problem, group []int, bytes int64, f func(i int, it glad.Iterates) error) (err error) {
	mine := make([]solver.Problem, len(group))
	for k, i := range group {
		mine[k] = problems[i]
	}
	b, err := s.newBatch(ctx, mine, bytes)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, b.close()) }()
	if b.n == 1 {
		return f(group[0], &cells{batch: b, meeting: newMeeting(1)})
	}
	m := newMeeting(b.n)
	errs := make([]error, b.n)
	var all sync.WaitGroup
	for k, i := range group {
		all.Go(func() {
			defer m.leave(k)
			errs[k] = f(i, &cells{batch: b, meeting: m, index: k})
		})
	}
	all.Wait()
	if err := ctx.Err(); err != nil {
		return err
	}
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}
