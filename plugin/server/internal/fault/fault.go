// Package fault makes the faults that callers of the service are told.
package fault

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode"

	"github.com/hashicorp/go-hclog"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/gladflow/gladflow/arrowio"
	"github.com/gladflow/gladflow/arrowio/batch"
	"github.com/gladflow/gladflow/pipelines/job"
	"github.com/gladflow/gladflow/pipelines/memory"
	"github.com/gladflow/gladflow/plugin/protocol"
	"github.com/gladflow/gladflow/solver/covariance"
	"github.com/gladflow/gladflow/solver/dense"
)

// New is a fault with a message.
func New(code codes.Code, reason, format string, args ...any) *protocol.Fault {
	return &protocol.Fault{Code: code.String(), Reason: reason, Message: fmt.Sprintf(format, args...)}
}

// Call is the fault of a descriptor, ticket or body.
func Call(format string, args ...any) *protocol.Fault {
	return New(codes.InvalidArgument, protocol.ReasonInvalidCall, format, args...)
}

// Field is the fault of a field of a job.
func Field(field, format string, args ...any) *protocol.Fault {
	f := New(codes.InvalidArgument, protocol.ReasonInvalidJob, "%s: %s", field, fmt.Sprintf(format, args...))
	f.Field = field
	return f
}

// CallEnded is the fault of a call whose context has ended.
func CallEnded(ctx context.Context) *protocol.Fault {
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return New(codes.DeadlineExceeded, protocol.ReasonDeadline, "the deadline of the call has passed; give it more time")
	}
	return New(codes.Canceled, protocol.ReasonCancelled, "the caller has cancelled the call")
}

// Received is the error of gRPC for a message that has not arrived. gRPC has told the
// caller in its own words; this is for the run, whose end is told later.
func Received(err error) error {
	switch f := protocol.FaultOf(err); {
	case err == io.EOF, status.Code(err) == codes.Canceled, status.Code(err) == codes.DeadlineExceeded:
		return err
	case f.Reason != "":
		return f
	}
	return Call("the call has ended in the middle of a message; send it whole")
}

// OfCall is the fault of an error that is of the call and not of a run: of gRPC, or
// of Arrow's Flight.
func OfCall(ctx context.Context, err error) *protocol.Fault {
	switch code := status.Code(err); {
	case code == codes.Unimplemented:
		return New(code, protocol.ReasonInvalidCall, "the service has not that method; see its actions (ListActions)")
	case err == io.EOF:
		return Call("the call has ended before its messages; send them, and the job first")
	case ctx.Err() != nil:
		return CallEnded(ctx)
	}
	return Of(ctx, err)
}

// Of sorts the error of a run. ctx is the run's: its cause, if it has
// ended, is what the caller is told. Its texts are short, however long the names are
// that they quote: the fault of a run is kept and logged.
func Of(ctx context.Context, err error) *protocol.Fault {
	if err == nil {
		return nil
	}
	f := causeOf(ctx, err)
	var solver *job.SolverError
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
	return f.Short()
}

func causeOf(ctx context.Context, err error) *protocol.Fault {
	var known *protocol.Fault
	var j *job.Error
	var solver *job.SolverError
	var device *job.DeviceError
	var limit *batch.LimitError
	var room *memory.Error
	switch {
	case errors.As(err, &known):
		copied := *known
		return &copied
	case ctx.Err() != nil && errors.As(context.Cause(ctx), &known):
		copied := *known
		return &copied
	case ctx.Err() != nil:
		return CallEnded(ctx)
	case errors.Is(err, arrowio.ErrTooManyVariables):
		return New(codes.ResourceExhausted, protocol.ReasonLimit, "%s", words(err))
	case errors.As(err, &limit):
		return New(codes.ResourceExhausted, protocol.ReasonLimit, "%s, or raise %s", words(err), limitName(limit))
	case errors.As(err, &room):
		return New(codes.ResourceExhausted, protocol.ReasonLimit, "%s, or raise memory_bytes (gladflow serve --max-memory)", room)
	case errors.As(err, &j):
		return jobFault(j)
	case job.Stack(err) != nil:
		return New(codes.Internal, protocol.ReasonPanic, "%s", words(err))
	case errors.As(err, &device):
		code, reason := deviceReason(device)
		return New(code, reason, "%s", words(err))
	case errors.As(err, &solver):
		return New(codes.Internal, protocol.ReasonSolver, "%s", words(err))
	}
	if s, ok := status.FromError(err); ok {
		if s.Code() == codes.Canceled { // the stream knows before its context does
			return New(codes.Canceled, protocol.ReasonCancelled, "the caller has cancelled the call")
		}
		return New(s.Code(), protocol.ReasonFailed, "%s", s.Message())
	}
	return New(codes.Internal, protocol.ReasonFailed, "%s", words(err))
}

// limitName is the limit of protocol.Limits that a table goes beyond, and its flag.
func limitName(e *batch.LimitError) string {
	if e.Table {
		return "upload_bytes (gladflow serve --max-upload-size)"
	}
	return fmt.Sprintf("message_bytes (gladflow serve --max-message-size), of which it is %d times", protocol.UnpackFactor)
}

// jobFault says where in the job or the table the error is.
func jobFault(j *job.Error) *protocol.Fault {
	f := New(codes.InvalidArgument, protocol.ReasonInvalidJob, "%s", words(j))
	f.Field = j.Field
	var input *arrowio.InputError
	var column *covariance.ColumnError
	var outside *arrowio.OutsideError
	var device *job.DeviceError
	switch {
	case errors.As(j, &device):
		code, reason := deviceReason(device)
		f.Code, f.Reason = code.String(), reason
		return f
	case errors.As(j, &outside):
		f.Code, f.Reason = codes.PermissionDenied.String(), protocol.ReasonForbidden
		return f
	case errors.As(j, &input):
		f.Column, f.Row = input.Column, input.Row
	case errors.As(j, &column):
		f.Column, f.Row = column.Name, column.Sample+1
	}
	if j.Field == "input" {
		f.Reason = protocol.ReasonInvalidTable
	}
	return f
}

// deviceReason is the code and the reason of an error of a GPU. One without memory may
// have some later; one that cannot be used is not there by trying again.
func deviceReason(e *job.DeviceError) (codes.Code, string) {
	if e.Full {
		return codes.ResourceExhausted, protocol.ReasonLimit
	}
	return codes.FailedPrecondition, protocol.ReasonDevice
}

// words is an error for callers, who know the fields of a job.
func words(err error) string { return job.ErrorText(err, job.FieldOption) }

// Catch runs work and returns its error, or the fault of its panic, whose stack
// is logged. It is for panics outside of a solver.
func Catch(log hclog.Logger, work func() error) (err error) {
	if p := dense.Catch(func() { err = work() }); p != nil {
		log.Error("panic", "value", Logged(fmt.Sprint(p.Value)), "stack", string(p.Stack))
		return New(codes.Internal, protocol.ReasonPanic, "the service panicked, which is a defect of gladflow; please report it with the value and the stack in its log")
	}
	return err
}

// Logged is text of a caller as a value in a line of a log, which it can neither end
// nor turn into another: what cannot be printed is escaped as in Go, and quotes and
// backslashes are told from those around the value.
func Logged(text string) any {
	if strings.ContainsFunc(text, func(r rune) bool { return !unicode.IsPrint(r) }) {
		quoted := strconv.Quote(text)
		text = quoted[1 : len(quoted)-1]
	}
	if strings.ContainsAny(text, `"\`) {
		return hclog.Quote(text)
	}
	return text
}

// Stack is what the log has of the panics of solvers: the values and the stacks; nil if
// there were none.
func Stack(err error) []byte { return job.Stack(err) }
