package plugin

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/gladflow/gladflow/plugin/internal/proctest"
)

// inTemp are the names of what is in a folder for temporary files, and below.
func inTemp(t *testing.T, folder string) []string {
	t.Helper()
	var names []string
	err := filepath.WalkDir(folder, func(path string, _ os.DirEntry, err error) error {
		if path != folder {
			names = append(names, strings.TrimPrefix(path, folder))
		}
		return err
	})
	if err != nil && !os.IsNotExist(err) { // removed while it was read
		t.Fatal(err)
	}
	return names
}

// shortTemp is a folder for sockets, whose paths must be short.
func shortTemp(t *testing.T) string {
	t.Helper()
	folder, err := os.MkdirTemp("/tmp", "gt")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(folder) })
	return folder
}

// The socket of a plugin goes with it: when it ends by itself, and on Close when it
// was killed, or would not end and Close has killed it.
func TestSocketIsRemoved(t *testing.T) {
	for name, signal := range map[string]syscall.Signal{
		"ended": 0, "killed": syscall.SIGKILL, "terminated": syscall.SIGTERM, "stopped": syscall.SIGSTOP,
	} {
		t.Run(name, func(t *testing.T) {
			temp := shortTemp(t)
			c := launch(t, Config{Env: []string{"TMPDIR=" + temp}})
			if left := inTemp(t, temp); len(left) == 0 {
				t.Fatal("the plugin has no socket here: the test would see nothing")
			}
			if signal != 0 {
				if err := syscall.Kill(c.PID(), signal); err != nil {
					t.Fatal(err)
				}
			}
			switch signal {
			case syscall.SIGKILL, syscall.SIGTERM:
				proctest.Ends(t, c.PID(), 3*time.Second)
			case syscall.SIGSTOP:
				awaitStopped(t, c.PID())
			}
			c.Close()
			if left := inTemp(t, temp); len(left) > 0 {
				t.Errorf("there is left %q", left)
			}
		})
	}
}

// A plugin that is killed while it starts, since the context of Launch has ended,
// leaves nothing either, wherever it was.
func TestSocketOfAnEndedStart(t *testing.T) {
	temp := shortTemp(t)
	began := time.Now()
	launch(t, Config{Env: []string{"TMPDIR=" + temp}}).Close()
	for step, whole := time.Duration(0), time.Since(began); step < 30; step++ {
		ctx, cancel := context.WithTimeout(t.Context(), whole*step/30)
		c, err := Launch(ctx, Config{Path: proctest.Self(t), Env: []string{"TMPDIR=/nowhere", "TMPDIR=" + temp}})
		if err == nil {
			c.Close()
		}
		cancel()
		if left := inTemp(t, temp); len(left) > 0 {
			t.Fatalf("after %v of %v there is left %q", whole*step/30, whole, left)
		}
	}
}

// A hostLauncher is a process of the test binary that launches a plugin, prints
// its process id, and waits to be killed.
const hostLauncher = "GLADFLOW_TEST_LAUNCHER"

func beLauncher() int {
	self, err := os.Executable()
	if err == nil {
		var c *Client
		if c, err = Launch(context.Background(), Config{Path: self}); err == nil {
			fmt.Println(c.PID())
			select {}
		}
	}
	fmt.Fprintln(os.Stderr, err)
	return 1
}

// A host that is killed leaves nothing; one that is killed with its plugin leaves
// what the next Launch removes. Nothing else is removed.
func TestHostAndPluginKilled(t *testing.T) {
	temp := shortTemp(t)
	// A dead socket, but nothing says that it was a plugin's of ours.
	foreign, err := net.ListenUnix("unix", &net.UnixAddr{Net: "unix", Name: filepath.Join(temp, "plugin123")})
	if err != nil {
		t.Fatal(err)
	}
	foreign.SetUnlinkOnClose(false)
	foreign.Close()
	neighbour := launch(t, Config{Env: []string{"TMPDIR=" + temp}})
	before := len(inTemp(t, temp))

	for _, both := range []bool{false, true} {
		t.Run(fmt.Sprint("both ", both), func(t *testing.T) {
			pid := killLauncher(t, temp, both)
			proctest.Ends(t, pid, 3*time.Second)
			left := len(inTemp(t, temp)) - before
			if both == (left == 0) {
				t.Errorf("there are %d more files than before: %q", left, inTemp(t, temp))
			}
		})
	}
	c := launch(t, Config{Env: []string{"TMPDIR=" + temp}})
	if left := inTemp(t, temp); len(left) != before+2 { // its folder and its socket
		t.Errorf("after the next launch there is %q", left)
	}
	c.Close()
	if left := inTemp(t, temp); len(left) != before {
		t.Errorf("after its end there is %q", left)
	}
	if err := neighbour.Ping(t.Context()); err != nil {
		t.Errorf("a plugin that lives has lost its socket: %v", err)
	}
}

// killLauncher returns the process id of the plugin of a host that was killed.
func killLauncher(t *testing.T, temp string, both bool) int {
	t.Helper()
	host := exec.Command(proctest.Self(t))
	host.Env = append(os.Environ(), hostLauncher+"=1", "TMPDIR="+temp)
	host.Stderr = os.Stderr
	out, err := host.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := host.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	pid, invalid := strconv.Atoi(strings.TrimSpace(line))
	if err != nil || invalid != nil {
		host.Process.Kill()
		t.Fatalf("the host says %q: %v", line, err)
	}
	if both {
		// Stopped first, so that it does not see its host's death.
		for _, s := range []syscall.Signal{syscall.SIGSTOP, syscall.SIGKILL} {
			if err := syscall.Kill(pid, s); err != nil {
				t.Fatal(err)
			}
		}
	}
	host.Process.Kill()
	host.Wait()
	return pid
}
