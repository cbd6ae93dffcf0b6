//go:build cuda && cgo

package driver

import (
	"fmt"

	"gorgonia.org/cu"
)

// Properties are what a GPU is and has.
type Properties struct {
	Index int
	// Name is the model, such as "NVIDIA H200".
	Name string
	// Major and Minor are the compute capability, such as 9 and 0.
	Major, Minor    int
	Multiprocessors int
	// Memory and Free are in bytes. Free is 0 where this process has no context
	// on the GPU.
	Memory, Free int64
	// UUID tells GPUs apart, also across machines: GPU-… as nvidia-smi writes it.
	UUID string
}

// String is the GPU in messages: "GPU 0 (NVIDIA H200)".
func (p Properties) String() string { return fmt.Sprintf("GPU %d (%s)", p.Index, p.Name) }

// Count is how many GPUs the driver shows to this process.
func Count() (int, error) {
	if err := Open(); err != nil {
		return 0, err
	}
	n, err := cu.NumDevices()
	if err != nil {
		return 0, deviceless("cuDeviceGetCount", err)
	}
	return n, nil
}

// Describe gives the properties of a GPU, numbered from 0. It makes no context: Free
// is 0 unless this process uses the GPU.
func Describe(index int) (Properties, error) {
	if c := inUse(index); c != nil {
		return c.current()
	}
	p, _, err := describe(index)
	return p, err
}

func describe(index int) (p Properties, device cu.Device, err error) {
	n, err := Count()
	if err != nil {
		return p, 0, err
	}
	if index < 0 || index >= n {
		return p, 0, &Error{Op: "cuDeviceGet", Kind: NoDevice, Message: fmt.Sprintf("there is no GPU %d: %s", index, counted(n))}
	}
	p.Index = index
	for _, ask := range []struct {
		op string
		f  func() error
	}{
		{"cuDeviceGet", func() (err error) { device, err = cu.GetDevice(index); return }},
		{"cuDeviceGetName", func() (err error) { p.Name, err = device.Name(); return }},
		{"cuDeviceTotalMem", func() (err error) { p.Memory, err = device.TotalMem(); return }},
		{"cuDeviceGetAttribute", func() (err error) { p.Major, err = device.Attribute(cu.ComputeCapabilityMajor); return }},
		{"cuDeviceGetAttribute", func() (err error) { p.Minor, err = device.Attribute(cu.ComputeCapabilityMinor); return }},
		{"cuDeviceGetAttribute", func() (err error) {
			p.Multiprocessors, err = device.Attribute(cu.MultiprocessorCount)
			return
		}},
		{"cuDeviceGetUuid", func() error {
			id, err := device.UUID()
			p.UUID = "GPU-" + id.String()
			return err
		}},
	} {
		if err := ask.f(); err != nil {
			return p, device, deviceless(ask.op, err)
		}
	}
	return p, device, nil
}

// deviceless is the error of a call that needs no context.
func deviceless(op string, err error) error {
	c := code(err)
	kind, advice := Failed, "see whether nvidia-smi works"
	switch {
	case c == noDevice || c == invalidDevice:
		kind = NoDevice
	case sticky(c):
		kind, advice = Lost, "see whether nvidia-smi works, and start the program again"
	}
	return &Error{Op: op, Code: c, Name: resultName(c), Kind: kind, Message: fmt.Sprintf("NVIDIA's driver does not answer: %s failed with %s; %s", op, words(c), advice)}
}

func counted(n int) string {
	switch n {
	case 0:
		return "this machine shows none"
	case 1:
		return "this machine shows one, GPU 0"
	}
	return fmt.Sprintf("this machine shows %d, GPU 0 to GPU %d", n, n-1)
}
