//go:build unix

package plugin

import (
	"context"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// A pipe, which nobody writes to, is no binary: it is not waited for.
func TestChecksumOfAPipe(t *testing.T) {
	path := filepath.Join(t.TempDir(), "gladflow")
	if err := unix.Mkfifo(path, 0o700); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	defer cancel()
	launched := make(chan error, 1)
	go func() {
		_, err := Launch(ctx, Config{Path: path, Checksum: strings.Repeat("ab", 32)})
		launched <- err
	}()
	select {
	case err := <-launched:
		if want := "plugin: " + path + " is no regular file"; err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("error %v, want %s", err, want)
		}
	case <-ctx.Done():
		t.Error("Launch waits for the pipe")
		if f, err := unix.Open(path, unix.O_WRONLY|unix.O_NONBLOCK, 0); err == nil { // to end it
			unix.Close(f)
		}
	}
}
