package runs

import (
	"google.golang.org/grpc/codes"

	"github.com/gladflow/gladflow/plugin/protocol"
	"github.com/gladflow/gladflow/plugin/server/internal/fault"
)

// A call that is open holds what its caller has sent and nobody has read, as much as
// the window of its stream. callShare is the part of the memory that all of them may
// take so.
const (
	callShare   = 16
	mostCalls   = 500 // or callsPerRun of those that may be at work
	callsPerRun = 4
	fewestCalls = 100
	mostWindow  = 2 << 20
	leastWindow = 64 << 10
)

// OpenCalls says how many calls may be open at a time, and how large the window of
// each is, in bytes.
func OpenCalls(l protocol.Limits) (most int, window int64) {
	n := int64(max(mostCalls, callsPerRun*l.ConcurrentRuns))
	if l.MemoryBytes == 0 {
		return int(n), mostWindow
	}
	all := l.MemoryBytes / callShare
	n = min(max(all/leastWindow, fewestCalls), n)
	return int(n), min(max(all/n, leastWindow), mostWindow)
}

// BeginCall counts a call that is open, or refuses it. end must be called when the
// call has ended.
func (g *Registry) BeginCall(c Caller) (end func(), err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if !g.calls.fits(c) {
		return nil, fault.New(codes.ResourceExhausted, protocol.ReasonLimit,
			"%d calls are open, %d of them this caller's, and more are not taken; try again when some have ended", g.calls.total, g.calls.each[c])
	}
	g.calls.add(c)
	return func() {
		g.mu.Lock()
		defer g.mu.Unlock()
		g.calls.remove(c)
	}, nil
}
