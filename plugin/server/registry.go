package server

import (
	"context"
	"crypto/rand"
	"slices"
	"time"

	"google.golang.org/grpc/codes"

	"github.com/gladflow/gladflow/pipelines/job"
	"github.com/gladflow/gladflow/pipelines/recovery"
	"github.com/gladflow/gladflow/plugin/protocol"
)

// mostHeld bounds the runs that are held, whose results may take no memory.
const mostHeld = 1000

// admit makes a run of a valid job, or refuses it. The run must be started.
func (s *Service) admit(j job.Job, cancel context.CancelCauseFunc) (*run, error) {
	r := newRun(rand.Text(), recovery.Resolved(j), cancel)
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.draining:
		return nil, s.drainingFault()
	case s.active >= s.limits.ConcurrentRuns:
		return nil, fault(codes.ResourceExhausted, protocol.ReasonLimit,
			"%d runs are at work already, which is the limit; try again when one has ended", s.active)
	}
	s.active++
	s.work.Add(1) // under the lock, so before Close waits
	s.runs[r.id] = r
	return r, nil
}

// retire ends a run and holds its results, unless nobody can ask for them. It
// gives its place to others as well if its work is over: who sees that a run has
// ended is not refused the next one for its sake.
func (s *Service) retire(r *run, o outcome, f *protocol.Fault, hold bool) (took time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	took = r.end(o.result, f)
	if !o.abandoned {
		s.vacate()
	}
	switch {
	case s.runs[r.id] != r: // forgotten meanwhile
	case !hold:
		s.drop(r)
	default:
		s.order = append(s.order, r)
		for len(s.order) > mostHeld {
			s.drop(s.order[0])
		}
	}
	return took
}

// release gives the place of a run to others.
func (s *Service) release() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.vacate()
}

// vacate is release for who has the lock.
func (s *Service) vacate() {
	s.active--
	if s.active == 0 && s.idle != nil {
		close(s.idle)
		s.idle = nil
	}
}

// drop takes a run and its results out of the books. The caller has the lock.
func (s *Service) drop(r *run) {
	if s.runs[r.id] != r {
		return
	}
	delete(s.runs, r.id)
	if i := slices.Index(s.order, r); i >= 0 {
		s.order = slices.Delete(s.order, i, i+1)
	}
	s.bytes -= r.booked
	r.booked = 0
}

// forget drops a run.
func (s *Service) forget(r *run) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.drop(r)
}

// book makes room for results of r, at the cost of the oldest that are held.
func (s *Service) book(r *run, bytes int64) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.runs[r.id] != r {
		return nil // forgotten: nobody will ask, and the run is about to end
	}
	for s.bytes+bytes > s.limits.ResultBytes && len(s.order) > 0 {
		s.drop(s.order[0])
	}
	if s.bytes+bytes > s.limits.ResultBytes {
		return fault(codes.ResourceExhausted, protocol.ReasonLimit,
			"the results take %d bytes, and %d of %d are taken by runs at work; ask for fewer edges, write them to files (out), or raise the limit",
			bytes, s.bytes, s.limits.ResultBytes)
	}
	s.bytes += bytes
	r.booked += bytes
	return nil
}

// find returns the run of that name.
func (s *Service) find(id string) (*run, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if r, ok := s.runs[id]; ok {
		return r, nil
	}
	f := fault(codes.NotFound, protocol.ReasonNotFound,
		"there is no run %q; results are kept for %v after the end of a run, or until newer ones need their memory", id, s.resultAge())
	f.Run = id
	return nil, f
}

// all returns the runs, the oldest first.
func (s *Service) all() []*run {
	s.mu.Lock()
	defer s.mu.Unlock()
	list := make([]*run, 0, len(s.runs))
	for _, r := range s.runs {
		list = append(list, r)
	}
	slices.SortFunc(list, func(a, b *run) int { return a.accepted.Compare(b.accepted) })
	return list
}

func (s *Service) resultAge() time.Duration {
	return time.Duration(s.limits.ResultSeconds * float64(time.Second))
}

// dropOld drops runs whose results are too old, until the service ends.
func (s *Service) dropOld() {
	age := s.resultAge()
	tick := time.NewTicker(min(max(age/10, time.Millisecond), 10*time.Second))
	defer tick.Stop()
	for {
		select {
		case <-s.ctx.Done():
			return
		case now := <-tick.C:
			s.dropBefore(now.Add(-age))
		}
	}
}

func (s *Service) dropBefore(t time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for len(s.order) > 0 && s.order[0].endedAt().Before(t) {
		s.drop(s.order[0])
	}
}

// lifetime is the context of a run that outlives its call: with the call's
// values, among them its trace, until the service ends.
func (s *Service) lifetime(call context.Context) (context.Context, context.CancelCauseFunc) {
	ctx, cancel := context.WithCancelCause(context.WithoutCancel(call))
	s.endWith(ctx, cancel)
	return ctx, cancel
}

// endWith cancels a run's context when the service ends.
func (s *Service) endWith(ctx context.Context, cancel context.CancelCauseFunc) {
	stop := context.AfterFunc(s.ctx, func() { cancel(s.drainingFault()) })
	context.AfterFunc(ctx, func() { stop() })
}
