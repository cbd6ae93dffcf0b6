package main

import (
	"bytes"
	"strings"
	"testing"

	"github.com/gladflow/gladflow/pipelines/job"
)

// A result for people says where it was computed, and why auto was not the GPU.
func TestResultsNameTheDevice(t *testing.T) {
	for want, r := range map[string]*job.Result{
		"; device: cpu; ":                                          {Device: "cpu"},
		"; device: cuda:0 (card with libraries); ":                 {Device: "cuda:0", DeviceName: "card with libraries"},
		" in all\ndevice: the CPU was taken: there is no driver\n": {Device: "cpu", DeviceNote: "the CPU was taken: there is no driver"},
	} {
		r.Solvers = []job.SolverResult{{Name: "glad"}}
		var out bytes.Buffer
		if printResult(&out, r, false); !strings.Contains(out.String(), want) {
			t.Errorf("%s lacks %q", &out, want)
		}
	}
}

func TestDescribeListsGPUs(t *testing.T) {
	for want, g := range map[string]job.GPUInfo{
		"gpu      none: there is no driver\n": {Device: "cuda", Problem: "there is no driver"},
		"gpu      cuda:1: NVIDIA H200, 140 GiB, compute capability 9.0, CUDA 12.9 by the driver, cuBLAS 12.9\n": {
			Device: "cuda:1", Found: true, Name: "NVIDIA H200", MemoryBytes: 150_111_158_272, ComputeCapability: "9.0", Driver: "12.9", Libraries: "cuBLAS 12.9",
		},
	} {
		var out bytes.Buffer
		if printDescription(&out, job.Description{GPUs: []job.GPUInfo{g}}); !strings.Contains(out.String(), want) {
			t.Errorf("%s lacks %q", &out, want)
		}
	}
}
