package protocol

import (
	"maps"
	"strconv"
	"strings"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/protoadapt"
)

// Domain is the domain of the ErrorInfo that every error of the service
// carries.
const Domain = "gladflow"

// Reasons of errors. Callers branch on the gRPC code first: InvalidArgument is
// the caller's to put right, ResourceExhausted and Unavailable can be tried
// again, Internal is a defect.
const (
	ReasonInvalidJob   = "INVALID_JOB"   // InvalidArgument: a field of the job
	ReasonInvalidTable = "INVALID_TABLE" // InvalidArgument: the samples
	ReasonInvalidCall  = "INVALID_CALL"  // InvalidArgument: a descriptor, ticket or body; Unimplemented: an action
	ReasonNotFound     = "NOT_FOUND"     // NotFound: a run, solver or table
	ReasonForbidden    = "FORBIDDEN"     // PermissionDenied: a file outside those allowed
	ReasonLimit        = "LIMIT"         // ResourceExhausted: see Limits
	ReasonDevice       = "DEVICE"        // FailedPrecondition: the GPU of the job cannot be used
	ReasonDraining     = "DRAINING"      // Unavailable: the service is ending
	ReasonIdle         = "IDLE"          // DeadlineExceeded: nothing was sent or taken for too long
	ReasonCancelled    = "CANCELLED"     // Canceled: by the caller
	ReasonDeadline     = "DEADLINE"      // DeadlineExceeded: that of the call
	ReasonSolver       = "SOLVER_FAILED" // Internal: a solver failed
	ReasonPanic        = "PANIC"         // Internal: a defect; the log has its stack
	ReasonFailed       = "FAILED"        // Internal: the machine, such as a full disk
)

// A Fault is an error of the service: a gRPC status with its details, and the
// same in JSON where a run's failure is told later. Fields that do not apply
// are zero.
type Fault struct {
	// Code is the gRPC code by its name, such as InvalidArgument.
	Code string `json:"code"`
	// Reason is one of the reasons.
	Reason string `json:"reason"`
	// Message is one sentence that says what is wrong and what to do.
	Message string `json:"message"`
	// Field is the key of the job that is at fault.
	Field string `json:"field,omitempty"`
	// Column is the column of the table that is at fault.
	Column string `json:"column,omitempty"`
	// Row is the row of the table, counted from 1.
	Row int `json:"row,omitempty"`
	// Solver is the one that failed or was ended.
	Solver string `json:"solver,omitempty"`
	// Iteration is the last that it told of.
	Iteration int `json:"iteration,omitempty"`
	// Run is the run, where there is one.
	Run string `json:"run,omitempty"`
}

// Error is the message.
func (f *Fault) Error() string { return f.Message }

// StatusCode is Code as a code; Unknown where it is no name of one.
func (f *Fault) StatusCode() codes.Code {
	for c := codes.OK; c <= codes.Unauthenticated; c++ {
		if c.String() == f.Code {
			return c
		}
	}
	return codes.Unknown
}

// GRPCStatus is the status that carries f: its message, an ErrorInfo with the
// reason and everything else as metadata, and, where a field of the job is at
// fault, a BadRequest. It makes f a status error of gRPC. Its texts are those of Short.
func (f *Fault) GRPCStatus() *status.Status {
	f = f.Short()
	s := status.New(f.StatusCode(), f.Message)
	details := []protoadapt.MessageV1{&errdetails.ErrorInfo{
		Reason: f.Reason, Domain: Domain, Metadata: f.metadata(),
	}}
	if f.Field != "" {
		details = append(details, &errdetails.BadRequest{
			FieldViolations: []*errdetails.BadRequest_FieldViolation{{Field: f.Field, Description: f.Message}},
		})
	}
	with, err := s.WithDetails(details...)
	if err != nil {
		return s
	}
	return with
}

// Short is f with texts that quote what a caller has sent cut to about a thousand
// bytes: clients refuse answers whose headers are too long, and would be told that.
func (f *Fault) Short() *Fault {
	short := *f
	short.Message, short.Field, short.Column = cut(f.Message), cut(f.Field), cut(f.Column)
	return &short
}

// cut takes the middle out of a text that is too long for a header; its end often
// says what to do.
func cut(text string) string {
	const most, head, tail = 1000, 600, 300
	if len(text) > most {
		text = text[:head] + " … " + text[len(text)-tail:]
	}
	return strings.ToValidUTF8(text, "\uFFFD")
}

// Keys of the metadata of an ErrorInfo.
const (
	keyField     = "field"
	keyColumn    = "column"
	keyRow       = "row"
	keySolver    = "solver"
	keyIteration = "iteration"
	keyRun       = "run"
)

func (f *Fault) metadata() map[string]string {
	m := map[string]string{keyField: f.Field, keyColumn: f.Column, keySolver: f.Solver, keyRun: f.Run}
	for key, n := range map[string]int{keyRow: f.Row, keyIteration: f.Iteration} {
		if n > 0 {
			m[key] = strconv.Itoa(n)
		}
	}
	maps.DeleteFunc(m, func(_, v string) bool { return v == "" })
	return m
}

// FaultOf returns the fault that an error of a call carries; nil for nil. An
// error that is not of the service, such as a connection that broke, is a Fault
// with its code and no reason; but gRPC's for a message that is too large has the
// reason and the words of the service's.
func FaultOf(err error) *Fault {
	if err == nil {
		return nil
	}
	s := status.Convert(err)
	f := &Fault{Code: s.Code().String(), Message: s.Message()}
	for _, d := range s.Details() {
		info, ok := d.(*errdetails.ErrorInfo)
		if !ok || info.Domain != Domain {
			continue
		}
		f.Reason = info.Reason
		m := info.Metadata
		f.Field, f.Column, f.Solver, f.Run = m[keyField], m[keyColumn], m[keySolver], m[keyRun]
		// A number that is none is one that is not there.
		f.Row, _ = strconv.Atoi(m[keyRow])
		f.Iteration, _ = strconv.Atoi(m[keyIteration])
	}
	if f.Reason == "" {
		f.asLimit()
	}
	return f
}
