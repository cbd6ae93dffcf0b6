package server

import (
	"context"
	"errors"
	"fmt"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/gladflow/gladflow/arrowio"
	"github.com/gladflow/gladflow/pipelines"
	"github.com/gladflow/gladflow/plugin/protocol"
	"github.com/gladflow/gladflow/solver/covariance"
	"github.com/gladflow/gladflow/solver/dense"
)

func fault(code codes.Code, reason, format string, args ...any) *protocol.Fault {
	return &protocol.Fault{Code: code.String(), Reason: reason, Message: fmt.Sprintf(format, args...)}
}

// badCall is the fault of a descriptor, ticket or body.
func badCall(format string, args ...any) *protocol.Fault {
	return fault(codes.InvalidArgument, protocol.ReasonInvalidCall, format, args...)
}

// badField is the fault of a field of a job.
func badField(field, format string, args ...any) *protocol.Fault {
	f := fault(codes.InvalidArgument, protocol.ReasonInvalidJob, "%s: %s", field, fmt.Sprintf(format, args...))
	f.Field = field
	return f
}

// callEnded is the fault of a call whose context has ended.
func callEnded(ctx context.Context) *protocol.Fault {
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return fault(codes.DeadlineExceeded, protocol.ReasonDeadline, "the deadline of the call has passed; give it more time")
	}
	return fault(codes.Canceled, protocol.ReasonCancelled, "the caller has cancelled the call")
}

// faultOf sorts the error of a run. ctx is the run's: its cause, if it has
// ended, is what the caller is told.
func faultOf(ctx context.Context, err error) *protocol.Fault {
	if err == nil {
		return nil
	}
	f := causeOf(ctx, err)
	var solver *pipelines.SolverError
	if errors.As(err, &solver) {
		f.Solver, f.Iteration = solver.Solver, solver.Iteration
		switch {
		case ctx.Err() == nil: // the error says it
		case f.Iteration > 0:
			f.Message += fmt.Sprintf(" (solver %s, iteration %d)", f.Solver, f.Iteration)
		default:
			f.Message += fmt.Sprintf(" (solver %s)", f.Solver)
		}
	}
	return f
}

func causeOf(ctx context.Context, err error) *protocol.Fault {
	var known *protocol.Fault
	var job *pipelines.JobError
	var solver *pipelines.SolverError
	switch {
	case errors.As(err, &known):
		copied := *known
		return &copied
	case ctx.Err() != nil && errors.As(context.Cause(ctx), &known):
		copied := *known
		return &copied
	case ctx.Err() != nil:
		return callEnded(ctx)
	case errors.Is(err, arrowio.ErrTooManyVariables):
		return fault(codes.ResourceExhausted, protocol.ReasonLimit, "%s", words(err))
	case errors.As(err, &job):
		return jobFault(job)
	case errors.As(err, &solver) && solver.Stack != nil:
		return fault(codes.Internal, protocol.ReasonPanic, "%s", words(err))
	case errors.As(err, &solver):
		return fault(codes.Internal, protocol.ReasonSolver, "%s", words(err))
	}
	if s, ok := status.FromError(err); ok {
		if s.Code() == codes.Canceled { // the stream knows before its context does
			return fault(codes.Canceled, protocol.ReasonCancelled, "the caller has cancelled the call")
		}
		return fault(s.Code(), protocol.ReasonFailed, "%s", s.Message())
	}
	return fault(codes.Internal, protocol.ReasonFailed, "%s", words(err))
}

// jobFault says where in the job or the table the error is.
func jobFault(job *pipelines.JobError) *protocol.Fault {
	f := fault(codes.InvalidArgument, protocol.ReasonInvalidJob, "%s", words(job))
	f.Field = job.Field
	var input *arrowio.InputError
	var column *covariance.ColumnError
	switch {
	case errors.As(job, &input):
		f.Column, f.Row = input.Column, input.Row
	case errors.As(job, &column):
		f.Column, f.Row = column.Name, column.Sample+1
	}
	if job.Field == "input" {
		f.Reason = protocol.ReasonInvalidTable
	}
	return f
}

// words is an error for callers, who know the fields of a job.
func words(err error) string { return pipelines.ErrorText(err, pipelines.FieldOption) }

// panicked is the fault of a panic outside of a solver, whose stack is logged.
func (s *Service) panicked(p *dense.Panic) *protocol.Fault {
	s.log.Error("panic", "value", fmt.Sprint(p.Value), "stack", string(p.Stack))
	return fault(codes.Internal, protocol.ReasonPanic, "the service panicked, which is a defect of gladflow; please report it with the stack in its log: %v", p.Value)
}

// guarded is the error of work, or the fault of its panic.
func (s *Service) guarded(work func() error) (err error) {
	if p := dense.Catch(func() { err = work() }); p != nil {
		return s.panicked(p)
	}
	return err
}

// guardUnary turns panics of a call into errors.
func (s *Service) guardUnary(ctx context.Context, request any, _ *grpc.UnaryServerInfo, next grpc.UnaryHandler) (reply any, err error) {
	err = s.guarded(func() (err error) {
		reply, err = next(ctx, request)
		return err
	})
	return reply, err
}

// guardStream turns panics of a call into errors.
func (s *Service) guardStream(service any, stream grpc.ServerStream, _ *grpc.StreamServerInfo, next grpc.StreamHandler) error {
	return s.guarded(func() error { return next(service, stream) })
}

// stackOf is the stack of a solver's panic; nil if there was none.
func stackOf(err error) []byte {
	var solver *pipelines.SolverError
	if errors.As(err, &solver) {
		return solver.Stack
	}
	return nil
}
