//go:build cuda

package cuda

import (
	"errors"
	"fmt"
	"sync"

	"github.com/gladflow/gladflow/solver/cuda/driver"
	"github.com/gladflow/gladflow/solver/cuda/kernels"
	"github.com/gladflow/gladflow/solver/cuda/library"
	"github.com/gladflow/gladflow/solver/glad"
)

// Devices describes the devices of this machine. The error says in a sentence why there
// is none that can be used: it is a *driver.Error.
func Devices() ([]driver.Properties, error) {
	if err := driver.Open(); err != nil {
		return nil, err
	}
	if _, err := library.Open(); err != nil {
		return nil, err
	}
	n, err := driver.Count()
	if err != nil {
		return nil, err
	}
	devices := make([]driver.Properties, n)
	for i := range devices {
		if devices[i], err = driver.Describe(i); err != nil {
			return nil, err
		}
	}
	return devices, nil
}

// A Backend is the glad.Backend on one device. It is safe for concurrent use: what
// several sessions have on the device is bounded together by its memory. Its sessions are
// glad.AdjointSessions.
type Backend struct {
	device    *driver.Device
	libraries *library.Libraries
	kernels   *side // of engines
	budget    *budget
	name      string
	method    method // of the Θ step, in tests and checks
	observe   func(ThetaStep)

	accumulateFrom float64 // that of the constant, but for tests

	mu       sync.Mutex
	free     []*module         // that no session uses
	sessions map[*session]bool // that are open

	background sync.WaitGroup // batches that were cancelled and still have work queued
}

var _ glad.Backend = (*Backend)(nil)

// New opens a device, counted from 0. Close releases it. Errors are a *driver.Error.
func New(index int) (b *Backend, err error) {
	if err := driver.Open(); err != nil {
		return nil, err
	}
	libraries, err := library.Open()
	if err != nil {
		return nil, err
	}
	d, err := driver.Use(index)
	if err != nil {
		return nil, err
	}
	b = &Backend{device: d, libraries: libraries, accumulateFrom: accumulateFrom, sessions: map[*session]bool{}}
	b.kernels = &side{backend: b}
	m, err := b.takeModule()
	if err != nil {
		return nil, errors.Join(err, d.Close())
	}
	b.putModule(m)
	p := d.Properties()
	b.budget = newBudget(p.Free)
	b.name = fmt.Sprintf("%v, driver %d.%d, %v", p, driver.Version()/1000, driver.Version()%1000/10, libraries.BLAS)
	return b, nil
}

// Name implements glad.Backend: the card, and the versions of the driver and libraries.
func (b *Backend) Name() string { return b.name }

// Close waits until what was cancelled has ended, and releases the device.
func (b *Backend) Close() error {
	b.background.Wait()
	b.mu.Lock()
	free := b.free
	b.free = nil
	b.mu.Unlock()
	err := b.device.Do(func() (all error) {
		for _, m := range free {
			all = errors.Join(all, m.Unload())
		}
		return errors.Join(all, b.kernels.close())
	})
	return errors.Join(err, b.device.Close())
}

// A module is the kernels with the constant memory of one session.
type module struct {
	*driver.Module
	functions map[kernels.Kernel]*driver.Function
	weights   driver.Pointer
}

// takeModule returns one that no session uses. It may be called on the device's thread:
// while it waits for that it holds no lock.
func (b *Backend) takeModule() (m *module, err error) {
	b.mu.Lock()
	if n := len(b.free); n > 0 {
		m, b.free = b.free[n-1], b.free[:n-1]
	}
	b.mu.Unlock()
	if m != nil {
		return m, nil
	}
	m = &module{functions: make(map[kernels.Kernel]*driver.Function)}
	err = b.device.Do(func() (err error) {
		if m.Module, err = b.device.Load(kernels.PTX); err != nil {
			return err
		}
		for _, k := range kernels.All() {
			if m.functions[k], err = m.Function(string(k)); err != nil {
				return errors.Join(err, m.Unload())
			}
		}
		if m.weights, _, err = m.Global(kernels.Weights); err != nil {
			return errors.Join(err, m.Unload())
		}
		return nil
	})
	return m, err
}

func (b *Backend) putModule(m *module) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.free = append(b.free, m)
}
