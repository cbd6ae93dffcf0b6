// Package proctest has what tests need that start processes: a test binary that
// is a plugin when it is started as one, and the end of a process.
package proctest

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/gladflow/gladflow/plugin/protocol"
)

// BeThePlugin serves and ends the process if a host has started it with the
// cookie of package protocol. TestMain calls it first, so that a test can launch
// its own binary, which needs no build. Standard output is the handshake's.
func BeThePlugin(serve func(context.Context) error) {
	if os.Getenv(protocol.CookieKey) != protocol.CookieValue {
		// With the race detector a process waits for a second before it ends.
		os.Setenv("GORACE", "atexit_sleep_ms=0")
		return
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	stderr := os.Stderr // go-plugin replaces it
	err := serve(ctx)
	stop()
	if err != nil {
		fmt.Fprintln(stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// Self is the path of the test binary.
func Self(t testing.TB) string {
	t.Helper()
	path, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// Lives says whether a process is there and no zombie.
func Lives(pid int) bool {
	if runtime.GOOS != "linux" {
		p, err := os.FindProcess(pid)
		return err == nil && p.Signal(syscall.Signal(0)) == nil
	}
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return false
	}
	// The name, in brackets, may hold anything; the state follows.
	_, rest, _ := strings.Cut(string(stat[bytes.LastIndexByte(stat, ')'):]), " ")
	return !strings.HasPrefix(rest, "Z")
}

// Ends fails the test unless a process ends within a time; it returns how long
// that took. Only a parent is told of the end, so it polls.
func Ends(t testing.TB, pid int, within time.Duration) time.Duration {
	t.Helper()
	began := time.Now()
	for Lives(pid) {
		if time.Since(began) > within {
			t.Fatalf("process %d lives after %v", pid, within)
		}
		time.Sleep(2 * time.Millisecond)
	}
	return time.Since(began)
}
