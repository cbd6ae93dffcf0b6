//go:build linux && !cuda

package main

import (
	"os"
	"path/filepath"
	"syscall"

	"golang.org/x/sys/unix"
)

// newHandover is that of this process.
func newHandover() *handover {
	executable, err := os.Executable()
	if err != nil {
		return nil // there is no beside
	}
	return &handover{
		folder: filepath.Dir(executable), control: "/dev/nvidiactl",
		args: os.Args[1:], env: os.Environ(), done: os.Getenv(handedOver) != "",
		exec: syscall.Exec, setStdin: setStdin,
	}
}

// pluginHandover is newHandover for a process that a host has started as a plugin: nil
// if the host has checked the sum of this file, for it has not checked the other.
func pluginHandover() *handover {
	// See plugin.Config.Checksum: the host starts such a file by this descriptor.
	if sameFile("/proc/self/fd/3", "/proc/self/exe") {
		return nil
	}
	return newHandover()
}

func sameFile(a, b string) bool {
	first, err := os.Stat(a)
	if err != nil {
		return false
	}
	second, err := os.Stat(b)
	return err == nil && os.SameFile(first, second)
}

// setStdin makes data what is read from standard input.
func setStdin(data []byte) error {
	fd, err := unix.MemfdCreate("stdin", unix.MFD_CLOEXEC)
	if err != nil {
		return err
	}
	f := os.NewFile(uintptr(fd), "stdin")
	defer f.Close()
	if _, err := f.Write(data); err != nil {
		return err
	}
	if _, err := f.Seek(0, 0); err != nil {
		return err
	}
	return unix.Dup3(fd, 0, 0)
}
