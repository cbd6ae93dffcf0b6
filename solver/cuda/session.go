//go:build cuda

package cuda

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
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
	s := &session{backend: b, plan: p, networks: networks, module: m, uploaded: -1}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.sessions[s] = true
	return s, nil
}

// A session is a model on the device.
type session struct {
	backend  *Backend
	plan     *glad.Plan
	networks *kernels.Networks
	module   *module

	run      sync.Mutex // one Run or Differentiate at a time: it has the constant memory
	uploaded int        // the entry of the plan whose weights that has, or -1

	kept []*tape // of an earlier Differentiate, with their memory
}

var _ glad.AdjointSession = (*session)(nil)

// Close implements glad.Session. What was cancelled may still use the module: its
// results are nobody's.
func (s *session) Close() error {
	s.backend.mu.Lock()
	delete(s.backend.sessions, s)
	s.backend.mu.Unlock()
	s.run.Lock() // of reclaim
	defer s.run.Unlock()
	err := s.drop()
	s.backend.putModule(s.module)
	return err
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
	return s.each(ctx, problems, s.reserve, func(group []int, bytes int64) error {
		return s.runBatch(ctx, problems, group, bytes, f)
	})
}

// each calls f for groups of problems of one dimension that are on the device together:
// reserve takes the memory for as many of n as fit.
func (s *session) each(ctx context.Context, problems []solver.Problem,
	reserve func(d, n int) (fit int, bytes int64, err error), f func(group []int, bytes int64) error,
) error {
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
			n, bytes, err := reserve(problems[group[0]].S.Len(), len(group))
			if err != nil {
				return err
			}
			if err := f(group[:n], bytes); err != nil {
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
	if s.backend.eigenTogether(d, n) {
		numbers += m * (2*size + 64*int64(d))
	}
	return 8*numbers + s.scratchBytes(d, n)
}

// reserve takes memory for as many of n problems as fit.
func (s *session) reserve(d, n int) (fit int, bytes int64, err error) {
	fit, bytes, left := s.take(n, func(n int) int64 { return s.bytes(d, n) })
	if fit == 0 {
		return 0, 0, s.tooLarge(fmt.Sprintf("a problem of %d variables", d), bytes, left)
	}
	return fit, bytes, nil
}

// take takes memory of the budget for as many of n problems as fit, which are 0 where there
// is not enough for one. Where all do not fit it frees tapes that nobody uses.
func (s *session) take(n int, bytes func(n int) int64) (fit int, taken, left int64) {
	budget := s.backend.budget
	n = min(n, kernels.MostProblems)
	if _, ok := budget.take(bytes(n)); ok {
		return n, bytes(n), 0
	}
	s.reclaim()
	for fit = n; fit > 1; fit = max(fit*3/4, 1) {
		if _, ok := budget.take(bytes(fit)); ok {
			return fit, bytes(fit), 0
		}
	}
	if left, ok := budget.take(bytes(1)); !ok {
		return 0, bytes(1), left
	}
	return 1, bytes(1), 0
}

// reclaim frees the tapes that this session keeps, and others that are not at work.
func (s *session) reclaim() {
	_ = s.drop() // a device that is lost says so again
	s.backend.mu.Lock()
	others := slices.Collect(maps.Keys(s.backend.sessions))
	s.backend.mu.Unlock()
	for _, o := range others {
		if o != s && o.run.TryLock() {
			_ = o.drop()
			o.run.Unlock()
		}
	}
}

// tooLarge is the error where what takes more memory than there is.
func (s *session) tooLarge(what string, bytes, left int64) error {
	return &driver.Error{Op: "cuMemAlloc", Kind: driver.OutOfMemory, Message: fmt.Sprintf(
		"%s takes %.3g GB on %v, which has %.3g GB free for it; try again when other runs have ended, choose fewer variables, or run on the CPU",
		what, float64(bytes)/1e9, s.backend.device, float64(max(left, 0))/1e9)}
}

// runBatch runs the problems of a group together.
func (s *session) runBatch(ctx context.Context, problems []solver.Problem, group []int, bytes int64, f func(i int, it glad.Iterates) error) (err error) {
	b, err := s.newBatch(ctx, pick(problems, group), bytes)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, b.close()) }()
	return together(ctx, group, func(m *meeting, k, i int) error {
		return f(i, &cells{batch: b, meeting: m, index: k})
	})
}

// pick is what a group has of all.
func pick[T any](all []T, group []int) []T {
	mine := make([]T, len(group))
	for k, i := range group {
		mine[k] = all[i]
	}
	return mine
}

// together calls f for every problem of a group, each in a goroutine of its own, with its
// place in the group and its index. They meet at every step.
func together(ctx context.Context, group []int, f func(m *meeting, k, i int) error) error {
	m := newMeeting(len(group))
	errs := make([]error, len(group))
	var all sync.WaitGroup
	for k, i := range group {
		all.Go(func() {
			defer m.leave(k)
			errs[k] = f(m, k, i)
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
