package recovery

import (
	"errors"
	"math"
	"testing"

	"github.com/gladflow/gladflow/pipelines/device/devicetest"
	"github.com/gladflow/gladflow/pipelines/job"
)

// Where the job names a GPU, sums are kept there; with auto they are not, so that a GPU
// that fails does not end the run.
func TestSumsOnTheDevice(t *testing.T) {
	for device, want := range map[string]bool{"cpu": false, "auto": false, "cuda": true, "cuda:1": true} {
		m := &devicetest.Machine{Number: 2}
		_, list := scoresOf(t, deviceJob(t, "cpu", "admm"), nil)
		_, got := scoresOf(t, deviceJob(t, device, "admm"), m.Pool())
		if used := m.Used(); used["sums"] != want {
			t.Errorf("%s: sums on the GPU: %v, want %v", device, used["sums"], want)
		}
		for i, v := range list["admm"] {
			if !(math.Abs(got["admm"][i]-v) <= 1e-9) {
				t.Errorf("%s: score %d is %v, want %v", device, i, got["admm"][i], v)
			}
		}
		m.Ends(t)
	}
}

// A GPU that fails while samples are read is told as one that fails in a solver.
func TestDeviceFailsWhileReading(t *testing.T) {
	for _, fault := range []*devicetest.Fault{devicetest.ErrLost, devicetest.ErrFull} {
		m := &devicetest.Machine{Number: 1, Sums: fault}
		_, err := runOn(t.Context(), deviceJob(t, "cuda", "glad"), Host{}, m.Pool())
		var of *job.DeviceError
		var refused *job.Error
		if !errors.As(err, &of) || of.Full != fault.Full || of.Device != "cuda:0" || errors.As(err, &refused) {
			t.Errorf("%v", err)
		}
		m.Ends(t)
	}
}
