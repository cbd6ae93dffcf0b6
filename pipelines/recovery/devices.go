package recovery

import (
	"context"
	"errors"

	"github.com/gladflow/gladflow/pipelines/job"
	"github.com/gladflow/gladflow/solver/dense"
	"github.com/gladflow/gladflow/solver/glad"
	"github.com/gladflow/gladflow/solver/glasso"
)

// openDevice opens the GPU of the job, or that which auto finds, if a solver of the job
// has code for one.
func (r *run) openDevice(ctx context.Context) (err error) {
	if !anySolver(r.job.Solvers, func(s solverEntry) bool { return s.onGPU }) {
		return nil
	}
	if r.place, err = r.gpus.Open(ctx, r.job.Device, r.host.Progress); err != nil {
		return err
	}
	r.result.Device, r.result.DeviceNote = r.place.Device.String(), r.place.Note
	if r.place.GPU != nil {
		r.result.DeviceName = r.place.GPU.Name()
	}
	return nil
}

// ofGPU is the error of a solver as a *job.DeviceError, if it is one of the GPU that it
// computed on; nil otherwise.
func (r *run) ofGPU(err error) *job.DeviceError {
	if p := (panicked{}); errors.As(err, &p) {
		err = p.err
	}
	return r.place.Fault(err)
}

// leaveGPU goes on with the CPU, where auto chose a GPU that has failed. It returns what
// is to be noted of the solver that it failed in.
func (r *run) leaveGPU(failed *job.DeviceError) (note string) {
	onGPU := func(s job.SolverResult) bool { return s.Error == "" && find(s.Name).onGPU }
	used := false
	for _, s := range r.result.Solvers {
		used = used || onGPU(s)
	}
	r.place.Leave(failed)
	if !used { // Device is where solvers have computed
		r.result.Device, r.result.DeviceName = job.DeviceCPU, ""
		r.result.DeviceNote = r.place.Note
	}
	return r.place.Note
}

// closeDevice gives the GPU back when no kernel is at work any more.
func (r *run) closeDevice(kernels *dense.Background) {
	kernels.WhenIdle(r.place.Close)
}

// placeNote says where a solver computed that has no code for the GPU that others of the
// run computed on, or would have; empty for others.
func (r *run) placeNote(s solverEntry) string {
	want, _ := job.ParseDevice(r.job.Device)
	if s.onGPU || r.place.GPU == nil && !want.CUDA {
		return ""
	}
	return "it has no code for GPUs and ran on the CPU"
}

// backend evaluates GLAD's cells.
func (c solverConfig) backend() glad.Backend {
	if c.gpu != nil {
		return c.gpu
	}
	return glad.CPU{Engine: c.engine}
}

// gpuSettings are those of a classical solver with code for GPUs.
func (c solverConfig) gpuSettings() glasso.Settings {
	s := c.settings()
	if c.gpu != nil {
		s.Engine = c.gpu.Engine(s.Engine)
	}
	return s
}
