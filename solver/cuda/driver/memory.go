//go:build cuda && cgo

package driver

import (
	"fmt"
	"unsafe"

	"gorgonia.org/cu"
)

// A Pointer is an address in the memory of a GPU.
type Pointer uintptr

// At is the address some bytes further.
func (p Pointer) At(bytes int64) Pointer { return p + Pointer(bytes) }

// Alloc takes memory on the GPU, which holds anything. No bytes are the null pointer.
// It waits for the work of all streams, at times: keep memory rather than take it again.
func (d *Device) Alloc(bytes int64) (Pointer, error) {
	if err := d.ready(); err != nil || bytes == 0 {
		return 0, err
	}
	if bytes < 0 {
		return 0, &Error{Op: "cuMemAlloc", Kind: Failed, Message: fmt.Sprintf("%d bytes of memory cannot be had", bytes)}
	}
	p, err := cu.MemAlloc(bytes)
	if err != nil {
		if code(err) == outOfMemory {
			return 0, d.full(bytes)
		}
		return 0, d.failed("cuMemAlloc", err)
	}
	d.sizes[Pointer(p)] = bytes
	d.allocated.Add(bytes)
	return Pointer(p), nil
}

// full is the error where the GPU has not so many bytes.
func (c *card) full(bytes int64) error {
	free, total, err := c.memory()
	if err != nil {
		return err
	}
	return &Error{
		Op: "cuMemAlloc", Code: outOfMemory, Name: resultName(outOfMemory), Kind: OutOfMemory,
		Message: fmt.Sprintf("%s has no room for %s: %s of %s are free, this process holds %s; wait for other work, take a smaller problem, or run on the CPU",
			c.properties, gigabytes(bytes), gigabytes(free), gigabytes(total), gigabytes(c.allocated.Load())),
	}
}

func (c *card) memory() (free, total int64, err error) {
	if err := c.ready(); err != nil {
		return 0, 0, err
	}
	free, total, err = cu.MemInfo()
	return free, total, c.failed("cuMemGetInfo", err)
}

// Free gives back what Alloc gave. The null pointer is nothing.
func (d *Device) Free(p Pointer) error {
	if p == 0 {
		return nil
	}
	bytes, found := d.sizes[p]
	if !found {
		return &Error{Op: "cuMemFree", Kind: Failed, Message: fmt.Sprintf("%s: memory is freed that was not allocated, or is freed twice (%#x)", d.properties, uintptr(p))}
	}
	delete(d.sizes, p)
	d.allocated.Add(-bytes)
	if err := d.ready(); err != nil {
		return err
	}
	return d.failed("cuMemFree", cu.MemFree(cu.DevicePtr(p)))
}

// Allocated is how many bytes this process holds through Alloc, all users together.
func (d *Device) Allocated() int64 { return d.allocated.Load() }

// AllocHost takes n values of the host's memory that the GPU reads and writes while the
// processor does something else; they hold anything. The system cannot use it for
// anything else, even if it is idle: take little, and keep it.
func (d *Device) AllocHost(n int) ([]float64, error) {
	if err := d.ready(); err != nil || n == 0 {
		return nil, err
	}
	if n < 0 {
		return nil, &Error{Op: "cuMemHostAlloc", Kind: Failed, Message: fmt.Sprintf("%d values of memory cannot be had", n)}
	}
	const portable = 1 // pinned for all contexts
	l, err := opened()
	if err != nil {
		return nil, err
	}
	bytes := int64(n) * 8
	p := new(unsafe.Pointer)
	switch result := call(l.memHostAlloc, uintptr(unsafe.Pointer(p)), uintptr(bytes), portable); result {
	case 0:
		return unsafe.Slice((*float64)(*p), n), nil
	case outOfMemory:
		return nil, &Error{Op: "cuMemHostAlloc", Code: result, Name: resultName(result), Kind: OutOfMemory,
			Message: fmt.Sprintf("this machine has no %s of memory that can be pinned for %s: give the process or the container more, or run on the CPU", gigabytes(bytes), d.properties)}
	default:
		return nil, d.fault("cuMemHostAlloc", result)
	}
}

// FreeHost gives back what AllocHost gave, as it was given.
func (d *Device) FreeHost(values []float64) error {
	if values == nil {
		return nil
	}
	if err := d.ready(); err != nil {
		return err
	}
	return d.failed("cuMemFreeHost", cu.MemFreeHost(unsafe.Pointer(unsafe.SliceData(values))))
}

// Int32s is the same memory as integers, two for each value: what a library leaves as
// its info is downloaded so.
func Int32s(values []float64) []int32 {
	return unsafe.Slice((*int32)(unsafe.Pointer(unsafe.SliceData(values))), 2*len(values))
}
