package server

import (
	"sync/atomic"
	"time"

	"google.golang.org/grpc/codes"

	"github.com/gladflow/gladflow/plugin/protocol"
)

// A pulse tells how long a call has been waiting for its caller, who may have
// stopped to send or to take without hanging up.
type pulse struct{ since atomic.Int64 }

// waiting runs f, which waits for the caller.
func (p *pulse) waiting(f func() error) error {
	p.since.Store(time.Now().UnixNano())
	defer p.since.Store(0)
	return f()
}

// idle is how long the caller has been waited for; 0 if it is not.
func (p *pulse) idle() time.Duration {
	since := p.since.Load()
	if since == 0 {
		return 0
	}
	return time.Duration(time.Now().UnixNano() - since)
}

// attend returns the error of work, or a fault when the caller has kept it
// waiting for longer than the limit. In that case the handler that called
// attend must return at once: this ends the stream, and with it work.
func (s *Service) attend(p *pulse, work <-chan error) error {
	limit := time.Duration(s.limits.IdleSeconds * float64(time.Second))
	tick := time.NewTicker(min(max(limit/10, time.Millisecond), time.Second))
	defer tick.Stop()
	for {
		select {
		case err := <-work:
			return err
		case <-tick.C:
			if p.idle() > limit {
				return fault(codes.DeadlineExceeded, protocol.ReasonIdle,
					"nothing was sent or taken for %v; keep reading and writing, or cancel the call", limit)
			}
		}
	}
}

// attended runs work, which waits for the caller by way of p, and returns its
// error or that of attend.
func (s *Service) attended(p *pulse, work func() error) error {
	done := make(chan error, 1)
	go func() { done <- s.guarded(work) }()
	return s.attend(p, done)
}
