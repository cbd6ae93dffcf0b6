package runs

import (
	"context"
	"time"
)

// takeTime is how long a drain waits for callers who have not yet come for
// the results of a run that ended under it.
const takeTime = 2 * time.Second

// Drain refuses new runs from now on and returns when those at work have
// ended and their results were taken, or two seconds after their end, or with
// the error of ctx if runs are still at work then. Results can be had meanwhile
// and after it.
func (g *Registry) Drain(ctx context.Context) error {
	began := time.Now()
	if err := g.waitIdle(ctx); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, takeTime)
	defer cancel()
	for g.hasUntaken(began) {
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(takeTime / 100):
		}
	}
	return nil
}

// waitIdle refuses new runs and waits for the end of those at work.
func (g *Registry) waitIdle(ctx context.Context) error {
	g.mu.Lock()
	g.draining = true
	if g.running == 0 {
		g.mu.Unlock()
		return nil
	}
	if g.idle == nil {
		g.idle = make(chan struct{})
	}
	idle := g.idle
	g.mu.Unlock()
	select {
	case <-idle:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// hasUntaken says whether a run that ended after a time has results that no
// caller has taken.
func (g *Registry) hasUntaken(after time.Time) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, r := range g.ended {
		if r.endedAt().After(after) && r.reserved > 0 && !r.taken.Load() {
			return true
		}
	}
	return false
}
