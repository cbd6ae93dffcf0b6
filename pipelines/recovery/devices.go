package recovery

import (
	"context"
	"errors"
	"fmt"

	"github.com/gladflow/gladflow/pipelines/job"
	"github.com/gladflow/gladflow/pipelines/progress"
	"github.com/gladflow/gladflow/solver/dense"
	"github.com/gladflow/gladflow/solver/glad"
	"github.com/gladflow/gladflow/solver/glasso"
)

// gpuCode is what a build knows of GPUs: package solver/cuda, in files with the tag
// cuda. A build without has none.
type gpuCode interface {
	// list describes the GPUs of the machine, or says in a sentence why they cannot be
	// used.
	list() ([]job.GPUInfo, error)
	// open opens the GPU with that number.
	open(index int) (gpu, error)
	// fault is the error of the GPU or its libraries, one sentence, in an error of open
	// or of a solver, and whether memory of the GPU is what is missing; nil if there is
	// none.
	fault(err error) (cause error, full bool)
}

// A gpu is open. Runs use it side by side. Name says which card it is, with the
// versions of its libraries.
type gpu interface {
	glad.Backend
	Engine(host dense.Engine) dense.Engine
	Close() error
}

// noGPUCode is what a build without code for GPUs says of one.
const noGPUCode = "this build has no GPU code; run gladflow-cuda, the build for Linux that has it (see docs/gpu.md)"

// checkDevice reports a device that this build has no code for, as a *job.Error. That
// the machine has no such GPU is an error of the run.
func checkDevice(name string, gpus *gpuPool) error {
	if d, _ := job.ParseDevice(name); d.CUDA && gpus == nil {
		return job.Errorf("device", "%s, or choose %s or %s", noGPUCode, job.DeviceCPU, job.DeviceAuto)
	}
	return nil
}

// A place is where the solvers of a run compute that have code for GPUs. Its zero value
// is the CPU.
type place struct {
	device job.Device
	gpu    gpu
	auto   bool
	close  func()
}

// openDevice opens the GPU of the job, or that which auto finds, if a solver of the job
// has code for one.
func (r *run) openDevice(ctx context.Context) error {
	want, _ := job.ParseDevice(r.job.Device)
	if r.gpus == nil || !want.Auto && !want.CUDA || !anySolver(r.job.Solvers, func(s solverEntry) bool { return s.onGPU }) {
		return nil
	}
	report := r.stage(progress.Opening, "")
	r.place.auto = want.Auto
	err := r.openGPU(ctx, want)
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case err == nil:
		report.Done(r.result.Device + ", " + r.result.DeviceName)
	case want.Auto:
		r.result.DeviceNote = cpuBecause(err)
		report.Done(job.DeviceCPU + ": " + err.Error())
	default:
		failed := &job.DeviceError{Device: want.String(), Err: err}
		_, failed.Full = r.gpus.from.fault(err)
		return &job.Error{Field: "device", Reason: failed.Error(), Err: failed}
	}
	return nil
}

// openGPU opens the GPU wanted, of auto the first that can be opened. Its error is that
// of the first.
func (r *run) openGPU(ctx context.Context, want job.Device) error {
	found, err := r.gpus.list()
	if err != nil {
		return err
	}
	indices := []int{want.Index}
	if want.Auto {
		indices = indices[:0]
		for i := range found {
			indices = append(indices, i)
		}
	} else if want.Index >= len(found) {
		return fmt.Errorf("there is no such GPU; this machine has %s, %s", progress.Count(len(found), "GPU"), devicesBelow(len(found)))
	}
	var first error
	for _, i := range indices {
		g, release, err := r.gpus.take(ctx, i)
		if err == nil {
			r.place.device, r.place.gpu, r.place.close = job.Device{CUDA: true, Index: i}, g, release
			r.result.Device, r.result.DeviceName = r.place.device.String(), g.Name()
			return nil
		}
		if first == nil {
			first = err
		}
	}
	return first
}

// devicesBelow is "cuda:0", or "cuda:0 to cuda:3" for 4.
func devicesBelow(n int) string {
	text := job.Device{CUDA: true}.String()
	if n > 1 {
		text += " to " + job.Device{CUDA: true, Index: n - 1}.String()
	}
	return text
}

// cpuBecause is why auto was the CPU.
func cpuBecause(err error) string { return "the CPU was taken: " + err.Error() }

// ofGPU is the error of a solver as a *job.DeviceError, if it is one of the GPU that it
// computed on; nil otherwise.
func (r *run) ofGPU(err error) *job.DeviceError {
	if err == nil || r.place.gpu == nil {
		return nil
	}
	if p := (panicked{}); errors.As(err, &p) {
		err = p.err
	}
	cause, full := r.gpus.from.fault(err)
	if cause == nil {
		return nil
	}
	return &job.DeviceError{Device: r.place.device.String(), Full: full, Err: cause}
}

// leaveGPU goes on with the CPU, where auto chose a GPU that has failed. It returns what
// is to be noted of the solver that it failed in.
func (r *run) leaveGPU(failed *job.DeviceError) (note string) {
	onGPU := func(s job.SolverResult) bool { return s.Error == "" && find(s.Name).onGPU }
	used := false
	for _, s := range r.result.Solvers {
		used = used || onGPU(s)
	}
	r.place.gpu = nil
	if !used { // Device is where solvers have computed
		r.result.Device, r.result.DeviceName = job.DeviceCPU, ""
		r.result.DeviceNote = cpuBecause(failed)
	}
	return cpuBecause(failed)
}

// closeDevice gives the GPU back when no kernel is at work any more.
func (r *run) closeDevice(kernels *dense.Background) {
	if r.place.close != nil {
		kernels.WhenIdle(r.place.close)
	}
}

// placeNote says where a solver computed that has no code for the GPU that others of the
// run computed on, or would have; empty for others.
func (r *run) placeNote(s solverEntry) string {
	want, _ := job.ParseDevice(r.job.Device)
	if s.onGPU || r.place.gpu == nil && !want.CUDA {
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

// deviceNames are those of this machine, the CPU first.
func deviceNames(gpus []job.GPUInfo) []string {
	names := []string{job.DeviceCPU}
	for _, g := range gpus {
		if g.Found {
			names = append(names, g.Device)
		}
	}
	return names
}

// describeGPUs is what job.Description says of GPUs.
func describeGPUs(gpus *gpuPool) []job.GPUInfo {
	found, err := gpus.list()
	if err != nil {
		return []job.GPUInfo{{Device: job.DeviceCUDA, Problem: err.Error()}}
	}
	return found
}
