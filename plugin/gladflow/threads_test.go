package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/gladflow/gladflow/pipelines/job"
	"github.com/gladflow/gladflow/plugin/internal/built"
	"github.com/gladflow/gladflow/plugin/protocol"
)

// computing is the mean number of the threads of a process that run or want to,
// seen every few milliseconds for a while, or until the process ends.
func computing(t *testing.T, pid int, while time.Duration) float64 {
	t.Helper()
	var seen, looks int
	for end := time.Now().Add(while); time.Now().Before(end); time.Sleep(3 * time.Millisecond) {
		files, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/stat", pid))
		if err != nil || len(files) == 0 {
			break
		}
		for _, f := range files {
			text, _ := os.ReadFile(f)
			// The name of the program ends with the last parenthesis, its state is next.
			if _, state, found := strings.Cut(string(text), ") "); found && strings.HasPrefix(state, "R") {
				seen++
			}
		}
		looks++
	}
	if looks < 20 {
		t.Fatalf("the process was seen %d times only", looks)
	}
	return float64(seen) / float64(looks)
}

// wideTable is one of 300 variables, for which kernels are divided.
func wideTable(t *testing.T) string {
	t.Helper()
	var table strings.Builder
	rng := rand.New(rand.NewPCG(5, 6))
	for i := range 61 {
		for j := range 300 {
			comma := strings.Repeat(",", min(j, 1))
			if i == 0 {
				fmt.Fprintf(&table, "%sv%d", comma, j)
			} else {
				fmt.Fprintf(&table, "%s%.4f", comma, rng.NormFloat64())
			}
		}
		table.WriteByte('\n')
	}
	return file(t, "wide.csv", table.String())
}

// mostComputing is what one thread may look like: one that Go wakes for a moment, to
// see that there is nothing to do, counts too, and for as long as it waits for a core.
const mostComputing = 1.75

// However many runs there are, a service computes on the threads that it was given,
// and so does a run, whatever the engine.
func TestThreadsBoundTheProcess(t *testing.T) {
	if _, err := os.Stat("/proc/self/task"); err != nil {
		t.Skip("there is no /proc to count threads in")
	}
	const limit = 3 * time.Second
	binary, input := built.Binary(t), wideTable(t)
	t.Run("serve", func(t *testing.T) {
		s := startService(t, binary, "--threads", "1")
		var d protocol.Service
		if s.do(t, protocol.ActionDescribe, nil, &d); d.Limits.Threads != 1 {
			t.Errorf("it says %d threads", d.Limits.Threads)
		}
		for _, solver := range []string{"am", "gista", "admm", "am"} {
			s.do(t, protocol.ActionRecover, map[string]any{
				"input": input, "solvers": []string{solver}, "penalty": 0.01, "threads": 7,
				"iteration_limit": 1 << 40, "gap": 1e-300, "time_limit": (2 * limit).String(),
			}, &protocol.Run{})
		}
		mean := computing(t, s.cmd.Process.Pid, limit)
		t.Logf("%.2f threads compute", mean)
		if mean > mostComputing {
			t.Errorf("%.2f threads compute, not 1", mean)
		}
		s.signal(t, syscall.SIGTERM)
		s.signal(t, syscall.SIGTERM)
	})
	for _, engine := range []string{"auto", "gonum"} {
		t.Run(engine, func(t *testing.T) {
			c := exec.Command(binary, "recover", input, "--threads", "1", "--engine", engine, "--solvers", "am", "--penalty", "0.01",
				"--gap", "1e-300", "--iteration-limit", "1000000", "--time-limit", limit.String())
			if err := c.Start(); err != nil {
				t.Fatal(err)
			}
			mean := computing(t, c.Process.Pid, limit)
			if err := c.Wait(); err != nil {
				t.Error(err)
			}
			t.Logf("%.2f threads compute", mean)
			if mean > mostComputing {
				t.Errorf("%.2f threads compute, not 1", mean)
			}
		})
	}
}

func TestThreadsOfAJob(t *testing.T) {
	for args, want := range map[string]string{
		"recover x.csv --threads -1":   "gladflow: --threads: the value is negative; give a positive one, or leave it out for the default",
		"recover x.csv --threads many": "gladflow: --threads: ",
		"serve --insecure --threads 0": "gladflow: --threads: 0 leaves nothing; choose 1 at least",
	} {
		code, _, stderr := gladflow(t, strings.Fields(args)...)
		if code != exitUsage || !strings.HasPrefix(stderr, want) {
			t.Errorf("%s: code %d and %s", args, code, stderr)
		}
	}
	if (job.Job{Input: "x", Threads: 3}).Validate() != nil {
		t.Error("three threads are refused")
	}
}
