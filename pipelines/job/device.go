package job

import (
	"fmt"
	"strconv"
	"strings"
)

// Values of Job.Device; cuda:N besides.
const (
	DeviceAuto = "auto"
	DeviceCPU  = "cpu"
	DeviceCUDA = "cuda"
)

// mostDevices is more than a machine has; numbers are from 0.
const mostDevices = 1000

// A Device is what Job.Device names.
type Device struct {
	// Auto is a GPU where one works, and the CPU elsewhere; the zero value is the CPU.
	Auto bool
	// CUDA is the GPU with the number Index, counted from 0.
	CUDA  bool
	Index int
}

// ParseDevice reads a value of Job.Device: cpu, cuda, which is cuda:0, cuda:N, or auto,
// which is also what nothing means. It reports whether text is one of them.
func ParseDevice(text string) (Device, bool) {
	switch text {
	case "", DeviceAuto:
		return Device{Auto: true}, true
	case DeviceCPU:
		return Device{}, true
	case DeviceCUDA:
		return Device{CUDA: true}, true
	}
	number, numbered := strings.CutPrefix(text, DeviceCUDA+":")
	n, err := strconv.Atoi(number)
	if !numbered || err != nil || n < 0 || n >= mostDevices || strconv.Itoa(n) != number {
		return Device{}, false
	}
	return Device{CUDA: true, Index: n}, true
}

// String is the value of Job.Device: cuda:0 for the first GPU.
func (d Device) String() string {
	switch {
	case d.Auto:
		return DeviceAuto
	case d.CUDA:
		return DeviceCUDA + ":" + strconv.Itoa(d.Index)
	}
	return DeviceCPU
}

func (j Job) checkDevice() error { return CheckDevice(j.Device) }

// CheckDevice reports a value of Job.Device, or Training.Device, that is none, as an
// *Error.
func CheckDevice(text string) error {
	if _, ok := ParseDevice(text); !ok {
		return Errorf("device", "%q is unknown; choose %s, %s, %s or %[4]s:N with the number of a GPU from 0",
			text, DeviceAuto, DeviceCPU, DeviceCUDA)
	}
	return nil
}

// A DeviceError says why a GPU cannot be used, or no more.
type DeviceError struct {
	// Device is the GPU: cuda:0.
	Device string
	// Full says that it has not memory enough: another run may leave some.
	Full bool
	// Err is one sentence that says what is wrong and what to do.
	Err error
}

// Error is "DEVICE: CAUSE".
func (e *DeviceError) Error() string { return fmt.Sprintf("%s: %v", e.Device, e.Err) }

// Unwrap returns the cause.
func (e *DeviceError) Unwrap() error { return e.Err }
