//go:build cuda && linux

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"google.golang.org/grpc/codes"

	"github.com/gladflow/gladflow/pipelines/job"
	"github.com/gladflow/gladflow/plugin"
	"github.com/gladflow/gladflow/plugin/internal/built"
	"github.com/gladflow/gladflow/plugin/internal/flighttest"
	"github.com/gladflow/gladflow/plugin/protocol"
	"github.com/gladflow/gladflow/solver/cuda/cudatest"
)

// onGPU runs a binary with GPU code on the emulated driver.
func onGPU(t *testing.T, binary string, env []string, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	cmd := exec.Command(binary, args...)
	cmd.Env = append(append(os.Environ(), cudatest.Environment(t)), env...)
	var out, said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &said
	if err := cmd.Run(); cmd.ProcessState == nil {
		t.Fatal(err)
	}
	return cmd.ProcessState.ExitCode(), out.String(), said.String()
}

// gpuTable is a table of 40 samples of 6 variables, and the arguments that recover it.
func gpuTable(t *testing.T, more ...string) []string {
	return append([]string{"recover", file(t, "table.csv", expression()), "--id-column", "id", "--penalty", "0.1", "--json"}, more...)
}

func resultOf(t *testing.T, text string) *job.Result {
	t.Helper()
	r := new(job.Result)
	if err := json.Unmarshal([]byte(text), r); err != nil {
		t.Fatalf("%v in %s", err, text)
	}
	return r
}

// nothingLeft fails if something is left on the GPU at the end of a process.
func nothingLeft(t *testing.T, report string) map[string]int {
	t.Helper()
	counts := cudatest.Report(t, report)
	for _, what := range []string{"allocations", "pinned", "streams", "events", "modules", "primary_references", "cublas_handles", "cusolver_handles", "complaints", "faults", "bad_frees"} {
		if counts[what] != 0 {
			t.Errorf("%s: %d at the end", what, counts[what])
		}
	}
	if counts["calls"] == 0 {
		t.Error("the driver was not called")
	}
	return counts
}

// Every solver recovers on a GPU what it does on the CPU, and says where it ran.
func TestGPURecover(t *testing.T) {
	binary := built.Binary(t)
	report := filepath.Join(t.TempDir(), "report")
	solvers := []string{"--solvers", "glad,bcd,gista,admm,am", "--gap", "1e-9"}
	code, stdout, stderr := onGPU(t, binary, nil, gpuTable(t, append(solvers, "--device", "cpu")...)...)
	if code != exitDone {
		t.Fatal(stderr)
	}
	want := resultOf(t, stdout)
	for asked, device := range map[string]string{"cuda": "cuda:0", "cuda:1": "cuda:1", "auto": "cuda:0"} {
		code, stdout, stderr := onGPU(t, binary, []string{"EMULATOR_DEVICES=2", "EMULATOR_REPORT=" + report}, gpuTable(t, append(solvers, "--device", asked)...)...)
		if code != exitDone {
			t.Fatalf("%s: code %d, %s", asked, code, stderr)
		}
		got := resultOf(t, stdout)
		if got.Device != device || got.DeviceName == "" || got.DeviceNote != "" || got.Job.Device != asked {
			t.Errorf("%s: device %q, %q, %q", asked, got.Device, got.DeviceName, got.DeviceNote)
		}
		for i, s := range got.Solvers {
			w := want.Solvers[i]
			if s.Status != w.Status || s.Edges != w.Edges || math.Abs(float64(s.Objective-w.Objective)) > 1e-6 || strings.Contains(s.Note, "ran on the CPU") != (s.Name == "bcd") {
				t.Errorf("%s: %+v, want %+v", asked, s, w)
			}
		}
		nothingLeft(t, report)
	}
}

// The large kernels of the classical solvers run on the GPU too, to the same result; one
// that is lost among them ends the solver, or with auto the CPU takes over.
func TestGPUClassicalSolvers(t *testing.T) {
	binary := built.Binary(t)
	report := filepath.Join(t.TempDir(), "report")
	args := []string{"recover", wideTable(t), "--solvers", "gista,admm", "--penalty", "0.1", "--gap", "1e-2", "--json"}
	recovered := func(device string, env ...string) *job.Result {
		t.Helper()
		code, stdout, stderr := onGPU(t, binary, append(env, "EMULATOR_REPORT="+report), append(args, "--device", device)...)
		if code != exitDone {
			t.Fatalf("%s: code %d, %s", device, code, stderr)
		}
		return resultOf(t, stdout)
	}
	want, got := recovered("cpu"), recovered("cuda")
	counts := nothingLeft(t, report)
	for _, kernel := range []string{"cusolverDnDpotrf", "cusolverDnDpotri", "cusolverDnXsyevd"} {
		if counts["call."+kernel] == 0 {
			t.Errorf("%s was not called", kernel)
		}
	}
	same := func(got *job.Result) {
		t.Helper()
		for i, s := range got.Solvers {
			if w := want.Solvers[i]; s.Status != w.Status || math.Abs(float64(s.Objective-w.Objective)) > 1e-6 {
				t.Errorf("%+v, want %+v", s, w)
			}
		}
	}
	same(got)
	lost := fmt.Sprintf("EMULATOR_LOST_AFTER=%d", counts["calls"]/3)
	code, _, stderr := onGPU(t, binary, []string{lost}, append(args, "--device", "cuda")...)
	if code != exitFailed || !strings.Contains(stderr, "gladflow: solver gista failed at iteration ") || !strings.Contains(stderr, ": cuda:0: GPU 0") {
		t.Errorf("code %d, %s", code, stderr)
	}
	fallen := recovered("auto", lost)
	same(fallen)
	if fallen.Device != "cpu" || !strings.HasPrefix(fallen.Solvers[0].Note, "the CPU was taken: cuda:0: GPU 0") {
		t.Errorf("%+v", fallen)
	}
}

// What is wrong with a GPU is one sentence and code 2 if it was asked for; with auto it is
// the CPU, and the sentence in the result.
func TestGPUThatCannotBeUsed(t *testing.T) {
	binary := built.Binary(t)
	for name, c := range map[string]struct {
		env  []string
		want string
	}{
		"no library": {[]string{"GLADFLOW_CUDA_PATH=" + t.TempDir()}, "there is no usable libcuda.so.1 in "},
		"no GPU":     {[]string{"EMULATOR_NO_DEVICE=1"}, "finds no GPU"},
		"old driver": {[]string{"EMULATOR_DRIVER_VERSION=11080"}, "install driver 525 or a newer one"},
		"busy":       {[]string{"EMULATOR_BUSY=1"}, ""},
		"old card":   {[]string{"EMULATOR_CAPABILITY=70"}, ""},
		"lost":       {[]string{"EMULATOR_LOST_AFTER=0"}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			code, stdout, stderr := onGPU(t, binary, c.env, gpuTable(t, "--device", "cuda:0")...)
			first, rest, _ := strings.Cut(stderr, "\n")
			if code != exitUsage || stdout != "" || !strings.HasPrefix(first, "gladflow: --device: cuda:0: ") || !strings.Contains(first, c.want) || rest != "see gladflow recover --help\n" {
				t.Errorf("code %d\n%s%s", code, stdout, stderr)
			}
			t.Log(first)
			code, stdout, stderr = onGPU(t, binary, c.env, gpuTable(t)...)
			if code != exitDone {
				t.Fatalf("auto: code %d, %s", code, stderr)
			}
			if r := resultOf(t, stdout); r.Device != "cpu" || !strings.HasPrefix(r.DeviceNote, "the CPU was taken: ") || !strings.Contains(r.DeviceNote, c.want) {
				t.Errorf("auto: %s, %s", r.Device, r.DeviceNote)
			}
		})
	}
	code, _, stderr := onGPU(t, binary, nil, gpuTable(t, "--device", "cuda:99")...)
	if want := "gladflow: --device: cuda:99: there is no such GPU; this machine has 1 GPU, cuda:0\n"; code != exitUsage || !strings.HasPrefix(stderr, want) {
		t.Errorf("code %d, %s", code, stderr)
	}
}

// A GPU that is lost in the middle of a run fails its solver, or with auto the CPU takes
// over, and nothing hangs.
func TestGPULostInARun(t *testing.T) {
	binary := built.Binary(t)
	report := filepath.Join(t.TempDir(), "report")
	args := gpuTable(t, "--solvers", "glad", "--device", "cuda")
	code, stdout, stderr := onGPU(t, binary, []string{"EMULATOR_REPORT=" + report}, args...)
	if code != exitDone {
		t.Fatal(stderr)
	}
	calls := nothingLeft(t, report)["calls"]
	want := resultOf(t, stdout).Solvers[0].Edges
	inSolver := false
	for part := 1; part < 10; part++ {
		env := []string{fmt.Sprintf("EMULATOR_LOST_AFTER=%d", calls*part/10)}
		code, _, stderr := onGPU(t, binary, env, args...)
		switch {
		case code == exitFailed && strings.Contains(stderr, "solver glad failed") && strings.Contains(stderr, "cuda:0: "):
			inSolver = true
		case code != exitUsage && code != exitDone: // lost before the solver, or when all was computed
			t.Errorf("%s: code %d, %s", env, code, stderr)
		}
		code, stdout, stderr := onGPU(t, binary, env, args[:len(args)-2]...)
		if code != exitDone {
			t.Errorf("%s, auto: code %d, %s", env, code, stderr)
			continue
		}
		if r := resultOf(t, stdout); r.Solvers[0].Edges != want || r.Device == "cpu" && r.DeviceNote == "" {
			t.Errorf("%s, auto: %+v", env, r)
		}
	}
	if !inSolver {
		t.Errorf("of %d calls none is a solver's", calls)
	}
}

// A problem that is too large for the GPU fails, or with auto goes to the CPU.
func TestGPUFull(t *testing.T) {
	binary := built.Binary(t)
	report := filepath.Join(t.TempDir(), "report")
	env := []string{"EMULATOR_MEMORY=6000000", "EMULATOR_REPORT=" + report} // of 300 variables a matrix takes 0.7 MB
	args := []string{"recover", wideTable(t), "--solvers", "glad", "--json"}
	code, stdout, stderr := onGPU(t, binary, env, append(args, "--device", "cuda")...)
	if code != exitFailed || !strings.Contains(stderr, "gladflow: solver glad failed: cuda:0: a problem of 300 variables takes ") {
		t.Errorf("code %d, %s", code, stderr)
	}
	if r := resultOf(t, stdout); !r.Partial || r.Device != "cuda:0" {
		t.Errorf("%+v", r)
	}
	nothingLeft(t, report)
	code, stdout, stderr = onGPU(t, binary, env, args...)
	if code != exitDone {
		t.Fatalf("auto: code %d, %s", code, stderr)
	}
	if r := resultOf(t, stdout); r.Device != "cpu" || !strings.Contains(r.DeviceNote, "cuda:0: a problem of 300 variables takes ") || r.Solvers[0].Note != r.DeviceNote || r.Solvers[0].Status != "completed" {
		t.Errorf("auto: %+v", r)
	}
	nothingLeft(t, report)
}

// describe lists GPUs, or says why there is none.
func TestGPUDescribe(t *testing.T) {
	binary := built.Binary(t)
	_, stdout, stderr := onGPU(t, binary, []string{"EMULATOR_DEVICES=2"}, "describe", "--json")
	var d job.Description
	if err := json.Unmarshal([]byte(stdout), &d); err != nil {
		t.Fatal(err, stderr)
	}
	if strings.Join(d.Devices, " ") != "cpu cuda:0 cuda:1" || len(d.GPUs) != 2 {
		t.Fatalf("%+v", d)
	}
	if g := d.GPUs[1]; g.Device != "cuda:1" || !g.Found || g.Name == "" || g.MemoryBytes != 4<<30 || g.ComputeCapability != "9.0" || g.Driver != "12.9" ||
		!strings.Contains(g.Libraries, "cuBLAS ") || !strings.Contains(g.Libraries, "cuSOLVER ") || g.UUID == "" || g.Multiprocessors == 0 {
		t.Errorf("%+v", g)
	}
	if _, stdout, _ := onGPU(t, binary, []string{"EMULATOR_NO_DEVICE=1"}, "describe"); !strings.Contains(stdout, "gpu      none: NVIDIA's driver runs, but finds no GPU") {
		t.Error(stdout)
	}
}

// One service serves the CPU and the GPUs, to runs at the same time, and leaves nothing.
func TestGPUService(t *testing.T) {
	report := filepath.Join(t.TempDir(), "report")
	name, folder, _ := strings.Cut(cudatest.Environment(t), "=")
	t.Setenv(name, folder)
	t.Setenv("EMULATOR_REPORT", report)
	t.Setenv("EMULATOR_DEVICES", "2")
	s := startService(t, built.Binary(t))
	input := file(t, "table.csv", expression())
	var runs sync.WaitGroup
	for i, device := range []string{"cuda:0", "cpu", "cuda:0", "auto", "cuda:1", "cuda:0"} {
		runs.Go(func() {
			var run protocol.Run
			s.do(t, protocol.ActionRecover, map[string]any{"input": input, "id_column": "id", "solvers": []string{"glad", "admm"}, "penalty": 0.1, "device": device}, &run)
			var r job.Result
			s.do(t, protocol.ActionResult, run, &r)
			want := device
			if device == "auto" {
				want = "cuda:0"
			}
			if r.Device != want || r.Partial {
				t.Errorf("run %d on %s: %+v", i, device, r)
			}
		})
	}
	runs.Wait()
	var run protocol.Run
	s.do(t, protocol.ActionRecover, map[string]any{"input": input, "id_column": "id", "solvers": []string{"glad"}, "device": "cuda:7"}, &run)
	_, err := flighttest.Action(t.Context(), s.conn, protocol.ActionResult, run)
	if f := protocol.FaultOf(err); f == nil || f.StatusCode() != codes.FailedPrecondition || f.Reason != protocol.ReasonDevice || f.Field != "device" {
		t.Errorf("%+v, %v", f, err)
	}
	s.signal(t, syscall.SIGTERM)
	if err := s.cmd.Wait(); err != nil {
		t.Error(err)
	}
	nothingLeft(t, report)
}

// A host launches the build with GPU code as its plugin.
func TestGPUPlugin(t *testing.T) {
	client, err := plugin.Launch(t.Context(), plugin.Config{Path: built.Binary(t), Env: []string{cudatest.Environment(t)}})
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	d, err := client.Describe(t.Context())
	if err != nil || len(d.GPUs) != 1 || !d.GPUs[0].Found {
		t.Errorf("%+v, %v", d.GPUs, err)
	}
	if j, err := client.Validate(t.Context(), job.Job{Input: "x.csv", Device: "cuda:0"}); err != nil || j.Device != "cuda:0" {
		t.Errorf("%+v, %v", j, err)
	}
}

// The build without GPU code becomes the one beside it.
func TestGPUHandover(t *testing.T) {
	folder := t.TempDir()
	plain := filepath.Join(folder, "gladflow")
	build := exec.Command("go", "build", "-o", plain, ".")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if text, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	if err := os.Symlink(built.Binary(t), filepath.Join(folder, cudaBuild)); err != nil {
		t.Fatal(err)
	}
	for args, device := range map[string]string{"--device cuda": "cuda:0", "--device cpu": "cpu", "": "cpu"} { // there is no /dev/nvidiactl
		if _, err := os.Stat("/dev/nvidiactl"); err == nil && args == "" {
			continue
		}
		code, stdout, stderr := onGPU(t, plain, nil, gpuTable(t, strings.Fields(args)...)...)
		if code != exitDone {
			t.Errorf("%q: code %d, %s", args, code, stderr)
			continue
		}
		if r := resultOf(t, stdout); r.Device != device || r.DeviceNote != "" {
			t.Errorf("%q: %s, %s", args, r.Device, r.DeviceNote)
		}
	}
}
