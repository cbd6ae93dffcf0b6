package runs

import (
	"google.golang.org/grpc/codes"

	"github.com/gladflow/gladflow/plugin/protocol"
	"github.com/gladflow/gladflow/plugin/server/internal/fault"
)

// A Caller is the identity of who makes calls. A run belongs to the caller that has
// started it. The empty one is everybody, where callers are not told apart.
type Caller string

// An account is what a caller has at work and kept.
type account struct {
	running, uploads int
	bytes            int64 // of results, those of runs at work among them
}

// accountLocked is the account of a caller, to be changed by f.
func (g *Registry) accountLocked(c Caller, f func(*account)) {
	a := g.accounts[c]
	f(&a)
	if a == (account{}) {
		delete(g.accounts, c)
		return
	}
	g.accounts[c] = a
}

// visible says whether a caller may know of a run. Of others' runs it is told what
// it is told of runs that do not exist.
func (g *Registry) visible(c Caller, r *Run) bool { return g.SharedRuns || r.caller == c }

// checkRunsLocked refuses a caller that has too many runs at work.
func (g *Registry) checkRunsLocked(c Caller) error {
	most := g.Limits.RunsPerCaller
	if most == 0 || g.accounts[c].running < most {
		return nil
	}
	return fault.New(codes.ResourceExhausted, protocol.ReasonLimit,
		"%d runs of this caller are at work already, which is the most for one caller; try again when one has ended, cancel one, or raise runs_per_caller (gladflow serve --max-runs-per-caller)", most)
}

// roomLocked is the runs that have ended and must be forgotten so that there is room
// for results of a caller, or why there is none.
//
// Two bounds hold. Within what one caller may hold, its own runs make room, the
// oldest first. Within what all may hold, that caller makes room which holds the
// most, what is to come included. So nobody loses results to one that holds more.
func (g *Registry) roomLocked(c Caller, bytes int64) (forgotten map[*Run]bool, err error) {
	forgotten = make(map[*Run]bool)
	freed := make(map[Caller]int64)
	total := g.bytes + bytes
	size := func(other Caller) int64 { return g.accounts[other].bytes - freed[other] }
	forgettable := func(r *Run) bool { return r.yields() && !forgotten[r] }
	forget := func(r *Run) {
		forgotten[r] = true
		freed[r.caller] += r.reserved
		total -= r.reserved
	}
	if most := g.Limits.ResultBytesPerCaller; most > 0 {
		for size(c)+bytes > most {
			oldest := g.oldestLocked(c, forgettable)
			if oldest == nil {
				return nil, fault.New(codes.ResourceExhausted, protocol.ReasonLimit,
					"the results take %d bytes, and %d of the %d for one caller are taken by its runs at work and by results that are being sent; ask for fewer edges, write them to files (out), or raise result_bytes_per_caller (gladflow serve --max-result-size-per-caller)",
					bytes, size(c), most)
			}
			forget(oldest)
		}
	}
	for total > g.Limits.ResultBytes {
		oldest := g.yieldingLocked(c, bytes, size, forgettable)
		if oldest == nil {
			return nil, fault.New(codes.ResourceExhausted, protocol.ReasonLimit,
				"the results take %d bytes, and %d of %d are taken by runs at work, by results that are being sent or by callers that hold less; ask for fewer edges, write them to files (out), or raise result_bytes (gladflow serve --max-result-size)",
				bytes, total-bytes, g.Limits.ResultBytes)
		}
		forget(oldest)
	}
	return forgotten, nil
}

// boundEndedLocked forgets a run when more than maxEnded are kept, now that one of c
// has ended: the oldest of the caller that has the most.
func (g *Registry) boundEndedLocked(c Caller) {
	if len(g.ended) <= maxEnded {
		return
	}
	kept := make(map[Caller]int64)
	for _, r := range g.ended {
		kept[r.caller]++
	}
	all := func(*Run) bool { return true }
	g.removeLocked(g.yieldingLocked(c, 0, func(other Caller) int64 { return kept[other] }, all))
}

// yieldingLocked is the run to be forgotten so that a caller c can have more: the
// oldest one of the caller whose size is the largest, that of c with what is to
// come. Callers that are smaller than c then do not yield. It is nil if there is none.
func (g *Registry) yieldingLocked(c Caller, more int64, size func(Caller) int64, forgettable func(*Run) bool) *Run {
	var yields *Run
	most := size(c) + more
	for _, r := range g.ended {
		s := size(r.caller)
		if r.caller == c {
			s += more
		}
		if forgettable(r) && (s > most || s == most && yields == nil) {
			yields, most = r, s
		}
	}
	return yields
}

// oldestLocked is the oldest run of a caller that has ended and is forgettable; nil
// if there is none.
func (g *Registry) oldestLocked(c Caller, forgettable func(*Run) bool) *Run {
	for _, r := range g.ended {
		if r.caller == c && forgettable(r) {
			return r
		}
	}
	return nil
}
