//go:build cuda && linux

package recovery

import (
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/gladflow/gladflow/pipelines/device"
	"github.com/gladflow/gladflow/solver/cuda/cudatest"
)

// TestDevices on an emulated GPU. The driver is opened once a process, so this takes
// another.
func TestGPUDevices(t *testing.T) {
	const child = "GLADFLOW_TEST_GPU"
	if os.Getenv(child) == "" {
		cmd := exec.Command(os.Args[0], "-test.run=^TestGPUDevices$", "-test.v")
		cmd.Env = append(os.Environ(), cudatest.Environment(t), child+"=1")
		out, err := cmd.CombinedOutput()
		if err != nil || !strings.Contains(string(out), "--- PASS: TestGPUDevices") {
			t.Errorf("%v\n%s", err, out)
		}
		return
	}
	if names := device.Names(device.Process().Describe()); !slices.Equal(names, []string{"cpu", "cuda:0"}) {
		t.Fatalf("devices %q, %+v", names, device.Process().Describe())
	}
	TestDevices(t)
}
