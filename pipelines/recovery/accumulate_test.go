package recovery

import (
	"context"
	"errors"
	"math"
	"testing"

	"github.com/gladflow/gladflow/pipelines/job"
	"github.com/gladflow/gladflow/solver/dense"
)

// Accumulate implements dense.AccumulatingEngine, in memory of its own.
func (e testEngine) Accumulate(_ context.Context, n, _, _ int, sums []float64) (dense.Accumulator, error) {
	e.machine.use("sums")
	a := &testSums{machine: e.machine, n: n, sums: make([]float64, n*n)}
	copy(a.sums, sums)
	return a, nil
}

type testSums struct {
	dense.Gonum
	machine *machine
	n       int
	sums    []float64
}

func (a *testSums) Scale(_ context.Context, factor []float64) error {
	for i := range a.n {
		for j := range a.n {
			a.sums[i*a.n+j] *= factor[i] * factor[j]
		}
	}
	return nil
}

func (a *testSums) Add(_ context.Context, rows int, x []float64) error {
	a.Syrk(true, a.n, rows, 1, x, a.n, 1, a.sums, a.n)
	return a.machine.sums
}

func (a *testSums) Sum(_ context.Context, sums []float64) error {
	copy(sums, a.sums)
	return nil
}

func (a *testSums) Close() error { return nil }

// Where the job names a GPU, sums are kept there; with auto they are not, so that a GPU
// that fails does not end the run.
func TestSumsOnTheDevice(t *testing.T) {
	for device, want := range map[string]bool{"cpu": false, "auto": false, "cuda": true, "cuda:1": true} {
		m := &machine{number: 2}
		_, list := scoresOf(t, deviceJob(t, "cpu", "admm"), nil)
		_, got := scoresOf(t, deviceJob(t, device, "admm"), newGPUPool(m))
		if m.used["sums"] != want {
			t.Errorf("%s: sums on the GPU: %v, want %v", device, m.used["sums"], want)
		}
		for i, v := range list["admm"] {
			if !(math.Abs(got["admm"][i]-v) <= 1e-9) {
				t.Errorf("%s: score %d is %v, want %v", device, i, got["admm"][i], v)
			}
		}
		m.stillOpen(t)
	}
}

// A GPU that fails while samples are read is told as one that fails in a solver.
func TestDeviceFailsWhileReading(t *testing.T) {
	for _, fault := range []*faultOfGPU{errLost, errFull} {
		m := &machine{number: 1, sums: fault}
		_, err := runOn(t.Context(), deviceJob(t, "cuda", "glad"), Host{}, newGPUPool(m))
		var of *job.DeviceError
		var refused *job.Error
		if !errors.As(err, &of) || of.Full != fault.full || of.Device != "cuda:0" || errors.As(err, &refused) {
			t.Errorf("%v", err)
		}
		m.stillOpen(t)
	}
}
