// Package socket has the folders that plugins put their Unix sockets into, and
// removes what those leave behind that were killed.
//
// A plugin holds a lock on its folder for as long as it lives: the system ends it
// with the process, however that ends. So a folder whose lock is free is nobody's,
// also where process ids say nothing, as between containers.
package socket

import (
	"context"
	"errors"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// MaxPath is the length of a socket's path that every system can take.
const MaxPath = 103

const (
	// prefix is that of the folders' names. No other folder is touched.
	prefix = "gladflow-socket-"
	// file is that of the names that go-plugin gives to sockets, and to the empty
	// files by which it finds a name.
	file = "plugin"
	// longest is how long the names of a folder and its socket can be together.
	longest = len("/" + prefix + "4294967295/" + file + "4294967295")
)

// Answers says whether a process listens on a socket. One that is too busy to
// answer, or may not be asked, does.
func Answers(ctx context.Context, path string) bool {
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	conn, err := (&net.Dialer{}).DialContext(ctx, "unix", path)
	if err != nil {
		return !errors.Is(err, syscall.ECONNREFUSED)
	}
	conn.Close()
	return true
}

// base is the folder for temporary files that a socket can be in, as an absolute path,
// since a host may have another working folder: folder, or one with a shorter name, or
// with one that does not break the line in which go-plugin tells it.
func base(folder string) string {
	path, err := filepath.Abs(folder)
	if err != nil || len(path)+longest > MaxPath || strings.ContainsAny(path, "|\r\n") {
		return "/tmp"
	}
	return path
}

// A Folder is for the sockets of one process. Nil is none.
type Folder struct {
	path string
	lock *os.File
}

// Path is the folder's path.
func (f *Folder) Path() string {
	if f == nil {
		return ""
	}
	return f.path
}
