package server

import (
	"context"

	"github.com/apache/arrow/go/v15/arrow/flight"
	"google.golang.org/grpc/codes"

	"github.com/gladflow/gladflow/pipelines/job"
	"github.com/gladflow/gladflow/pipelines/recovery"
	"github.com/gladflow/gladflow/plugin/protocol"
	"github.com/gladflow/gladflow/plugin/server/internal/fault"
	"github.com/gladflow/gladflow/plugin/server/internal/runs"
)

// An action is what DoAction does under a name.
type action struct {
	name, description string
	do                func(s *Service, body []byte, stream flight.FlightService_DoActionServer) error
}

func actions() []action {
	return []action{
		{protocol.ActionDescribe, "what this build is, what it finds on its machine, and its limits", (*Service).describe},
		{protocol.ActionSchema, "the JSON Schema of a job", (*Service).jobSchema},
		{protocol.ActionValidate, "check a job without running it: job → the job with its defaults", (*Service).validate},
		{protocol.ActionSolvers, "the solvers there are", (*Service).solvers},
		{protocol.ActionModels, "the built-in models of GLAD", (*Service).models},
		{protocol.ActionRecover, "start a job whose input is a file or URL: job → {run}", (*Service).startJob},
		{protocol.ActionLook, "say what a table is that is a file or URL, and how to recover from it: job → what look --json prints", (*Service).lookAtFile},
		{protocol.ActionWatch, "what happens in a run until it has ended: {run} → events", (*Service).watch},
		{protocol.ActionResult, "what came of a run, when it has ended: {run} → the document run.json, then the error of one that failed", (*Service).runResult},
		{protocol.ActionFile, "a file made of the results of a run, such as report.html or bcd.edges.svg: {run, file} → its bytes in pieces", (*Service).runFile},
		{protocol.ActionCancel, "end a run; what has finished stays: {run} → what is known of it", (*Service).cancelRun},
		{protocol.ActionForget, "end a run and drop its results: {run}", (*Service).forgetRun},
	}
}

// ListActions lists the actions.
func (s *Service) ListActions(_ *flight.Empty, stream flight.FlightService_ListActionsServer) error {
	for _, a := range actions() {
		if err := stream.Send(&flight.ActionType{Type: a.name, Description: a.description}); err != nil {
			return err
		}
	}
	return nil
}

// DoAction does an action.
func (s *Service) DoAction(a *flight.Action, stream flight.FlightService_DoActionServer) error {
	var names []string
	for _, known := range actions() {
		if known.name == a.GetType() {
			return known.do(s, a.GetBody(), stream)
		}
		names = append(names, known.name)
	}
	return fault.New(codes.Unimplemented, protocol.ReasonInvalidCall, "there is no action %q%s; ListActions names them", a.GetType(), job.Suggestion(a.GetType(), names))
}

func reply(stream flight.FlightService_DoActionServer, v any) error {
	return stream.Send(&flight.Result{Body: encode(v)})
}

func (s *Service) describe(_ []byte, stream flight.FlightService_DoActionServer) error {
	d, err := recovery.Describe()
	if err != nil {
		return fault.Of(stream.Context(), err)
	}
	return reply(stream, struct {
		job.Description
		protocol.Service
	}{d, protocol.Service{
		Protocol: protocol.Version, Limits: s.limits, Files: s.files,
		Caller: string(s.caller(stream.Context())), SharedRuns: s.runs.SharedRuns,
	}})
}

func (s *Service) jobSchema(_ []byte, stream flight.FlightService_DoActionServer) error {
	schema, err := recovery.Schema()
	if err != nil {
		return fault.Of(stream.Context(), err)
	}
	return stream.Send(&flight.Result{Body: schema})
}

func (s *Service) validate(body []byte, stream flight.FlightService_DoActionServer) error {
	j, err := s.parseJob(body)
	if err != nil {
		return err
	}
	return reply(stream, recovery.Resolved(j))
}

func (s *Service) solvers(_ []byte, stream flight.FlightService_DoActionServer) error {
	return reply(stream, recovery.Solvers())
}

func (s *Service) models(_ []byte, stream flight.FlightService_DoActionServer) error {
	models, err := recovery.Models()
	if err != nil {
		return fault.Of(stream.Context(), err)
	}
	return reply(stream, models)
}

func (s *Service) startJob(body []byte, stream flight.FlightService_DoActionServer) error {
	j, err := s.parseJob(body)
	if err != nil {
		return err
	}
	if err := namesTable(j); err != nil {
		return err
	}
	r, err := s.runs.Start(stream.Context(), runs.Request{Caller: s.caller(stream.Context()), Job: j, Detached: true})
	if err != nil {
		return err
	}
	return reply(stream, protocol.Run{Run: r.ID()})
}

// namesTable refuses a job that names no table.
func namesTable(j job.Job) error {
	if j.Input != streamed {
		return nil
	}
	return fault.Field("input", "no table is named; give a file or URL that the service can read, or stream the samples with DoPut")
}

// runOf is the run that a body names, if the caller may know of it.
func (s *Service) runOf(ctx context.Context, body []byte) (*runs.Run, error) {
	var b protocol.Run
	if err := decode(body, &b, `{"run": …}`); err != nil {
		return nil, err
	}
	return s.find(ctx, b.Run)
}

func (s *Service) watch(body []byte, stream flight.FlightService_DoActionServer) error {
	r, err := s.runOf(stream.Context(), body)
	if err != nil {
		return err
	}
	idle := s.idleTimer()
	return idle.await(func() error {
		return r.Events(stream.Context(), func(e protocol.Event) error {
			return idle.during(func() error { return reply(stream, e) })
		})
	})
}

func (s *Service) runResult(body []byte, stream flight.FlightService_DoActionServer) error {
	r, err := s.runOf(stream.Context(), body)
	if err != nil {
		return err
	}
	result, failure := r.WaitResult(stream.Context())
	if result != nil {
		if err := reply(stream, result); err != nil {
			return err
		}
	} else if failure == nil {
		return fault.New(codes.NotFound, protocol.ReasonNotFound, "a run without solvers leaves no document; its own call has what came of it")
	}
	return failure
}

func (s *Service) cancelRun(body []byte, stream flight.FlightService_DoActionServer) error {
	r, err := s.runOf(stream.Context(), body)
	if err != nil {
		return err
	}
	r.Cancel(fault.New(codes.Canceled, protocol.ReasonCancelled, "the run was cancelled"))
	if err := r.WaitDone(stream.Context()); err != nil {
		return err
	}
	return reply(stream, r.Info())
}

func (s *Service) forgetRun(body []byte, stream flight.FlightService_DoActionServer) error {
	r, err := s.runOf(stream.Context(), body)
	if err != nil {
		return err
	}
	r.Cancel(fault.New(codes.Canceled, protocol.ReasonCancelled, "the run was cancelled: its caller has forgotten it"))
	err = r.WaitDone(stream.Context())
	s.runs.Forget(r)
	return err
}
