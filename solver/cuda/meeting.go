//go:build cuda

package cuda

import "sync"

// A meeting lets n goroutines, one for each problem of a batch, take every step
// together: the last to ask for one takes it for all.
type meeting struct {
	mu      sync.Mutex
	turn    *sync.Cond
	members []bool // that have not left
	asked   []bool
	round   int
	step    func() // of the round
}

func newMeeting(n int) *meeting {
	m := &meeting{members: make([]bool, n), asked: make([]bool, n)}
	for i := range m.members {
		m.members[i] = true
	}
	m.turn = sync.NewCond(&m.mu)
	return m
}

// do asks for a step and returns when it was taken. All members ask for the same one.
func (m *meeting) do(i int, step func()) {
	m.mu.Lock()
	defer m.mu.Unlock()
	round := m.round
	m.asked[i], m.step = true, step
	m.take()
	for m.round == round {
		m.turn.Wait()
	}
}

// leave takes a member out; the others do not wait for it any more.
func (m *meeting) leave(i int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.members[i] = false
	m.take()
}

// take takes the step if all members have asked for it.
func (m *meeting) take() {
	any := false
	for i, here := range m.members {
		if here && !m.asked[i] {
			return
		}
		any = any || here
	}
	if !any {
		return
	}
	m.step()
	clear(m.asked)
	m.round++
	m.turn.Broadcast()
}
