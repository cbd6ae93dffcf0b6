package dense

import (
	"sync"
	"sync/atomic"
)

// A Team shares work that comes in many short calls, one after the other, between which
// little is done: its helpers stay awake for a while, so that a call of some tens of
// microseconds does not cost as much again to wake a thread. Only one goroutine may use it.
//
//	team := dense.NewTeam(engine, 8)
//	defer team.Close()
//	for ... {
//		team.Share(8, f)
//	}
type Team struct {
	engine  Engine
	of      *threads
	helpers int
	running sync.WaitGroup

	call   atomic.Pointer[sharing] // the last one
	parked atomic.Int32            // helpers that wait to be woken, or are about to
	wake   chan struct{}
	closed atomic.Bool
}

// teamPatience is how many times a helper looks for the next call before it lets go of its
// core, about a tenth of a millisecond, and the caller for the end of one.
const teamPatience = 100_000

// NewTeam returns a team on the threads of e, of which no call uses more than most.
func NewTeam(e Engine, most int) *Team {
	t := &Team{engine: e}
	if o, ok := e.(interface{ of() *threads }); ok {
		if t.of = o.of(); t.of != nil {
			t.helpers = min(t.of.Threads(), most) - 1
		}
	}
	return t
}

// Share is the function Share.
func (t *Team) Share(n int, f func(i int)) {
	if t.helpers < 1 || n < 2 {
		Share(t.engine, n, f)
		return
	}
	s := &sharing{of: t.of, n: int64(n), f: f, done: make(chan struct{})}
	if first := t.call.Swap(s) == nil; first {
		t.wake = make(chan struct{}, t.helpers)
		for range t.helpers {
			t.running.Go(t.help)
		}
	}
	for range t.parked.Load() {
		select {
		case t.wake <- struct{}{}:
		default:
		}
	}
	s.lead()
	for looks := 0; s.returned.Load() < s.n; looks++ {
		if looks == teamPatience {
			<-s.done
		}
	}
	s.forward()
}

// help takes part in calls until the team is closed.
func (t *Team) help() {
	var last *sharing
	for looks := 0; !t.closed.Load(); looks++ {
		if s := t.call.Load(); s != last {
			s.help()
			last, looks = s, 0
			continue
		}
		if looks < teamPatience {
			continue
		}
		t.parked.Add(1)
		if t.call.Load() == last && !t.closed.Load() {
			<-t.wake
		}
		t.parked.Add(-1)
		looks = 0
	}
}

// Close ends the helpers, and waits for them. The team cannot be used again.
func (t *Team) Close() {
	t.closed.Store(true)
	if t.wake != nil {
		close(t.wake)
	}
	t.running.Wait()
}
