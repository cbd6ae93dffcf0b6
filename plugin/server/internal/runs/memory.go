package runs

import (
	"errors"
	"sync"

	"github.com/gladflow/gladflow/arrowio/batch"
	"github.com/gladflow/gladflow/pipelines/memory"
)

// An account is the recovery.Memory of a run: its share of the budget of all runs.
// What is kept of the oldest runs that have ended makes room for it.
type account struct{ g *Registry }

// Reserve implements recovery.Memory.
func (a account) Reserve(bytes int64) error {
	a.g.mu.Lock()
	defer a.g.mu.Unlock()
	return a.g.takeLocked(bytes)
}

// Release implements recovery.Memory.
func (a account) Release(bytes int64) { a.g.memory.Release(bytes) }

// Reserved is the memory that runs have reserved and that results take, in bytes.
func (g *Registry) Reserved() int64 { return g.memory.Taken() }

// takeLocked takes memory of the budget. Where there is too little it removes the
// oldest runs that have ended, if that makes enough room.
func (g *Registry) takeLocked(bytes int64) error {
	err := g.memory.Reserve(bytes)
	if err == nil {
		return nil
	}
	var kept int64
	for _, r := range g.ended {
		kept += r.reserved
	}
	if bytes > g.memory.Limit()-memory.Process-g.memory.Taken()+kept {
		return err
	}
	for err != nil && len(g.ended) > 0 {
		g.removeLocked(g.ended[0])
		err = g.memory.Reserve(bytes)
	}
	return err
}

// keepLocked moves what a run has reserved for results to what is kept of it, which
// takes so many bytes.
func (g *Registry) keepLocked(bytes, reserved int64) error {
	if bytes <= reserved {
		g.memory.Release(reserved - bytes)
		return nil
	}
	err := g.takeLocked(bytes - reserved)
	if err != nil {
		g.memory.Release(reserved)
	}
	return err
}

// A receipt is the memory that samples take on their way to a run. The transport
// holds a message before anything can count it, hence one of the largest is reserved
// from the beginning.
type receipt struct {
	account
	mu    sync.Mutex
	ended bool
	bytes int64
}

// receive reserves the memory for a stream of samples.
func (g *Registry) receive() (*receipt, error) {
	r := &receipt{account: account{g}}
	err := r.reserve(int64(g.Limits.MessageBytes))
	var room *memory.Error
	if errors.As(err, &room) {
		room.What = "a message of its samples (as large as --max-message-size allows)"
	}
	return r, err
}

// limits are those of the stream. What its batches unpack to is reserved as they come.
func (r *receipt) limits() batch.Limits {
	l := TableLimits(r.g.Limits)
	l.Reserve = r.reserve
	return l
}

func (r *receipt) reserve(more int64) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.ended {
		return errEnded
	}
	err := r.Reserve(more)
	if err == nil {
		r.bytes += more
	}
	return err
}

// end gives back everything. It may be called more than once.
func (r *receipt) end() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.Release(r.bytes)
	r.ended, r.bytes = true, 0
}
