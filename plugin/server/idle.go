package server

import (
	"sync/atomic"
	"time"

	"google.golang.org/grpc/codes"

	"github.com/gladflow/gladflow/plugin/protocol"
	"github.com/gladflow/gladflow/plugin/server/internal/fault"
)

// An idleTimer measures how long a call waits for its caller, who may have
// stopped to send or to take without hanging up.
type idleTimer struct{ since atomic.Int64 }

// during runs f, which waits for the caller.
func (t *idleTimer) during(f func() error) error {
	t.since.Store(time.Now().UnixNano())
	defer t.since.Store(0)
	return f()
}

// elapsed is how long the call has waited for the caller; 0 if it does not.
func (t *idleTimer) elapsed() time.Duration {
	since := t.since.Load()
	if since == 0 {
		return 0
	}
	return time.Duration(time.Now().UnixNano() - since)
}

// awaitWithIdleLimit returns the error of work, or a fault when the caller has
// kept it waiting for longer than the limit. In that case the handler must return
// at once: this ends the stream, and with it work.
func (s *Service) awaitWithIdleLimit(t *idleTimer, work <-chan error) error {
	limit := time.Duration(s.limits.IdleSeconds * float64(time.Second))
	tick := time.NewTicker(min(max(limit/10, time.Millisecond), time.Second))
	defer tick.Stop()
	for {
		select {
		case err := <-work:
			return err
		case <-tick.C:
			if t.elapsed() > limit {
				return fault.New(codes.DeadlineExceeded, protocol.ReasonIdle,
					"nothing was sent or taken for %v; keep reading and writing, or cancel the call", limit)
			}
		}
	}
}

// withIdleLimit runs work, which waits for the caller by way of t, and returns
// its error or that of awaitWithIdleLimit.
func (s *Service) withIdleLimit(t *idleTimer, work func() error) error {
	done := make(chan error, 1)
	go func() { done <- fault.Catch(s.log, work) }()
	return s.awaitWithIdleLimit(t, done)
}
