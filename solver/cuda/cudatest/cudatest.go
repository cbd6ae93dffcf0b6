//go:build linux && (amd64 || arm64)

// Package cudatest is an emulated GPU for the tests of other rooms: programs with GPU code,
// the tag cuda, find it if their environment names its folder.
//
//	cmd.Env = append(os.Environ(), cudatest.Environment(t), "EMULATOR_DEVICES=2")
//
// It computes on the host what the driver and the libraries of CUDA compute on a GPU. It
// says nothing about speed.
package cudatest

import (
	"testing"

	"github.com/gladflow/gladflow/solver/cuda/internal/emulator"
)

// Environment is the variable, NAME=VALUE, that makes the emulated driver the only one
// that a process finds. The test is skipped where there is no g++ or no OpenBLAS. Further
// variables, EMULATOR_NAME=VALUE, say which GPUs there are and what fails.
func Environment(t testing.TB) string { return "GLADFLOW_CUDA_PATH=" + emulator.Build(t) }

// Report reads what the driver has counted in a process whose variable EMULATOR_REPORT
// names the file: what lives, such as allocations and contexts, what went wrong, such as
// complaints, and what was done, such as calls and launches.
func Report(t testing.TB, file string) map[string]int {
	t.Helper()
	counts, err := emulator.ReadReport(file)
	if err != nil {
		t.Fatal(err)
	}
	return counts
}
