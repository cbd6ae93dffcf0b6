//go:build linux && (amd64 || arm64)

package emulator

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// Sanitizers returns the environment variables that a process needs to open
// libraries that were built [Sanitized]: AddressSanitizer has to be in the process from
// its start. Its report goes to standard error, and the process ends with code 66.
//
// The test is skipped where g++ comes without the sanitizers, and under Go's race
// detector, which wants the same part of the address space.
func Sanitizers(t testing.TB) []string {
	t.Helper()
	if underRaceDetector {
		t.Skip("AddressSanitizer and the race detector do not fit into one process")
	}
	path, err := exec.Command("g++", "-print-file-name=libasan.so").Output()
	file := strings.TrimSpace(string(path))
	if err != nil || !filepath.IsAbs(file) {
		t.Skip("g++ comes without AddressSanitizer")
	}
	// It may be a linker script or a link to the library proper.
	if resolved, err := filepath.EvalSymlinks(file); err == nil {
		file = resolved
	}
	return []string{
		"LD_PRELOAD=" + file,
		// Go's faults and Go's memory are Go's matter; the emulator counts its own leaks.
		"ASAN_OPTIONS=detect_leaks=0:handle_segv=0:allow_user_segv_handler=1:exitcode=66:abort_on_error=0:use_sigaltstack=0",
		"UBSAN_OPTIONS=print_stacktrace=1:exitcode=66",
	}
}
