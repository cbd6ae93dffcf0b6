//go:build cuda

package cuda

import "sync"

// A budget is the memory of a device that sessions of this process share, in bytes.
type budget struct {
	mu   sync.Mutex
	free int64
}

// spareShare is the part of the free memory that is left to the libraries and others.
const spareShare = 32

func newBudget(free int64) *budget { return &budget{free: free - free/spareShare} }

// take takes bytes, or reports what is left.
func (b *budget) take(bytes int64) (left int64, ok bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if bytes > b.free {
		return b.free, false
	}
	b.free -= bytes
	return b.free, true
}

func (b *budget) give(bytes int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.free += bytes
}
