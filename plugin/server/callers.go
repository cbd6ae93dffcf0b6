package server

import (
	"context"

	"github.com/gladflow/gladflow/plugin/protocol"
	"github.com/gladflow/gladflow/plugin/server/internal/runs"
)

// caller is who makes a call.
func (s *Service) caller(ctx context.Context) runs.Caller {
	if s.callerOf == nil {
		return ""
	}
	return runs.Caller(s.callerOf(ctx))
}

// find is the run of a name, if who makes the call may know of it. Whatever takes a
// run's name from a caller finds the run here, and lists runs by list alone.
func (s *Service) find(ctx context.Context, id string) (*runs.Run, error) {
	return s.runs.Find(s.caller(ctx), id)
}

// list is the runs that who makes the call may know of.
func (s *Service) list(ctx context.Context) []*runs.Run { return s.runs.List(s.caller(ctx)) }

// withCallerQuotas fills in the limits of each caller: none where all are one, and
// otherwise what leaves room for another. A quota above the limit of all is that.
func withCallerQuotas(l protocol.Limits, callers bool) protocol.Limits {
	half := func(n int64) int64 { return (n + 1) / 2 }
	if callers {
		fill(&l.RunsPerCaller, int(half(int64(l.ConcurrentRuns))))
		fill(&l.UploadsPerCaller, l.RunsPerCaller)
		fill(&l.ResultBytesPerCaller, half(l.ResultBytes))
	}
	l.RunsPerCaller = min(l.RunsPerCaller, l.ConcurrentRuns)
	l.ResultBytesPerCaller = min(l.ResultBytesPerCaller, l.ResultBytes)
	return l
}
