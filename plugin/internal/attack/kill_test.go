package attack

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/hashicorp/go-hclog"

	"github.com/gladflow/gladflow/arrowio"
	"github.com/gladflow/gladflow/pipelines/job"
	"github.com/gladflow/gladflow/plugin"
	"github.com/gladflow/gladflow/plugin/internal/built"
	"github.com/gladflow/gladflow/plugin/internal/proctest"
	"github.com/gladflow/gladflow/plugin/plugintest"
)

// shortTemp is a folder for TMPDIR with a short name, for the sockets' sake.
func shortTemp(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "ga")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

// nothingIsLeft fails if there is something of a killed process in its temporary folder or
// among its results, but what SECURITY.md excepts: a new file that was about to replace an
// old one, hidden and whole.
func nothingIsLeft(t *testing.T, after time.Duration, temp, out string) {
	t.Helper()
	if left := plugintest.Leftovers(2*time.Second, temp, out); len(left) > 0 {
		t.Fatalf("killed after %v there is left\n\t%s", after, strings.Join(left, "\n\t"))
	}
}

// A command line that is killed at any moment leaves no half-written file and nothing
// beside it. Hosts that are killed are TestKillHost's, in plugin/gladflow.
func TestKillCommandLine(t *testing.T) {
	onLinux(t)
	rng := random(t)
	table := file(t, "table.csv", csvTable(60, 80))
	out := t.TempDir() // the same, so that files are replaced too
	formats := []string{"parquet", "arrow", "csv"}
	built.Binary(t)
	began := time.Now()
	args := []string{"recover", table, "--out", out, "--solvers", "bcd,glad", "--penalty", "0.3", "--edges", "all", "--precision", "dense"}
	if code, text, _ := gladflow(t, t.TempDir(), args...); code != 0 {
		t.Fatalf("code %d: %s", code, text)
	}
	whole := time.Since(began)
	killed := 0
	for i := range times(6, 80) {
		temp := shortTemp(t)
		cmd := exec.Command(built.Binary(t), append(args, "--format", formats[i%3])...)
		cmd.Env = append(os.Environ(), "TMPDIR="+temp)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		after := time.Duration(rng.Float64() * 1.2 * float64(whole))
		time.Sleep(after)
		cmd.Process.Kill()
		if err := cmd.Wait(); err != nil {
			killed++
		}
		nothingIsLeft(t, after, temp, out)
	}
	for _, format := range formats {
		if code, text, _ := gladflow(t, t.TempDir(), append(args, "--format", format)...); code != 0 {
			t.Fatalf("code %d: %s", code, text)
		}
	}
	if hidden, _ := filepath.Glob(filepath.Join(out, ".*")); len(hidden) > 0 {
		t.Errorf("what the killed have left is not removed by those who go on: %v", hidden)
	}
	if killed == 0 {
		t.Error("none was killed in the middle")
	}
	t.Logf("%d were killed in the middle, of a run of %v", killed, whole.Round(time.Millisecond))
}

// A service that is killed leaves no half-written file either.
func TestKillService(t *testing.T) {
	onLinux(t)
	rng := random(t)
	dir := t.TempDir()
	table := filepath.Join(dir, "table.csv")
	if err := os.WriteFile(table, csvTable(60, 80), 0o600); err != nil {
		t.Fatal(err)
	}
	out := t.TempDir()
	for range times(2, 25) {
		s := serve(t)
		for k := range 3 {
			go s.client.Recover(t.Context(), job.Job{Solvers: []string{"bcd", "glad"}, Penalty: "0.3", Out: filepath.Join(out, fmt.Sprint(k)), Edges: job.EdgesAll, Precision: job.PrecisionDense}, manySamples())
		}
		after := time.Duration(rng.IntN(600)) * time.Millisecond
		time.Sleep(after)
		s.cmd.Process.Kill()
		s.ends(t, time.Second)
		nothingIsLeft(t, after, filepath.Join(out, "none"), out)
	}
}

func manySamples() array.RecordReader {
	return reader(arrowio.SampleRecord(arrowio.SampleSchema(variables(60)), chain(60, 80), 80))
}

// launch starts the plugin with a folder for its sockets.
func launch(t *testing.T, temp string) *plugin.Client {
	t.Helper()
	c, err := plugin.Launch(soon(t), plugin.Config{Path: built.Binary(t), Env: []string{"TMPDIR=" + temp}, Logger: hclog.NewNullLogger()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

// A plugin that is killed ends the calls of its host at once with an error, leaves
// nothing, and another can be launched.
func TestKillPlugin(t *testing.T) {
	t.Parallel()
	onLinux(t)
	rng := random(t)
	out := t.TempDir()
	for range times(3, 40) {
		temp := shortTemp(t)
		c := launch(t, temp)
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
		var calls sync.WaitGroup
		ended := make(chan error, 3)
		for k := range 3 {
			calls.Go(func() { ended <- work(ctx, c, filepath.Join(out, fmt.Sprint(k))) })
		}
		after := time.Duration(rng.IntN(400)) * time.Millisecond
		time.Sleep(after)
		if err := syscall.Kill(c.PID(), syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		for range 3 {
			if err := <-ended; err == nil || errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("killed after %v a call ends with %v", after, err)
			}
		}
		calls.Wait()
		cancel()
		if took := time.Since(began); took > 5*time.Second {
			t.Errorf("killed after %v its calls end %v later", after, took)
		}
		c.Close()
		proctest.Ends(t, c.PID(), time.Second)
		nothingIsLeft(t, after, temp, out)
	}
}

// work has runs write files until a call fails, and returns its error.
func work(ctx context.Context, c *plugin.Client, out string) error {
	for {
		run, err := c.Recover(ctx, job.Job{Solvers: []string{"bcd", "glad"}, Penalty: "0.3", Out: out, Edges: job.EdgesAll, Precision: job.PrecisionDense}, manySamples())
		if err != nil {
			return err
		}
		edges, err := run.Edges(ctx, "glad")
		if err != nil {
			return err
		}
		for edges.Next() {
		}
		err = edges.Err()
		edges.Release()
		if err != nil && !errors.Is(err, io.EOF) {
			return err
		}
	}
}

// A plugin that is stopped holds its host neither beyond a call's deadline, nor at
// Close; one that goes on is as before.
func TestStoppedPlugin(t *testing.T) {
	t.Parallel()
	onLinux(t)
	temp := shortTemp(t)
	c := launch(t, temp)
	before, err := exchange(soon(t), c)
	if err != nil {
		t.Fatal(err)
	}
	for _, wait := range []time.Duration{0, 30 * time.Millisecond} {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		ended := make(chan error, 1)
		go func() { ended <- work(ctx, c, t.TempDir()) }()
		time.Sleep(wait)
		if err := syscall.Kill(c.PID(), syscall.SIGSTOP); err != nil {
			t.Fatal(err)
		}
		select {
		case err := <-ended:
			if err == nil {
				t.Error("a call of a stopped plugin succeeds")
			}
		case <-time.After(3 * time.Second):
			t.Fatal("a call goes on 2 s after its deadline")
		}
		cancel()
		if err := syscall.Kill(c.PID(), syscall.SIGCONT); err != nil {
			t.Fatal(err)
		}
		if after, err := exchange(soon(t), c); err != nil || after != before {
			t.Errorf("a plugin that goes on gives %s, %v", after, err)
		}
	}
	if err := syscall.Kill(c.PID(), syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	c.Close()
	if took := time.Since(began); took > 8*time.Second {
		t.Errorf("Close of a stopped plugin takes %v", took)
	}
	proctest.Ends(t, c.PID(), time.Second)
}
