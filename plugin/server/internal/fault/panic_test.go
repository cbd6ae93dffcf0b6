package fault

import (
	"errors"
	"fmt"
	"testing"

	"google.golang.org/grpc/codes"

	"github.com/gladflow/gladflow/pipelines/job"
	"github.com/gladflow/gladflow/plugin/protocol"
)

// A run in which a solver has panicked is told so, also after another failure; the
// stack is for the log.
func TestPanicAfterAnotherFailure(t *testing.T) {
	panicked := &job.SolverError{Solver: "am", Stack: []byte("oops\n\ngoroutine 1"), Err: errors.New("it panicked")}
	failed := &job.SolverError{Solver: "bcd", Err: errors.New("it failed")}
	for _, err := range []error{panicked, fmt.Errorf("%w; besides, %w", failed, panicked)} {
		f := Of(t.Context(), err)
		if f.Code != codes.Internal.String() || f.Reason != protocol.ReasonPanic || f.Message != err.Error() {
			t.Errorf("%+v", f)
		}
		if stack := string(Stack(err)); stack != "oops\n\ngoroutine 1" {
			t.Errorf("the stack is %q", stack)
		}
	}
	if Stack(failed) != nil || Of(t.Context(), failed).Reason != protocol.ReasonSolver {
		t.Error("a failure is a panic")
	}
}
