package server

import (
	"context"
	"time"
)

// leaveTime is how long a drain waits for callers who have not yet come for
// the results of a run that ended under it.
const leaveTime = 2 * time.Second

// Drain refuses new runs from now on and returns when those at work have
// ended and their results were taken, or two seconds after their end, or with
// the error of ctx if runs are still at work then. Results can be had meanwhile
// and after it.
func (s *Service) Drain(ctx context.Context) error {
	began := time.Now()
	if err := s.runsEnd(ctx); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, leaveTime)
	defer cancel()
	for s.untaken(began) {
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(leaveTime / 100):
		}
	}
	return nil
}

// runsEnd refuses new runs and waits for the end of those at work.
func (s *Service) runsEnd(ctx context.Context) error {
	s.mu.Lock()
	s.draining = true
	if s.active == 0 {
		s.mu.Unlock()
		return nil
	}
	if s.idle == nil {
		s.idle = make(chan struct{})
	}
	idle := s.idle
	s.mu.Unlock()
	select {
	case <-idle:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// untaken says whether a run that ended after a time has results that nobody
// has come for.
func (s *Service) untaken(after time.Time) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, r := range s.order {
		if r.endedAt().After(after) && r.booked > 0 && !r.taken.Load() {
			return true
		}
	}
	return false
}
