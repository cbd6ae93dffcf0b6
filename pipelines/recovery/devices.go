package recovery

import (
	"slices"

	"github.com/gladflow/gladflow/pipelines/job"
	"github.com/gladflow/gladflow/solver/dense"
	"github.com/gladflow/gladflow/solver/glad"
)

// devices lists what GLAD can run on, the default first. A backend of another
// package is a line here.
func devices() []device {
	return []device{
		{job.DeviceCPU, func(e dense.Engine) glad.Backend { return glad.CPU{Engine: e} }},
		{job.DeviceCUDA, nil},
	}
}

// A device is what Job.Device names.
type device struct {
	name string
	// backend evaluates GLAD's cells there, with the engine for what it leaves to
	// the host. It is nil where this build has no code for the device. That the
	// machine has no such device is an error of the backend's Open.
	backend func(dense.Engine) glad.Backend
}

// deviceNames are the words of Job.Device.
func deviceNames() []string {
	names := []string{job.DeviceAuto}
	for _, d := range devices() {
		names = append(names, d.name)
	}
	return names
}

// usableDevices are the names of those that this build has code for.
func usableDevices() []string {
	var names []string
	for _, d := range devices() {
		if d.backend != nil {
			names = append(names, d.name)
		}
	}
	return names
}

// deviceNamed returns a device that Validate has found to be usable; auto is the
// default.
func deviceNamed(name string) device {
	all := devices()
	return all[max(0, slices.IndexFunc(all, func(d device) bool { return d.name == name }))]
}

// checkDevice reports a device that this build has no code for, as a *job.Error.
func checkDevice(name string) error {
	if deviceNamed(name).backend == nil {
		return job.Errorf("device", "this build has no GPU code; choose %s", job.OneOf(append(usableDevices(), job.DeviceAuto)))
	}
	return nil
}
