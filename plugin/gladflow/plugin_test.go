package main

import (
	"bufio"
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"
	goplugin "github.com/hashicorp/go-plugin"

	"github.com/gladflow/gladflow/pipelines/job"
	"github.com/gladflow/gladflow/plugin"
	"github.com/gladflow/gladflow/plugin/internal/built"
	"github.com/gladflow/gladflow/plugin/internal/flighttest"
	"github.com/gladflow/gladflow/plugin/protocol"
)

// A waiting is a process of gladflow plugin.
type waiting struct {
	cmd    *exec.Cmd
	line   string // what it has printed
	temp   string
	stderr bytes.Buffer // to be read after the end
}

// shortTemp is a folder for sockets, whose paths must be short.
func shortTemp(t *testing.T) string {
	t.Helper()
	folder, err := os.MkdirTemp("/tmp", "gp")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(folder) })
	return folder
}

func startWaiting(t *testing.T, temp string, env ...string) *waiting {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("needs Unix sockets that are closed to other users")
	}
	w := &waiting{cmd: exec.Command(built.Binary(t), "plugin", "--max-variables=77"), temp: temp}
	w.cmd.Env = append(append(os.Environ(), "TMPDIR="+temp), env...)
	w.cmd.Stderr = &w.stderr
	out, err := w.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := w.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { w.cmd.Process.Kill() })
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatalf("it prints %q: %v\n%s", line, err, w.stderr.String())
	}
	w.line = strings.TrimSpace(line)
	return w
}

// attach is a host with the code that it would have without a debugger.
func (w *waiting) attach(t *testing.T) *plugin.Client {
	t.Helper()
	c, err := plugin.Launch(t.Context(), plugin.Config{Path: "gladflow-that-is-not", Logger: hclog.NewNullLogger(), Reattach: w.line})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	if c.PID() != w.cmd.Process.Pid {
		t.Errorf("the host calls process %d, and is to call %d", c.PID(), w.cmd.Process.Pid)
	}
	return c
}

func recoverSomething(t *testing.T, c *plugin.Client) {
	t.Helper()
	run, err := c.Recover(t.Context(), job.Job{Solvers: []string{"bcd"}, Penalty: "0.3"}, streamOf(8, 40, 1))
	if err != nil {
		t.Fatal(err)
	}
	edges, err := run.Edges(t.Context(), "bcd")
	if err != nil {
		t.Fatal(err)
	}
	if err := readOut(edges); err != nil {
		t.Fatal(err)
	}
}

func inFolder(t *testing.T, folder string) []string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(folder, "*"))
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// A plugin that was started by hand serves hosts that attach, one after another and
// at once, and lives until it is interrupted; then nothing is left of it.
func TestReattach(t *testing.T) {
	// What a plugin is told by its host must not reach one that has none.
	w := startWaiting(t, shortTemp(t), "PLUGIN_CLIENT_CERT=not ours", "PLUGIN_UNIX_SOCKET_DIR=/nowhere", "PLUGIN_PROTOCOL_VERSIONS=9")
	first := w.attach(t)
	recoverSomething(t, first)
	if d, err := first.Describe(t.Context()); err != nil || d.Limits.Variables != 77 {
		t.Errorf("the flags do not hold: %+v, %v", d.Limits, err)
	}
	first.Close()

	var both sync.WaitGroup
	for range 2 {
		c := w.attach(t)
		both.Go(func() {
			if err := c.Ping(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
	both.Wait()

	// A host on go-plugin's own client, whose Kill leaves the process alone too.
	r, err := protocol.ParseReattach(w.line)
	if err != nil {
		t.Fatal(err)
	}
	config := r.ClientConfig()
	config.Logger = hclog.NewNullLogger()
	client := goplugin.NewClient(config)
	conn, err := protocol.Dispense(client)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := flighttest.Action(t.Context(), conn, protocol.ActionDescribe, nil); err != nil {
		t.Error(err)
	}
	client.Kill()
	conn.Close()

	recoverSomething(t, w.attach(t)) // still attached when the plugin ends
	if err := w.cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	if err := w.cmd.Wait(); err != nil {
		t.Errorf("after an interrupt it ends with %v\n%s", err, w.stderr.String())
	}
	if left := inFolder(t, w.temp); len(left) > 0 {
		t.Errorf("there is left %q", left)
	}
	if !strings.Contains(w.stderr.String(), "export GLADFLOW_REATTACH='"+w.line+"'") {
		t.Errorf("standard error does not say how to attach:\n%s", w.stderr.String())
	}
	if _, err := plugin.Launch(t.Context(), plugin.Config{Reattach: w.line}); err == nil || !strings.Contains(err.Error(), "the line that it prints now") {
		t.Errorf("after its end: error %v", err)
	}
}

// Only the user of the plugin can connect, and what a killed one leaves the next one
// removes.
func TestReattachSocket(t *testing.T) {
	temp := shortTemp(t)
	w := startWaiting(t, temp)
	r, err := protocol.ParseReattach(w.line)
	if err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(filepath.Dir(r.Addr.String))
	if err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("the socket's folder: %v, %v", info.Mode(), err)
	}
	w.cmd.Process.Kill()
	w.cmd.Wait()
	if left := inFolder(t, temp); len(left) != 1 {
		t.Fatalf("a process that was killed leaves %q: the test would see nothing", left)
	}
	began := time.Now()
	if _, err := plugin.Launch(t.Context(), plugin.Config{Reattach: w.line}); err == nil || !strings.Contains(err.Error(), "does not answer") {
		t.Errorf("after it was killed: error %v", err)
	}
	if took := time.Since(began); took > 5*time.Second {
		t.Errorf("that took %v", took)
	}
	next := startWaiting(t, temp)
	if left := inFolder(t, temp); len(left) != 1 {
		t.Errorf("the next one has %q", left)
	}
	next.cmd.Process.Signal(os.Interrupt)
	if err := next.cmd.Wait(); err != nil {
		t.Error(err)
	}
	if left := inFolder(t, temp); len(left) != 0 {
		t.Errorf("there is left %q", left)
	}
}
