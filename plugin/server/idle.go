package server

import (
	"sync/atomic"
	"time"

	"github.com/hashicorp/go-hclog"
	"google.golang.org/grpc/codes"

	"github.com/gladflow/gladflow/plugin/protocol"
	"github.com/gladflow/gladflow/plugin/server/internal/fault"
)

// requestTime is how long the message of a call of one message may take to come, and
// contendedTime how long where others wait for the memory that it takes.
const (
	requestTime   = 10 * time.Second
	contendedTime = time.Second
)

// An idleTimer measures how long a call waits for its caller, who may have
// stopped to send or to take without hanging up.
type idleTimer struct {
	limit     time.Duration
	log       hclog.Logger // of panics
	contended func() bool  // whether others wait for the memory of a message

	since   atomic.Int64 // when the wait began; 0 for none
	request atomic.Bool  // whether it is for the message of a call of one message
}

func (s *Service) idleTimer() *idleTimer {
	limit := time.Duration(s.limits.IdleSeconds * float64(time.Second))
	return &idleTimer{limit: limit, log: s.log, contended: s.runs.MessagesWait}
}

// during runs f, which waits for the caller.
func (t *idleTimer) during(f func() error) error {
	t.since.Store(time.Now().UnixNano())
	defer t.since.Store(0)
	return f()
}

// duringRequest runs f, which waits for the message of a call of one message.
func (t *idleTimer) duringRequest(f func() error) error {
	t.request.Store(true)
	defer t.request.Store(false)
	return t.during(f)
}

// exceeded is the fault of a caller that has kept the call waiting for too long; nil
// if it has not.
func (t *idleTimer) exceeded() error {
	request, since := t.request.Load(), t.since.Load()
	if since == 0 {
		return nil
	}
	waited := time.Duration(time.Now().UnixNano() - since)
	if request && (waited > requestTime || waited > contendedTime && t.contended()) {
		return fault.New(codes.DeadlineExceeded, protocol.ReasonIdle,
			"the message of the call had not come whole after %.1f seconds; send it at once", waited.Seconds())
	}
	if waited > t.limit {
		return fault.New(codes.DeadlineExceeded, protocol.ReasonIdle,
			"nothing was sent or taken for %v; keep reading and writing, or cancel the call", t.limit)
	}
	return nil
}

// awaitResult returns the error of work, or a fault when the caller has kept it
// waiting for longer than the limit. In that case the handler must return
// at once: this ends the stream, and with it work.
func (t *idleTimer) awaitResult(work <-chan error) error {
	tick := time.NewTicker(min(max(t.limit/10, time.Millisecond), time.Second/2))
	defer tick.Stop()
	for {
		select {
		case err := <-work:
			return err
		case <-tick.C:
			if err := t.exceeded(); err != nil {
				return err
			}
		}
	}
}

// await runs work, which waits for the caller by way of t, and returns
// its error or that of awaitResult.
func (t *idleTimer) await(work func() error) error {
	done := make(chan error, 1)
	go func() { done <- fault.Catch(t.log, work) }()
	return t.awaitResult(done)
}
