//go:build cuda && linux

package main

import (
	"bytes"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/gladflow/gladflow/plugin/internal/built"
	"github.com/gladflow/gladflow/solver/glad"
)

// gpuTraining is a training of 10 variables, its arguments, and the model that it writes.
func gpuTraining(t *testing.T, more ...string) (out string, args []string) {
	out = filepath.Join(t.TempDir(), "m.json")
	return out, append(strings.Fields(smallTraining+out), more...)
}

// A training that cannot use the GPU it names says why, before it draws anything, and with
// auto it is done on the CPU, and says so in one line.
func TestGPUTrainRefused(t *testing.T) {
	binary := built.Binary(t)
	for env, want := range map[string]string{
		"EMULATOR_NO_DEVICE=1":          "cuda:0: NVIDIA's driver runs, but finds no GPU",
		"EMULATOR_BUSY=1":               "cuda:0: ",
		"EMULATOR_DRIVER_VERSION=11080": "cuda:0: NVIDIA's driver is of CUDA 11.8",
	} {
		out, args := gpuTraining(t, "--device", "cuda")
		code, stdout, stderr := onGPU(t, binary, []string{env}, args...)
		if code != exitUsage || stdout != "" || !strings.Contains(stderr, "gladflow: --device: "+want) || strings.Contains(stderr, "simulating") {
			t.Errorf("%s: code %d, %s%s", env, code, stdout, stderr)
		}
		if _, err := os.Stat(out); err == nil {
			t.Errorf("%s: there is a model", env)
		}
		_, args = gpuTraining(t)
		code, stdout, stderr = onGPU(t, binary, []string{env}, args...)
		if code != exitDone || strings.Count(stderr, "opening the device: cpu: ") != 1 || !strings.Contains(stdout, ", device cpu\ndevice: the CPU was taken: ") {
			t.Errorf("%s, auto: code %d, %s%s", env, code, stdout, stderr)
		}
	}
	_, args := gpuTraining(t, "--device", "cuda:4")
	if code, _, stderr := onGPU(t, binary, nil, args...); code != exitUsage || !strings.Contains(stderr, "cuda:4: there is no such GPU; this machine has 1 GPU, cuda:0") {
		t.Errorf("code %d, %s", code, stderr)
	}
}

// A GPU without memory, or that is lost, ends a training that names it with one sentence
// and the code 1; with auto the CPU begins again. Both come in the first forward pass, that
// of the model to start from.
func TestGPUTrainFails(t *testing.T) {
	binary := built.Binary(t)
	lost := ""
	for n := 20; lost == ""; n += 20 { // when the GPU is open
		env := fmt.Sprintf("EMULATOR_LOST_AFTER=%d", n)
		_, args := gpuTraining(t, "--device", "cuda", "--from", "general")
		code, _, stderr := onGPU(t, binary, []string{env}, args...)
		if strings.Contains(stderr, "simulating: ") {
			lost = env
		} else if code != exitUsage || !strings.Contains(stderr, "gladflow: --device: cuda:0: ") {
			t.Fatalf("%s: code %d, %s", env, code, stderr)
		}
	}
	for _, env := range []string{lost, "EMULATOR_MEMORY=100000"} {
		out, args := gpuTraining(t, "--device", "cuda", "--from", "general")
		code, stdout, stderr := onGPU(t, binary, []string{env}, args...)
		if code != exitFailed || stdout != "" || !strings.Contains(stderr, "\ngladflow: cuda:0: ") || strings.Count(stderr, "gladflow: ") != 1 {
			t.Errorf("%s: code %d, %s%s", env, code, stdout, stderr)
		}
		if _, err := os.Stat(out); err == nil {
			t.Errorf("%s: there is a model", env)
		}
		out, args = gpuTraining(t, "--from", "general")
		code, stdout, stderr = onGPU(t, binary, []string{env}, args...)
		if code != exitDone || strings.Count(stderr, "opening the device: cpu: cuda:0: ") != 1 || !strings.Contains(stdout, ", device cpu\ndevice: the CPU was taken: cuda:0: ") {
			t.Errorf("%s, auto: code %d, %s%s", env, code, stdout, stderr)
		}
		if _, err := os.Stat(out); err != nil {
			t.Error(err)
		}
	}
}

// A training on a GPU finds what the same training on the CPU finds, and the same bytes
// again.
func TestGPUTrain(t *testing.T) {
	binary := built.Binary(t)
	report := filepath.Join(t.TempDir(), "report")
	trained := func(env []string, more ...string) (*glad.Model, []byte) {
		t.Helper()
		out, args := gpuTraining(t, more...)
		code, stdout, stderr := onGPU(t, binary, env, args...)
		if device := more[1]; code != exitDone || !strings.Contains(stdout, ", device "+device) {
			t.Fatalf("code %d, %s%s", code, stdout, stderr)
		}
		text, err := os.ReadFile(out)
		if err != nil {
			t.Fatal(err)
		}
		m, err := glad.Read(bytes.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
		return m, text
	}
	for _, start := range [][]string{nil, {"--from", "general"}} {
		want, _ := trained(nil, append([]string{"--device", "cpu"}, start...)...)
		got, text := trained([]string{"EMULATOR_REPORT=" + report}, append([]string{"--device", "cuda:0"}, start...)...)
		nothingLeft(t, report)
		if got.Card.Backend == want.Card.Backend || !strings.Contains(got.Card.Backend, "cuBLAS") {
			t.Errorf("the backend is %q, on the CPU %q", got.Card.Backend, want.Card.Backend)
		}
		// Steps of Adam are as long for a small derivative as for a large one.
		for i, v := range want.Values() {
			if math.Abs(got.Values()[i]-v) > 1e-5*(1+math.Abs(v)) {
				t.Errorf("%v: parameter %d is %v, on the CPU %v", start, i, got.Values()[i], v)
			}
		}
		_, again := trained(nil, append([]string{"--device", "cuda:0"}, start...)...)
		if command := regexp.MustCompile(`"command": .*`); !bytes.Equal(command.ReplaceAll(text, nil), command.ReplaceAll(again, nil)) {
			t.Errorf("%v: the second training has another result:\n%s\n%s", start, text, again)
		}
	}
}
