package dense

import (
	"slices"
	"sync"
	"sync/atomic"
)

// slots bound the kernels at work: those of an engine, and those of the process.
// Who finds none free waits in a queue.
type slots struct {
	limit func() int

	inside  atomic.Int64
	waiting atomic.Int64 // the length of the queue

	mu    sync.Mutex
	queue []chan struct{}
}

// processSlots are those of the process: as many as Cores.
var processSlots = slots{limit: Cores}

// try takes a slot that is free while nobody waits.
func (s *slots) try() bool { return s.waiting.Load() == 0 && s.take() }

func (s *slots) take() bool {
	for {
		n := s.inside.Load()
		if n >= int64(s.limit()) {
			return false
		}
		if s.inside.CompareAndSwap(n, n+1) {
			return true
		}
	}
}

// enter takes a slot, and waits for one if it must.
func (s *slots) enter() {
	if s.try() {
		return
	}
	s.mu.Lock()
	turn := make(chan struct{})
	s.queue = append(s.queue, turn)
	s.waiting.Add(1)
	s.admit() // a slot may have become free before we were seen to wait
	s.mu.Unlock()
	<-turn
}

// leave gives a slot back.
func (s *slots) leave() {
	s.inside.Add(-1)
	if s.waiting.Load() > 0 {
		s.mu.Lock()
		s.admit()
		s.mu.Unlock()
	}
}

// admit gives the slots that are free to those who have waited longest.
func (s *slots) admit() {
	for len(s.queue) > 0 && s.take() {
		close(s.queue[0])
		s.queue = slices.Delete(s.queue, 0, 1)
		s.waiting.Add(-1)
	}
}
