// Package memory bounds the memory of a process: what the machine or its cgroup
// has, a Budget that runs share, and the error of a run for which there is no room.
// Estimates of what a run takes are package recovery's.
//
//	budget := memory.NewBudget(memory.Default())
//	result, err := recovery.Run(ctx, j, recovery.Host{Memory: budget})
//
// A budget counts what is in use. What the garbage collector has not yet freed
// comes on top, unless the process tells it of the limit: see Heap.
package memory

import (
	"cmp"
	"fmt"
	"math"
	"sync"
)

const (
	// Process is what a limit sets aside for the process itself, in bytes: the
	// program, the runtime, libraries and connections.
	Process = 160 << 20
	// outside is the part of Process that is not memory of the Go runtime: pages of
	// the program and the buffers of OpenBLAS.
	outside = 96 << 20
)

// Heap is the limit of Go's runtime (debug.SetMemoryLimit) for a process whose
// limit is so many bytes: a bit below it, so that the collector works harder before
// the process reaches its limit.
func Heap(limit int64) int64 { return max(limit-outside, outside) }

// A Budget is a limit that runs share. It is safe for concurrent use.
type Budget struct {
	limit, aside int64

	mu    sync.Mutex
	taken int64
}

// NewBudget makes a budget for a process that may take so many bytes, of which
// Process are set aside; 0 for no bound.
func NewBudget(limit int64) *Budget { return NewBudgetBeside(limit, 0) }

// NewBudgetBeside is NewBudget for a process that sets more bytes aside, for what
// must go on when runs have all the rest.
func NewBudgetBeside(limit, more int64) *Budget { return &Budget{limit: limit, aside: Process + more} }

// Reserve takes bytes, or nothing: then the error is an *Error.
func (b *Budget) Reserve(bytes int64) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.limit > 0 && bytes > b.limit-b.aside-b.taken {
		return &Error{Needs: bytes, Limit: b.limit, Aside: b.aside, Taken: b.taken}
	}
	b.taken += bytes
	return nil
}

// Release gives bytes back.
func (b *Budget) Release(bytes int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.taken -= bytes
}

// Free is what can still be reserved; without a bound it is math.MaxInt64.
func (b *Budget) Free() int64 {
	if b.limit == 0 {
		return math.MaxInt64
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.limit - b.aside - b.taken
}

// Taken is what has been reserved and not given back.
func (b *Budget) Taken() int64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.taken
}

// An Error is that of a run for which there is no room.
type Error struct {
	// Needs is what the run needs at the least, in bytes.
	Needs int64
	// What says what it needs that for, such as "solver admm on 2000 variables";
	// empty where that is not known.
	What string
	// Growing says that the run may need more: its table is still being read.
	Growing bool
	// Limit is that of the process, Aside what is set aside of it, and Taken what
	// others have of it.
	Limit, Aside, Taken int64
	// Advice is what to do besides; empty for fewer variables or other solvers.
	Advice string
}

// Never says that the run cannot fit, even when it is the only one.
func (e *Error) Never() bool { return e.Needs > e.Limit-e.Aside }

// Error is one sentence that says what to do. Who has set the limit may add how to
// raise it.
func (e *Error) Error() string {
	needs := "needs "
	if e.Growing {
		needs += "at least "
	}
	needs += Size(e.Needs) + " of memory"
	if e.What != "" {
		needs += " for " + e.What
	}
	advice := cmp.Or(e.Advice, "choose fewer variables or solvers that need less")
	if e.Never() {
		return fmt.Sprintf("the run %s, and the limit is %s with %s set aside for the program itself, so that it can never be taken; %s",
			needs, Size(e.Limit), Size(e.Aside), advice)
	}
	return fmt.Sprintf("the run %s, and of the limit of %s others have %s and the program itself %s; try again when a run has ended, or %s",
		needs, Size(e.Limit), Size(e.Taken), Size(e.Aside), advice)
}

// Size is a number of bytes for people, with three digits.
func Size(bytes int64) string {
	const mib, gib = 1 << 20, 1 << 30
	if bytes >= gib {
		return fmt.Sprintf("%.3g GiB", float64(bytes)/gib)
	}
	return fmt.Sprintf("%.3g MiB", float64(bytes)/mib)
}
