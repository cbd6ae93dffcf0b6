package training

import (
	"context"
	"fmt"

	"github.com/gladflow/gladflow/pipelines/job"
	"github.com/gladflow/gladflow/pipelines/progress"
	"github.com/gladflow/gladflow/solver/glad"
)

// A Halt is the error of a training whose GPU has failed when there was a checkpoint.
type Halt struct {
	// Checkpoint is the file to go on from, and Command resumes the training.
	Checkpoint, Command string
	Err                 *job.DeviceError
}

// Error says what to do.
func (e *Halt) Error() string {
	return fmt.Sprintf("%v; the training can be resumed from its checkpoint %s", e.Err, e.Checkpoint)
}

// Unwrap returns the cause.
func (e *Halt) Unwrap() error { return e.Err }

// openDevice opens the GPU that the training computes on, if it does on one. With auto a
// training is resumed where it began: elsewhere its bits are others.
func (f *fitting) openDevice(ctx context.Context) (err error) {
	name := f.Device
	want, _ := job.ParseDevice(name)
	again := want.Auto && f.resume != nil
	if again {
		name = f.resume.device()
	}
	if f.place, err = f.gpus.Open(ctx, name, f.tell()); err != nil {
		return err
	}
	if again && f.gpus != nil && name == job.DeviceCPU {
		f.place.Note = "the CPU was taken: the training began there"
	}
	f.result.Device, f.result.DeviceNote = f.place.Device.String(), f.place.Note
	if f.place.GPU != nil {
		f.result.DeviceName = f.place.GPU.Name()
	}
	if f.resume != nil {
		return f.resume.checkBackend(f.Checkpoint, f.place.Device, f.backend())
	}
	return nil
}

// backend evaluates the model and its derivatives.
func (f *fitting) backend() glad.Backend {
	if f.place.GPU != nil {
		return f.place.GPU
	}
	return glad.CPU{Engine: f.engine, Workers: f.Workers}
}

// leaveGPU goes on with the CPU, where auto chose a GPU that has failed.
func (f *fitting) leaveGPU(failed *job.DeviceError) {
	f.place.Leave(failed)
	f.place.Close()
	f.result.Device, f.result.DeviceName, f.result.DeviceNote = job.DeviceCPU, "", f.place.Note
	progress.Begin(f.tell(), progress.Opening, "").Done(job.DeviceCPU + ": " + failed.Error())
}

// halted is the error of a training whose GPU has failed, and that does not go on.
func (f *fitting) halted(failed *job.DeviceError) error {
	if !f.saved {
		return failed
	}
	return &Halt{Checkpoint: f.Checkpoint, Command: f.asked.ResumeCommand(), Err: failed}
}

// device is where the training of c computed, as Training.Device names it.
func (c *checkpoint) device() string {
	if c.Device == "" { // of a version that had no other
		return job.DeviceCPU
	}
	return c.Device
}

// checkBackend refuses a checkpoint, the file at path, of a training that another
// backend began.
func (c *checkpoint) checkBackend(path string, now job.Device, backend glad.Backend) error {
	before, name := c.State.Settings.Engine, backend.Name()
	switch {
	case before == name:
		return nil
	case c.device() == job.DeviceCPU && !now.CUDA:
		return job.Errorf("engine", "the training of %s used %s and this is %s, which rounds differently; name the same engine, or remove the file", path, before, name)
	}
	return job.Errorf("device", "the training of %s began on %s (%s) and this is %s (%s), which rounds differently; go on there, or remove the file", path, c.device(), before, now, name)
}
