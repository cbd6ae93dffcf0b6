package dense

import "sync"

// A gate serves a library whose number of threads is one setting for the whole
// process. Calls that need the same number run together, and the number is set
// before the first of them; other calls wait in a queue.
type gate struct {
	set func(threads int)

	mu      sync.Mutex
	threads int // in effect; 0 before the first call
	inside  int
	queue   []ticket
}

type ticket struct {
	threads int
	open    chan struct{}
}

// enter returns when threads is the number in effect, to remain so until
// leave.
func (g *gate) enter(threads int) {
	g.mu.Lock()
	// A new call waits behind the queue, or a stream of small calls would block a
	// large one for ever.
	if len(g.queue) == 0 && (g.inside == 0 || threads == g.threads) {
		g.change(threads)
		g.inside++
		g.mu.Unlock()
		return
	}
	t := ticket{threads, make(chan struct{})}
	g.queue = append(g.queue, t)
	g.mu.Unlock()
	<-t.open
}

// leave ends what enter began.
func (g *gate) leave() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.inside--
	if g.inside > 0 || len(g.queue) == 0 {
		return
	}
	g.change(g.queue[0].threads)
	later := g.queue[:0]
	for _, t := range g.queue {
		if t.threads == g.threads {
			g.inside++
			close(t.open)
		} else {
			later = append(later, t)
		}
	}
	g.queue = later
}

func (g *gate) change(threads int) {
	if threads != g.threads {
		g.threads = threads
		g.set(threads)
	}
}
