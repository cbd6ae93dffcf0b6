//go:build unix

package arrowio

import (
	"errors"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/gladflow/gladflow/arrowio/internal/arrowtest"
)

// The case of letters counts, in the folder and in its name.
func TestRootCase(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("file systems may think otherwise here")
	}
	m := newMaze(t)
	_, err := OpenSamples(t.Context(), "OK.CSV", SampleOptions{Root: m.root})
	wantInputError(t, err, "no such file")
}

// Pipes, sockets and devices in the folder are refused at once; a pipe would keep
// a thread for ever. Files of this machine may be pipes.
func TestRootRefusesPipes(t *testing.T) {
	m := newMaze(t)
	if err := unix.Mkfifo(filepath.Join(m.folder, "pipe.csv"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("pipe.csv", filepath.Join(m.folder, "to-pipe.csv")); err != nil {
		t.Fatal(err)
	}
	t.Chdir(m.folder) // paths of sockets are short
	l, err := net.Listen("unix", "socket.csv")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	paths := []string{"pipe.csv", "to-pipe.csv", "socket.csv"}
	if err := unix.Mknod(filepath.Join(m.folder, "null.csv"), unix.S_IFCHR|0o600, int(unix.Mkdev(1, 3))); err == nil {
		if f, err := os.Open(filepath.Join(m.folder, "null.csv")); err == nil { // not where devices are not allowed
			f.Close()
			paths = append(paths, "null.csv")
		}
	}
	opened := arrowtest.Descriptors()
	for _, path := range paths {
		done := make(chan error, 1)
		go func() {
			_, err := OpenSamples(t.Context(), path, SampleOptions{Root: m.root})
			done <- err
		}()
		select {
		case err := <-done:
			if wantInputError(t, err, "regular"); !errors.Is(err, ErrNotRegular) {
				t.Errorf("%s: %v", path, err)
			}
		case <-time.After(10 * time.Second):
			t.Fatalf("%s keeps its reader waiting", path)
		}
		if folder, _, err := m.root.OpenFolder(path); err == nil {
			t.Errorf("%s is a folder", path)
			folder.Close()
		}
	}
	if now := arrowtest.Descriptors(); now != opened {
		t.Errorf("%d files are open, %d before", now, opened)
	}

	go func() {
		if f, err := os.OpenFile(filepath.Join(m.folder, "pipe.csv"), os.O_WRONLY, 0); err == nil {
			f.WriteString(goodTable)
			f.Close()
		}
	}()
	if r, err := readAll(t.Context(), filepath.Join(m.folder, "pipe.csv"), SampleOptions{}); err != nil || r.rows != 3 {
		t.Errorf("a pipe of this machine: %d rows, %v", r.rows, err)
	}
}
