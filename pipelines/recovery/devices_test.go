package recovery

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gladflow/gladflow/pipelines/internal/testtable"
	"github.com/gladflow/gladflow/pipelines/job"
	"github.com/gladflow/gladflow/pipelines/progress"
	"github.com/gladflow/gladflow/solver/dense"
	"github.com/gladflow/gladflow/solver/glad"
)

// A machine is the gpuCode of tests: its GPUs are the CPU in truth.
type machine struct {
	number  int           // of GPUs
	missing error         // why there is none
	broken  map[int]error // by number: why one cannot be opened
	opening chan struct{} // if set, GPUs open when it is closed
	cells   error         // what GLAD fails with on a GPU
	kernels error         // what kernels panic with on a GPU
	sums    error         // what sums of samples fail with on a GPU

	mu     sync.Mutex
	inUse  map[int]int // by number: how often it is open
	opened int         // how often one was
	used   map[string]bool
}

// A faultOfGPU is the error of a GPU.
type faultOfGPU struct {
	text string
	full bool
}

func (e *faultOfGPU) Error() string { return e.text }

var (
	errLost = &faultOfGPU{text: "the GPU is lost; restart the program"}
	errFull = &faultOfGPU{text: "the GPU has 1 GB free, and 2 GB are needed; wait for other runs", full: true}
)

func (m *machine) list() ([]job.GPUInfo, error) {
	var infos []job.GPUInfo
	for i := range m.number {
		infos = append(infos, job.GPUInfo{Device: job.Device{CUDA: true, Index: i}.String(), Found: true, Name: "card", MemoryBytes: 80e9})
	}
	return infos, m.missing
}

func (m *machine) open(index int) (gpu, error) {
	if m.opening != nil {
		<-m.opening
	}
	if err := m.broken[index]; err != nil {
		return nil, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.inUse == nil {
		m.inUse, m.used = map[int]int{}, map[string]bool{}
	}
	m.inUse[index]++
	m.opened++
	return &testGPU{machine: m, index: index}, nil
}

func (m *machine) fault(err error) (cause error, full bool) {
	var f *faultOfGPU
	if !errors.As(err, &f) {
		return nil, false
	}
	return f, f.full
}

func (m *machine) use(what string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.used[what] = true
}

type testGPU struct {
	machine *machine
	index   int
}

func (g *testGPU) Name() string { return fmt.Sprintf("card %d with libraries", g.index) }

func (g *testGPU) Open(p *glad.Plan) (glad.Session, error) {
	g.machine.use("glad")
	if g.machine.cells != nil {
		return nil, fmt.Errorf("the first cell: %w", g.machine.cells)
	}
	return glad.CPU{}.Open(p)
}

func (g *testGPU) Engine(dense.Engine) dense.Engine { return testEngine{dense.Gonum{}, g.machine} }

func (g *testGPU) Close() error {
	g.machine.mu.Lock()
	defer g.machine.mu.Unlock()
	g.machine.inUse[g.index]--
	return nil
}

// A testEngine notes that the engine of the GPU has been used.
type testEngine struct {
	dense.Gonum
	machine *machine
}

func (e testEngine) Cholesky(n int, a []float64) bool {
	e.machine.use("engine")
	if e.machine.kernels != nil {
		panic(e.machine.kernels)
	}
	return e.Gonum.Cholesky(n, a)
}

// stillOpen fails if a GPU is open.
func (m *machine) stillOpen(t *testing.T) {
	t.Helper()
	m.mu.Lock()
	defer m.mu.Unlock()
	for i, n := range m.inUse {
		if n != 0 {
			t.Errorf("GPU %d is open %d times after the run", i, n)
		}
	}
}

func deviceJob(t *testing.T, device string, solvers ...string) job.Job {
	return job.Job{Input: testtable.CSV(t, 6, 50), IDColumn: "id", Solvers: solvers, Penalty: "0.2", Gap: 1e-9, Edges: "all", Device: device}
}

// scoresOf runs a job and returns the result, with the scores of each solver's edges.
func scoresOf(t *testing.T, j job.Job, gpus *gpuPool) (*job.Result, map[string][]float64) {
	t.Helper()
	found := map[string][]float64{}
	r, err := runOn(t.Context(), j, Host{Solved: func(n Network) error {
		list := n.Tables[TableEdges].Columns
		scores := map[string]float64{}
		for i, s := range list[2].Values.([]float64) {
			scores[list[0].Values.([]string)[i]+" "+list[1].Values.([]string)[i]] = s
		}
		var sorted []string
		for k := range scores {
			sorted = append(sorted, k)
		}
		slices.Sort(sorted)
		for _, k := range sorted {
			found[n.Result.Name] = append(found[n.Result.Name], scores[k])
		}
		return nil
	}}, gpus)
	if err != nil {
		t.Fatal(err)
	}
	return r, found
}

// Solvers with code for GPUs find on one what they find on the CPU, and the result says
// where they ran. Those of the machine, in a build that has code for them, are tried too.
func TestDevices(t *testing.T) {
	_, want := scoresOf(t, deviceJob(t, "cpu", SolverNames()...), nil)
	try := func(device string, gpus *gpuPool) *job.Result {
		t.Helper()
		r, got := scoresOf(t, deviceJob(t, device, SolverNames()...), gpus)
		for name, list := range want {
			for i, v := range got[name] {
				if len(got[name]) != len(list) || math.Abs(v-list[i]) > 1e-6 {
					t.Fatalf("%s on %s: scores %v, want %v", name, device, got[name], list)
				}
			}
		}
		if r.Device != device {
			t.Errorf("solvers ran on %s instead of %s", r.Device, device)
		}
		return r
	}
	for _, device := range deviceNames(describeGPUs(processGPUs())) {
		try(device, processGPUs())
	}
	m := &machine{number: 2}
	r := try("cuda:1", newGPUPool(m))
	if r.DeviceName != "card 1 with libraries" || r.DeviceNote != "" || !m.used["glad"] || !m.used["engine"] {
		t.Errorf("%+v, used %v", r, m.used)
	}
	for _, s := range r.Solvers {
		if onCPU := strings.Contains(s.Note, "ran on the CPU"); onCPU != (s.Name == "bcd") {
			t.Errorf("%s: note %q", s.Name, s.Note)
		}
	}
	m.stillOpen(t)
}

// Auto takes the first GPU that works, else the CPU, and says why.
func TestDeviceAuto(t *testing.T) {
	none := errors.New("there is no driver; install one")
	for name, c := range map[string]struct {
		machine            *machine
		device, name, note string
	}{
		"none":       {&machine{missing: none}, "cpu", "", "the CPU was taken: there is no driver; install one"},
		"no number":  {&machine{}, "cpu", "", "the CPU was taken: the driver lists no GPU; see CUDA_VISIBLE_DEVICES and nvidia-smi, or run on the CPU"},
		"one":        {&machine{number: 1}, "cuda:0", "card 0 with libraries", ""},
		"first busy": {&machine{number: 2, broken: map[int]error{0: errFull}}, "cuda:1", "card 1 with libraries", ""},
		"all busy":   {&machine{number: 2, broken: map[int]error{0: errFull, 1: errLost}}, "cpu", "", "the CPU was taken: " + errFull.text},
	} {
		t.Run(name, func(t *testing.T) {
			var stages []string
			j := deviceJob(t, "auto", "glad")
			r, err := runOn(t.Context(), j, Host{Progress: func(u progress.Update) {
				if u.Done && u.Stage == progress.Opening {
					stages = append(stages, u.Detail)
				}
			}}, newGPUPool(c.machine))
			if err != nil {
				t.Fatal(err)
			}
			if r.Device != c.device || r.DeviceName != c.name || r.DeviceNote != c.note {
				t.Errorf("device %q, name %q, note %q", r.Device, r.DeviceName, r.DeviceNote)
			}
			if len(stages) != 1 || !strings.HasPrefix(stages[0], c.device) {
				t.Errorf("events %q", stages)
			}
			c.machine.stillOpen(t)
		})
	}
}

// Nothing is opened for solvers that have no code for a GPU, nor for the CPU.
func TestDeviceIsNotOpenedInVain(t *testing.T) {
	m := &machine{number: 1}
	for device, solver := range map[string]string{"cuda": "bcd", "cpu": "glad"} {
		r, err := runOn(t.Context(), deviceJob(t, device, solver), Host{}, newGPUPool(m))
		if err != nil || r.Device != "cpu" || m.opened != 0 || (device == "cuda") != strings.Contains(r.Solvers[0].Note, "ran on the CPU") {
			t.Errorf("%s on %s: %+v, %v, opened %d times", solver, device, r, err, m.opened)
		}
	}
}

// A GPU that a job names and that cannot be used is an error before the samples are read,
// with one sentence; nothing is written.
func TestDeviceRefused(t *testing.T) {
	none := errors.New("there is no libcuda.so.1; install the driver")
	for name, c := range map[string]struct {
		machine      *machine
		device, want string
		full         bool
	}{
		"no library": {&machine{missing: none}, "cuda", "cuda:0: there is no libcuda.so.1; install the driver", false},
		"number":     {&machine{number: 1}, "cuda:99", "cuda:99: there is no such GPU; this machine has 1 GPU, cuda:0", false},
		"numbers":    {&machine{number: 4}, "cuda:4", "cuda:4: there is no such GPU; this machine has 4 GPUs, cuda:0 to cuda:3", false},
		"full":       {&machine{number: 1, broken: map[int]error{0: errFull}}, "cuda:0", "cuda:0: " + errFull.text, true},
	} {
		t.Run(name, func(t *testing.T) {
			out := filepath.Join(t.TempDir(), "out")
			j := deviceJob(t, c.device, "glad")
			j.Out = out
			r, err := runOn(t.Context(), j, Host{Progress: func(u progress.Update) {
				if u.Stage == progress.Reading {
					t.Error("the samples are read")
				}
			}}, newGPUPool(c.machine))
			var wrong *job.Error
			var device *job.DeviceError
			if r != nil || !errors.As(err, &wrong) || wrong.Field != "device" || wrong.Reason != c.want || !errors.As(err, &device) || device.Full != c.full {
				t.Errorf("%+v, %v", r, err)
			}
			if _, err := os.Stat(out); !errors.Is(err, os.ErrNotExist) {
				t.Errorf("the folder is there: %v", err)
			}
			c.machine.stillOpen(t)
		})
	}
}

// A GPU that fails in a solver is an error of the solver, or with auto the CPU takes over
// there and for the solvers after it.
func TestDeviceFailsInASolver(t *testing.T) {
	_, want := scoresOf(t, deviceJob(t, "cpu", "glad", "admm"), nil)
	for name, m := range map[string]*machine{
		"cells":   {number: 1, cells: errLost},
		"kernels": {number: 1, kernels: errFull},
	} {
		t.Run(name, func(t *testing.T) {
			broken, failed := "glad", errLost
			if name == "kernels" {
				broken, failed = "admm", errFull
			}
			r, err := runOn(t.Context(), deviceJob(t, "cuda", "glad", "admm"), Host{}, newGPUPool(m))
			var solver *job.SolverError
			var device *job.DeviceError
			if !errors.As(err, &solver) || solver.Solver != broken || solver.Stack != nil || !errors.As(err, &device) || device.Full != failed.full || !r.Partial ||
				!strings.Contains(err.Error(), "cuda:0: ") || !strings.HasSuffix(err.Error(), failed.text) {
				t.Errorf("%v", err)
			}
			m.stillOpen(t)

			m.used = map[string]bool{}
			r, got := scoresOf(t, deviceJob(t, "auto", "glad", "admm"), newGPUPool(m))
			for name := range want {
				for i, v := range got[name] {
					if math.Abs(v-want[name][i]) > 1e-6 {
						t.Errorf("%s: %v, want %v", name, got[name], want[name])
					}
				}
			}
			device1, note := "cpu", r.Solvers[0].Note
			if name == "kernels" { // GLAD has run there
				device1, note = "cuda:0", r.Solvers[1].Note
			}
			if r.Partial || r.Device != device1 || !strings.Contains(note, "the CPU was taken: cuda:0: ") || !strings.Contains(note, failed.text) || (r.DeviceNote != "") != (device1 == "cpu") {
				t.Errorf("device %q, %q, notes %q, %q", r.Device, r.DeviceNote, r.Solvers[0].Note, r.Solvers[1].Note)
			}
			if name == "cells" && m.used["engine"] {
				t.Error("a GPU that has failed is used again")
			}
			m.stillOpen(t)
		})
	}
}

// A GPU that has failed is given back at once: runs that come open it anew, instead of
// sharing one that is lost.
func TestFailedGPUIsClosed(t *testing.T) {
	m := &machine{number: 1, cells: errLost}
	solved := 0
	_, err := runOn(t.Context(), deviceJob(t, "auto", "glad", "bcd"), Host{Solved: func(Network) error {
		solved++
		m.stillOpen(t)
		return nil
	}}, newGPUPool(m))
	if err != nil || solved != 2 || m.opened != 1 {
		t.Errorf("%v, %d solved, opened %d times", err, solved, m.opened)
	}
}

// A panic that is not the GPU's stays one, also on it.
func TestPanicOnAGPUIsADefect(t *testing.T) {
	m := &machine{number: 1, kernels: errors.New("index out of range")}
	_, err := runOn(t.Context(), deviceJob(t, "auto", "admm"), Host{}, newGPUPool(m))
	if job.Stack(err) == nil || strings.Contains(err.Error(), "index") {
		t.Errorf("%v", err)
	}
	m.stillOpen(t)
}

// Runs at the same time share a GPU, and the last closes it.
func TestRunsShareAGPU(t *testing.T) {
	m := &machine{number: 1}
	pool := newGPUPool(m)
	first, release, err := pool.take(t.Context(), 0)
	if err != nil {
		t.Fatal(err)
	}
	var runs sync.WaitGroup
	for range 4 {
		runs.Go(func() {
			if _, err := runOn(t.Context(), deviceJob(t, "cuda", "glad"), Host{}, pool); err != nil {
				t.Error(err)
			}
		})
	}
	runs.Wait()
	if m.opened != 1 || m.inUse[0] != 1 {
		t.Errorf("opened %d times, open %d times", m.opened, m.inUse[0])
	}
	release()
	release()
	m.stillOpen(t)
	again, release, err := pool.take(t.Context(), 0)
	if err != nil || again == first || m.opened != 2 {
		t.Errorf("%v, opened %d times", err, m.opened)
	}
	release()
	m.stillOpen(t)
}

// A run that is cancelled does not wait for a GPU that is being opened.
func TestCancelledWhileAGPUOpens(t *testing.T) {
	m := &machine{number: 1, opening: make(chan struct{})}
	ctx, cancel := context.WithCancel(t.Context())
	pool := newGPUPool(m)
	ended := make(chan error)
	go func() {
		_, err := runOn(ctx, deviceJob(t, "cuda", "glad"), Host{}, pool)
		ended <- err
	}()
	time.Sleep(20 * time.Millisecond)
	cancel()
	select {
	case err := <-ended:
		if !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	case <-time.After(10 * time.Second):
		t.Fatal("it waits")
	}
	close(m.opening)
	for range 1000 {
		pool.mu.Lock()
		left := len(pool.inUse)
		pool.mu.Unlock()
		if left == 0 {
			m.stillOpen(t)
			return
		}
		time.Sleep(time.Millisecond)
	}
	t.Error("the GPU is never closed")
}

// A build without code for GPUs says how to get the other.
func TestDeviceWithoutCode(t *testing.T) {
	for _, name := range []string{"cuda", "cuda:3"} {
		var wrong *job.Error
		if err := checkDevice(name, nil); !errors.As(err, &wrong) || wrong.Field != "device" || !strings.Contains(wrong.Reason, "gladflow-cuda") {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, name := range []string{"", "auto", "cpu"} {
		if err := checkDevice(name, nil); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if r, _ := scoresOf(t, deviceJob(t, "auto", "glad"), nil); r.Device != "cpu" || r.DeviceNote != "" {
		t.Errorf("%+v", r)
	}
	if d, err := describe(nil); err != nil || !slices.Equal(d.Devices, []string{"cpu"}) || len(d.GPUs) != 1 || d.GPUs[0].Found || !strings.Contains(d.GPUs[0].Problem, "gladflow-cuda") {
		t.Errorf("%+v, %v", d, err)
	}
	if d, err := describe(newGPUPool(&machine{})); err != nil || len(d.GPUs) != 1 || d.GPUs[0].Found || !strings.Contains(d.GPUs[0].Problem, "lists no GPU") {
		t.Errorf("%+v, %v", d, err)
	}
	if d, err := describe(newGPUPool(&machine{number: 2})); err != nil || !slices.Equal(d.Devices, []string{"cpu", "cuda:0", "cuda:1"}) || d.GPUs[1].Name != "card" {
		t.Errorf("%+v, %v", d, err)
	}
}
