//go:build unix

package plugin

import (
	"os/exec"
	"syscall"
)

// ownGroup makes cmd a process group of its own and has it killed as a whole:
// a plugin that is a script leaves nothing behind, and nothing that holds its
// pipes keeps the host waiting.
func ownGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
}
