package plugin

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
)

// A folder that this user cannot enter is what the error is about, not the binary.
func TestFolderThatCannotBeEntered(t *testing.T) {
	closed := filepath.Join(t.TempDir(), "closed")
	if err := os.Mkdir(closed, 0o600); err != nil {
		t.Fatal(err)
	}
	errs := make(chan error)
	go func() {
		if os.Geteuid() == 0 {
			// The thread has no rights of root at files any more, and ends with this
			// goroutine.
			runtime.LockOSThread()
			if err := os.Chmod(filepath.Dir(closed), 0o755); err != nil {
				t.Error(err)
			}
			if err := os.Chmod(filepath.Dir(filepath.Dir(closed)), 0o755); err != nil {
				t.Error(err)
			}
			syscall.RawSyscall(syscall.SYS_SETFSUID, 65534, 0, 0)
		}
		errs <- Config{Dir: closed}.checkDir()
	}()
	if err := <-errs; err == nil || !strings.Contains(err.Error(), "Config.Dir cannot be used") || !strings.Contains(err.Error(), "permission denied") {
		t.Errorf("error %v", err)
	}
}
