//go:build cuda && cgo

package driver

import (
	"fmt"
	"sync"
	"sync/atomic"

	"gorgonia.org/cu"
)

// A Device is one user's hold on a GPU. All its users in a process share the GPU's
// primary context and one thread, on which that is current.
//
// Do, Wait, Properties, String, Allocated, Lost and Close may be called from any
// goroutine, and so may the copies of a Staging. Everything else, methods of Stream, Event, Module and of library's handles too,
// belongs inside Do: elsewhere it fails.
type Device struct {
	*card
	closed atomic.Bool
}

// card is a GPU that is in use.
type card struct {
	properties Properties
	device     cu.Device
	context    cu.CUContext
	thread     thread

	users     int // under cards.Mutex
	allocated atomic.Int64
	sizes     map[Pointer]int64 // of what Alloc gave; on the thread
	lost      atomic.Pointer[Error]
}

// cards are those in use, by index.
var cards = struct {
	sync.Mutex
	of map[int]*card
}{of: map[int]*card{}}

// Use takes hold of a GPU, numbered from 0, until Close. The first user in the process
// waits until its context is made, some tenths of a second, and the last one ends it:
// a program that comes back to a GPU keeps one. It fails with an Error, of Kind Busy
// where the GPU is another process's, and Lost where it has failed in this one.
func Use(index int) (*Device, error) {
	if err := Open(); err != nil {
		return nil, err
	}
	cards.Lock()
	defer cards.Unlock()
	c := cards.of[index]
	if c == nil {
		var err error
		if c, err = start(index); err != nil {
			return nil, err
		}
		cards.of[index] = c
	}
	if lost := c.lost.Load(); lost != nil {
		return nil, lost
	}
	c.users++
	return &Device{card: c}, nil
}

// inUse is the card with an index, or nil if this process does not use it.
func inUse(index int) *card {
	cards.Lock()
	defer cards.Unlock()
	return cards.of[index]
}

// start makes the thread and the context of a card.
func start(index int) (*card, error) {
	c := &card{sizes: map[Pointer]int64{}}
	var err error
	if c.properties, c.device, err = describe(index); err != nil {
		return nil, err
	}
	c.thread.enter = func() { cu.SetCurrentContext(c.context) }
	c.thread.start()
	err = c.thread.do(func() error {
		var err error
		if c.context, err = c.device.RetainPrimaryCtx(); err != nil {
			return c.startFault(err)
		}
		op := "cuCtxSetCurrent"
		if err = cu.SetCurrentContext(c.context); err == nil {
			// A context that an earlier fault has spoilt says so here.
			op = "cuMemGetInfo"
			_, _, err = cu.MemInfo()
		}
		if err != nil {
			err = c.failed(op, err)
			c.device.ReleasePrimaryCtx()
		}
		return err
	})
	if err != nil {
		c.thread.stop()
		return nil, err
	}
	return c, nil
}

// startFault says why there is no context.
func (c *card) startFault(err error) error {
	const op = "cuDevicePrimaryCtxRetain"
	e := &Error{Op: op, Code: code(err)}
	e.Name = resultName(e.Code)
	mode, _ := c.device.Attribute(cu.ComputeMode)
	switch {
	case mode == computeProhibited:
		e.Kind, e.Message = Busy, fmt.Sprintf("%s may not be used: its compute mode is Prohibited; change it (nvidia-smi -i %d -c DEFAULT), or take another GPU", c.properties, c.properties.Index)
	case e.Code == deviceUnavailable && mode == computeExclusive:
		e.Kind, e.Message = Busy, fmt.Sprintf("%s is taken by another process, and its compute mode is Exclusive_Process: wait for that process, take another GPU, or change the mode (nvidia-smi -i %d -c DEFAULT)", c.properties, c.properties.Index)
	case e.Code == deviceUnavailable:
		e.Kind, e.Message = Busy, fmt.Sprintf("%s is busy or unavailable: see what nvidia-smi lists on it, wait, or take another GPU", c.properties)
	case e.Code == outOfMemory:
		e.Kind, e.Message = OutOfMemory, fmt.Sprintf("%s has no room for another program in its %s of memory: see what nvidia-smi lists on it, wait, or take another GPU", c.properties, gigabytes(c.properties.Memory))
	default:
		return c.failed(op, err)
	}
	return e
}

// Compute modes, as nvidia-smi sets them.
const (
	computeProhibited = 2
	computeExclusive  = 3
)

// Close gives up this user's hold. Memory, streams, events and modules are its own to
// free before; the last user's Close gives back the context, which ends unless a library
// of CUDA still holds it. A second Close does nothing.
func (d *Device) Close() error {
	if d.closed.Swap(true) {
		return nil
	}
	cards.Lock()
	defer cards.Unlock()
	if d.users--; d.users > 0 {
		return nil
	}
	delete(cards.of, d.properties.Index)
	err := d.thread.do(d.end)
	d.thread.stop()
	return err
}

// end gives the context back, on the card's thread.
func (c *card) end() error {
	lost := c.lost.Load() != nil
	if lost {
		// A context after a fault answers everything with that fault. Where the
		// driver can, it makes a new one for the next user.
		c.device.ResetPrimaryCtx()
	}
	unset := cu.SetCurrentContext(cu.CUContext{})
	released := c.device.ReleasePrimaryCtx()
	if lost {
		return nil
	}
	if unset != nil {
		return c.failed("cuCtxSetCurrent", unset)
	}
	return c.failed("cuDevicePrimaryCtxRelease", released)
}

// Properties are those of the GPU, with Free as of now; 0 if it is lost.
func (d *Device) Properties() Properties {
	p, _ := d.current()
	return p
}

func (c *card) current() (Properties, error) {
	p := c.properties
	err := c.thread.do(func() error {
		free, _, err := c.memory()
		p.Free = free
		return err
	})
	return p, err
}

// String is the device in messages: "GPU 0 (NVIDIA H200)".
func (d *Device) String() string { return d.properties.String() }

// Lost returns the error with which the GPU was lost, or nil: from then on everything
// fails with it at once.
func (d *Device) Lost() error {
	if e := d.lost.Load(); e != nil {
		return e
	}
	return nil
}

// failed makes the error of a call that did not succeed, and remembers a loss.
func (c *card) failed(op string, err error) error {
	if err == nil {
		return nil
	}
	return c.fault(op, code(err))
}

// fault is failed for a result.
func (c *card) fault(op string, result int) error {
	e := &Error{Op: op, Code: result, Kind: Failed}
	e.Name = resultName(e.Code)
	says := words(e.Code)
	switch {
	case sticky(e.Code):
		e.Kind = Lost
		e.Message = fmt.Sprintf("%s is lost: %s says %s, which may be the fault of earlier work; start the program again, and if it comes back look for NVRM in the kernel's log (dmesg)", c.properties, op, says)
		if !c.lost.CompareAndSwap(nil, e) {
			return c.lost.Load()
		}
	case e.Code == outOfMemory:
		free, _, _ := cu.MemInfo()
		e.Kind = OutOfMemory
		e.Message = fmt.Sprintf("%s has too little memory for %s: %s of %s are free, this process holds %s; wait for other work, take a smaller problem, or run on the CPU",
			c.properties, op, gigabytes(free), gigabytes(c.properties.Memory), gigabytes(c.allocated.Load()))
	case e.Code == deviceUnavailable:
		e.Kind = Busy
		e.Message = fmt.Sprintf("%s is busy or unavailable: see what nvidia-smi lists on it, wait, or take another GPU", c.properties)
	case e.Code == invalidContext:
		e.Message = fmt.Sprintf("%s: %s says %s; it was called outside Device.Do, or after Close", c.properties, op, says)
	default:
		e.Message = fmt.Sprintf("%s: %s failed with %s", c.properties, op, says)
	}
	return e
}

// ready is what every call asks first: nil, or the error with which the GPU was lost.
func (c *card) ready() error {
	if e := c.lost.Load(); e != nil {
		return e
	}
	return nil
}
