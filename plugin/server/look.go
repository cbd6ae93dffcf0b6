package server

import (
	"context"

	"github.com/apache/arrow/go/v15/arrow/flight"

	"github.com/gladflow/gladflow/pipelines/job"
	"github.com/gladflow/gladflow/pipelines/recovery"
	"github.com/gladflow/gladflow/plugin/protocol"
	"github.com/gladflow/gladflow/plugin/server/internal/fault"
	"github.com/gladflow/gladflow/plugin/server/internal/runs"
)

// lookAtFile looks at a table that a job names.
func (s *Service) lookAtFile(body []byte, stream flight.FlightService_DoActionServer) error {
	j, err := s.parseJob(body)
	if err != nil {
		return err
	}
	if err := namesTable(j); err != nil {
		return err
	}
	look, q := looking(runs.Request{Caller: s.caller(stream.Context()), Job: j})
	if err := s.within(stream.Context(), q, (*runs.Run).WaitEnd); err != nil {
		return err
	}
	return reply(stream, look)
}

// looking makes a request one that looks at the table of its job. What it sees is there
// when the run has ended well.
func looking(q runs.Request) (*job.Look, runs.Request) {
	look := new(job.Look)
	q.Work = func(ctx context.Context, host recovery.Host) error {
		seen, err := recovery.Look(ctx, q.Job, host)
		if err == nil {
			*look = *seen
		}
		return err
	}
	return look, q
}

// within starts a run that ends with its call, and waits for it.
func (s *Service) within(call context.Context, q runs.Request, wait func(*runs.Run) error) error {
	r, err := s.runs.Start(call, q)
	if err != nil {
		return err
	}
	defer r.Cancel(nil)
	return wait(r)
}

// putPath does what is no recovery with a table that is streamed.
func (s *Service) putPath(stream flight.FlightService_DoPutServer, u *upload) error {
	path := u.descriptor.Path
	if len(path) != 2 || path[0] != protocol.PathLook && path[0] != protocol.PathDraw {
		return fault.Call("the descriptor is neither a command nor a path that begins with %s or %s; send the job, as JSON, as a command, or after %s", protocol.PathLook, protocol.PathDraw, protocol.PathLook)
	}
	q := runs.Request{Caller: s.caller(stream.Context()), Open: u.records, Upload: u.memory}
	var answer func() error
	var err error
	if path[0] == protocol.PathLook {
		q.Job, err = s.parseStreamed([]byte(path[1]))
		var look *job.Look
		look, q = looking(q)
		answer = func() error { return stream.Send(&flight.PutResult{AppMetadata: encode(look)}) }
	} else {
		answer, err = s.drawing(&q, []byte(path[1]), stream)
	}
	if err != nil {
		return err
	}
	return s.within(stream.Context(), q, func(r *runs.Run) error {
		ended := make(chan error, 1)
		go func() { ended <- r.WaitEnd() }()
		if err := u.idle.awaitResult(ended); err != nil {
			r.Cancel(err)
			return err
		}
		return u.idle.await(func() error { return u.idle.during(answer) })
	})
}
