// Package devicetest has GPUs for the tests of those who compute on some: they are the
// CPU in truth, and open, fail and count as they are told.
//
//	m := &devicetest.Machine{Number: 1, Cells: devicetest.ErrLost}
//	pool := m.Pool()
//	…
//	m.Ends(t)
package devicetest

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/gladflow/gladflow/pipelines/device"
	"github.com/gladflow/gladflow/pipelines/job"
	"github.com/gladflow/gladflow/solver"
	"github.com/gladflow/gladflow/solver/dense"
	"github.com/gladflow/gladflow/solver/glad"
)

// A Machine is a device.Code. Its fields are set before it is used.
type Machine struct {
	// Number is that of the GPUs, and Missing why there is none.
	Number  int
	Missing error
	// Broken is why a GPU cannot be opened, by its number.
	Broken map[int]error
	// Opening, if set, is closed when GPUs may open.
	Opening chan struct{}
	// Closing, if set, is closed when GPUs may close.
	Closing chan struct{}
	// Lost is what has become of GPUs that nobody uses.
	Lost error
	// Cells is what GLAD fails with on a GPU: from its call number After on, counted from
	// 0 and by sessions opened and gradients asked for.
	Cells error
	After int
	// Kernels is what the kernels of an engine panic with on a GPU.
	Kernels error
	// Sums is what sums of samples fail with on a GPU.
	Sums error

	mu     sync.Mutex
	calls  int
	open   map[int]int
	opened int
	used   map[string]bool
	pools  []*device.Pool
}

// Pool is one of the machine's GPUs.
func (m *Machine) Pool() *device.Pool {
	p := device.NewPool(m)
	m.mu.Lock()
	defer m.mu.Unlock()
	m.pools = append(m.pools, p)
	return p
}

// Ends closes the pools, as the end of a process does, and fails if a GPU is open then:
// a run has not given it back.
func (m *Machine) Ends(t *testing.T) {
	t.Helper()
	m.mu.Lock()
	pools := m.pools
	m.pools = nil
	m.mu.Unlock()
	for _, p := range pools {
		p.Close(t.Context())
	}
	m.StillOpen(t)
}

// A Fault is the error of a GPU.
type Fault struct {
	Text string
	Full bool
}

// Error is the text.
func (e *Fault) Error() string { return e.Text }

// What GPUs fail with.
var (
	ErrLost = &Fault{Text: "the GPU is lost; restart the program"}
	ErrFull = &Fault{Text: "the GPU has 1 GB free, and 2 GB are needed; wait for other runs", Full: true}
)

// List implements device.Code.
func (m *Machine) List() ([]job.GPUInfo, error) {
	var infos []job.GPUInfo
	for i := range m.Number {
		infos = append(infos, job.GPUInfo{Device: job.Device{CUDA: true, Index: i}.String(), Found: true, Name: "card", MemoryBytes: 80e9})
	}
	return infos, m.Missing
}

// Open implements device.Code.
func (m *Machine) Open(index int) (device.GPU, error) {
	m.mu.Lock()
	broken := m.Broken[index]
	m.mu.Unlock()
	if m.Opening != nil {
		<-m.Opening
	}
	if broken != nil {
		return nil, broken
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.open == nil {
		m.open = map[int]int{}
	}
	m.open[index]++
	m.opened++
	return &gpu{machine: m, index: index}, nil
}

// Fault implements device.Code.
func (m *Machine) Fault(err error) (cause error, full bool) {
	var f *Fault
	if !errors.As(err, &f) {
		return nil, false
	}
	return f, f.Full
}

// Mend makes every GPU one that can be opened from now on, and that does not fail.
func (m *Machine) Mend() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.Broken, m.Cells, m.Kernels = nil, nil, nil
}

// Opened is how often a GPU was opened.
func (m *Machine) Opened() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.opened
}

// IsOpen says whether the GPU with that number is open.
func (m *Machine) IsOpen(index int) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.open[index] > 0
}

// Used says what has been used on a GPU since it was asked for the last time: glad,
// gradients, engine, sums.
func (m *Machine) Used() map[string]bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	used := m.used
	m.used = nil
	return used
}

// StillOpen fails if a GPU is open.
func (m *Machine) StillOpen(t *testing.T) {
	t.Helper()
	m.mu.Lock()
	defer m.mu.Unlock()
	for i, n := range m.open {
		if n != 0 {
			t.Errorf("GPU %d is open %d times", i, n)
		}
	}
}

func (m *Machine) use(what string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.used == nil {
		m.used = map[string]bool{}
	}
	m.used[what] = true
}

// call is one of those that Cells is about.
func (m *Machine) call() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.calls++
	if m.Cells == nil || m.calls <= m.After {
		return nil
	}
	return fmt.Errorf("the first cell: %w", m.Cells)
}

type gpu struct {
	machine *Machine
	index   int
}

func (g *gpu) Name() string { return fmt.Sprintf("card %d with libraries", g.index) }

func (g *gpu) Open(p *glad.Plan) (glad.Session, error) {
	g.machine.use("glad")
	if err := g.machine.call(); err != nil {
		return nil, err
	}
	s, err := glad.CPU{Engine: dense.Gonum{}}.Open(p)
	if err != nil {
		return nil, err
	}
	return session{s.(glad.AdjointSession), g.machine}, nil
}

func (g *gpu) Engine(dense.Engine) dense.Engine { return engine{dense.Gonum{}, g.machine} }

func (g *gpu) Refresh() error {
	g.machine.mu.Lock()
	defer g.machine.mu.Unlock()
	return g.machine.Lost
}

func (g *gpu) Close() error {
	if g.machine.Closing != nil {
		<-g.machine.Closing
	}
	g.machine.mu.Lock()
	defer g.machine.mu.Unlock()
	g.machine.open[g.index]--
	return nil
}

// A session fails as the machine says.
type session struct {
	glad.AdjointSession
	machine *Machine
}

// Differentiate implements glad.AdjointSession.
func (s session) Differentiate(ctx context.Context, examples []solver.Example, loss glad.Loss, weights []float64, f func(i int, a glad.Adjoint) error) error {
	s.machine.use("gradients")
	if err := s.machine.call(); err != nil {
		return err
	}
	return s.AdjointSession.Differentiate(ctx, examples, loss, weights, f)
}

// An engine notes that it has been used.
type engine struct {
	dense.Gonum
	machine *Machine
}

// Cholesky implements dense.Engine.
func (e engine) Cholesky(n int, a []float64) bool {
	e.machine.use("engine")
	e.machine.mu.Lock()
	err := e.machine.Kernels
	e.machine.mu.Unlock()
	if err != nil {
		panic(err)
	}
	return e.Gonum.Cholesky(n, a)
}
