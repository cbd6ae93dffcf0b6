//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package socket

import (
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
)

// short is a folder with a path that leaves room for those of sockets.
func short(t *testing.T) string {
	t.Helper()
	folder, err := os.MkdirTemp("/tmp", "gs")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(folder) })
	return folder
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// dead makes a socket that nobody listens on.
func dead(t *testing.T, path string) {
	t.Helper()
	l, err := net.ListenUnix("unix", &net.UnixAddr{Net: "unix", Name: path})
	must(t, err)
	l.SetUnlinkOnClose(false)
	must(t, l.Close())
}

func there(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

func TestOpenAndRemove(t *testing.T) {
	temp := short(t)
	f, err := Open(temp)
	must(t, err)
	info, err := os.Stat(f.Path())
	must(t, err)
	if info.Mode().Perm() != 0o700 || filepath.Dir(f.Path()) != temp {
		t.Errorf("%s has mode %v", f.Path(), info.Mode())
	}
	Sweep(temp) // as another process does
	dead(t, f.Path()+"/plugin1")
	Sweep(temp)
	if !there(f.Path() + "/plugin1") {
		t.Error("the folder of a process that lives was swept")
	}
	f.Remove()
	f.Remove()
	if there(f.Path()) {
		t.Error("the folder is left")
	}
	var none *Folder
	none.Remove()
	if _, err := Open(temp + "/nothing"); err == nil || !strings.Contains(err.Error(), "set TMPDIR") {
		t.Errorf("without a folder for temporary files: error %v", err)
	}
}

// A path that is too long for sockets is not used.
func TestOpenWithALongPath(t *testing.T) {
	temp := filepath.Join(short(t), strings.Repeat("x", 100))
	must(t, os.Mkdir(temp, 0o700))
	f, err := Open(temp)
	must(t, err)
	defer f.Remove()
	dead(t, f.Path()+"/plugin4294967295")
}

// A path that only this process understands, or that a line of go-plugin's handshake
// cannot hold, is not given to others.
func TestOpenWithAnOddPath(t *testing.T) {
	temp := short(t)
	t.Chdir(temp)
	for _, name := range []string{"relative", "a|b", "a\nb"} {
		must(t, os.Mkdir(name, 0o700))
		f, err := Open(name)
		must(t, err)
		if !filepath.IsAbs(f.Path()) || strings.ContainsAny(f.Path(), "|\n") || !there(f.Path()) {
			t.Errorf("for %q the folder is %q", name, f.Path())
		}
		f.Remove()
	}
	if _, err := Open("relative"); err != nil {
		t.Error(err)
	}
	if names, err := os.ReadDir("relative"); err != nil || len(names) != 1 {
		t.Errorf("in the relative folder there is %v, %v", names, err)
	}
}

// Sweep removes what is surely the folder of a process that has died, and nothing
// else.
func TestSweep(t *testing.T) {
	outside := short(t)
	for name, c := range map[string]struct {
		make func(t *testing.T, folder string) // an empty folder with mode 0700
		gone bool
	}{
		"empty":            {func(*testing.T, string) {}, true},
		"a dead socket":    {func(t *testing.T, f string) { dead(t, f+"/plugin1") }, true},
		"an empty file":    {func(t *testing.T, f string) { must(t, os.WriteFile(f+"/plugin1", nil, 0o600)) }, true},
		"a file with text": {func(t *testing.T, f string) { must(t, os.WriteFile(f+"/plugin1", []byte("text"), 0o600)) }, false},
		"another name":     {func(t *testing.T, f string) { dead(t, f+"/other") }, false},
		"a folder inside":  {func(t *testing.T, f string) { must(t, os.Mkdir(f+"/plugin1", 0o700)) }, false},
		"a link inside":    {func(t *testing.T, f string) { must(t, os.Symlink("/nowhere", f+"/plugin1")) }, false},
		"open to others":   {func(t *testing.T, f string) { must(t, os.Chmod(f, 0o755)) }, false},
		"a dead socket and a file": {func(t *testing.T, f string) {
			dead(t, f+"/plugin1")
			must(t, os.WriteFile(f+"/notes", nil, 0o600))
		}, false},
		"a socket that answers": {func(t *testing.T, f string) {
			l, err := net.Listen("unix", f+"/plugin1")
			must(t, err)
			t.Cleanup(func() { l.Close() })
		}, false},
		"locked": {func(t *testing.T, f string) {
			lock, err := os.Open(f)
			must(t, err)
			t.Cleanup(func() { lock.Close() })
			must(t, flock(lock, syscall.LOCK_EX|syscall.LOCK_NB))
		}, false},
		"a link": {func(t *testing.T, f string) {
			must(t, os.Remove(f))
			must(t, os.Symlink(outside, f))
		}, false},
		"a file": {func(t *testing.T, f string) {
			must(t, os.Remove(f))
			must(t, os.WriteFile(f, nil, 0o600))
		}, false},
		"another user's": {func(t *testing.T, f string) {
			if os.Geteuid() != 0 {
				t.Skip("needs root")
			}
			must(t, os.Chown(f, 12345, 12345))
		}, false},
	} {
		t.Run(name, func(t *testing.T) {
			temp := short(t)
			folder := filepath.Join(temp, prefix+"1")
			must(t, os.Mkdir(folder, 0o700))
			// Like it in everything but the name.
			other := filepath.Join(temp, "gladflow-test1")
			must(t, os.Mkdir(other, 0o700))
			dead(t, filepath.Join(temp, "plugin1"))
			c.make(t, folder)
			Sweep(temp)
			if there(folder) == c.gone {
				t.Errorf("it is there: %v", !c.gone)
			}
			if !there(other) || !there(filepath.Join(temp, "plugin1")) || !there(outside) {
				t.Error("something else is gone")
			}
			if inside, _ := os.ReadDir(folder); !c.gone && name == "a dead socket and a file" && len(inside) != 2 {
				t.Errorf("half of it is left: %v", inside)
			}
		})
	}
	Sweep("/nowhere") // does nothing
}

func TestRemoveDead(t *testing.T) {
	temp := short(t)
	dead(t, temp+"/plugin1")
	RemoveDead(temp + "/plugin1")
	if there(temp+"/plugin1") || !there(temp) {
		t.Error("a dead socket is left, or its folder has gone with it")
	}
	live, err := net.Listen("unix", temp+"/plugin2")
	must(t, err)
	defer live.Close()
	must(t, os.WriteFile(temp+"/plugin3", nil, 0o600))
	for _, name := range []string{"/plugin2", "/plugin3", "/nothing"} {
		RemoveDead(temp + name)
	}
	if !there(temp+"/plugin2") || !there(temp+"/plugin3") {
		t.Error("a socket that answers, or a file, is gone")
	}
}

// Processes that begin at the same time do not take each other's folder away.
func TestOpenAtOnce(t *testing.T) {
	temp := short(t)
	var all sync.WaitGroup
	for range 20 {
		all.Go(func() {
			for range 20 {
				f, err := Open(temp)
				if err != nil {
					t.Error(err)
					return
				}
				if err := os.WriteFile(f.Path()+"/plugin1", nil, 0o600); err != nil {
					t.Errorf("the folder is gone: %v", err)
				}
				f.Remove()
			}
		})
	}
	all.Wait()
	if left, err := os.ReadDir(temp); err != nil || len(left) > 0 {
		t.Errorf("there is left %v, %v", left, err)
	}
}
