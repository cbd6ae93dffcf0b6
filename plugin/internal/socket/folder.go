//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package socket

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// Open makes a folder that only this user can enter, in temp, or in /tmp where the
// path of a socket in temp would be too long. It first removes what processes that
// have died left there. Remove is to be called at the end.
func Open(temp string) (*Folder, error) {
	temp = base(temp)
	Sweep(temp)
	const attempts = 10 // one is enough, unless another process sweeps just then
	for range attempts {
		path, err := os.MkdirTemp(temp, prefix)
		if err != nil {
			return nil, fmt.Errorf("no folder for a socket can be made in %s; make room there, or set TMPDIR: %w", temp, err)
		}
		lock, err := os.Open(path)
		if err != nil {
			continue
		}
		// Where folders cannot be locked, nobody will remove this one.
		_ = flock(lock, syscall.LOCK_EX)
		if f := (&Folder{path: path, lock: lock}); f.there() {
			return f, nil
		}
		lock.Close()
	}
	return nil, fmt.Errorf("folders for sockets that are made in %s are removed at once; set TMPDIR to another folder", temp)
}

// there says whether the folder is still the one that was made.
func (f *Folder) there() bool {
	ours, err := f.lock.Stat()
	if err != nil {
		return false
	}
	now, err := os.Lstat(f.path)
	return err == nil && os.SameFile(ours, now)
}

// Remove removes the folder with what is left in it of the process's sockets.
func (f *Folder) Remove() {
	if f == nil {
		return
	}
	defer f.lock.Close()
	root, err := os.OpenRoot(f.path)
	if err != nil {
		return
	}
	defer root.Close()
	if f.there() {
		remove(root, f.path, false)
	}
}

// Sweep removes the folders that Open has made in temp, or in /tmp instead, for
// processes that have died.
func Sweep(temp string) {
	temp = base(temp)
	folder, err := os.Open(temp)
	if err != nil {
		return
	}
	defer folder.Close()
	for {
		names, err := folder.Readdirnames(1024)
		for _, name := range names {
			if strings.HasPrefix(name, prefix) {
				removeDead(filepath.Join(temp, name))
			}
		}
		if err != nil || len(names) == 0 {
			return
		}
	}
}

// RemoveDead removes a socket that nobody listens on, and its folder if that is one
// of Open's.
func RemoveDead(path string) {
	if folder := filepath.Dir(path); strings.HasPrefix(filepath.Base(folder), prefix) {
		removeDead(folder)
		return
	}
	info, err := os.Lstat(path)
	if err == nil && info.Mode().Type() == fs.ModeSocket && own(info) && !Answers(context.Background(), path) {
		_ = os.Remove(path)
	}
}

// removeDead removes a folder of Open's whose lock is free.
func removeDead(path string) {
	info, err := os.Lstat(path)
	if err != nil || !info.IsDir() || info.Mode().Perm() != 0o700 || !own(info) {
		return
	}
	root, err := os.OpenRoot(path)
	if err != nil {
		return
	}
	defer root.Close()
	lock, err := root.Open(".")
	if err != nil {
		return
	}
	defer lock.Close()
	opened, err := lock.Stat()
	if err != nil || !os.SameFile(info, opened) || flock(lock, syscall.LOCK_EX|syscall.LOCK_NB) != nil {
		return
	}
	remove(root, path, true)
}

// remove removes a folder if it holds nothing but what go-plugin makes; if ask says
// so, only when nobody listens on its sockets.
func remove(root *os.Root, path string, ask bool) {
	folder, err := root.Open(".")
	if err != nil {
		return
	}
	defer folder.Close()
	const most = 64
	entries, err := folder.ReadDir(most)
	if err != nil && err != io.EOF || len(entries) == most {
		return
	}
	for _, e := range entries {
		info, err := root.Lstat(e.Name())
		if err != nil || !strings.HasPrefix(e.Name(), file) || !own(info) {
			return
		}
		switch info.Mode().Type() {
		case fs.ModeSocket:
			if ask && Answers(context.Background(), filepath.Join(path, e.Name())) {
				return
			}
		case 0:
			if info.Size() > 0 {
				return
			}
		default:
			return
		}
	}
	for _, e := range entries {
		_ = root.Remove(e.Name())
	}
	// Not os.Remove, which would remove a file as well.
	_ = syscall.Rmdir(path)
}

// own says whether a file is this user's.
func own(info fs.FileInfo) bool {
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(stat.Uid) == os.Geteuid()
}

// Own says whether a socket is one of this user's.
func Own(path string) bool {
	info, err := os.Lstat(path)
	return err == nil && info.Mode().Type() == fs.ModeSocket && own(info)
}

func flock(f *os.File, how int) error {
	for {
		err := syscall.Flock(int(f.Fd()), how)
		if !errors.Is(err, syscall.EINTR) {
			return err
		}
	}
}
