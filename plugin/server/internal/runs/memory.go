package runs

import (
	"errors"
	"sync"

	"github.com/gladflow/gladflow/arrowio/batch"
	"github.com/gladflow/gladflow/pipelines/memory"
)

// A share is the recovery.Memory of a run: its part of the budget of all runs. What
// is kept of the oldest runs of its caller that have ended makes room for it.
type share struct {
	g      *Registry
	caller Caller
}

// Reserve implements recovery.Memory.
func (s share) Reserve(bytes int64) error {
	s.g.mu.Lock()
	defer s.g.mu.Unlock()
	return s.g.takeLocked(s.caller, bytes)
}

// Release implements recovery.Memory.
func (s share) Release(bytes int64) { s.g.memory.Release(bytes) }

// Reserved is the memory that runs have reserved and that results take, in bytes.
func (g *Registry) Reserved() int64 { return g.memory.Taken() }

// takeLocked takes memory of the budget. Where there is too little it removes the
// oldest runs of the caller that have ended, if that makes enough room: nobody loses
// results to the runs of another.
func (g *Registry) takeLocked(c Caller, bytes int64) error {
	err := g.memory.Reserve(bytes)
	if err == nil {
		return nil
	}
	var kept int64
	for _, r := range g.ended {
		if r.caller == c && r.yields() {
			kept += r.reserved
		}
	}
	if bytes > g.memory.Limit()-memory.Process-g.memory.Taken()+kept {
		return err
	}
	for err != nil {
		oldest := g.oldestLocked(c, (*Run).yields)
		if oldest == nil {
			break
		}
		g.removeLocked(oldest)
		err = g.memory.Reserve(bytes)
	}
	return err
}

// keepLocked moves what a run has reserved for results to what is kept of it, which
// takes so many bytes.
func (g *Registry) keepLocked(c Caller, bytes, reserved int64) error {
	if bytes <= reserved {
		g.memory.Release(reserved - bytes)
		return nil
	}
	err := g.takeLocked(c, bytes-reserved)
	if err != nil {
		g.memory.Release(reserved)
	}
	return err
}

// A receipt is the memory that samples take on their way to a run. The transport
// holds a message before anything can count it, hence one of the largest is reserved
// from the beginning.
type receipt struct {
	share
	mu    sync.Mutex
	ended bool
	bytes int64
}

// receive reserves the memory for a stream of samples.
func (g *Registry) receive(c Caller) (*receipt, error) {
	r := &receipt{share: share{g, c}}
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
