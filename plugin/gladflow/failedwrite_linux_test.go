package main

import (
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
)

// A disk that is full, small enough in a namespace of its own: run.json says so as
// long as there is room for it.
func TestFullDisk(t *testing.T) {
	for _, size := range []string{"4k", "8k", "12k", "20k"} {
		script := `mount -t tmpfs -o size=` + size + ` none "$OUT" || exit 77; "$@"; code=$?; cp -R "$OUT" "$COPY"; exit $code`
		stdout, stderr, folder, code := mounting(t, script)
		said := oneSentence(t, code, stderr, "no space left on device")
		t.Logf("%s: %s; it leaves %q", size, said, noTemporaries(t, folder))
		nothingHalf(t, folder, stdout)
	}
}

// A folder that is read-only is told before anything is read.
func TestReadOnlyFolder(t *testing.T) {
	script := `mount -t tmpfs -o ro none "$OUT" || exit 77; "$@"; code=$?; cp -R "$OUT" "$COPY"; exit $code`
	stdout, stderr, folder, code := mounting(t, script)
	if code != exitUsage || stdout != "" || !strings.HasPrefix(stderr, "gladflow: --out: ") || !strings.Contains(stderr, "read-only file system") {
		t.Errorf("code %d, %q\n%s", code, stdout, stderr)
	}
	if left := noTemporaries(t, folder); left != nil {
		t.Errorf("it leaves %q", left)
	}
}

// mounting is limited for a script that mounts something, in a namespace of its own:
// it exits with 77 where it cannot.
func mounting(t *testing.T, script string) (stdout, stderr, copied string, code int) {
	t.Helper()
	stdout, stderr, copied, code = limited(t, script, func(cmd *exec.Cmd) {
		cmd.SysProcAttr = &syscall.SysProcAttr{Unshareflags: syscall.CLONE_NEWNS}
		if uid := os.Getuid(); uid != 0 {
			cmd.SysProcAttr.Cloneflags = syscall.CLONE_NEWUSER
			cmd.SysProcAttr.UidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: uid, Size: 1}}
		}
	})
	if code == 77 {
		t.Skip("nothing can be mounted here: ", strings.TrimSpace(stderr))
	}
	return stdout, stderr, copied, code
}
