package server

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/apache/arrow/go/v15/arrow/flight"
	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/go-plugin"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/gladflow/gladflow/plugin/internal/flighttest"
	"github.com/gladflow/gladflow/plugin/internal/proctest"
	"github.com/gladflow/gladflow/plugin/protocol"
)

// A launched is a plugin whose host is the test.
type launched struct {
	cmd    *exec.Cmd
	stdout *bufio.Reader
	stderr bytes.Buffer // to be read after the end
	socket string
}

// launch starts the binary as a plugin and reads the handshake.
func launch(t *testing.T, args []string, environment ...string) *launched {
	t.Helper()
	p := &launched{cmd: exec.Command(program(t), args...)}
	p.cmd.Env = asPlugin(environment...)
	p.cmd.Stderr = &p.stderr
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	p.stdout = bufio.NewReader(out)
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.cmd.Process.Kill() })
	line, err := p.stdout.ReadString('\n')
	if err != nil {
		t.Fatalf("no handshake: %v\n%s", err, p.stderr.String())
	}
	fields := strings.Split(strings.TrimSpace(line), "|")
	if len(fields) != 6 || strings.Join(fields[:3], "|") != "1|1|unix" || fields[4] != "grpc" || fields[5] != "" {
		t.Fatalf("the first line is %q", line)
	}
	p.socket = fields[3]
	return p
}

// end signals the plugin and returns what else it wrote to standard output.
func (p *launched) end(t *testing.T, s os.Signal) string {
	t.Helper()
	if err := p.cmd.Process.Signal(s); err != nil {
		t.Fatal(err)
	}
	rest, err := io.ReadAll(p.stdout)
	if err != nil {
		t.Fatal(err)
	}
	if err := p.cmd.Wait(); err != nil {
		t.Errorf("the plugin ended with %v\n%s", err, p.stderr.String())
	}
	if _, err := os.Stat(p.socket); !os.IsNotExist(err) {
		t.Errorf("the socket is left: %v", err)
	}
	return string(rest)
}

// The handshake is the first and only thing on standard output, whatever the
// arguments and the environment; everything on standard error is hclog's JSON.
// SIGTERM ends a plugin with code 0 and no socket.
func TestHandshakeIsAllOnStandardOutput(t *testing.T) {
	for _, args := range [][]string{nil, {"recover", "--max-variables=7"}} {
		p := launch(t, args)
		conn := dial(t, "unix:"+p.socket)
		if _, err := flighttest.Action(t.Context(), conn, protocol.ActionDescribe, nil); err != nil {
			t.Fatal(err)
		}
		run := startRun(t, conn, shortJob(t))
		if _, err := flighttest.Action(t.Context(), conn, protocol.ActionResult, run); err != nil {
			t.Fatal(err)
		}
		if rest := p.end(t, syscall.SIGTERM); rest != "" {
			t.Errorf("%v: standard output goes on with %q", args, rest)
		}
		for line := range strings.Lines(p.stderr.String()) {
			var entry map[string]any
			if err := json.Unmarshal([]byte(line), &entry); err != nil || entry["@level"] == nil {
				t.Errorf("%v: standard error has %q", args, line)
			}
		}
	}
}

// The exporter "console" writes to standard error, not among the handshake.
func TestConsoleIsNotStandardOutput(t *testing.T) {
	p := launch(t, nil, "OTEL_TRACES_EXPORTER=console", "OTEL_METRICS_EXPORTER=console")
	conn := dial(t, "unix:"+p.socket)
	run := startRun(t, conn, shortJob(t))
	if _, err := flighttest.Action(t.Context(), conn, protocol.ActionResult, run); err != nil {
		t.Fatal(err)
	}
	if rest := p.end(t, syscall.SIGTERM); rest != "" {
		t.Errorf("standard output goes on with %q", rest)
	}
	for _, want := range []string{run.Run, "gladflow.run.duration", "solving bcd"} {
		if !strings.Contains(p.stderr.String(), want) {
			t.Errorf("standard error lacks %q", want)
		}
	}
}

// An interrupt from the terminal is the host's to act on.
func TestInterruptIsTheHosts(t *testing.T) {
	p := launch(t, nil)
	conn := dial(t, "unix:"+p.socket)
	for range 5 {
		if err := p.cmd.Process.Signal(os.Interrupt); err != nil {
			t.Fatal(err)
		}
		if _, err := flighttest.Action(t.Context(), conn, protocol.ActionSolvers, nil); err != nil {
			t.Fatalf("after an interrupt: %v", err)
		}
	}
	p.end(t, syscall.SIGTERM)
}

// A host with go-plugin's own client, with mutual TLS and without: messages
// beyond 4 MiB arrive, and Kill ends the process by itself, with a run at work,
// well before go-plugin loses patience.
func TestGoPluginHost(t *testing.T) {
	for name, mutual := range map[string]bool{"mutual TLS": true, "no TLS": false} {
		t.Run(name, func(t *testing.T) {
			cmd := exec.Command(program(t))
			config := protocol.ClientConfig(cmd)
			config.AutoMTLS = mutual
			config.Logger = hclog.NewNullLogger()
			client := plugin.NewClient(config)
			t.Cleanup(client.Kill)
			conn, err := protocol.Dispense(client)
			if err != nil {
				t.Fatal(err)
			}
			big := map[string]string{"input": strings.Repeat("x", 6<<20)}
			if _, err := flighttest.Action(t.Context(), conn, protocol.ActionValidate, big); status.Code(err) == codes.ResourceExhausted {
				t.Errorf("6 MiB: %v", err)
			}
			job := longJob(t)
			job["out"] = t.TempDir()
			awaitSolving(t, flight.NewClientFromConn(conn, nil), startRun(t, conn, job))

			pid, start := cmd.Process.Pid, time.Now()
			client.Kill()
			took := time.Since(start)
			t.Logf("Kill took %v", took)
			if proctest.Lives(pid) || took > 1500*time.Millisecond {
				t.Errorf("Kill took %v; the process lives: %v", took, proctest.Lives(pid))
			}
			if code := cmd.ProcessState.ExitCode(); code != 0 {
				t.Errorf("the plugin ended with %v", cmd.ProcessState)
			}
			left, err := os.ReadDir(job["out"].(string))
			if err != nil {
				t.Fatal(err)
			}
			for _, file := range left {
				if strings.Contains(file.Name(), ".tmp") {
					t.Errorf("half a file is left: %s", file.Name())
				}
			}
		})
	}
}

// A plugin that cannot listen says so, and why, and fails.
func TestPluginThatCannotListen(t *testing.T) {
	for variable, want := range map[string]string{
		"PLUGIN_UNIX_SOCKET_DIR=/nowhere/at/all": "could not listen; see the log",
		"TMPDIR=/nowhere/at/all":                 "could not listen: no folder for a socket can be made in /nowhere/at/all; make room there, or set TMPDIR",
	} {
		cmd := exec.Command(program(t))
		cmd.Env = asPlugin(variable)
		out, err := cmd.Output()
		failed, ok := err.(*exec.ExitError)
		if !ok || failed.ExitCode() != 1 || len(out) > 0 || !strings.Contains(string(failed.Stderr), want) {
			t.Errorf("with %s it writes %q and ends with %v\n%s", variable, out, err, failed.Stderr)
		}
	}
}
