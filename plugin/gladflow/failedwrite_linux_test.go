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
	const noMount = 77
	for _, size := range []string{"4k", "8k", "12k", "20k"} {
		script := `mount -t tmpfs -o size=` + size + ` none "$OUT" || exit 77; "$@"; code=$?; cp -R "$OUT" "$COPY"; exit $code`
		stdout, stderr, folder, code := limited(t, script, func(cmd *exec.Cmd) {
			cmd.SysProcAttr = &syscall.SysProcAttr{Unshareflags: syscall.CLONE_NEWNS}
			if uid := os.Getuid(); uid != 0 {
				cmd.SysProcAttr.Cloneflags = syscall.CLONE_NEWUSER
				cmd.SysProcAttr.UidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: uid, Size: 1}}
			}
		})
		if code == noMount {
			t.Skip("nothing can be mounted here: ", strings.TrimSpace(stderr))
		}
		said := oneSentence(t, code, stderr, "no space left on device")
		t.Logf("%s: %s; it leaves %q", size, said, noTemporaries(t, folder))
		nothingHalf(t, folder, stdout)
	}
}
