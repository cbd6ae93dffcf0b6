package server

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/apache/arrow/go/v15/arrow/flight"

	"github.com/gladflow/gladflow/plugin/internal/proctest"
)

func TestBrokenPipe(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	if brokenPipe(int(w.Fd())) {
		t.Error("a pipe with a reader is broken")
	}
	r.Close()
	if !brokenPipe(int(w.Fd())) {
		t.Error("a pipe without a reader is not broken")
	}
	file, err := os.Create(filepath.Join(t.TempDir(), "file"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if brokenPipe(int(file.Fd())) {
		t.Error("a file is a broken pipe")
	}
}

// A shellHost is a shell that starts a plugin and waits for it.
type shellHost struct {
	cmd            *exec.Cmd
	plugin         int // process id
	socket, folder string
	stdout, stderr *os.File // reading ends
}

// startHost gives the plugin pipes that the test reads, so that the shell's
// death is not that of the pipes.
func startHost(t *testing.T) *shellHost {
	t.Helper()
	h := &shellHost{folder: filepath.Join(t.TempDir(), "s")}
	if err := os.Mkdir(h.folder, 0o700); err != nil {
		t.Fatal(err)
	}
	var out, errs, ids *os.File
	pipe := func(w **os.File) *os.File {
		r, end, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { r.Close() })
		*w = end
		return r
	}
	h.stdout, h.stderr = pipe(&out), pipe(&errs)
	id := pipe(&ids)
	h.cmd = exec.Command("sh", "-c", `"$0" & echo $! >&3; exec 3>&-; wait`, program(t))
	h.cmd.Env = asPlugin("PLUGIN_UNIX_SOCKET_DIR=" + h.folder)
	h.cmd.Stdout, h.cmd.Stderr, h.cmd.ExtraFiles = out, errs, []*os.File{ids}
	if err := h.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	for _, f := range []*os.File{out, errs, ids} {
		f.Close()
	}
	line, err := bufio.NewReader(id).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	if h.plugin, err = strconv.Atoi(strings.TrimSpace(line)); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		h.cmd.Process.Kill()
		h.cmd.Wait()
		if p, err := os.FindProcess(h.plugin); err == nil && proctest.Lives(h.plugin) {
			p.Kill()
		}
	})
	handshake, err := bufio.NewReader(h.stdout).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	h.socket = strings.Split(handshake, "|")[3]
	return h
}

// gone fails if the plugin leaves anything behind.
func (h *shellHost) gone(t *testing.T) {
	t.Helper()
	t.Logf("gone after %v", proctest.Ends(t, h.plugin, 2*time.Second))
	if _, err := os.Stat(h.folder); !os.IsNotExist(err) {
		t.Errorf("the socket's folder is left: %v", err)
	}
}

// A plugin whose host is killed is gone within 2 s, socket and all, at work or
// not.
func TestHostKilled(t *testing.T) {
	for name, busy := range map[string]bool{"idle": false, "busy": true} {
		t.Run(name, func(t *testing.T) {
			h := startHost(t)
			if busy {
				conn := dial(t, "unix:"+h.socket)
				awaitSolving(t, flight.NewClientFromConn(conn, nil), startRun(t, conn, longJob(t)))
			}
			if err := h.cmd.Process.Kill(); err != nil {
				t.Fatal(err)
			}
			h.gone(t)
		})
	}
}

// A line of the log into the pipe of a dead host does not end the process
// before its socket is removed.
func TestHostKilledWithBrokenPipes(t *testing.T) {
	h := startHost(t)
	h.stdout.Close()
	h.stderr.Close()
	if err := h.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	h.gone(t)
}

// The shell lives, but both outputs lead nowhere: it was a wrapper, and the
// host behind it has died.
func TestHostOfAWrapperDies(t *testing.T) {
	h := startHost(t)
	h.stdout.Close()
	h.stderr.Close()
	h.gone(t)
}

// A host may close the pipe of the handshake, once it has it.
func TestHandshakePipeMayBeClosed(t *testing.T) {
	h := startHost(t)
	go io.Copy(io.Discard, h.stderr)
	h.stdout.Close()
	time.Sleep(5 * parentInterval / 2) // two checks
	if !proctest.Lives(h.plugin) {
		t.Error("the plugin has ended")
	}
}

// A host that has died before the plugin could look is noticed all the same,
// even if the parent was process 1 from the start.
func TestHostDiedEarly(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	r.Close()
	folder := filepath.Join(t.TempDir(), "s")
	if err := os.Mkdir(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(program(t))
	cmd.Env = asPlugin("PLUGIN_UNIX_SOCKET_DIR=" + folder)
	cmd.Stdout = w
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	w.Close()
	took := proctest.Ends(t, cmd.Process.Pid, 2*time.Second)
	if err := cmd.Wait(); err != nil {
		t.Errorf("it ended with %v", err)
	}
	t.Logf("gone after %v", took)
	if _, err := os.Stat(folder); !os.IsNotExist(err) {
		t.Errorf("the socket's folder is left: %v", err)
	}
}

// A folder with something in it is not the plugin's to remove.
func TestSocketFolderWithMore(t *testing.T) {
	folder := t.TempDir()
	t.Setenv("PLUGIN_UNIX_SOCKET_DIR", folder)
	file := filepath.Join(folder, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	removeSocketFolder()
	if _, err := os.Stat(file); err != nil {
		t.Error(err)
	}
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	removeSocketFolder()
	if _, err := os.Stat(folder); !os.IsNotExist(err) {
		t.Error(fmt.Sprint("the empty folder is left: ", err))
	}
}
