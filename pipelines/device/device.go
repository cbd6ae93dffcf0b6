// Package device finds where a run computes: on the CPU, or on a GPU that runs of the
// process share. It is what recoveries and trainings have in common of Job.Device; what
// they do when a GPU fails is theirs.
//
//	place, err := device.Process().Open(ctx, "auto", tell)
//	if err != nil {
//		return err // a *job.Error of the field device
//	}
//	defer place.Close()
//	if place.GPU != nil {
//		backend = place.GPU
//	}
package device

import (
	"context"
	"errors"
	"fmt"

	"github.com/gladflow/gladflow/pipelines/job"
	"github.com/gladflow/gladflow/pipelines/progress"
	"github.com/gladflow/gladflow/solver/dense"
	"github.com/gladflow/gladflow/solver/glad"
)

// Code is what a build knows of GPUs: package solver/cuda, in files with the tag cuda. A
// build without has none.
type Code interface {
	// List describes the GPUs of the machine, or says in a sentence why they cannot be
	// used.
	List() ([]job.GPUInfo, error)
	// Open opens the GPU with that number.
	Open(index int) (GPU, error)
	// Fault is the error of the GPU or its libraries, one sentence, in an error of Open
	// or of a solver, and whether memory of the GPU is what is missing; nil if there is
	// none.
	Fault(err error) (cause error, full bool)
}

// A GPU is open. Runs use it side by side. Name says which card it is, with the
// versions of its libraries.
type GPU interface {
	glad.Backend
	Engine(host dense.Engine) dense.Engine
	// Refresh is called before a run takes it that nobody has used for a while. It finds
	// out what memory is free now, and fails if the GPU has been lost: it is closed then,
	// and opened anew.
	Refresh() error
	Close() error
}

// noCode is what a build without code for GPUs says of one.
const noCode = "this build has no GPU code; run gladflow-cuda, the build for Linux that has it (see docs/gpu.md)"

// Check reports a device that this build has no code for, as a *job.Error; name is a
// value of Job.Device. That the machine has no such GPU is an error of Open. The pool may
// be nil: that of a build without code for GPUs.
func (p *Pool) Check(name string) error {
	if d, _ := job.ParseDevice(name); d.CUDA && p == nil {
		return job.Errorf("device", "%s, or choose %s or %s", noCode, job.DeviceCPU, job.DeviceAuto)
	}
	return nil
}

// list describes the GPUs of the machine, one at least, or says why there is none.
func (p *Pool) list() ([]job.GPUInfo, error) {
	if p == nil {
		return nil, errors.New(noCode)
	}
	found, err := p.code.List()
	if err == nil && len(found) == 0 {
		err = errors.New("the driver lists no GPU; see CUDA_VISIBLE_DEVICES and nvidia-smi, or run on the CPU")
	}
	return found, err
}

// Describe is what job.Description says of GPUs. The pool may be nil.
func (p *Pool) Describe() []job.GPUInfo {
	found, err := p.list()
	if err != nil {
		return []job.GPUInfo{{Device: job.DeviceCUDA, Problem: err.Error()}}
	}
	return found
}

// Names are the devices of a machine with these GPUs, the CPU first.
func Names(gpus []job.GPUInfo) []string {
	names := []string{job.DeviceCPU}
	for _, g := range gpus {
		if g.Found {
			names = append(names, g.Device)
		}
	}
	return names
}

// A Place is where a run computes what there is code for on a GPU. Its zero value is the
// CPU.
type Place struct {
	// GPU is nil on the CPU.
	GPU GPU
	// Device is the CPU, or the GPU with its number.
	Device job.Device
	// Auto says that auto chose it: where the GPU fails the CPU may take over.
	Auto bool
	// Note is why auto took the CPU, one clause; empty otherwise.
	Note string

	use *use
}

// Open opens the GPU that name means, a value of Job.Device: of auto the first that can
// be opened, and where there is none the Place is the CPU, with a Note. One that is named
// and cannot be used is a *job.Error that wraps a *job.DeviceError. tell is told of the
// stage; nil for none. The pool may be nil, and is then the CPU.
func (p *Pool) Open(ctx context.Context, name string, tell func(progress.Update)) (Place, error) {
	want, _ := job.ParseDevice(name)
	place := Place{Auto: want.Auto}
	if p == nil || !want.Auto && !want.CUDA {
		return place, nil
	}
	report := progress.Begin(tell, progress.Opening, "")
	err := place.open(ctx, p, want)
	switch {
	case ctx.Err() != nil:
		place.Close()
		return Place{}, ctx.Err()
	case err == nil:
		report.Done(place.Device.String() + ", " + place.GPU.Name())
	case want.Auto:
		place.Note = CPUBecause(err)
		report.Done(job.DeviceCPU + ": " + err.Error())
	default:
		failed := &job.DeviceError{Device: want.String(), Err: err}
		_, failed.Full = p.code.Fault(err)
		return Place{}, &job.Error{Field: "device", Reason: failed.Error(), Err: failed}
	}
	return place, nil
}

// open opens the GPU wanted, of auto the first that can be opened. Its error is that of
// the first.
func (at *Place) open(ctx context.Context, p *Pool, want job.Device) error {
	found, err := p.list()
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
		return fmt.Errorf("there is no such GPU; this machine has %s, %s", progress.Count(len(found), "GPU"), below(len(found)))
	}
	var first error
	for _, i := range indices {
		u, err := p.take(ctx, i)
		if err == nil {
			at.Device, at.GPU, at.use = job.Device{CUDA: true, Index: i}, u.gpu(), u
			return nil
		}
		if first == nil {
			first = err
		}
	}
	return first
}

// below is "cuda:0", or "cuda:0 to cuda:3" for 4.
func below(n int) string {
	text := job.Device{CUDA: true}.String()
	if n > 1 {
		text += " to " + job.Device{CUDA: true, Index: n - 1}.String()
	}
	return text
}

// CPUBecause is why the CPU was taken instead of a GPU.
func CPUBecause(err error) string { return "the CPU was taken: " + err.Error() }

// Fault is an error as a *job.DeviceError, if it is one of the GPU; nil otherwise. Such a
// GPU is not kept open for other runs.
func (at *Place) Fault(err error) *job.DeviceError {
	if err == nil || at.GPU == nil {
		return nil
	}
	cause, full := at.use.pool.code.Fault(err)
	if cause == nil {
		return nil
	}
	at.use.fail(full)
	return &job.DeviceError{Device: at.Device.String(), Full: full, Err: cause}
}

// Leave makes the CPU the place, since the GPU has failed. The GPU is still to be closed.
func (at *Place) Leave(failed *job.DeviceError) {
	at.GPU, at.Device, at.Note = nil, job.Device{}, CPUBecause(failed)
}

// Close gives the GPU back, if there is one; once, whatever is done again. No kernel may
// be at work on it any more.
func (at *Place) Close() {
	if at.use != nil {
		at.use.leave()
	}
}
