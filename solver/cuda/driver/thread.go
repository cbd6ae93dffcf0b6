//go:build cuda && cgo

package driver

import (
	"runtime"
	"sync"
	"sync/atomic"
	"syscall"

	"github.com/gladflow/gladflow/solver/dense"
)

// A thread runs functions, one after the other, on one thread of the system.
type thread struct {
	id    atomic.Int64
	tasks chan *task
	quit  chan struct{}
	ended chan struct{}
	// enter is called first where another thread of the system takes over.
	enter func()
}

// A task is one function, and where its result goes.
type task struct {
	f        func() error
	err      error
	panicked *dense.Panic
	done     chan struct{}
}

var errEnded = &Error{Op: "Do", Kind: Failed, Message: "a function on the GPU's thread ended its goroutine, and did not return"}

// unused are tasks that wait for their next function.
var unused = sync.Pool{New: func() any { return &task{done: make(chan struct{}, 1)} }}

var errClosed = &Error{Op: "Do", Kind: Failed, Message: "the GPU is used after Close"}

func (t *thread) start() {
	t.tasks = make(chan *task)
	t.quit = make(chan struct{})
	t.ended = make(chan struct{})
	started := make(chan struct{})
	go t.loop(func() { close(started) })
	<-started
}

func (t *thread) loop(first func()) {
	// Never unlocked: the system's thread ends with the goroutine, and with it the
	// context that is current on it.
	runtime.LockOSThread()
	t.id.Store(int64(syscall.Gettid()))
	first()
	returned := false
	defer func() {
		if !returned {
			go t.loop(t.enter)
		}
	}()
	for !returned {
		select {
		case task := <-t.tasks:
			task.run()
		case <-t.quit:
			returned = true
		}
	}
	t.id.Store(0) // the system gives the number to others
	close(t.ended)
}

// run leaves the task's result in it, also where f ends its goroutine, as the Fatal of a
// test does.
func (t *task) run() {
	t.err = errEnded
	defer func() { t.done <- struct{}{} }()
	t.panicked = dense.Catch(func() { t.err = t.f() })
}

// do runs f on the thread and returns its error, or panics with its panic.
func (t *thread) do(f func() error) error {
	if int64(syscall.Gettid()) == t.id.Load() {
		return f()
	}
	k := unused.Get().(*task)
	k.f, k.err, k.panicked = f, nil, nil
	select {
	case t.tasks <- k:
	case <-t.ended:
		return errClosed
	}
	<-k.done
	err, panicked := k.err, k.panicked
	k.f = nil
	unused.Put(k)
	if panicked != nil {
		panic(panicked)
	}
	return err
}

// stop ends the thread, and waits for that unless it is the thread that calls.
func (t *thread) stop() {
	close(t.quit)
	if int64(syscall.Gettid()) != t.id.Load() {
		<-t.ended
	}
}

// Do runs f on the device's thread and returns its error. Functions run in the order
// of the calls, also those of other users: f queues work on streams and does not wait
// for long; Wait does that. A Do inside f runs at once. A panic of f comes out of Do as
// a *dense.Panic.
func (d *Device) Do(f func() error) error {
	if d.closed.Load() {
		return errClosed
	}
	return d.thread.do(f)
}
