package recovery

import (
	"context"
	"errors"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gladflow/gladflow/pipelines/device"
	"github.com/gladflow/gladflow/pipelines/device/devicetest"
	"github.com/gladflow/gladflow/pipelines/internal/testtable"
	"github.com/gladflow/gladflow/pipelines/job"
	"github.com/gladflow/gladflow/pipelines/progress"
)

func deviceJob(t *testing.T, device string, solvers ...string) job.Job {
	return job.Job{Input: testtable.CSV(t, 6, 50), IDColumn: "id", Solvers: solvers, Penalty: "0.2", Gap: 1e-9, Edges: "all", Device: device}
}

// scoresOf runs a job and returns the result, with the scores of each solver's edges.
func scoresOf(t *testing.T, j job.Job, gpus *device.Pool) (*job.Result, map[string][]float64) {
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
	_, want := scoresOf(t, deviceJob(t, "cpu", SelfSufficient()...), nil)
	try := func(device string, gpus *device.Pool) *job.Result {
		t.Helper()
		r, got := scoresOf(t, deviceJob(t, device, SelfSufficient()...), gpus)
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
	for _, name := range device.Names(device.Process().Describe()) {
		try(name, device.Process())
	}
	m := &devicetest.Machine{Number: 2}
	r := try("cuda:1", m.Pool())
	used := m.Used()
	if r.DeviceName != "card 1 with libraries" || r.DeviceNote != "" || !used["glad"] || !used["engine"] {
		t.Errorf("%+v, used %v", r, used)
	}
	for _, s := range r.Solvers {
		if onCPU := strings.Contains(s.Note, "ran on the CPU"); onCPU == find(s.Name).onGPU {
			t.Errorf("%s: note %q", s.Name, s.Note)
		}
	}
	m.Ends(t)
}

// Auto takes the first GPU that works, else the CPU, and says why.
func TestDeviceAuto(t *testing.T) {
	none := errors.New("there is no driver; install one")
	for name, c := range map[string]struct {
		machine            *devicetest.Machine
		device, name, note string
	}{
		"none":       {&devicetest.Machine{Missing: none}, "cpu", "", "the CPU was taken: there is no driver; install one"},
		"no number":  {&devicetest.Machine{}, "cpu", "", "the CPU was taken: the driver lists no GPU; see CUDA_VISIBLE_DEVICES and nvidia-smi, or run on the CPU"},
		"one":        {&devicetest.Machine{Number: 1}, "cuda:0", "card 0 with libraries", ""},
		"first busy": {&devicetest.Machine{Number: 2, Broken: map[int]error{0: devicetest.ErrFull}}, "cuda:1", "card 1 with libraries", ""},
		"all busy":   {&devicetest.Machine{Number: 2, Broken: map[int]error{0: devicetest.ErrFull, 1: devicetest.ErrLost}}, "cpu", "", "the CPU was taken: " + devicetest.ErrFull.Text},
	} {
		t.Run(name, func(t *testing.T) {
			var stages []string
			j := deviceJob(t, "auto", "glad")
			r, err := runOn(t.Context(), j, Host{Progress: func(u progress.Update) {
				if u.Done && u.Stage == progress.Opening {
					stages = append(stages, u.Detail)
				}
			}}, c.machine.Pool())
			if err != nil {
				t.Fatal(err)
			}
			if r.Device != c.device || r.DeviceName != c.name || r.DeviceNote != c.note {
				t.Errorf("device %q, name %q, note %q", r.Device, r.DeviceName, r.DeviceNote)
			}
			if len(stages) != 1 || !strings.HasPrefix(stages[0], c.device) {
				t.Errorf("events %q", stages)
			}
			c.machine.Ends(t)
		})
	}
}

// Nothing is opened for solvers that have no code for a GPU, nor for the CPU.
func TestDeviceIsNotOpenedInVain(t *testing.T) {
	m := &devicetest.Machine{Number: 1}
	for device, solver := range map[string]string{"cuda": "bcd", "cpu": "glad"} {
		r, err := runOn(t.Context(), deviceJob(t, device, solver), Host{}, m.Pool())
		if err != nil || r.Device != "cpu" || m.Opened() != 0 || (device == "cuda") != strings.Contains(r.Solvers[0].Note, "ran on the CPU") {
			t.Errorf("%s on %s: %+v, %v, opened %d times", solver, device, r, err, m.Opened())
		}
	}
}

// A GPU that a job names and that cannot be used is an error before the samples are read,
// with one sentence; nothing is written.
func TestDeviceRefused(t *testing.T) {
	none := errors.New("there is no libcuda.so.1; install the driver")
	for name, c := range map[string]struct {
		machine      *devicetest.Machine
		device, want string
		full         bool
	}{
		"no library": {&devicetest.Machine{Missing: none}, "cuda", "cuda:0: there is no libcuda.so.1; install the driver", false},
		"number":     {&devicetest.Machine{Number: 1}, "cuda:99", "cuda:99: there is no such GPU; this machine has 1 GPU, cuda:0", false},
		"numbers":    {&devicetest.Machine{Number: 4}, "cuda:4", "cuda:4: there is no such GPU; this machine has 4 GPUs, cuda:0 to cuda:3", false},
		"full":       {&devicetest.Machine{Number: 1, Broken: map[int]error{0: devicetest.ErrFull}}, "cuda:0", "cuda:0: " + devicetest.ErrFull.Text, true},
	} {
		t.Run(name, func(t *testing.T) {
			out := filepath.Join(t.TempDir(), "out")
			j := deviceJob(t, c.device, "glad")
			j.Out = out
			r, err := runOn(t.Context(), j, Host{Progress: func(u progress.Update) {
				if u.Stage == progress.Reading {
					t.Error("the samples are read")
				}
			}}, c.machine.Pool())
			var wrong *job.Error
			var device *job.DeviceError
			if r != nil || !errors.As(err, &wrong) || wrong.Field != "device" || wrong.Reason != c.want || !errors.As(err, &device) || device.Full != c.full {
				t.Errorf("%+v, %v", r, err)
			}
			if _, err := os.Stat(out); !errors.Is(err, os.ErrNotExist) {
				t.Errorf("the folder is there: %v", err)
			}
			c.machine.Ends(t)
		})
	}
}

// A GPU that fails in a solver is an error of the solver, or with auto the CPU takes over
// there and for the solvers after it.
func TestDeviceFailsInASolver(t *testing.T) {
	_, want := scoresOf(t, deviceJob(t, "cpu", "glad", "admm"), nil)
	for name, m := range map[string]*devicetest.Machine{
		"cells":   {Number: 1, Cells: devicetest.ErrLost},
		"kernels": {Number: 1, Kernels: devicetest.ErrFull},
	} {
		t.Run(name, func(t *testing.T) {
			broken, failed := "glad", devicetest.ErrLost
			if name == "kernels" {
				broken, failed = "admm", devicetest.ErrFull
			}
			r, err := runOn(t.Context(), deviceJob(t, "cuda", "glad", "admm"), Host{}, m.Pool())
			var solver *job.SolverError
			var device *job.DeviceError
			if !errors.As(err, &solver) || solver.Solver != broken || solver.Stack != nil || !errors.As(err, &device) || device.Full != failed.Full || !r.Partial ||
				!strings.Contains(err.Error(), "cuda:0: ") || !strings.HasSuffix(err.Error(), failed.Text) {
				t.Errorf("%v", err)
			}
			m.Ends(t)

			m.Used()
			r, got := scoresOf(t, deviceJob(t, "auto", "glad", "admm"), m.Pool())
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
			if r.Partial || r.Device != device1 || !strings.Contains(note, "the CPU was taken: cuda:0: ") || !strings.Contains(note, failed.Text) || (r.DeviceNote != "") != (device1 == "cpu") {
				t.Errorf("device %q, %q, notes %q, %q", r.Device, r.DeviceNote, r.Solvers[0].Note, r.Solvers[1].Note)
			}
			if name == "cells" && m.Used()["engine"] {
				t.Error("a GPU that has failed is used again")
			}
			m.Ends(t)
		})
	}
}

// A GPU that has failed is given back at once: runs that come open it anew, instead of
// sharing one that is lost.
func TestFailedGPUIsClosed(t *testing.T) {
	m := &devicetest.Machine{Number: 1, Cells: devicetest.ErrLost}
	solved := 0
	_, err := runOn(t.Context(), deviceJob(t, "auto", "glad", "bcd"), Host{Solved: func(Network) error {
		solved++
		m.StillOpen(t)
		return nil
	}}, m.Pool())
	if err != nil || solved != 2 || m.Opened() != 1 {
		t.Errorf("%v, %d solved, opened %d times", err, solved, m.Opened())
	}
}

// A panic that is not the GPU's stays one, also on it.
func TestPanicOnAGPUIsADefect(t *testing.T) {
	m := &devicetest.Machine{Number: 1, Kernels: errors.New("index out of range")}
	_, err := runOn(t.Context(), deviceJob(t, "auto", "admm"), Host{}, m.Pool())
	if job.Stack(err) == nil || strings.Contains(err.Error(), "index") {
		t.Errorf("%v", err)
	}
	m.Ends(t)
}

// Runs share a GPU, at the same time or one after the other.
func TestRunsShareAGPU(t *testing.T) {
	m := &devicetest.Machine{Number: 1}
	pool := m.Pool()
	var runs sync.WaitGroup
	for range 4 {
		runs.Go(func() {
			for range 2 {
				if _, err := runOn(t.Context(), deviceJob(t, "cuda", "glad"), Host{}, pool); err != nil {
					t.Error(err)
				}
			}
		})
	}
	runs.Wait()
	if m.Opened() != 1 || !m.IsOpen(0) {
		t.Errorf("opened %d times", m.Opened())
	}
	m.Ends(t)
}

// A run that is cancelled does not wait for a GPU that is being opened.
func TestCancelledWhileAGPUOpens(t *testing.T) {
	m := &devicetest.Machine{Number: 1, Opening: make(chan struct{})}
	ctx, cancel := context.WithCancel(t.Context())
	pool := m.Pool()
	ended := make(chan error)
	go func() {
		_, err := runOn(ctx, deviceJob(t, "cuda", "glad"), Host{Progress: func(u progress.Update) {
			if u.Stage == progress.Opening {
				time.AfterFunc(20*time.Millisecond, cancel)
			}
		}}, pool)
		ended <- err
	}()
	select {
	case err := <-ended:
		if !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	case <-time.After(10 * time.Second):
		t.Fatal("it waits")
	}
	close(m.Opening)
	pool.Close(t.Context())
	for began := time.Now(); m.Opened() == 0 || m.IsOpen(0); time.Sleep(time.Millisecond) {
		if time.Since(began) > 10*time.Second {
			t.Fatal("the GPU is never opened and closed")
		}
	}
}

// A build without code for GPUs says how to get the other.
func TestDeviceWithoutCode(t *testing.T) {
	var none *device.Pool
	for _, name := range []string{"cuda", "cuda:3"} {
		var wrong *job.Error
		if err := none.Check(name); !errors.As(err, &wrong) || wrong.Field != "device" || !strings.Contains(wrong.Reason, "gladflow-cuda") {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, name := range []string{"", "auto", "cpu"} {
		if err := none.Check(name); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if r, _ := scoresOf(t, deviceJob(t, "auto", "glad"), nil); r.Device != "cpu" || r.DeviceNote != "" {
		t.Errorf("%+v", r)
	}
	if d, err := describe(nil); err != nil || !slices.Equal(d.Devices, []string{"cpu"}) || len(d.GPUs) != 1 || d.GPUs[0].Found || !strings.Contains(d.GPUs[0].Problem, "gladflow-cuda") {
		t.Errorf("%+v, %v", d, err)
	}
	if d, err := describe((&devicetest.Machine{}).Pool()); err != nil || len(d.GPUs) != 1 || d.GPUs[0].Found || !strings.Contains(d.GPUs[0].Problem, "lists no GPU") {
		t.Errorf("%+v, %v", d, err)
	}
	if d, err := describe((&devicetest.Machine{Number: 2}).Pool()); err != nil || !slices.Equal(d.Devices, []string{"cpu", "cuda:0", "cuda:1"}) || d.GPUs[1].Name != "card" {
		t.Errorf("%+v, %v", d, err)
	}
}
