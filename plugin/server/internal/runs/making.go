package runs

import (
	"context"
	"slices"
	"sync"

	"github.com/gladflow/gladflow/plugin/server/internal/fault"
)

// making bounds the pages and pictures that are made of results at a time: the places of a
// large network take seconds to find, and the processors are the runs'. Calls wait for
// their turn.
type making struct {
	mu    sync.Mutex
	quota quota
	queue []*maker // in the order of their coming
}

// A maker is a call that waits.
type maker struct {
	caller Caller
	turn   chan struct{} // closed when it has come
}

// AwaitTurn waits until a page or a picture may be made of results. end must be called when
// it has been.
func (g *Registry) AwaitTurn(ctx context.Context, c Caller) (end func(), err error) {
	return g.making.enter(ctx, c)
}

// Reserve takes memory for a file of results; release gives it back.
func (g *Registry) Reserve(c Caller, bytes int64) (release func(), err error) {
	if err := (share{g, c}).Reserve(bytes); err != nil {
		return nil, fault.Of(context.Background(), err)
	}
	return func() { g.memory.Release(bytes) }, nil
}

func (m *making) enter(ctx context.Context, c Caller) (leave func(), err error) {
	w := &maker{c, make(chan struct{})}
	m.mu.Lock()
	m.queue = append(m.queue, w)
	m.admitLocked()
	m.mu.Unlock()
	select {
	case <-w.turn:
	case <-ctx.Done():
		m.mu.Lock()
		i := slices.Index(m.queue, w)
		if i >= 0 {
			m.queue = slices.Delete(m.queue, i, i+1)
		}
		m.mu.Unlock()
		if i < 0 { // its turn came at the same time
			m.leave(c)
		}
		return nil, fault.CallEnded(ctx)
	}
	return func() { m.leave(c) }, nil
}

func (m *making) leave(c Caller) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.quota.remove(c)
	m.admitLocked()
}

// admitLocked gives their turn to as many calls as may make files, the first that has
// come first, but for callers that make as many as one may.
func (m *making) admitLocked() {
	m.queue = slices.DeleteFunc(m.queue, func(w *maker) bool {
		if !m.quota.fits(w.caller) {
			return false
		}
		m.quota.add(w.caller)
		close(w.turn)
		return true
	})
}
