package plugin

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/gladflow/gladflow/plugin/internal/logtest"
	"github.com/gladflow/gladflow/plugin/internal/proctest"
	"github.com/gladflow/gladflow/plugin/protocol"
)

// script is an executable shell script.
func script(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "script")
	if err := os.WriteFile(path, []byte("#!/bin/sh\n"+text+"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	return path
}

// What is no plugin is told quickly, with what it said and what to do, and
// nothing but that: go-plugin's own complaints are kept from the log.
func TestLaunchRefuses(t *testing.T) {
	folder := t.TempDir()
	text := filepath.Join(folder, "text")
	if err := os.WriteFile(text, []byte("no program"), 0o644); err != nil {
		t.Fatal(err)
	}
	noise := filepath.Join(folder, "noise")
	if err := os.WriteFile(noise, []byte("\x01\x02no program"), 0o755); err != nil {
		t.Fatal(err)
	}
	const install = "go install github.com/gladflow/gladflow/plugin/gladflow@"
	for name, test := range map[string]struct {
		config Config
		want   []string
	}{
		"empty path":       {Config{}, []string{"Config.Path is empty", install}},
		"no file":          {Config{Path: folder + "/nothing"}, []string{"there is no", install}},
		"not in $PATH":     {Config{Path: "gladflow-that-is-not"}, []string{"there is no", install}},
		"a folder":         {Config{Path: folder}, []string{folder}},
		"not executable":   {Config{Path: text}, []string{"is not executable", "chmod +x"}},
		"not a program":    {Config{Path: noise}, []string{"exec format error", install}},
		"true":             {Config{Path: "/bin/true"}, []string{"is no gladflow plugin: it ended without an answer", install}},
		"cat":              {Config{Path: "/bin/cat"}, []string{"is no gladflow plugin: it ended without an answer", install}},
		"echo":             {Config{Path: "/bin/echo", Args: []string{"good", "morning"}}, []string{`is no gladflow plugin: it answered "good morning"`, install}},
		"last words":       {Config{Path: script(t, "echo no licence >&2; exit 3")}, []string{"ended without an answer", "no licence"}},
		"other version":    {Config{Path: script(t, "echo '1|99|unix|/nowhere|grpc'; sleep 60")}, []string{"another version of the protocol than this host's 1", install}},
		"other protocol":   {Config{Path: script(t, "echo '1|1|unix|/nowhere|netrpc'; sleep 60")}, []string{"cannot be started as a gladflow plugin", "netrpc"}},
		"no socket":        {Config{Path: script(t, "echo '1|1|unix|/nowhere|grpc'; sleep 60")}, []string{"cannot be started as a gladflow plugin", "/nowhere"}},
		"silent":           {Config{Path: script(t, "sleep 60"), StartTimeout: 200 * time.Millisecond}, []string{"has not answered in time", "Config.StartTimeout"}},
		"checksum differs": {Config{Path: "/bin/true", Checksum: strings.Repeat("ab", 32)}, []string{"the SHA-256 of /", "is not Config.Checksum abab", "sha256sum"}},
		"no checksum":      {Config{Path: "/bin/true", Checksum: "abab"}, []string{`"abab" is no SHA-256`}},
	} {
		t.Run(name, func(t *testing.T) {
			var log logtest.Log
			test.config.Logger = hclog.New(&hclog.LoggerOptions{Level: hclog.Warn, Output: &log})
			began := time.Now()
			c, err := Launch(t.Context(), test.config)
			if err == nil {
				c.Close()
				t.Fatal("no error")
			}
			for _, want := range test.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("error %q does not say %q", err, want)
				}
			}
			if strings.Contains(err.Error(), "\n") {
				t.Errorf("error of several lines: %q", err)
			}
			if took := time.Since(began); took >= defaultStartTimeout {
				t.Errorf("it took %v", took)
			}
			if log.Len() > 0 {
				t.Errorf("logged as well: %s", log.String())
			}
		})
	}
}

// The context bounds the start: nothing is left of a plugin that is not up when
// it ends, not even what that has started.
func TestLaunchContext(t *testing.T) {
	pids := filepath.Join(t.TempDir(), "pids")
	path := script(t, "sleep 60 & echo $$ $! >"+pids+".tmp; mv "+pids+".tmp "+pids+"; wait")
	ctx, cancel := context.WithCancelCause(t.Context())
	defer cancel(nil)
	var written []byte
	go func() {
		for len(written) == 0 {
			time.Sleep(5 * time.Millisecond)
			written, _ = os.ReadFile(pids)
		}
		cancel(errSource)
	}()
	_, err := Launch(ctx, Config{Path: path, StartTimeout: time.Minute})
	if !errors.Is(err, errSource) {
		t.Errorf("error %v, want the context's", err)
	}
	for _, field := range strings.Fields(string(written)) {
		pid, err := strconv.Atoi(field)
		if err != nil {
			t.Fatal(err)
		}
		proctest.Ends(t, pid, 3*time.Second)
	}
	if _, err := Launch(ctx, Config{Path: path}); !errors.Is(err, errSource) {
		t.Errorf("with a context that has ended: error %v", err)
	}
}

func launch(t testing.TB, c Config) *Client {
	t.Helper()
	c.Path = proctest.Self(t)
	if c.Logger == nil {
		c.Logger = hclog.NewNullLogger()
	}
	client, err := Launch(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { client.Close() })
	return client
}

func TestLaunch(t *testing.T) {
	program, err := os.ReadFile(proctest.Self(t))
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(program)
	// A host that is a plugin itself has a certificate for its own host.
	t.Setenv("PLUGIN_CLIENT_CERT", "not ours")
	for name, config := range map[string]Config{
		"default":      {},
		"checksum":     {Checksum: hex.EncodeToString(sum[:])},
		"without mTLS": {DisableMTLS: true},
	} {
		t.Run(name, func(t *testing.T) {
			c := launch(t, config)
			d, err := c.Describe(t.Context())
			if err != nil || d.Protocol != protocol.Version || len(d.Solvers) == 0 || d.Limits.Variables == 0 {
				t.Errorf("%+v, %v", d, err)
			}
			pid := c.PID()
			if err := syscall.Kill(pid, 0); err != nil {
				t.Errorf("process %d: %v", pid, err)
			}
			began := time.Now()
			c.Close()
			if took := time.Since(began); took >= closeTimeout {
				t.Errorf("Close took %v: it had to kill", took)
			}
			proctest.Ends(t, pid, 3*time.Second)
			if _, err := c.Describe(t.Context()); !errors.Is(err, ErrClosed) {
				t.Errorf("after Close: error %v", err)
			}
			c.Close()
		})
	}
}

// The end of the context that it was started with is not the plugin's.
func TestLaunchedOutlivesContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	c, err := Launch(ctx, Config{Path: proctest.Self(t)})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	cancel()
	time.Sleep(50 * time.Millisecond)
	if err := c.Ping(t.Context()); err != nil {
		t.Error(err)
	}
}

// A plugin that has died is told from one that is busy.
func TestPluginDies(t *testing.T) {
	c := launch(t, Config{})
	if err := syscall.Kill(c.PID(), syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	_, err := c.Describe(t.Context())
	if status.Code(err) != codes.Unavailable || !strings.Contains(err.Error(), strconv.Itoa(c.PID())) || !strings.Contains(err.Error(), "launch it again") {
		t.Errorf("error %v", err)
	}
}

// awaitStopped waits until the threads of a child have stopped, which takes a
// moment.
func awaitStopped(t *testing.T, pid int) {
	t.Helper()
	var status syscall.WaitStatus
	if _, err := syscall.Wait4(pid, &status, syscall.WUNTRACED, nil); err != nil || !status.Stopped() {
		t.Fatalf("it has not stopped: %v, %v", status, err)
	}
}

// A plugin that was stopped answers nothing, and is killed all the same.
func TestCloseStopped(t *testing.T) {
	c := launch(t, Config{})
	if err := syscall.Kill(c.PID(), syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	awaitStopped(t, c.PID())
	began := time.Now()
	c.Close()
	if took := time.Since(began); took > closeTimeout+2*time.Second {
		t.Errorf("Close took %v", took)
	}
	proctest.Ends(t, c.PID(), 3*time.Second)
}

// Env wins over the host's environment, and Dir is where the plugin works.
func TestLaunchEnvironment(t *testing.T) {
	t.Setenv("GLADFLOW_TEST_COLOUR", "red")
	t.Setenv("GLADFLOW_TEST_SHAPE", "round")
	dir := t.TempDir()
	_, err := Launch(t.Context(), Config{
		Path: script(t, `echo "$GLADFLOW_TEST_COLOUR $GLADFLOW_TEST_SHAPE $PWD $1"`),
		Args: []string{"argument"}, Env: []string{"GLADFLOW_TEST_COLOUR=blue"}, Dir: dir,
	})
	if err == nil || !strings.Contains(err.Error(), `"blue round `+dir+` argument"`) {
		t.Errorf("error %v", err)
	}
}

// A relative path is the host's, whatever Dir is.
func TestRelativePath(t *testing.T) {
	path := proctest.Self(t)
	t.Chdir(filepath.Dir(path))
	c, err := Launch(t.Context(), Config{Path: "./" + filepath.Base(path), Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	c.Close()
}

// The logger hears the plugin, from the start.
func TestLaunchLogger(t *testing.T) {
	var log logtest.Log
	c := launch(t, Config{Logger: hclog.New(&hclog.LoggerOptions{Level: hclog.Trace, Output: &log})})
	c.Close()
	if !strings.Contains(log.String(), "plugin process exited") {
		t.Errorf("the log:\n%s", log.String())
	}
}
