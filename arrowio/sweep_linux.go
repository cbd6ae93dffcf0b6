package arrowio

import (
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

// wholeSuffix is that of a file that is whole and waits to replace another: a link
// replaces nothing, so it has a name of its own for a moment. Who is killed in that
// moment leaves it. Its writer holds a lock on it, which ends with the process.
const wholeSuffix = ".whole.tmp"

// sweep removes what writers of a file that were killed have left beside it.
func sweep(folder *os.Root, name string) {
	d, err := folder.Open(".")
	if err != nil {
		return
	}
	defer d.Close()
	names, _ := d.Readdirnames(-1)
	for _, left := range names {
		if !strings.HasPrefix(left, "."+name+".") || !strings.HasSuffix(left, wholeSuffix) {
			continue
		}
		// Not to wait for a pipe, nor to follow a link.
		f, err := folder.OpenFile(left, os.O_RDONLY|unix.O_NONBLOCK|unix.O_NOFOLLOW, 0)
		if err != nil {
			continue
		}
		if info, err := f.Stat(); err == nil && info.Mode().IsRegular() && lock(f) {
			folder.Remove(left)
		}
		f.Close()
	}
}

// hold keeps sweep from a hidden file, until what it returns is closed; nil if the file
// cannot be opened.
func hold(folder *os.Root, name string) *os.File {
	f, err := folder.OpenFile(name, os.O_RDONLY|unix.O_NONBLOCK|unix.O_NOFOLLOW, 0)
	if err != nil {
		return nil
	}
	lock(f)
	return f
}

// lock takes the lock of a file, if nobody has it.
func lock(f *os.File) bool {
	return unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB) == nil
}
