package fault

import (
	"errors"
	"testing"

	"google.golang.org/grpc/codes"

	"github.com/gladflow/gladflow/pipelines/job"
	"github.com/gladflow/gladflow/plugin/protocol"
)

// A GPU that cannot be used is no fault of the job, nor one that trying again mends;
// memory is.
func TestDevice(t *testing.T) {
	for _, full := range []bool{false, true} {
		code, reason := codes.FailedPrecondition, protocol.ReasonDevice
		if full {
			code, reason = codes.ResourceExhausted, protocol.ReasonLimit
		}
		device := &job.DeviceError{Device: "cuda:1", Full: full, Err: errors.New("there is no driver; install one")}
		f := Of(t.Context(), &job.Error{Field: "device", Reason: device.Error(), Err: device})
		if f.StatusCode() != code || f.Reason != reason || f.Field != "device" || f.Message != "device: cuda:1: there is no driver; install one" {
			t.Errorf("before the run: %+v", f)
		}
		f = Of(t.Context(), &job.SolverError{Solver: "glad", Iteration: 3, Err: device})
		if f.StatusCode() != code || f.Reason != reason || f.Solver != "glad" || f.Iteration != 3 || f.Message != "solver glad failed at iteration 3: cuda:1: there is no driver; install one" {
			t.Errorf("in a solver: %+v", f)
		}
	}
}
