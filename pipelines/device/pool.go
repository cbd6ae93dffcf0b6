package device

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/gladflow/gladflow/solver/dense"
)

// keep is how long a GPU stays open after the last run on it: to open one takes seconds,
// and runs often come one after the other.
const keep = time.Minute

// A Pool opens GPUs for runs. Those that are at work at the same time share one. After
// the last it stays open for a minute, unless it has failed. It is safe for concurrent use.
type Pool struct {
	code Code

	mu     sync.Mutex
	opened map[int]*opened       // by number: those that runs share
	ending map[int]chan struct{} // by number: closed when the last one has been closed
	closed bool
}

// An opened GPU is one that runs have, or wait for, or that is kept for the next.
type opened struct {
	index int
	ready chan struct{} // closed when gpu, err and panic are set
	gpu   GPU
	err   error
	panic *dense.Panic

	// Under the lock of the pool:
	users  int
	failed bool        // it is closed as soon as no run uses it
	idle   *time.Timer // set while no run does
	ending ending
}

// An ending is that of a GPU which is being closed.
type ending struct {
	done   chan struct{} // closed when it is
	before chan struct{} // that of the one before; nil if there was none
}

// NewPool returns one whose GPUs code opens.
func NewPool(code Code) *Pool {
	return &Pool{code: code, opened: map[int]*opened{}, ending: map[int]chan struct{}{}}
}

// Close closes the GPUs that no run uses, and makes the last run on each of the others
// close it. It returns when those are closed, or when ctx ends: a GPU that hangs does not
// close. It is for the end of a process. The pool may be nil.
func (p *Pool) Close(ctx context.Context) {
	if p == nil {
		return
	}
	p.mu.Lock()
	p.closed = true
	var idle []*opened
	for _, o := range p.opened {
		if o.users == 0 {
			idle = append(idle, o)
		}
	}
	for _, o := range idle {
		p.end(o)
	}
	ending := slices.Collect(maps.Values(p.ending))
	p.mu.Unlock()
	for _, o := range idle {
		go p.finish(o)
	}
	for _, done := range ending {
		select {
		case <-done:
		case <-ctx.Done():
			return
		}
	}
}

// A use is a GPU that a run has.
type use struct {
	pool *Pool
	of   *opened
	once sync.Once
}

func (u *use) gpu() GPU { return u.of.gpu }

// take returns the use of the GPU with that number, which ends when its leave is called.
// To open one can take seconds: where ctx ends first, take returns its error.
func (p *Pool) take(ctx context.Context, index int) (*use, error) {
	p.mu.Lock()
	o := p.opened[index]
	if o == nil || o.users == 0 {
		var kept GPU
		if o != nil {
			kept = o.gpu
			o.idle.Stop()
			o.idle = nil
		}
		o = &opened{index: index, ready: make(chan struct{})}
		p.opened[index] = o
		go p.open(o, kept, p.ending[index])
	}
	o.users++
	p.mu.Unlock()
	u := &use{pool: p, of: o}
	select {
	case <-o.ready:
	case <-ctx.Done():
		go func() {
			<-o.ready
			u.leave()
		}()
		return nil, ctx.Err()
	}
	if o.panic != nil {
		u.leave()
		panic(o.panic)
	}
	if o.err != nil {
		u.leave()
		return nil, o.err
	}
	return u, nil
}

// open makes o the GPU that was kept, if there is one and it still works, or else opens it,
// when the one before it has been closed: that may still have memory. If it cannot be
// opened, a run that comes now tries anew, also where others are still to hear of the
// error.
func (p *Pool) open(o *opened, kept GPU, before <-chan struct{}) {
	defer close(o.ready)
	o.panic = dense.Catch(func() {
		if kept != nil && kept.Refresh() == nil {
			o.gpu = kept
			return
		}
		if kept != nil {
			_ = kept.Close() // it is lost
		}
		if before != nil {
			<-before
		}
		o.gpu, o.err = p.code.Open(o.index)
	})
	if o.panic != nil || o.err != nil {
		o.gpu = nil
		p.mu.Lock()
		defer p.mu.Unlock()
		p.forget(o)
	}
}

// forget makes runs that come open the GPU anew. The caller has the lock.
func (p *Pool) forget(o *opened) {
	o.failed = true
	if p.opened[o.index] == o {
		delete(p.opened, o.index)
	}
}

// fail says that the GPU has failed. One that has no memory is still shared, for other
// runs may take less; any other is opened anew for runs that come.
func (u *use) fail(full bool) {
	u.pool.mu.Lock()
	defer u.pool.mu.Unlock()
	u.of.failed = true
	if !full {
		u.pool.forget(u.of)
	}
}

// leave ends the use, once.
func (u *use) leave() { u.once.Do(func() { u.pool.leave(u.of) }) }

// leave is one user less.
func (p *Pool) leave(o *opened) {
	p.mu.Lock()
	o.users--
	switch {
	case o.users > 0 || o.gpu == nil:
	case o.failed || p.closed:
		p.end(o)
		p.mu.Unlock()
		p.finish(o)
		return
	default:
		var timer *time.Timer
		timer = time.AfterFunc(keep, func() {
			p.mu.Lock()
			if o.idle != timer { // a run has come, or it is closed
				p.mu.Unlock()
				return
			}
			p.end(o)
			p.mu.Unlock()
			p.finish(o)
		})
		o.idle = timer
	}
	p.mu.Unlock()
}

// end makes o one that no run can have any more; finish closes it. The caller has the
// lock.
func (p *Pool) end(o *opened) {
	p.forget(o)
	if o.idle != nil {
		o.idle.Stop()
		o.idle = nil
	}
	done, before := make(chan struct{}), p.ending[o.index]
	p.ending[o.index] = done
	o.ending = ending{done, before}
}

// finish closes o after end, without the lock: that can take a while.
func (p *Pool) finish(o *opened) {
	// A GPU that cannot be closed is one that is lost, and the results are there.
	_ = o.gpu.Close()
	if o.ending.before != nil {
		<-o.ending.before
	}
	close(o.ending.done)
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.ending[o.index] == o.ending.done {
		delete(p.ending, o.index)
	}
}
