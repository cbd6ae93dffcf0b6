package arrowio

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// namelessFiles are files opened with O_TMPFILE (open(2)): when the process
// ends, however it ends, the system takes them back.
func namelessFiles() nameless {
	return nameless{
		create: func(folder string) (*os.File, error) {
			return os.OpenFile(folder, unix.O_TMPFILE|os.O_RDWR, 0o666)
		},
		link: func(f *os.File, path string) error {
			from := fmt.Sprintf("/proc/self/fd/%d", f.Fd())
			if err := unix.Linkat(unix.AT_FDCWD, from, unix.AT_FDCWD, path, unix.AT_SYMLINK_FOLLOW); err != nil {
				return &os.LinkError{Op: "linkat", Old: from, New: path, Err: err}
			}
			return nil
		},
	}
}
