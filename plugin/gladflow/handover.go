package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/gladflow/gladflow/pipelines/job"
)

// cudaBuild is the file name of the build with GPU code, which lies beside this one.
const cudaBuild = "gladflow-cuda"

// handedOver is the variable of the environment that a process has which was started in
// place of another build. It is never handed over a second time: whatever file bears the
// name of the other build may be this one.
const handedOver = "GLADFLOW_HANDED_OVER"

// A handover replaces the process by one of the build with GPU code, with the same
// arguments, environment and files: jobs that name a GPU need it. A nil one does
// nothing: builds with GPU code have none, nor have systems where it cannot be done.
type handover struct {
	// folder is that of this program, and control the file that is there where NVIDIA's
	// driver runs.
	folder, control string
	args, env       []string
	// done says that this process is the second already.
	done bool
	// exec replaces the process; it returns only if it cannot.
	exec func(path string, args, env []string) error
	// setStdin makes data what the next process reads from standard input.
	setStdin func(data []byte) error
}

type handoverKey struct{}

// withHandover is ctx for commands that may hand over.
func withHandover(ctx context.Context, h *handover) context.Context {
	return context.WithValue(ctx, handoverKey{}, h)
}

// handOver hands a command over that computes on device, a value of Job.Device, if that
// needs the other build. It returns if this one goes on. stdin is what the command has
// read of standard input.
func handOver(c *cobra.Command, device string, stdin []byte) error {
	h, _ := c.Context().Value(handoverKey{}).(*handover)
	return h.take(device, stdin, c.ErrOrStderr())
}

// take is handOver. Its error is a *job.Error of the device.
func (h *handover) take(device string, stdin []byte, stderr io.Writer) error {
	want, ok := job.ParseDevice(device)
	if h == nil || !ok || !want.Auto && !want.CUDA {
		return nil
	}
	path := filepath.Join(h.folder, cudaBuild)
	if want.Auto {
		if h.done || !runnable(path) || !exists(h.control) {
			return nil
		}
		if err := h.replace(path, stdin); err != nil {
			fmt.Fprintf(stderr, "gladflow: %s, the build with GPU code, cannot be started: %v; going on with the CPU\n", path, err)
		}
		return nil
	}
	switch {
	case h.done:
		return job.Errorf("device", "%s has no GPU code either; put the one there that make gladflow-cuda builds (see docs/gpu.md), or choose %s", path, job.DeviceCPU)
	case !exists(path):
		return job.Errorf("device", "this build has no GPU code, and %s, which has it, is not in %s; put it there (see docs/gpu.md), or choose %s", cudaBuild, h.folder, job.DeviceCPU)
	}
	err := h.replace(path, stdin)
	return job.Errorf("device", "%s, the build with GPU code, cannot be started: %v; see docs/gpu.md, or choose %s", path, job.Cause(err), job.DeviceCPU)
}

// replace returns only if the process cannot be replaced.
func (h *handover) replace(path string, stdin []byte) error {
	if stdin != nil {
		if err := h.setStdin(stdin); err != nil {
			return err
		}
	}
	args := append([]string{path}, h.args...)
	return h.exec(path, args, append(h.env, handedOver+"=1"))
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// runnable says whether path may be a program.
func runnable(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0
}
