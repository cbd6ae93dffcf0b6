package protocol

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// A fault comes through a gRPC status whole.
func TestFaultIsAStatus(t *testing.T) {
	for _, f := range []*Fault{
		{Code: "InvalidArgument", Reason: ReasonInvalidTable, Message: "m", Field: "input", Column: "a", Row: 3, Run: "x"},
		{Code: "Internal", Reason: ReasonSolver, Message: "m", Solver: "bcd", Iteration: 12},
		{Code: "Unavailable", Reason: ReasonDraining, Message: "m"},
	} {
		var err error = f
		if got := status.Code(err); got.String() != f.Code {
			t.Errorf("%+v: code %v", f, got)
		}
		sent := status.FromProto(status.Convert(err).Proto()).Err() // as it comes over the wire
		if got := FaultOf(sent); *got != *f {
			t.Errorf("got %+v, want %+v", got, f)
		}
		violations := 0
		for _, d := range status.Convert(sent).Details() {
			if b, ok := d.(*errdetails.BadRequest); ok && b.FieldViolations[0].Field == f.Field {
				violations++
			}
		}
		if (violations == 1) != (f.Field != "") {
			t.Errorf("%+v: %d field violations", f, violations)
		}
	}
}

func TestFaultOfOtherErrors(t *testing.T) {
	if FaultOf(nil) != nil {
		t.Error("no error is a fault")
	}
	if f := FaultOf(status.Error(codes.NotFound, "x")); f.StatusCode() != codes.NotFound || f.Reason != "" || f.Message != "x" {
		t.Errorf("%+v", f)
	}
	if f := FaultOf(fmt.Errorf("calling: %w", &Fault{Code: "Aborted", Reason: "R", Message: "m"})); f.Reason != "R" || f.StatusCode() != codes.Aborted {
		t.Errorf("a wrapped fault: %+v", f)
	}
	if f := FaultOf(errors.New("x")); f.StatusCode() != codes.Unknown {
		t.Errorf("%+v", f)
	}
	if f := FaultOf(context.Canceled); f == nil || f.Reason != "" {
		t.Errorf("%+v", f)
	}
	if c := (&Fault{Code: "no such"}).StatusCode(); c != codes.Unknown {
		t.Error(c)
	}
}
